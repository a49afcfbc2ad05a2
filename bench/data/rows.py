"""The rows: what is read, by which peers, and how many times the fastest peer's speed is to be reached.

Words in braces: {data} the folder that `run` made, {pictures}, {here} this folder, {idx} the two IDX files. `peer` is what peers
are told where that differs. `of_copy`: the bar is a share of memcpy's speed on the same bytes; `of_gunzip`: of gzip -dc.
"""
import collections

Row = collections.namedtuple("Row", "title ours peers bar peer of_copy of_gunzip", defaults=(None, None, None))
TF = ("tf",)


def parse(file, mode, calls="auto"):
    return f"parse {{data}}/{file}.tfrecord {mode} {calls}"


ROWS = {
    "table": Row("Example, 14 small features, parsed in batches", parse("table", "batch"), TF, 3),
    "table_single": Row("the same, parsed one by one", parse("table", "single"), TF, 3),
    "table_serial": Row("the same one by one, without parallel calls", parse("table", "single", "serial"), TF, 3),
    "image": Row("Example, 12 KB of bytes, parsed in batches", parse("image", "batch"), TF, 3),
    "image_single": Row("the same, parsed one by one", parse("image", "single"), TF, 3),
    "floats": Row("Example, 784 floats, parsed in batches", parse("floats", "batch"), TF, 3),
    "floats_single": Row("the same, parsed one by one", parse("floats", "single"), TF, 3),
    "jpeg": Row("JPEG folder, decoded, 160x160", "images {pictures} 160", ("tf", "torch", "grain"), 1.3),
    "jpeg_reduced": Row("the same with decoding at the nearest scale above", "images {pictures} 160 reduced",
                        ("tf", "torch", "grain"), None, "images {pictures} 160"),
    "mnist_map": Row("MNIST through a map element by element", "json {here}/mnist_map.json", ("tf", "torch", "grain"), 10),
    "arrays": Row("MNIST as arrays, shuffle, batch", "json {here}/arrays_shuffle.json", ("tf", "torch", "grain"), None, None, 0.5),
    "arrays_indexed": Row("the same, shuffled by index", "json {here}/arrays_indexed.json", ("tf", "torch", "grain"), None, None, 0.5),
    "range": Row("300,000 numbers, shuffle, batch", "json {here}/range_map.json", TF, None),
    "idx": Row("MNIST from gzip IDX files", "load {idx}", ("numpy",), None, None, None, 1),
    "npz": Row("MNIST from a deflated npz file", "load {data}/mnist.npz", ("numpy",), None, None, None, 1),
}
