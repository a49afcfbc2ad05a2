"""Writes the models of the changed rows, and two of MobileNetV2's blocks for bench/compare, as Keras' to_json gives them.
Run with the environment that has Keras: python make.py"""
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


def normed(x, relu=True):
    x = layer.BatchNormalization(epsilon=1e-3, momentum=0.999)(x)
    return layer.ReLU(6.0)(x) if relu else x


def inverted(x, filters, stride):
    h = normed(layer.Conv2D(6 * x.shape[-1], 1, use_bias=False)(x))
    if stride == 2:
        h = layer.ZeroPadding2D(((0, 1), (0, 1)))(h)
    h = normed(layer.DepthwiseConv2D(3, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False)(h))
    h = normed(layer.Conv2D(filters, 1, use_bias=False)(h), relu=False)
    return layer.Add()([x, h]) if stride == 1 and x.shape[-1] == filters else h


def blocks():
    x = start = keras.Input((20, 20, 32))
    x = inverted(inverted(x, 32, 1), 64, 2)
    x = layer.Dense(1)(layer.GlobalAveragePooling2D()(x))
    return keras.Model(start, x, name="blocks"), keras.losses.BinaryCrossentropy(from_logits=True)


for make in (cnn2, ae2, mlp, blocks):
    layers, loss = make()
    model = layers if isinstance(layers, keras.Model) else keras.Sequential(layers, name=make.__name__)
    model.compile("adam", loss)
    (here / f"{make.__name__}.json").write_text(model.to_json() + "\n")
