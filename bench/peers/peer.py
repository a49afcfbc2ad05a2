"""What the peer programs share: the workload's facts, MNIST, clocks, and the line of JSON each ends with.

cnn is the first tutorial's program (batch 256), ae the third's (batch 128), both with Adam. A peer trains on the same images
in the form that its users would write for speed, and says how long each epoch took, input pipeline included.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import statistics
import time

BORN = time.monotonic()
BATCH = {"cnn": 256, "ae": 128}


def options():
    p = argparse.ArgumentParser()
    p.add_argument("workload", choices=sorted(BATCH))
    p.add_argument("--data", required=True, help="folder with MNIST's IDX files, plain or gzip")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--limit", type=int, default=60000, help="training images to use")
    p.add_argument("--compiled", action="store_true", help="XLA or torch.compile")
    o = p.parse_args()
    o.batch = BATCH[o.workload]
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(o.threads)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return o


def read_idx(folder, name, header):
    import numpy
    plain = pathlib.Path(folder, name)
    raw = plain.read_bytes() if plain.exists() else gzip.decompress(pathlib.Path(folder, name + ".gz").read_bytes())
    return numpy.frombuffer(raw, numpy.uint8, offset=header)


def mnist(o):
    """(images uint8 (N, 28, 28, 1), labels uint8 (N,))"""
    images = read_idx(o.data, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28, 1)
    return images[:o.limit].copy(), read_idx(o.data, "train-labels-idx1-ubyte", 8)[:o.limit].copy()


class Epochs:
    """Seconds of each epoch; the first holds building and compiling and does not count."""

    def __init__(self):
        self.seconds = []

    def begin(self):
        self.t = time.perf_counter()

    def end(self):
        self.seconds.append(time.perf_counter() - self.t)

    def report(self, o, peer, loss):
        later = self.seconds[1:] or self.seconds
        median = statistics.median(later)
        used = o.limit // o.batch * o.batch
        print(json.dumps({
            "peer": peer, "workload": o.workload, "threads": o.threads, "epoch_s": [round(s, 4) for s in self.seconds],
            "median_epoch_s": round(median, 4), "images_per_s": round(used / median, 1), "loss": round(float(loss), 5),
            "whole_s": round(time.monotonic() - BORN, 2),
            "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}), flush=True)
