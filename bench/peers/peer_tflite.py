"""TFLite with its XNNPACK kernels: single predictions of the network that Keras converts."""
import peer

o = peer.options()
import os
import subprocess
import sys
import tempfile

CONVERT = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[1:]
path = sys.argv.pop()
import peer
peer.serve = lambda *a: None
peer.calls = lambda f: 0
import tensorflow as tf, peer_tensorflow as t
open(path, "wb").write(tf.lite.TFLiteConverter.from_keras_model(t.build()).convert())
"""


def converted():
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(tempfile.mkdtemp(), "net.tflite")
    done = subprocess.run([sys.executable, "-c", CONVERT, folder, o.workload, "--predict", path], capture_output=True, text=True)
    if not os.path.exists(path):
        sys.exit(f"peer_tflite.py: no conversion: {done.stderr.strip()[-800:]}")
    return path


path = converted()
try:
    from ai_edge_litert.interpreter import Interpreter
except ImportError:
    import tensorflow
    Interpreter = tensorflow.lite.Interpreter
interpreter = Interpreter(model_path=path, num_threads=o.threads)
interpreter.allocate_tensors()
x = peer.one_picture(o)
here, there = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]


def call():
    interpreter.set_tensor(here, x)
    interpreter.invoke()
    return interpreter.get_tensor(there)


peer.serve(o, "TFLite, XNNPACK", lambda: (peer.calls(call), None))
