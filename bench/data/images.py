"""The same folder with tf.data or torch: images.py tf|torch DIR [SIZE [PASSES]]. A pass is the folder four times over; prints images/s of the median pass,
the first does not count. tf: Keras' image_dataset_from_directory (decode + bilinear resize). torch: DataLoader with one worker a core, PIL decode and
bilinear resize; the workers stay alive over the passes."""
import os
import resource
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def with_tf(folder, size):
    import keras
    ds = keras.utils.image_dataset_from_directory(folder, image_size=(size, size), shuffle=False, verbose=False).repeat(4)

    def run():
        return sum(int(x.shape[0]) for x, _ in ds)
    return run


def with_torch(folder, size):
    import numpy as np
    import torch
    from PIL import Image

    class Folder(torch.utils.data.Dataset):
        def __init__(self):
            self.files = [(os.path.join(d, f), k) for k, c in enumerate(sorted(os.listdir(folder))) for d, _, fs in os.walk(os.path.join(folder, c)) for f in sorted(fs) if f.lower().endswith((".jpg", ".jpeg", ".png"))]

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            path, label = self.files[i]
            im = Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR)
            return torch.from_numpy(np.asarray(im, np.float32)), label
    loader = torch.utils.data.DataLoader(Folder(), 32, num_workers=os.cpu_count(), persistent_workers=True)

    def run():
        return sum(int(x.shape[0]) for _ in range(4) for x, _ in loader)
    return run


def main():
    kind, folder = sys.argv[1:3]
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 160
    passes = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    run = {"tf": with_tf, "torch": with_torch}[kind](folder, size)
    rates, busy = [], []
    run()
    for _ in range(passes):
        t, c = time.perf_counter(), time.process_time()
        n = run()
        s = time.perf_counter() - t
        rates.append(n / s)
        busy.append((time.process_time() - c) / s)
    rates.sort()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("%-10s %8.0f images/s (best %.0f), %.2f cores busy in this process, peak memory %.0f MB" % (kind, rates[len(rates) // 2], rates[-1], sorted(busy)[len(busy) // 2], peak))


main()
