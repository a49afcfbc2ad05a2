"""Loading arrays with numpy and Python's zlib."""
import sys

import peer
import numpy


def load(*files):
    if files[0].endswith(".npz"):
        return sum(numpy.load(files[0])[key].shape[0] for key in ("x_train", "y_train"))
    return sum(len(peer.read_idx(file)) for file in files)


peer.serve(lambda: load(*sys.argv[2:]) and 1)
