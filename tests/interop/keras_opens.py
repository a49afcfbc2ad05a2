"""The other half of models.c: real Keras opens our archives, must predict the same, and goes on training with our optimizer state.

    python keras_opens.py DIR
"""
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import keras
import numpy as np

ALLOWED = {"batchnorm": 1e-4}  # statistics over small batches amplify rounding
bad = 0


def report(what, difference, allowed):
    global bad
    ok = difference <= allowed
    bad += not ok
    print(f"{what}: {difference:.2g}{'' if ok else f', allowed are {allowed:.2g}: FAILED'}")


def arrays(npz, letter):
    return [npz[k] for k in sorted(npz.files) if k[0] == letter and k[1:].isdigit()]


def check(folder, name):
    model = keras.saving.load_model(os.path.join(folder, name + ".keras"))
    npz = np.load(os.path.join(folder, name + ".npz"))
    x, targets, outputs, after = (arrays(npz, letter) for letter in "xtyn")
    single = lambda items: items[0] if len(items) == 1 else items

    report(f"{name}: steps taken before it was saved, off by", abs(int(model.optimizer.iterations) - 3), 0)
    for i, (got, want) in enumerate(zip(keras.tree.flatten(model.predict(single(x), verbose=0)), outputs)):
        report(f"{name}: output {i}, difference over the largest value", np.abs(got - want).max() / np.abs(want).max(), 1e-6)
    model.save(os.path.join(folder, name + "_keras.keras"))
    if name == "chain":
        return  # its dropout draws other numbers
    model.train_on_batch(single(x), single(targets))
    worst = max(np.abs(np.asarray(w) - want).max() for w, want in zip(model.weights, after))
    report(f"{name}: weights after one more step, largest difference", worst, ALLOWED.get(name, 1e-6))


print("Keras", keras.__version__, "on", keras.backend.backend())
for file in sorted(os.listdir(sys.argv[1])):
    if file.endswith(".keras") and not file.endswith("_keras.keras"):
        check(sys.argv[1], file[:-len(".keras")])
sys.exit(bad > 0)
