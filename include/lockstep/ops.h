/* ops.h - graph-building operations for own losses, metrics, layers and activations.
 *
 * Each call adds a node to the graph that its inputs belong to and returns the node's handle. Nothing is computed
 * yet: the graph is compiled with the model's training step, so whatever is written with these gets gradients,
 * fusion, every strategy and every backend. Errors stick: an operation on a failed node gives a failed node, and the first
 * action (lks_fit, ...) reports the first cause.
 *
 * Axes count as in Keras: axis 0 of a value that carries the batch is the batch; negative axes count from the
 * end. Shapes broadcast as in NumPy. Arithmetic is float32 unless both sides are int32. Names are those of keras.ops.
 */
#ifndef LOCKSTEP_OPS_H
#define LOCKSTEP_OPS_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_graph lks_graph;

/* A plain handle, used as often as wanted; the graph owns what it names. `graph` is NULL and id negative for a failed or
 * absent node. */
typedef struct lks_node {
    lks_graph *graph;
    int64_t id;
} lks_node;

/* ---- values ---- */

/* The number as a shared float32 scalar of the graph that `like` belongs to. */
LKS_API lks_node lks_ops_number(lks_node like, double value);
/* A constant tensor (float32, int32 or bool), without a batch axis. Copies the data. */
LKS_API lks_node lks_ops_constant(lks_node like, const lks_tensor *value);
/* 0, 1, ..., n - 1 as int32. */
LKS_API lks_node lks_ops_arange(lks_node like, int64_t n);
/* Examples in the global batch, as a float32 scalar. */
LKS_API lks_node lks_ops_batch_size(lks_node like);
/* A value of the batched shape of `like`, every element `value`. */
LKS_API lks_node lks_ops_full_like(lks_node like, double value);

/* Shape as lks_ops sees it: with the batch axis as -1 where the value carries the batch. rank -1 for a failed node. */
LKS_API lks_shape lks_node_shape(lks_node node);
LKS_API lks_dtype lks_node_dtype(lks_node node);

/* ---- elementwise ---- */
LKS_API lks_node lks_ops_add(lks_node a, lks_node b);
LKS_API lks_node lks_ops_subtract(lks_node a, lks_node b);
LKS_API lks_node lks_ops_multiply(lks_node a, lks_node b);
LKS_API lks_node lks_ops_divide(lks_node a, lks_node b);
LKS_API lks_node lks_ops_maximum(lks_node a, lks_node b); /* NaN passes on; equal operands: gradient to a */
LKS_API lks_node lks_ops_minimum(lks_node a, lks_node b);
LKS_API lks_node lks_ops_power(lks_node a, lks_node b);

/* Of each element, as keras.ops has them. */
LKS_API lks_node lks_ops_negative(lks_node x);
LKS_API lks_node lks_ops_abs(lks_node x);
LKS_API lks_node lks_ops_sign(lks_node x);
LKS_API lks_node lks_ops_square(lks_node x);
LKS_API lks_node lks_ops_sqrt(lks_node x);
LKS_API lks_node lks_ops_rsqrt(lks_node x);
LKS_API lks_node lks_ops_exp(lks_node x);
LKS_API lks_node lks_ops_log(lks_node x);
LKS_API lks_node lks_ops_log1p(lks_node x);
LKS_API lks_node lks_ops_expm1(lks_node x);
LKS_API lks_node lks_ops_tanh(lks_node x);
LKS_API lks_node lks_ops_sigmoid(lks_node x);
LKS_API lks_node lks_ops_softplus(lks_node x);
LKS_API lks_node lks_ops_erf(lks_node x);
LKS_API lks_node lks_ops_erfc(lks_node x); /* 1 - erf(x), exact where that is small */
LKS_API lks_node lks_ops_sin(lks_node x);
LKS_API lks_node lks_ops_cos(lks_node x);
LKS_API lks_node lks_ops_floor(lks_node x);
LKS_API lks_node lks_ops_round(lks_node x);                         /* half to even */
LKS_API lks_node lks_ops_relu(lks_node x);                          /* gradient 0 at 0 */
LKS_API lks_node lks_ops_clip(lks_node x, double low, double high); /* gradient 1 on the closed interval */

