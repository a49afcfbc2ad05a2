"""tf.keras: model.fit over a tf.data pipeline that works on whole batches. --compiled: XLA."""
import peer

o = peer.options()
import os
import time

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(o.threads)
tf.config.threading.set_inter_op_parallelism_threads(o.threads)
layer = keras.layers


def cnn():
    return [layer.Conv2D(o.filters[0], 3, padding="same", activation="relu"), layer.Flatten(),
            layer.Dense(10, activation="softmax")]


def ae():
    half = {"kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}
    a, b = o.filters
    return [layer.Conv2D(a, **half), layer.Conv2D(b, **half), layer.Conv2DTranspose(b, **half),
            layer.Conv2DTranspose(a, **half), layer.Conv2D(1, 3, padding="same", activation="sigmoid")]


def mlp():
    return [layer.Flatten()] + [layer.Dense(n, activation="relu") for n in o.filters] + [layer.Dense(10, activation="softmax")]


def mobilenet():
    base = keras.applications.MobileNetV2(input_shape=(*o.pictures, 3), include_top=False, weights=None)
    base.trainable = o.kind != "frozen"
    x = layer.GlobalAveragePooling2D()(base.output)
    if o.kind == "frozen":
        x = layer.Dropout(0.5)(layer.Dense(512, activation="relu")(x))
    return keras.Model(base.input, layer.Dense(1)(x))


def build():
    if o.kind in ("mobilenet", "frozen"):
        return mobilenet()
    return keras.Sequential([keras.Input((*o.pictures, 1))] + {"cnn": cnn, "ae": ae, "mlp": mlp}[o.kind]())


def prepared(images, labels):
    x = tf.cast(images, tf.float32) / 255.0
    return x, (x if o.kind == "ae" else tf.one_hot(labels, 10))


def dataset():
    if o.kind in ("mobilenet", "frozen"):
        return tf.data.Dataset.from_tensor_slices(peer.photos(o)).batch(o.batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    data = tf.data.Dataset.from_tensor_slices(peer.mnist(o)).cache().shuffle(10000)
    return data.batch(o.batch, drop_remainder=True).map(prepared, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


class Watch(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.first_step = peer.FirstStep()

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.seconds = time.perf_counter() - self.began


class WatchStart(Watch): # a callback at every step costs time: only where the first step is asked for
    def on_train_batch_end(self, step, logs=None):
        self.first_step.mark()


def train():
    losses = {"ae": "mse", "mobilenet": keras.losses.BinaryCrossentropy(from_logits=True)}
    losses["frozen"] = losses["mobilenet"]
    data, model = dataset(), build()
    model.compile("adam", losses.get(o.kind, "categorical_crossentropy"), jit_compile=o.compiled)
    watch = [WatchStart()]

    def epoch():
        history = model.fit(data, shuffle=False, verbose=0, callbacks=watch)
        seconds, watch[0] = watch[0].seconds, Watch()
        return seconds, history.history["loss"][-1]

    return epoch, watch[0].first_step


def predict():
    model, x = build(), tf.constant(peer.one_picture(o))
    call = tf.function(lambda x: model(x, training=False), jit_compile=o.compiled, autograph=False).get_concrete_function(x)
    return lambda: (peer.calls(lambda: tf.nest.flatten(call(x))[0].numpy()), None), None


def matmul():
    w, x, b = map(tf.constant, peer.matmul_operands())
    step = tf.function(lambda w, x, b: tf.matmul(w, x) + b, jit_compile=o.compiled)
    return lambda: (peer.calls(lambda: step(w, x, b)), None), None


work, first_step = matmul() if o.kind == "matmul" else predict() if o.predict else train()
peer.serve(o, "tf.keras, XLA" if o.compiled else "tf.keras", work, first_step)
