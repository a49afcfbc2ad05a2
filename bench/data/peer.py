"""What the peers of bench/data share: the talk with `run` (see bench/peers/peer.py), and what the work is.

  parse FILE single|batch    TFRecord of Examples to parsed batches of 128
  images DIR SIZE            a folder of pictures decoded, resized (bilinear), batches of 32, four times over
  json FILE                  a pipeline of this folder
  load FILE...               arrays from an npz file or from IDX files
"""
import gzip
import json
import os
import resource
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
CORES = len(os.sched_getaffinity(0))


def read_idx(path):
    import numpy
    raw = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
    shape = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return numpy.frombuffer(raw, numpy.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def mnist():
    """Pictures (n, 28, 28, 1) and labels, from the files that LOCKSTEP_MNIST names."""
    import numpy
    x, y = (read_idx(path) for path in os.environ["LOCKSTEP_MNIST"].split(":"))
    return x[..., None], y.astype(numpy.int64)


def picture_files(folder):
    classes = sorted(c for c in os.listdir(folder) if os.path.isdir(os.path.join(folder, c)))
    return [(os.path.join(d, f), k) for k, c in enumerate(classes) for d, _, names in os.walk(os.path.join(folder, c))
            for f in sorted(names) if f.lower().endswith((".jpg", ".jpeg", ".png"))]


def read_picture(path, size):
    import numpy
    from PIL import Image
    return numpy.asarray(Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR), numpy.float32)


def children():
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):
        try:
            fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split() if name.isdigit() else None
        except OSError:
            continue
        if fields and int(fields[1]) == me:
            found.append((name, fields))
    return found


def cpu_seconds():
    """Of this process and of workers that live."""
    ticks = os.sysconf("SC_CLK_TCK")
    return time.process_time() + sum((int(f[11]) + int(f[12])) / ticks for _, f in children())


def peak_mb():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for name, _ in children():
        for line in open(f"/proc/{name}/status"):
            if line.startswith("VmHWM"):
                peak += int(line.split()[1]) / 1024
    return peak


def serve(one_pass):
    """one_pass() does the work once and returns how many elements that were."""
    def timed():
        begin, cpu, n = time.perf_counter(), cpu_seconds(), 0
        while time.perf_counter() - begin < 0.3:
            elements = one_pass()
            n += 1
        print(json.dumps({"seconds": (time.perf_counter() - begin) / n, "cpu_s": (cpu_seconds() - cpu) / n,
                          "elements": elements}), flush=True)

    timed()
    for line in sys.stdin:
        if line.strip() != "go":
            break
        timed()
    print(json.dumps({"peak_rss_mb": round(peak_mb(), 1)}), flush=True)
