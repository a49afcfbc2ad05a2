"""The rows with torch's DataLoader: one worker process a core for pictures, none for arrays (what its manual advises)."""
import json
import sys

import peer
import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, SequentialSampler


class Pictures(Dataset):
    def __init__(self, folder, size):
        self.files, self.size = peer.picture_files(folder), size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        return torch.from_numpy(peer.read_picture(path, self.size)), label


class Rows(Dataset):
    """Rows by number; a list of numbers gives a batch."""

    def __init__(self, arrays, function=None):
        self.arrays, self.function = [torch.from_numpy(np.ascontiguousarray(a)) for a in arrays], function

    def __len__(self):
        return len(self.arrays[0])

    def __getitem__(self, i):
        rows = tuple(a[i] for a in self.arrays)
        return self.function(*rows) if self.function else rows


def images(folder, size):
    loader = DataLoader(Pictures(folder, int(size)), 32, num_workers=peer.CORES, persistent_workers=True)
    return lambda: sum(int(x.shape[0]) for _ in range(4) for x, _ in loader)


def rescale_onehot(x, y):
    return x.to(torch.float32) / 255.0, torch.nn.functional.one_hot(y, 10).to(torch.float32)


def pipeline(stages):
    ops = {s["op"]: s for s in stages}
    batch = ops["batch"]["batch_size"]
    if "map" in ops:
        loader = DataLoader(Rows(peer.mnist(), rescale_onehot), batch, shuffle=True, num_workers=peer.CORES, persistent_workers=True)
    else:
        rows = Rows(peer.mnist())
        loader = DataLoader(rows, sampler=BatchSampler(RandomSampler(rows), batch, False), batch_size=None)
    return lambda: sum(int(x.shape[0]) for x, _ in loader)


KINDS = {"images": images, "json": lambda file: pipeline(json.load(open(file)))}
peer.serve(KINDS[sys.argv[1]](*sys.argv[2:]))
