"""Runs the rows of tests/test_data_errors*.c through TensorFlow and tells where its pass is another than the row says.

    LOCKSTEP_SHARED=../shared python tests/golden/data_errors.py [PART_OF_A_PIPELINE ...]

It reads the tables out of the C files, writes their files into a folder of its own, and builds the pipelines with
golden/data_pipelines.py of LOCKSTEP_SHARED. Rows on which TensorFlow dies or never returns are passed over.
"""
import ast
import json
import os
import re
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("LOCKSTEP_SHARED", os.path.join(HERE, "../../../shared"))
sys.path.insert(0, os.path.join(SHARED, "golden"))
import tensorflow as tf        # noqa: E402
import data_pipelines as dp    # noqa: E402

# Our codes that are one of TensorFlow's kinds.
CODES = {"INVALID": {"ARG", "SHAPE", "FORMAT", "LIMIT"}, "NOTFOUND": {"NOTFOUND"}, "DATALOSS": {"FORMAT", "SHAPE"},
         "PRECOND": {"STATE", "IO"}, "UNKNOWN": {"IO"}}
KINDS = {"InvalidArgumentError": "INVALID", "ValueError": "INVALID", "TypeError": "INVALID",
         "AttributeError": "INVALID", "IndexError": "INVALID", "UnicodeDecodeError": "INVALID",
         "UnimplementedError": "INVALID", "NotFoundError": "NOTFOUND", "InternalError": "INTERNAL",
         "FailedPreconditionError": "PRECOND", "DataLossError": "DATALOSS", "UnknownError": "UNKNOWN"}
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
TEXT = r'(?:%s\s*)+' % LITERAL


def literal(text):
    return "".join(ast.literal_eval("b" + part).decode("latin1") for part in re.findall(LITERAL, text))


def tables():
    files, rows = [], []
    for name in ("", "_files", "_functions"):
        source = open(os.path.join(HERE, "../test_data_errors%s.c" % name)).read()
        files += [(literal(a), literal(b)) for a, b in re.findall(r'FILE_OF\((%s),\s*(%s)\)' % (TEXT, TEXT), source)]
        rows += [tuple(None if x == "NULL" else literal(x) for x in row)
                 for row in re.findall(r'\{ (%s),\s*(%s),\s*(%s|NULL),\s*(%s|NULL) \}' % ((TEXT,) * 4), source)]
    return files, rows


def raw(x, dtype, shape=None):
    y = tf.io.decode_raw(x, tf.as_dtype(dtype))
    return y if shape is None else tf.reshape(y, shape)


def sized(f):
    return lambda x, height, width, **more: f(x, height, width, **more)


im = tf.image
FUNCTIONS = {
    "decode_raw": raw, "decode_jpeg": tf.io.decode_jpeg, "read_file": tf.io.read_file, "one_hot": tf.one_hot,
    "decode_image": lambda x, channels=0: tf.io.decode_image(x, channels, expand_animations=False),
    "expand_dims": tf.expand_dims, "cast": lambda x, dtype: tf.cast(x, tf.as_dtype(dtype)),
    "resize_with_crop_or_pad": sized(im.resize_with_crop_or_pad),
    "resize": lambda x, height, width, method="bilinear": im.resize(x, [height, width], method),
    "resize_with_pad": sized(im.resize_with_pad), "central_crop": lambda x, fraction: im.central_crop(x, fraction),
    "random_crop": lambda x, height, width: im.random_crop(x, [height, width, 3]),
    "random_hue": im.random_hue, "random_contrast": im.random_contrast, "random_saturation": im.random_saturation,
    "random_brightness": im.random_brightness, "rgb_to_grayscale": im.rgb_to_grayscale, "rot90": im.rot90,
    "grayscale_to_rgb": im.grayscale_to_rgb, "flip_left_right": im.flip_left_right,
    "standardize": im.per_image_standardization,
    "adjust_saturation": lambda x, factor: im.adjust_saturation(x, factor),
}
named, stage = dp.fn, dp.stage


def function(spec):
    if not isinstance(spec, dict) or spec["fn"] not in FUNCTIONS:
        return named(spec)
    arguments = {k: v for k, v in spec.items() if k != "fn"}
    return lambda x: FUNCTIONS[spec["fn"]](x, **arguments)


def with_classes(ds, st, files):
    if st["op"] != "rejection_resample":
        return stage(ds, st, files)
    arguments = {k: v for k, v in st.items() if k not in ("op", "class_func")}
    f = function(st["class_func"])                      # TensorFlow wants int32 classes
    return ds.rejection_resample(lambda x: f(x) if f(x).dtype == tf.bool else tf.cast(f(x), tf.int32), **arguments)


dp.fn, dp.stage = function, with_classes


def text(v):
    if isinstance(v, list):
        return "[" + ",".join(text(x) for x in v) + "]"
    if isinstance(v, bytes):
        return v.decode("latin1").replace("\0", "\\0")
    return str(int(v)) if isinstance(v, bool) else "%g" % v if isinstance(v, float) else str(v)


def show(v):
    if isinstance(v, (tuple, dict)):
        return " ".join(show(x) for x in (v if isinstance(v, tuple) else [v[k] for k in sorted(v)]))
    if isinstance(v, tf.RaggedTensor):
        return text(v.to_list())
    if isinstance(v, tf.data.Dataset):
        return "<dataset>"
    value = v.numpy()
    return text(value.tolist() if hasattr(value, "tolist") else value)


def kind(e):
    return "!" + KINDS.get(type(e).__name__, type(e).__name__)


def run(pipeline, folder):
    dp._clear_seed()
    try:
        it = iter(dp.build(pipeline, folder))
    except Exception as e:
        return "build " + kind(e)
    out, failures = [], 0
    while len(out) < 14 and failures < 4:
        try:
            out.append(show(next(it)))
        except StopIteration:
            return "; ".join(out + ["END"])
        except Exception as e:
            failures += 1
            out.append(kind(e))
    return "; ".join(out)


def same(theirs, ours):
    a, b = theirs.split("; "), ours.split("; ")
    return len(a) == len(b) and all(
        x == y or ("!" in x and "!" in y and x.split("!")[0] == y.split("!")[0]
                   and y.split("!")[1] in CODES.get(x.split("!")[1], ())) for x, y in zip(a, b))


def main():
    files, rows = tables()
    checked = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            open(os.path.join(folder, name), "wb").write(content.encode("latin1"))
        os.mkdir(os.path.join(folder, "dir"))
        os.symlink("loop", os.path.join(folder, "loop"))
        for pipeline, ours, _, theirs in rows:
            if theirs in ("dies", "spins") or not all(p in pipeline for p in sys.argv[1:]):
                continue
            found = run(json.loads(pipeline.replace("'", '"')), folder)
            checked += 1
            if found != theirs if theirs is not None else not same(found, ours):
                differ += 1
                print("%s\n    TensorFlow: %s\n    the row:    %s" % (pipeline, found, theirs or ours), flush=True)
    print("%d rows, %d differ; %d are files" % (checked, differ, len(files)))
    return 1 if differ or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