/* Conversions, comparisons, logic and choice, as keras.ops has them. */
LKS_API lks_node lks_ops_cast(lks_node x, lks_dtype dtype);
LKS_API lks_node lks_ops_equal(lks_node a, lks_node b); /* comparisons give bool */
LKS_API lks_node lks_ops_not_equal(lks_node a, lks_node b);
LKS_API lks_node lks_ops_less(lks_node a, lks_node b);
LKS_API lks_node lks_ops_less_equal(lks_node a, lks_node b);
LKS_API lks_node lks_ops_greater(lks_node a, lks_node b);
LKS_API lks_node lks_ops_greater_equal(lks_node a, lks_node b);
LKS_API lks_node lks_ops_logical_and(lks_node a, lks_node b);
LKS_API lks_node lks_ops_logical_or(lks_node a, lks_node b);
LKS_API lks_node lks_ops_logical_not(lks_node a);
LKS_API lks_node lks_ops_isfinite(lks_node x);
LKS_API lks_node lks_ops_where(lks_node condition, lks_node a, lks_node b);
LKS_API lks_node lks_ops_stop_gradient(lks_node x);

/* ---- reductions ----
 * `axes` is a list of n_axes axes; n_axes = 0 means all of them, the batch included. Reducing the batch axis gives a shared
 * value over the whole global batch; mean divides by the exact number of elements. */
LKS_API lks_node lks_ops_sum(lks_node x, size_t n_axes, const int64_t *axes, int keepdims);
LKS_API lks_node lks_ops_mean(lks_node x, size_t n_axes, const int64_t *axes, int keepdims);
LKS_API lks_node lks_ops_max(lks_node x, size_t n_axes, const int64_t *axes, int keepdims);
LKS_API lks_node lks_ops_min(lks_node x, size_t n_axes, const int64_t *axes, int keepdims);
LKS_API lks_node lks_ops_argmax(lks_node x, int64_t axis); /* int32; the first of equals; not over the batch */
LKS_API lks_node lks_ops_logsumexp(lks_node x, int64_t axis, int keepdims);
LKS_API lks_node lks_ops_softmax(lks_node x, int64_t axis);
LKS_API lks_node lks_ops_log_softmax(lks_node x, int64_t axis);

/* ---- shape ---- (target shapes leave the batch axis out where the value carries it) */
LKS_API lks_node lks_ops_reshape(lks_node x, lks_shape shape);
LKS_API lks_node lks_ops_expand_dims(lks_node x, int64_t axis);
LKS_API lks_node lks_ops_squeeze(lks_node x, int64_t axis);
LKS_API lks_node lks_ops_transpose(lks_node x, size_t n_axes,
                                   const int64_t *axes); /* axis 0 stays where it is the batch */
LKS_API lks_node lks_ops_concatenate(size_t n, const lks_node *x, int64_t axis); /* not along the batch */
LKS_API lks_node lks_ops_pad(lks_node x, size_t n_axes, const int64_t (*before_after)[2], double value);
LKS_API lks_node lks_ops_slice(lks_node x, int64_t axis, int64_t begin, int64_t end, int64_t step);
LKS_API lks_node lks_ops_broadcast_like(lks_node x, lks_node like);
LKS_API lks_node lks_ops_one_hot(lks_node labels, int64_t n_classes); /* int32 labels to float32 */

/* ---- linear algebra ---- */
/* (..., k) x (k, m): `b` is shared and of rank 2. */
LKS_API lks_node lks_ops_matmul(lks_node a, lks_node b);

#ifdef __cplusplus
}
#endif
#endif
