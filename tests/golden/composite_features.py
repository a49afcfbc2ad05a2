"""What TensorFlow makes of composite features: the expected texts of tests/test_data_features.c.

    python tests/golden/composite_features.py

Sparse: shape indices values. Singles are separated by "; "; a batch is one value. RaggedFeature is asked to validate.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

io = tf.io
R = io.RaggedFeature


def feature(v):
    if v and isinstance(v[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=v))
    if v and isinstance(v[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v))


def example(**features):
    return tf.train.Example(features=tf.train.Features(
        feature={k: feature(v) for k, v in features.items()})).SerializeToString()


def sequence(context, **lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list={
            k: tf.train.FeatureList(feature=[
                feature(v) if v or k != "r" else tf.train.Feature(bytes_list=tf.train.BytesList()) for v in steps])
            for k, steps in lists.items()})
    ).SerializeToString()


def text(v):
    if isinstance(v, list):
        return "[" + ",".join(text(x) for x in v) + "]"
    return v.decode() if isinstance(v, bytes) else "%g" % v


def show(t):
    if isinstance(t, tf.sparse.SparseTensor):
        return " ".join(text(x.numpy().tolist()) for x in (t.dense_shape, t.indices, t.values))
    return text(t.to_list() if isinstance(t, tf.RaggedTensor) else t.numpy().tolist())


def attempt(f):
    try:
        return f()
    except Exception as e:
        return "error: " + str(e).replace("\n", " ")[:120]


def both(name, spec, records):
    print(name)
    print("   ", attempt(lambda: "; ".join(show(io.parse_single_example(r, {"f": spec})["f"]) for r in records)))
    print("   ", attempt(lambda: show(io.parse_example(records, {"f": spec})["f"])))


def ragged(*partitions):
    return R(tf.int64, "v", partitions, tf.int64, validate=True)


good = [example(v=[10, 11, 12, 13, 14, 15], len=[1, 0, 5], splits=[0, 1, 1, 6], starts=[0, 1, 1], limits=[1, 1, 6],
                ids=[0, 2, 2, 2, 2, 2], i=[3, 0, 2], j=[1, 4, 0], w=[1.5, 2.5, 3.5], s=[b"a", b"b", b"c"]),
        example(),
        example(v=[20, 21], len=[2], splits=[0, 2], starts=[0], limits=[2], ids=[0, 0], i=[1], j=[1], w=[9.0],
                s=[b"d"])]
both("row lengths", ragged(R.RowLengths("len")), good)
both("row splits", ragged(R.RowSplits("splits")), good)
both("row starts", ragged(R.RowStarts("starts")), good)
both("row limits", ragged(R.RowLimits("limits")), good)
both("row numbers", ragged(R.ValueRowIds("ids")), good)
both("uniform", ragged(R.UniformRowLength(2)), good)
both("uniform twice", ragged(R.UniformRowLength(1), R.UniformRowLength(2)), good)
both("no partition", ragged(), good)
nested = [example(v=[1, 2, 3, 4, 5, 6], a=[1, 0, 1], b=[1, 2, 0, 3]), example(v=[7, 8], a=[1], b=[2, 0])]
both("lengths, uniform, lengths", ragged(R.RowLengths("a"), R.UniformRowLength(2), R.RowLengths("b")), nested)
both("uniform, lengths", ragged(R.UniformRowLength(2), R.RowLengths("b")), nested)
both("lengths, uniform", ragged(R.RowLengths("a"), R.UniformRowLength(2)),
     [example(v=[1, 2, 3, 4, 5, 6], a=[1, 2]), example(v=[7, 8], a=[0, 1])])
both("sparse", io.SparseFeature("i", "w", tf.float32, 5), good)
both("sparse of two axes", io.SparseFeature(["i", "j"], "w", tf.float32, [5, 6]), good)
both("sparse, as it comes", io.SparseFeature("i", "w", tf.float32, 5, already_sorted=True), good)
both("sparse strings", io.SparseFeature("i", "s", tf.string, 7), good)
both("sparse, one place twice", io.SparseFeature("i", "w", tf.float32, 3), [example(i=[1, 0, 1], w=[1.0, 2.0, 3.0])])

print("---- refused")
for name, p, record in [
    ("lengths too short", R.RowLengths("p"), example(v=[1, 2, 3], p=[1, 1])),
    ("negative length", R.RowLengths("p"), example(v=[1, 2, 3], p=[-1, 4])),
    ("lengths too long", R.RowLengths("p"), example(v=[1, 2, 3], p=[4])),
    ("no lengths", R.RowLengths("p"), example(v=[1, 2, 3])),
    ("splits from 1", R.RowSplits("p"), example(v=[1, 2, 3], p=[1, 3])),
    ("splits end early", R.RowSplits("p"), example(v=[1, 2, 3], p=[0, 2])),
    ("splits fall", R.RowSplits("p"), example(v=[1, 2, 3], p=[0, 2, 1, 3])),
    ("starts from 1", R.RowStarts("p"), example(v=[1, 2, 3], p=[1])),
    ("start behind the end", R.RowStarts("p"), example(v=[1, 2, 3], p=[0, 9])),
    ("limits end early", R.RowLimits("p"), example(v=[1, 2, 3], p=[2])),
    ("row numbers too few", R.ValueRowIds("p"), example(v=[1, 2, 3], p=[0, 1])),
    ("row numbers fall", R.ValueRowIds("p"), example(v=[1, 2, 3], p=[1, 0, 1])),
    ("three in rows of two", R.UniformRowLength(2), example(v=[1, 2, 3])),
    ("lengths are floats", R.RowLengths("p"), example(v=[1, 2, 3], p=[1.0, 2.0])),
]:
    both(name, ragged(p), [record])
both("index count", io.SparseFeature("i", "w", tf.float32, 3), [example(i=[1], w=[1.0, 2.0])])
both("no index", io.SparseFeature("i", "w", tf.float32, 3), [example(w=[1.0, 2.0])])
both("index type", io.SparseFeature("i", "w", tf.float32, 3), [example(i=[1.0], w=[1.0])])
# TensorFlow lets indices outside of the size pass.

print("---- sequences: context id; lists d, s, r, p")
records = [sequence({"id": [1]}, d=[[1.0, 2.0], [3.0, 4.0]], s=[[1], [2, 3]], r=[[b"a"], [], [b"b", b"c"]],
                    p=[[1, 2, 3], [4]], q=[[1, 2], [1]]),
           sequence({"id": [2]}, r=[[b"d"]]),
           sequence({"id": [3]}, d=[[5.0, 6.0]], s=[[], [], [4]], r=[], p=[[5, 6]], q=[[0, 2]])]
context = {"id": io.FixedLenFeature([], tf.int64)}
lists = {"d": io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True), "s": io.VarLenFeature(tf.int64),
         "r": R(tf.string, row_splits_dtype=tf.int64),
         "p": R(tf.int64, "p", [R.RowLengths("q")], tf.int64, validate=True)}
for r in records:
    c, l = io.parse_single_sequence_example(r, context, lists)
    print("   ", show(c["id"]), *("%s=%s" % (k, show(l[k])) for k in sorted(l)))
c, l, n = io.parse_sequence_example(records, context, lists)
print("   ", show(c["id"]), *("%s=%s" % (k, show(l[k])) for k in sorted(l)), *("%s: %s" % (k, show(n[k])) for k in sorted(n)))
bad = [sequence({"id": [1]}, p=[[1, 2], [3]], q=[[2]])]
print("   ", attempt(lambda: str(io.parse_sequence_example(bad, None, {"p": lists["p"]}))))
print("   ", attempt(lambda: str(io.parse_sequence_example(
    [sequence({}, d=[[1.0]])], None, {"d": io.FixedLenSequenceFeature([2], tf.float32)}))))
print("   ", attempt(lambda: str(io.parse_sequence_example(
    [sequence({})], None, {"d": io.FixedLenSequenceFeature([2], tf.float32)}))))
