/* build_linear.c - matrix products, convolution, pooling. */
#include "graph/build.h"

static lks_node pair(const lks_op *op, const void *attrs, lks_node a, lks_node b)
{
    lks_node in[2] = { lks__build_float(a), lks__build_float(b) };

    if (!lks__build_usable(2, in)) return lks__build_refuse(op, 2, in);
    return lks__node_create(a.graph, op, attrs, 2, in);
}

lks_node lks__graph_matmul(lks_node a, lks_node b, bool transposed)
{
    return pair(&lks__op_matmul, &transposed, a, b);
}

lks_node lks_ops_matmul(lks_node a, lks_node b)
{
    return lks__graph_matmul(a, b, false);
}

/* (..., k) as a matrix of all positions. */
static lks_node flat_rows(lks_node x)
{
    const lks_shape *s = &lks__node_type(x)->shape;
    int64_t last = s->rank > 0 ? s->dim[s->rank - 1] : 1, rows = 1;

    for (int64_t i = 0; i < s->rank - 1; i++) rows *= s->dim[i];
    return lks__build_reshape(x, (lks_shape){ 2, { rows, last } });
}

/* Of shared values it is a product of two matrices; a shared value beside a batched one is repeated for each example. */
lks_node lks__graph_matmul_filter(lks_node a, lks_node d)
{
    lks_node in[2] = { a, d };
    const lks_transpose_attrs swap = { { 1, 0 } };

    if (!lks__build_usable(2, in)) return lks__build_refuse(&lks__op_matmul_filter, 2, in);
    if (!lks__node_type(a)->batched && !lks__node_type(d)->batched)
        return lks__graph_matmul(lks__graph_unary(&lks__op_transpose, &swap, flat_rows(a)), flat_rows(d), false);
    for (int i = 0; i < 2; i++) {
        lks_type t = *lks__node_type(in[i]);
        t.batched = true;
        in[i] = lks__graph_broadcast(in[i], t);
    }
    return pair(&lks__op_matmul_filter, NULL, in[0], in[1]);
}

/* Zeros around x are taps outside of what they surround: true if x is such a pad, *inner the image in it. */
static bool is_zero_frame(lks_node x, lks_node *inner, const lks_pad_attrs **pad)
{
    const lks_graph_node *n;

    if (!lks__node_ok(x)) return false;
    n = lks__node_at(x);
    if (n->op != &lks__op_pad || n->type.shape.rank != 3) return false;
    *pad = n->attrs;
    *inner = (lks_node){ x.graph, n->in[0] };
    return (*pad)->value == 0 && (*pad)->before[2] == 0 && (*pad)->after[2] == 0 && (*pad)->interior[0] == 0 &&
           (*pad)->interior[1] == 0 && (*pad)->interior[2] == 0;
}

lks_node lks__graph_conv2d(lks_node x, lks_node w, const lks_conv_attrs *a)
{
    lks_conv_attrs inner = *a;
    const lks_pad_attrs *pad;
    lks_node image;

    if (!is_zero_frame(x, &image, &pad)) return pair(&lks__op_conv2d, a, x, w);
    for (int i = 0; i < 2; i++) {
        inner.before[i] += pad->before[i];
        inner.in[i] -= pad->before[i] + pad->after[i];
    }
    return pair(&lks__op_conv2d, &inner, image, w);
}

lks_node lks__graph_conv2d_input(lks_node d, lks_node w, const lks_conv_attrs *a)
{
    return pair(&lks__op_conv2d_input, a, d, w);
}

lks_node lks__graph_conv2d_filter(lks_node x, lks_node d, const lks_conv_attrs *a)
{
    return pair(&lks__op_conv2d_filter, a, x, d);
}

lks_node lks__graph_pool_max(lks_node x, const lks_pool_attrs *a)
{
    return lks__graph_unary(&lks__op_pool_max, a, lks__build_float(x));
}

lks_node lks__graph_pool_sum(lks_node x, const lks_pool_attrs *a)
{
    return lks__graph_unary(&lks__op_pool_sum, a, lks__build_float(x));
}

lks_node lks__graph_pool_max_grad(lks_node x, lks_node d, const lks_pool_attrs *a)
{
    return pair(&lks__op_pool_max_grad, a, x, d);
}

lks_node lks__graph_pool_sum_grad(lks_node d, const lks_pool_attrs *a)
{
    return lks__graph_unary(&lks__op_pool_sum_grad, a, d);
}
