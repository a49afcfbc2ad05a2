/* build.h - internal. Builders of the ops that have no place in lockstep/ops.h, and the attributes of the ops.
 *
 * Declared here, below the graph, because gradient rules build with them; implemented in src/graph/build_*.c.
 */
#ifndef LKS_OPS_BUILD_H
#define LKS_OPS_BUILD_H

#include "op.h"

/* Uniform [0, 1) float32 of the batched row shape, from (seed, step, example, stream). */
lks_node lks__graph_uniform(lks_graph *g, lks_shape row, uint32_t stream);

/* Axes as a bit mask: bit i = axis i of the row (the batch axis does not count). */

/* The sum over the batch, and over `axes` of the row, of a batched value: shared, reduced axes removed. `local`: over the
 * replica's own examples only. */
lks_node lks__graph_batch_sum(lks_node x, uint32_t axes, bool local);
lks_node lks__graph_batch_max(lks_node x, uint32_t axes);
/* Within a row (or a shared value). keep: reduced axes stay as size 1. */
lks_node lks__graph_reduce_sum(lks_node x, uint32_t axes, bool keep);
lks_node lks__graph_reduce_max(lks_node x, uint32_t axes, bool keep);
/* d, of the type of x or of a broadcast of it, brought to the type of x: sums over what was broadcast. */
lks_node lks__graph_unbroadcast(lks_node d, lks_node x);
/* x broadcast to the given type (adds the batch axis too if type.batched). */
lks_node lks__graph_broadcast(lks_node x, lks_type type);
/* The mean of a per-replica value over the replicas: shared and equal everywhere. */
lks_node lks__graph_replica_mean(lks_node x);

/* (..., k) x (k, m) -> (..., m), or with transposed: (..., m) x (k, m) -> (..., k). b is shared, rank 2. */
lks_node lks__graph_matmul(lks_node a, lks_node b, bool transposed);
/* Sum over the batch and all leading axes of a (..., k) and d (..., m): (k, m). */
lks_node lks__graph_matmul_filter(lks_node a, lks_node d);

/* Convolution and pooling. Data are channels-last rows (H, W, C). */
typedef struct lks_conv_attrs {
    int64_t kernel[2], stride[2], dilation[2];
    int64_t before[2]; /* padding at the top and left; the rest follows from in and out */
    int64_t groups;
    int64_t in[2], out[2]; /* spatial sizes of the forward convolution's input and output */
} lks_conv_attrs;

/* y = conv(x (in,in,Cin), w (kh,kw,Cin/groups,Cout)): correlation; taps outside the input are skipped. */
lks_node lks__graph_conv2d(lks_node x, lks_node w, const lks_conv_attrs *a);
/* The gradient of conv2d for its input: (out,out,Cout), w -> (in,in,Cin); also the transposed convolution. */
lks_node lks__graph_conv2d_input(lks_node d, lks_node w, const lks_conv_attrs *a);
/* The gradient for the kernel, x (in,in,Cin), d (out,out,Cout) -> (kh,kw,Cin/groups,Cout): sum over the batch. */
lks_node lks__graph_conv2d_filter(lks_node x, lks_node d, const lks_conv_attrs *a);

typedef struct lks_pool_attrs {
    int64_t size[2], stride[2], before[2], in[2], out[2];
} lks_pool_attrs;
lks_node lks__graph_pool_max(lks_node x, const lks_pool_attrs *a); /* taps outside are skipped; NaN passes on */
lks_node lks__graph_pool_sum(lks_node x, const lks_pool_attrs *a);

/* (y, d) -> d where y > 0, else 0. */
lks_node lks__graph_relu_grad(lks_node y, lks_node d);
/* The gradients of the two poolings for their input: of d (out,out,C), and for the maximum of x (in,in,C). */
lks_node lks__graph_pool_max_grad(lks_node x, lks_node d, const lks_pool_attrs *a);
lks_node lks__graph_pool_sum_grad(lks_node d, const lks_pool_attrs *a);
/* An op of one input with attributes. */
lks_node lks__graph_unary(const lks_op *op, const void *attrs, lks_node x);

/* ---- attributes ---- (the sources input, variable, constant and batch_size, and broadcast: a lks_type; reshape: a
 * lks_shape; cast: a lks_dtype; arange: an int64_t; argmax and concatenate: an int64_t axis of the row) */

typedef struct lks_reduce_attrs { /* reduce_sum, reduce_max */
    uint32_t axes;
    bool keep;
} lks_reduce_attrs;

typedef struct lks_batch_attrs { /* batch_sum, batch_max */
    uint32_t axes;
    bool local;
} lks_batch_attrs;

typedef struct lks_uniform_attrs {
    uint32_t stream;
    lks_shape shape;
} lks_uniform_attrs;

typedef struct lks_pad_attrs { /* of each axis of the row; interior: between neighbours */
    int64_t before[LKS_MAX_RANK], after[LKS_MAX_RANK], interior[LKS_MAX_RANK];
    double value;
} lks_pad_attrs;

typedef struct lks_slice_attrs {
    int64_t axis, begin, end, step;
} lks_slice_attrs;

typedef struct lks_transpose_attrs { /* axis i of the output is axis perm[i] of the input */
    int64_t perm[LKS_MAX_RANK];
} lks_transpose_attrs;

#endif
