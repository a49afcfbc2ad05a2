"""tfdata.py PIPELINE.json [PASSES]: the same pipeline in tf.data; prints one line of JSON with elements a second of each pass.

MNIST is read from the folder in LOCKSTEP_MNIST or the cache of `lockstep` (IDX files, gzip).
"""
import gzip
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf


def idx(name):
    folder = os.environ.get("LOCKSTEP_MNIST", os.path.expanduser("~/.cache/lockstep/mnist"))
    path = os.path.join(folder, name)
    raw = gzip.open(path + ".gz").read() if os.path.exists(path + ".gz") else open(path, "rb").read()
    shape = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def rescale_onehot(x, y):
    return tf.cast(x, tf.float32) / 255.0, tf.one_hot(y, 10)


def build(stages):
    ds = None
    for s in stages:
        op = s["op"]
        if op == "mnist":
            p = "train" if s.get("split", "train") == "train" else "t10k"
            x, y = idx(p + "-images-idx3-ubyte")[..., None], idx(p + "-labels-idx1-ubyte").astype(np.int64)
            ds = tf.data.Dataset.from_tensor_slices((x, y))
        elif op == "range":
            ds = tf.data.Dataset.range(*s["args"])
        elif op == "map":
            ds = ds.map(rescale_onehot, num_parallel_calls=s.get("num_parallel_calls"))
        elif op == "shuffle":
            ds = ds.shuffle(s["buffer_size"], seed=s.get("seed"))
        elif op == "shuffle_indexed":
            ds = ds.shuffle(len(ds), seed=s.get("seed"))
        elif op == "batch":
            ds = ds.batch(s["batch_size"])
        elif op == "prefetch":
            ds = ds.prefetch(s["buffer_size"])
        else:
            raise SystemExit("no peer for " + op)
    return ds


def main():
    ds = build(json.load(open(sys.argv[1])))
    rates = []
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        start, n = time.perf_counter(), 0
        for _ in ds:
            n += 1
        rates.append(n / (time.perf_counter() - start))
    print(json.dumps({"peer": "tf.data " + tf.__version__, "elements_per_s": [round(r, 2) for r in rates]}))


main()
