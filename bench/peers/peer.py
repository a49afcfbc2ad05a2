"""What the peer programs share: the workloads' facts, their data, clocks, and the talk with `run`.

A peer builds its program and does one round of work (in which frameworks compile), says {"ready": ...}, then waits on standard
input: at each line "go" it does the timed work once and answers with a line of JSON; at "end" it says how much memory it took.
So all peers of a row stay ready, and their rounds alternate with ours.

  cnn        first tutorial: Conv 8 3x3 same relu, Flatten, Dense 10 softmax; Adam, cross-entropy, batch 256
  ae         third tutorial: Conv 16 s2, Conv 8 s2, ConvT 8 s2, ConvT 16 s2, Conv 1 sigmoid; Adam, MSE, batch 128
  cnn2, ae2  the same with 12 filters on 26x30 pictures, and with 24 and 12 filters
  mlp        784-4096-4096-10, relu; Adam, cross-entropy, batch 256
  mobilenet  MobileNetV2 1.0 on 160x160x3, all weights trained, mean + Dense 1 logits; Adam, binary cross-entropy, batch 16
  frozen     the same with a frozen base in inference mode and the second tutorial's head: Dense 512 relu, Dropout .5, Dense 1
  matmul     third tutorial: (1024,512,16) x (1024,16,512) + (1024,512,512)
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import resource
import statistics
import sys
import time

BORN = time.monotonic()
Workload = collections.namedtuple("Workload", "batch pictures filters")
WORKLOADS = {
    "cnn": Workload(256, (28, 28), (8,)), "cnn2": Workload(256, (26, 30), (12,)),
    "ae": Workload(128, (28, 28), (16, 8)), "ae2": Workload(128, (28, 28), (24, 12)),
    "mlp": Workload(256, (28, 28), (4096, 4096)), "mobilenet": Workload(16, (160, 160), ()),
    "frozen": Workload(16, (160, 160), ()), "matmul": Workload(1024, (), ()),
}
KINDS = {"cnn2": "cnn", "ae2": "ae"}
CALL_SECONDS = 1.0 # of one timed round of single predictions


def options():
    p = argparse.ArgumentParser()
    p.add_argument("workload", choices=sorted(WORKLOADS))
    p.add_argument("--predict", action="store_true", help="single predictions instead of training")
    p.add_argument("--data", default="", help="folder with MNIST's IDX files, plain or gzip")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--limit", type=int, default=60000, help="training images an epoch")
    p.add_argument("--compiled", action="store_true", help="XLA or torch.compile")
    o = p.parse_args()
    o.kind = KINDS.get(o.workload, o.workload)
    o.batch, o.pictures, o.filters = WORKLOADS[o.workload]
    o.steps = o.limit // o.batch
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(o.threads)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"): # a host's settings for old libraries would slow new ones
        os.environ.pop(name, None)
    return o


def read_idx(folder, name, header):
    import numpy
    plain = pathlib.Path(folder, name)
    raw = plain.read_bytes() if plain.exists() else gzip.decompress(pathlib.Path(folder, name + ".gz").read_bytes())
    return numpy.frombuffer(raw, numpy.uint8, offset=header)


def mnist(o):
    """(images uint8 (N, rows, columns, 1), labels uint8 (N,)); other sizes than MNIST's by cutting and padding."""
    import numpy
    images = read_idx(o.data, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28, 1)[:o.limit]
    rows, columns = o.pictures
    out = numpy.zeros((len(images), rows, columns, 1), numpy.uint8)
    r, c = min(rows, 28), min(columns, 28)
    out[:, :r, :c] = images[:, :r, :c]
    return out, read_idx(o.data, "train-labels-idx1-ubyte", 8)[:o.limit].copy()


def photos(o):
    """(images float32 in [-1, 1), answers float32 0 and 1)"""
    import numpy
    images = numpy.random.default_rng(0).random((o.limit, *o.pictures, 3), numpy.float32) * 2 - 1
    return images, (numpy.arange(o.limit) % 2).astype(numpy.float32)


def one_picture(o):
    import numpy
    channels = 3 if o.kind in ("mobilenet", "frozen") else 1
    return numpy.random.default_rng(0).random((1, *o.pictures, channels), numpy.float32)


def matmul_operands():
    import numpy
    draw = numpy.random.default_rng(0)
    return [draw.random(s, numpy.float32) for s in ((1024, 512, 16), (1024, 16, 512), (1024, 512, 512))]


def say(**line):
    print(json.dumps(line), flush=True)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def calls(fn):
    """Median seconds of calls of fn, made for a while."""
    seconds, end = [], time.perf_counter() + CALL_SECONDS
    while time.perf_counter() < end or len(seconds) < 5:
        t = time.perf_counter()
        fn()
        seconds.append(time.perf_counter() - t)
    return statistics.median(seconds)


def serve(o, peer, work, first_step=None):
    """work(): one round, returns (seconds, loss or None). first_step: monotonic time of the end of the first training step."""
    began = time.monotonic()
    seconds, loss = work()
    say(ready=peer, workload=o.workload, first_s=round(time.monotonic() - began, 3),
        start_s=round(first_step() - BORN, 3) if first_step else None)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        seconds, loss = work()
        say(seconds=seconds, examples=o.steps * o.batch, loss=loss)
    say(peak_rss_mb=round(peak_mb(), 1))


class FirstStep:
    """When the first training step ended; call mark() after each."""

    def __init__(self):
        self.at = None

    def mark(self):
        if self.at is None:
            self.at = time.monotonic()

    def __call__(self):
        return self.at
