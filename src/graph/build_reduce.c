/* build_reduce.c - sums, means, maxima, softmax. Reducing the batch axis gives a shared value over the whole global batch. */
#include "graph/build.h"

/* The same sum asked for before. */
static lks_node former_sum(lks_node x, const lks_batch_attrs *attrs)
{
    for (int64_t id = (int64_t)x.graph->n_nodes - 1; id > x.id; id--) {
        const lks_graph_node *n = x.graph->nodes[id];
        const lks_batch_attrs *have = n->attrs;
        if (n->op == &lks__op_batch_sum && n->in[0] == x.id && have->axes == attrs->axes && have->local == attrs->local)
            return (lks_node){ x.graph, id };
    }
    return lks__no_node;
}

/* Is v one number for all that is summed of a row x, in all replicas whose rows are summed? It multiplies the sum as well, then. */
static bool same_for_all(lks_node v, const lks_type *x, uint32_t axes, bool local)
{
    const lks_type *t = lks__node_type(v);
    int64_t last = x->shape.rank - 1;

    if (t->batched || t->shape.rank > 1 || (t->local && !local)) return false;
    return t->shape.rank == 0 ||
           (last >= 0 && (axes >> last & 1) == 0 && axes == (1u << last) - 1u && t->shape.dim[0] == x->shape.dim[last]);
}

/* Factors that all terms share are taken out of the sum: gradients of normalised values are full of them, and the terms need
 * not be computed then. */
lks_node lks__graph_batch_sum(lks_node x, uint32_t axes, bool local)
{
    lks_batch_attrs attrs = { .axes = axes, .local = local };
    const lks_graph_node *n;
    lks_node former, in[2];

    x = lks__build_float(x);
    if (!lks__build_usable(1, &x)) return lks__graph_unary(&lks__op_batch_sum, &attrs, x);
    n = lks__node_at(x);
    for (int k = 0; k < 2 && k < n->n_in; k++) in[k] = (lks_node){ x.graph, n->in[k] };
    if (n->op == &lks__op_negative && n->type.batched)
        return lks_ops_negative(lks__graph_batch_sum(in[0], axes, local));
    for (int k = 0; k < 2 && n->op == &lks__op_multiply && n->type.batched; k++)
        if (lks_shape_equal(&n->in_type[k]->shape, &n->type.shape) && n->in_type[k]->batched &&
            same_for_all(in[1 - k], &n->type, axes, local))
            return lks_ops_multiply(lks__graph_batch_sum(in[k], axes, local), in[1 - k]);
    former = former_sum(x, &attrs);
    return lks__node_ok(former) ? former : lks__graph_unary(&lks__op_batch_sum, &attrs, x);
}

lks_node lks__graph_batch_max(lks_node x, uint32_t axes)
{
    lks_batch_attrs attrs = { .axes = axes };

    return lks__graph_unary(&lks__op_batch_max, &attrs, lks__build_float(x));
}

static lks_node within_row(const lks_op *op, lks_node x, uint32_t axes, bool keep)
{
    lks_reduce_attrs attrs = { .axes = axes, .keep = keep };

    x = lks__build_float(x);
    if (axes == 0 && lks__build_usable(1, &x)) return x;
    return lks__graph_unary(op, &attrs, x);
}

lks_node lks__graph_reduce_sum(lks_node x, uint32_t axes, bool keep)
{
    return within_row(&lks__op_reduce_sum, x, axes, keep);
}

lks_node lks__graph_reduce_max(lks_node x, uint32_t axes, bool keep)
{
    return within_row(&lks__op_reduce_max, x, axes, keep);
}

/* ---- by the user's axes ---- */

typedef struct reduction {
    lks_node x;
    uint32_t axes;
    bool batch;
    lks_type type; /* of x */
} reduction;

/* False: `failed` is what to return. */
static bool start(const lks_op *op, lks_node x, size_t n_axes, const int64_t *axes, reduction *r, lks_node *failed)
{
    lks_status status;

    if (!lks__build_usable(1, &x)) {
        *failed = lks__build_refuse(op, 1, &x);
        return false;
    }
    r->x = x;
    r->type = *lks__node_type(x);
    status = lks__build_axes(op->name, x, n_axes, axes, &r->axes, &r->batch);
    if (status != LKS_OK) *failed = lks__node_fail(x.graph, status);
    return status == LKS_OK;
}

/* A value reduced over the batch, with size-1 axes for what was reduced: the first of them stands for the batch. */
static lks_node keep_batch(const reduction *r, lks_node y)
{
    lks_shape s = { .rank = r->type.shape.rank + 1, .dim = { 1 } };

    if (s.rank > LKS_MAX_RANK)
        return lks__node_fail(
            y.graph, lks__fail(LKS_E_LIMIT, "keepdims: the result would have more than %d axes", LKS_MAX_RANK));
    for (int i = 0; i < r->type.shape.rank; i++) s.dim[i + 1] = (r->axes >> i & 1) != 0 ? 1 : r->type.shape.dim[i];
    return lks__build_reshape(y, s);
}

static lks_node sum(const reduction *r, int keepdims)
{
    lks_node y;

    if (!r->batch) return lks__graph_reduce_sum(r->x, r->axes, keepdims != 0);
    y = lks__graph_batch_sum(r->x, r->axes, false);
    return keepdims ? keep_batch(r, y) : y;
}

