"""JAX: one compiled function for a whole epoch (lax.scan over the batches), its fastest form here. MNIST workloads and matmul."""
import os
import peer

o = peer.options()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={str(o.threads > 1).lower()} intra_op_parallelism_threads={o.threads}"
import functools
import time
import jax
import jax.numpy as jnp
import numpy as np

LAYOUT = ("NHWC", "HWIO", "NHWC")


def shapes():
    if o.kind == "cnn":
        f, (rows, columns) = o.filters[0], o.pictures
        return [(3, 3, 1, f), (f * rows * columns, 10)]
    if o.kind == "ae":
        a, b = o.filters
        return [(3, 3, 1, a), (3, 3, a, b), (3, 3, b, b), (3, 3, b, a), (3, 3, a, 1)]
    widths = (784, *o.filters, 10)
    return list(zip(widths, widths[1:]))


def initial(key):
    keys = jax.random.split(key, len(shapes()))
    kernels = [jax.nn.initializers.glorot_uniform()(k, s, jnp.float32) for k, s in zip(keys, shapes())]
    return [(w, jnp.zeros(w.shape[-1])) for w in kernels]


def conv(x, wb, stride=1):
    return jax.lax.conv_general_dilated(x, wb[0], (stride, stride), "SAME", dimension_numbers=LAYOUT) + wb[1]


def grow(x, wb):
    return jax.lax.conv_transpose(x, wb[0], (2, 2), "SAME", dimension_numbers=LAYOUT) + wb[1]


def outputs(p, x):
    relu = jax.nn.relu
    if o.kind == "cnn":
        return relu(conv(x, p[0])).reshape(len(x), -1) @ p[1][0] + p[1][1]
    if o.kind == "mlp":
        x = x.reshape(len(x), -1)
        for w, b in p[:-1]:
            x = relu(x @ w + b)
        return x @ p[-1][0] + p[-1][1]
    h = relu(conv(relu(conv(x, p[0], 2)), p[1], 2))
    return jax.nn.sigmoid(conv(relu(grow(relu(grow(h, p[2])), p[3])), p[4]))


def loss_of(p, x, labels):
    y = outputs(p, x)
    if o.kind == "ae":
        return jnp.square(y - x).mean()
    return -jnp.take_along_axis(jax.nn.log_softmax(y), labels[:, None], 1).mean()


def step(images, labels, state, rows):
    p, m, v, t = state
    value, g = jax.value_and_grad(loss_of)(p, images[rows].astype(jnp.float32) / 255, labels[rows])
    t = t + 1
    m = jax.tree.map(lambda a, b: a + 0.1 * (b - a), m, g)
    v = jax.tree.map(lambda a, b: a + 0.001 * (b * b - a), v, g)
    rate = 0.001 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    p = jax.tree.map(lambda w, a, b: w - rate * a / (jnp.sqrt(b) + 1e-7), p, m, v)
    return (p, m, v, t), value


def train():
    images, labels = peer.mnist(o)
    images, labels = jnp.asarray(images), jnp.asarray(labels.astype(np.int32))
    whole = jax.jit(lambda state, order: jax.lax.scan(functools.partial(step, images, labels), state, order), donate_argnums=0)
    weights, draw = initial(jax.random.key(0)), np.random.default_rng(0)
    state = [(weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), jnp.float32(0))]
    first_step = peer.FirstStep()

    def epoch():
        began = time.perf_counter()
        order = draw.permutation(o.limit)[:o.steps * o.batch].reshape(-1, o.batch)
        state[0], values = whole(state[0], order)
        loss = float(values.mean())
        first_step.mark() # a whole epoch is one call
        return time.perf_counter() - began, loss

    return epoch, first_step


def predict():
    weights, x = initial(jax.random.key(0)), jnp.asarray(peer.one_picture(o))
    call = jax.jit(outputs)
    return lambda: (peer.calls(lambda: np.asarray(call(weights, x))), None), None


def matmul():
    w, x, b = map(jnp.asarray, peer.matmul_operands())
    call = jax.jit(lambda w, x, b: jnp.matmul(w, x) + b)
    return lambda: (peer.calls(lambda: call(w, x, b).block_until_ready()), None), None


work, first_step = matmul() if o.kind == "matmul" else predict() if o.predict else train()
peer.serve(o, "JAX", work, first_step)
