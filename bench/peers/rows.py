"""The rows of the table: what is measured, with which of our commands, against whom, and what is to be reached."""
import collections

Row = collections.namedtuple("Row", "title kind workload model data limit epochs bar stretch peers slow", defaults=((),))

TF, XLA = ("tensorflow", "tf.keras", ()), ("tensorflow", "tf.keras, XLA", ("--compiled",))
TORCH, COMPILED = ("torch", "PyTorch", ()), ("torch", "PyTorch, compiled", ("--compiled",))
JAX, ONNX, TFLITE = ("jax", "JAX", ()), ("onnx", "ONNX Runtime", ()), ("tflite", "TFLite, XNNPACK", ())
MODULES = {"tensorflow": ("tensorflow", "keras"), "torch": ("torch",), "jax": ("jax",),
           "onnx": ("onnxruntime", "torch"), "tflite": ("tensorflow",)}
USUAL, CALLS = (TF, TORCH, COMPILED), (TF, XLA, TORCH, COMPILED, ONNX, TFLITE)

# bar, stretch: how many times the fastest other's speed (memory: the leanest other's share).
# limit: training images an epoch; of the slow rows few, since only ratios count. slow: peers far behind, measured with --all only.
ROWS = {
    "cnn": Row("MNIST CNN, batch 256, epoch", "train", "cnn", "builtin:mnist_cnn", "mnist", 60000, 3, 5, 10,
               (TF, XLA, TORCH, COMPILED), (JAX,)),
    "ae": Row("MNIST autoencoder, batch 128, epoch", "train", "ae", "builtin:mnist_autoencoder", "mnist", 6400, 5, 5, 10, USUAL,
              (XLA, JAX)),
    "mobilenet": Row("MobileNetV2 160x160, batch 16, all trained", "train", "mobilenet", "made:mobilenet.json", "random:48",
                     48, 3, 1.5, 2.5, USUAL, (XLA,)),
    "frozen": Row("MobileNetV2 frozen base + head", "train", "frozen", "made:frozen.json", "random:128", 128, 3, 1.5, 2, USUAL,
                  (XLA,)),
    "mlp": Row("MLP 784-4096-4096-10, batch 256", "train", "mlp", "mlp.json", "random:1280", 1280, 3, 1.1, None, USUAL,
               (XLA, JAX)),
    "matmul": Row("third tutorial's matmul", "matmul", "matmul", None, None, 1024, 1, 2, None, USUAL, (XLA, JAX)),
    "predict_cnn": Row("batch-1 predict, CNN", "predict", "cnn", "builtin:mnist_cnn", None, 1, 1, 1.5, None, CALLS, (JAX,)),
    "predict_mobilenet": Row("batch-1 predict, MobileNetV2", "predict", "mobilenet", "made:mobilenet.json", None, 1, 1, 1.5,
                             None, CALLS),
    "start": Row("process start to end of first step, MNIST CNN", "start", "cnn", "builtin:mnist_cnn", "mnist", 60000, 1, None,
                 None, (TF, TORCH), (JAX,)),
    "cnn2": Row("changed CNN: 12 filters, 26x30", "train", "cnn2", "cnn2.json", "random:30000", 30000, 3, 4, 10, USUAL,
                (XLA, JAX)),
    "ae2": Row("changed autoencoder: 24 and 12 filters", "train", "ae2", "ae2.json", "mnist", 6400, 5, 4, 10, USUAL, (XLA, JAX)),
    "threads": Row("2 threads against 1", "threads", "cnn", None, None, 1, 4, 0.95, None, ()),
    "reproducible": Row("any_world against fastest", "worlds", "cnn", None, None, 1, 4, 1.05, None, ()),
}
# Peak memory comes with these rows: the bar is a share of the leanest other's.
MEMORY = {"cnn": 1 / 5, "ae": 1 / 5, "mobilenet": 1 / 3}
# Of "threads" and "reproducible": model, data, examples, batch.
OURS = (("builtin:mnist_cnn", "mnist", 30000, 256), ("builtin:mnist_autoencoder", "mnist", 6400, 128),
        ("mlp.json", "random:512", 512, 256), ("made:mobilenet.json", "random:48", 48, 16))
