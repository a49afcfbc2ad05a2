"""tf.keras: model.fit over a tf.data pipeline that works on whole batches. --compiled: XLA."""
import peer

o = peer.options()
import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(o.threads)
tf.config.threading.set_inter_op_parallelism_threads(o.threads)
layer = keras.layers


def cnn():
    return [layer.Conv2D(8, 3, padding="same", activation="relu"), layer.Flatten(), layer.Dense(10, activation="softmax")]


def ae():
    half = {"kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}
    return [layer.Conv2D(16, **half), layer.Conv2D(8, **half), layer.Conv2DTranspose(8, **half),
            layer.Conv2DTranspose(16, **half), layer.Conv2D(1, 3, padding="same", activation="sigmoid")]


def prepared(images, labels):
    x = tf.cast(images, tf.float32) / 255.0
    return x, (tf.one_hot(labels, 10) if o.workload == "cnn" else x)


class Watch(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.epochs = peer.Epochs()

    def on_epoch_begin(self, epoch, logs=None):
        self.epochs.begin()

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.end()


data = tf.data.Dataset.from_tensor_slices(peer.mnist(o)).cache().shuffle(10000)
data = data.batch(o.batch, drop_remainder=True).map(prepared, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.Input((28, 28, 1))] + (cnn() if o.workload == "cnn" else ae()))
model.compile("adam", "categorical_crossentropy" if o.workload == "cnn" else "mse", jit_compile=o.compiled)
watch = Watch()
history = model.fit(data, epochs=o.epochs, shuffle=False, verbose=0, callbacks=[watch])
watch.epochs.report(o, "tf.keras, XLA" if o.compiled else "tf.keras", history.history["loss"][-1])
