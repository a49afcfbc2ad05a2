"""JAX: one compiled function for a whole epoch (lax.scan over the batches), its fastest form here."""
import os
import peer

o = peer.options()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={str(o.threads > 1).lower()} intra_op_parallelism_threads={o.threads}"
import functools
import jax
import jax.numpy as jnp
import numpy as np

LAYOUT = ("NHWC", "HWIO", "NHWC")
SHAPES = {"cnn": [(3, 3, 1, 8), (6272, 10)],
          "ae": [(3, 3, 1, 16), (3, 3, 16, 8), (3, 3, 8, 8), (3, 3, 8, 16), (3, 3, 16, 1)]}[o.workload]


def initial(key):
    keys = jax.random.split(key, len(SHAPES))
    kernels = [jax.nn.initializers.glorot_uniform()(k, s, jnp.float32) for k, s in zip(keys, SHAPES)]
    return [(w, jnp.zeros(w.shape[-1])) for w in kernels]


def conv(x, wb, stride=1):
    return jax.lax.conv_general_dilated(x, wb[0], (stride, stride), "SAME", dimension_numbers=LAYOUT) + wb[1]


def grow(x, wb):
    return jax.lax.conv_transpose(x, wb[0], (2, 2), "SAME", dimension_numbers=LAYOUT) + wb[1]


def loss_of(p, x, labels):
    relu = jax.nn.relu
    if o.workload == "cnn":
        logits = relu(conv(x, p[0])).reshape(len(x), -1) @ p[1][0] + p[1][1]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()
    h = relu(conv(relu(conv(x, p[0], 2)), p[1], 2))
    y = jax.nn.sigmoid(conv(relu(grow(relu(grow(h, p[2])), p[3])), p[4]))
    return jnp.square(y - x).mean()


def step(images, labels, state, rows):
    p, m, v, t = state
    value, g = jax.value_and_grad(loss_of)(p, images[rows].astype(jnp.float32) / 255, labels[rows])
    t = t + 1
    m = jax.tree.map(lambda a, b: a + 0.1 * (b - a), m, g)
    v = jax.tree.map(lambda a, b: a + 0.001 * (b * b - a), v, g)
    rate = 0.001 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    p = jax.tree.map(lambda w, a, b: w - rate * a / (jnp.sqrt(b) + 1e-7), p, m, v)
    return (p, m, v, t), value


images, labels = peer.mnist(o)
images, labels = jnp.asarray(images), jnp.asarray(labels.astype(np.int32))
whole_epoch = jax.jit(lambda state, order: jax.lax.scan(functools.partial(step, images, labels), state, order), donate_argnums=0)
weights = initial(jax.random.key(0))
state = (weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), jnp.float32(0))
draw, used, epochs = np.random.default_rng(0), o.limit // o.batch * o.batch, peer.Epochs()
for _ in range(o.epochs):
    epochs.begin()
    state, values = whole_epoch(state, draw.permutation(o.limit)[:used].reshape(-1, o.batch))
    loss = float(values.mean())
    epochs.end()
epochs.report(o, "JAX", loss)
