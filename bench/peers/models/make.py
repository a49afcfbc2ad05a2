"""Writes the models of the changed rows as Keras' to_json gives them. Run with the environment that has Keras: python make.py"""
import os
import pathlib

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

layer, here = keras.layers, pathlib.Path(__file__).resolve().parent


def cnn2():
    return [keras.Input((26, 30, 1)), layer.Conv2D(12, 3, padding="same", activation="relu"), layer.Flatten(),
            layer.Dense(10, activation="softmax")], "categorical_crossentropy"


def ae2():
    half = {"kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}
    return [keras.Input((28, 28, 1)), layer.Conv2D(24, **half), layer.Conv2D(12, **half), layer.Conv2DTranspose(12, **half),
            layer.Conv2DTranspose(24, **half), layer.Conv2D(1, 3, padding="same", activation="sigmoid")], "mse"


def mlp():
    return [keras.Input((784,)), layer.Dense(4096, activation="relu"), layer.Dense(4096, activation="relu"),
            layer.Dense(10, activation="softmax")], "categorical_crossentropy"


for make in (cnn2, ae2, mlp):
    layers, loss = make()
    model = keras.Sequential(layers, name=make.__name__)
    model.compile("adam", loss)
    (here / f"{make.__name__}.json").write_text(model.to_json() + "\n")
