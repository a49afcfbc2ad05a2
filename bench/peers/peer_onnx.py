"""ONNX Runtime: single predictions of the network that PyTorch exports."""
import peer

o = peer.options()
import os
import sys
import tempfile

EXPORT = """
import sys, warnings
warnings.filterwarnings("ignore")
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[1:]
path = sys.argv.pop()
import peer
peer.serve = lambda *a: None
peer.calls = lambda f: f()
import torch, peer_torch as t
torch.onnx.export(t.build().to(memory_format=torch.contiguous_format).eval(), torch.from_numpy(peer.one_picture(t.o)).permute(0, 3, 1, 2).contiguous(), path, dynamo=False)
"""


def exported():
    """In a process of its own: PyTorch's memory is not ONNX Runtime's."""
    import subprocess
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(tempfile.mkdtemp(), "net.onnx")
    done = subprocess.run([sys.executable, "-c", EXPORT, folder, o.workload, "--predict", path], capture_output=True, text=True)
    if not os.path.exists(path):
        sys.exit(f"peer_onnx.py: no export: {done.stderr.strip()[-800:]}")
    return path


import onnxruntime

path = exported()
settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads, settings.inter_op_num_threads = o.threads, 1
session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
x = peer.one_picture(o).transpose(0, 3, 1, 2).copy()
name = session.get_inputs()[0].name
peer.serve(o, "ONNX Runtime", lambda: (peer.calls(lambda: session.run(None, {name: x})), None))