static lks_node largest(const reduction *r, int keepdims)
{
    lks_node y;

    if (!r->batch) return lks__graph_reduce_max(r->x, r->axes, keepdims != 0);
    y = lks__graph_batch_max(r->x, r->axes);
    return keepdims ? keep_batch(r, y) : y;
}

lks_node lks_ops_sum(lks_node x, size_t n_axes, const int64_t *axes, int keepdims)
{
    reduction r;
    lks_node failed;

    return start(&lks__op_reduce_sum, x, n_axes, axes, &r, &failed) ? sum(&r, keepdims) : failed;
}

lks_node lks_ops_mean(lks_node x, size_t n_axes, const int64_t *axes, int keepdims)
{
    reduction r;
    lks_node count;
    double in_row = 1;

    if (!start(&lks__op_reduce_sum, x, n_axes, axes, &r, &count)) return count;
    for (int i = 0; i < r.type.shape.rank; i++)
        if ((r.axes >> i & 1) != 0) in_row *= (double)r.type.shape.dim[i];
    count = lks_ops_number(x, in_row);
    if (r.batch) count = lks_ops_multiply(lks__graph_batch_size(x.graph), count);
    return lks_ops_divide(sum(&r, keepdims), count);
}

lks_node lks_ops_max(lks_node x, size_t n_axes, const int64_t *axes, int keepdims)
{
    reduction r;
    lks_node failed;

    return start(&lks__op_reduce_max, x, n_axes, axes, &r, &failed) ? largest(&r, keepdims) : failed;
}

lks_node lks_ops_min(lks_node x, size_t n_axes, const int64_t *axes, int keepdims)
{
    return lks_ops_negative(lks_ops_max(lks_ops_negative(x), n_axes, axes, keepdims));
}

/* An axis of the row; over the batch is refused. */
static bool row_axis(const lks_op *op, const char *name, lks_node x, int64_t axis, int64_t *out, lks_node *failed)
{
    lks_status status;

    if (!lks__build_usable(1, &x)) {
        *failed = lks__build_refuse(op, 1, &x);
        return false;
    }
    status = lks__build_axis(name, x, axis, 0, out);
    if (status == LKS_OK && *out < 0)
        status = lks__fail(LKS_E_UNSUPPORTED, "%s: over the batch axis is not possible; choose another axis", name);
    if (status != LKS_OK) *failed = lks__node_fail(x.graph, status);
    return status == LKS_OK;
}

lks_node lks_ops_argmax(lks_node x, int64_t axis)
{
    lks_node failed;
    int64_t k;

    if (!row_axis(&lks__op_argmax, "argmax", x, axis, &k, &failed)) return failed;
    return lks__graph_unary(&lks__op_argmax, &k, lks__build_float(x));
}

/* ---- softmax and its kin: the maximum is taken off first, and no gradient passes through it ---- */

static lks_node without_max(lks_node x, uint32_t axes, lks_node *top)
{
    *top = lks_ops_stop_gradient(lks__graph_reduce_max(x, axes, true));
    return lks_ops_subtract(x, *top);
}

lks_node lks_ops_softmax(lks_node x, int64_t axis)
{
    lks_node y, top;
    int64_t k;

    if (!row_axis(&lks__op_exp, "softmax", x, axis, &k, &y)) return y;
    x = lks__build_float(x);
    y = lks_ops_exp(without_max(x, 1u << k, &top));
    y = lks_ops_divide(y, lks__graph_reduce_sum(y, 1u << k, true));
    if (lks__node_ok(y) && k == lks__node_type(x)->shape.rank - 1) lks__graph_note_softmax(y, x);
    return y;
}

lks_node lks_ops_log_softmax(lks_node x, int64_t axis)
{
    lks_node z, top;
    int64_t k;

    if (!row_axis(&lks__op_exp, "log_softmax", x, axis, &k, &z)) return z;
    z = without_max(lks__build_float(x), 1u << k, &top);
    return lks_ops_subtract(z, lks_ops_log(lks__graph_reduce_sum(lks_ops_exp(z), 1u << k, true)));
}

/* A maximum that is infinite is not taken off, as in TensorFlow: the result is then infinite, not NaN. */
lks_node lks_ops_logsumexp(lks_node x, int64_t axis, int keepdims)
{
    lks_node y, top;
    lks_shape shape;
    int64_t k;

    if (!row_axis(&lks__op_exp, "logsumexp", x, axis, &k, &y)) return y;
    x = lks__build_float(x);
    top = lks_ops_stop_gradient(lks__graph_reduce_max(x, 1u << k, true));
    top = lks_ops_where(lks_ops_isfinite(top), top, lks_ops_number(x, 0.0));
    y = lks__graph_reduce_sum(lks_ops_exp(lks_ops_subtract(x, top)), 1u << k, true);
    y = lks_ops_add(lks_ops_log(y), top);
    if (keepdims || !lks__node_ok(y)) return y;
    shape = lks__node_type(y)->shape;
    for (shape.rank--; k < shape.rank; k++) shape.dim[k] = shape.dim[k + 1];
    return lks__build_reshape(y, shape);
}
