#!/usr/bin/env python3
"""The passes of records.c in tf.data: records_tf.py FILE single|batch [parallel]. A JSON line of the same form."""
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

BATCH, PASSES = 128, 5


def features(file):
    one = tf.io.FixedLenFeature
    if "image" in file:
        return {"image": one([], tf.string), "label": one([], tf.int64)}
    if "floats" in file:
        return {"x": one([784], tf.float32), "label": one([], tf.int64)}
    table = {f"float_{i}": one([], tf.float32) for i in range(10)}
    table.update({f"int_{i}": one([], tf.int64) for i in range(3)})
    table["text"] = one([], tf.string)
    return table


def main():
    file, mode, parallel = sys.argv[1], sys.argv[2], "parallel" in sys.argv[3:]
    spec, calls = features(file), tf.data.AUTOTUNE if parallel else None
    ds = tf.data.TFRecordDataset(file)
    if mode == "batch":
        ds = ds.batch(BATCH).map(lambda r: tf.io.parse_example(r, spec), num_parallel_calls=calls)
    else:
        ds = ds.map(lambda r: tf.io.parse_single_example(r, spec), num_parallel_calls=calls).batch(BATCH)
    if parallel:
        ds = ds.prefetch(tf.data.AUTOTUNE)
    best, n = 1e300, 0
    for _ in range(PASSES):
        begin, n = time.monotonic(), 0
        for batch in ds:
            n += batch["text" if "text" in batch else "label"].shape[0]
        best = min(best, time.monotonic() - begin)
    print(json.dumps({"who": "tf.data " + tf.__version__, "file": file, "mode": mode, "parallel": parallel, "records": n,
                      "records_per_second": round(n / best), "mb_per_second": round(os.path.getsize(file) / best / 1e6, 1)}))


if __name__ == "__main__":
    main()
