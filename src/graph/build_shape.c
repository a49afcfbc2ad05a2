/* build_shape.c - shapes of nodes, and ops that move elements. Users count axes with the batch at 0; it stays where it is. */
#include <string.h>

#include "graph/build.h"

lks_shape lks_node_shape(lks_node node)
{
    lks_shape s = { .rank = -1 };
    const lks_type *t;

    if (!lks__node_ok(node)) return s; /* also of a model under construction */
    t = lks__node_type(node);
    if (!t->batched) return t->shape;
    if (t->shape.rank == LKS_MAX_RANK) return s; /* no room for the batch axis */
    s.rank = t->shape.rank + 1;
    s.dim[0] = -1;
    memcpy(s.dim + 1, t->shape.dim, (size_t)t->shape.rank * sizeof *s.dim);
    return s;
}

lks_dtype lks_node_dtype(lks_node node)
{
    return lks__node_ok(node) ? lks__node_type(node)->dtype : (lks_dtype)0;
}

/* The row axis of a user's axis, or -1 with *failed set; the batch axis is refused. */
static int64_t own_axis(const char *op, lks_node x, int64_t axis, int extra, lks_node *failed)
{
    int64_t k;
    lks_status status = lks__build_axis(op, x, axis, extra, &k);

    if (status == LKS_OK && k < 0) status = lks__fail(LKS_E_ARG, "%s: axis 0 is the batch, which stays as it is", op);
    if (status == LKS_OK) return k;
    *failed = lks__node_fail(x.graph, status);
    return -1;
}

lks_node lks_ops_reshape(lks_node x, lks_shape shape)
{
    int64_t known = 1, size, open = -1;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_reshape, 1, &x);
    if (shape.rank < 0 || shape.rank > LKS_MAX_RANK) return lks__build_reshape(x, shape); /* refuses */
    size = lks__type_size(lks__node_type(x));
    for (int64_t i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < 0 && open < 0) open = i;
        else if (shape.dim[i] > 0 && known <= INT64_MAX / shape.dim[i]) known *= shape.dim[i];
        else known = 0;
    }
    if (open >= 0 && shape.dim[open] == -1 && known > 0 && size % known == 0) shape.dim[open] = size / known;
    return lks__build_reshape(x, shape);
}

lks_node lks_ops_expand_dims(lks_node x, int64_t axis)
{
    lks_node failed;
    lks_shape s;
    int64_t k;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_reshape, 1, &x);
    k = own_axis("expand_dims", x, axis, 1, &failed);
    if (k < 0) return failed;
    s = lks__node_type(x)->shape;
    if (s.rank == LKS_MAX_RANK)
        return lks__node_fail(
            x.graph, lks__fail(LKS_E_LIMIT, "expand_dims: the result would have more than %d axes", LKS_MAX_RANK));
    memmove(s.dim + k + 1, s.dim + k, (size_t)(s.rank - k) * sizeof *s.dim);
    s.dim[k] = 1;
    s.rank++;
    return lks__build_reshape(x, s);
}

lks_node lks_ops_squeeze(lks_node x, int64_t axis)
{
    char text[LKS_TYPE_TEXT];
    lks_node failed;
    lks_shape s;
    int64_t k;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_reshape, 1, &x);
    k = own_axis("squeeze", x, axis, 0, &failed);
    if (k < 0) return failed;
    s = lks__node_type(x)->shape;
    if (s.dim[k] != 1)
        return lks__node_fail(x.graph,
                              lks__fail(LKS_E_SHAPE, "squeeze: axis %lld of %s has size %lld, expected 1",
                                        (long long)axis, lks__type_text(lks__node_type(x), text), (long long)s.dim[k]));
    s.rank--;
    memmove(s.dim + k, s.dim + k + 1, (size_t)(s.rank - k) * sizeof *s.dim);
    return lks__build_reshape(x, s);
}

lks_node lks_ops_transpose(lks_node x, size_t n_axes, const int64_t *axes)
{
    lks_transpose_attrs attrs = { { 0 } };
    const lks_type *t;
    bool stays = true;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_transpose, 1, &x);
    t = lks__node_type(x);
    if (n_axes != (size_t)(t->shape.rank + t->batched) && n_axes != 0)
        return lks__node_fail(x.graph, lks__fail(LKS_E_ARG, "transpose: expected %lld axes, got %zu",
                                                 (long long)(t->shape.rank + t->batched), n_axes));
    for (int64_t i = 0; i < t->shape.rank; i++) {
        lks_status status = LKS_OK;
        if (n_axes == 0) attrs.perm[i] = t->shape.rank - 1 - i; /* the reverse, of the row */
        else status = lks__build_axis("transpose", x, axes[i + t->batched], 0, &attrs.perm[i]);
        if (status != LKS_OK) return lks__node_fail(x.graph, status);
        if (attrs.perm[i] < 0)
            return lks__node_fail(x.graph, lks__fail(LKS_E_ARG, "transpose: axis 0 is the batch, which stays first"));
        if (attrs.perm[i] != i) stays = false;
    }
    return stays ? x : lks__graph_unary(&lks__op_transpose, &attrs, x);
}

/* Shared operands are repeated for each example if any other carries the batch; dtypes that differ become float32. */
static lks_status make_equal(size_t n, lks_node *x)
{
    bool batched = false, mixed = false;

    for (size_t i = 0; i < n; i++) {
        const lks_type *t = lks__node_type(x[i]);
        if (t->batched) batched = true;
        if (t->dtype != lks__node_type(x[0])->dtype) mixed = true;
    }
    for (size_t i = 0; i < n; i++) {
        lks_type t;
        if (mixed) x[i] = lks__build_float(x[i]);
        if (!lks__node_ok(x[i])) return LKS_E_ARG;
        t = *lks__node_type(x[i]);
        t.batched = batched;
        x[i] = lks__graph_broadcast(x[i], t);
    }
    return LKS_OK;
}

lks_node lks_ops_concatenate(size_t n, const lks_node *x, int64_t axis)
{
    lks_node *in, y;
    int64_t k;

    if (n == 0) {
        lks__fail(LKS_E_ARG, "concatenate takes at least 1 value, got 0");
        return lks__no_node;
    }
    if (!lks__build_usable(n, x)) return lks__build_refuse(&lks__op_concatenate, n, x);
    if (n == 1) return x[0];
    in = lks__memdup(x, n * sizeof *x);
    if (in == NULL) return lks__node_fail(x[0].graph, lks__fail(LKS_E_NOMEM, "no memory for the graph"));
    make_equal(n, in);
    if (!lks__build_usable(n, in)) y = lks__build_refuse(&lks__op_concatenate, n, in);
    else if (k = own_axis("concatenate", in[0], axis, 0, &y), k >= 0)
        y = lks__node_create(in[0].graph, &lks__op_concatenate, &k, (int)n, in);
    lks__free(in);
    return y;
}

lks_node lks_ops_pad(lks_node x, size_t n_axes, const int64_t (*before_after)[2], double value)
{
    lks_pad_attrs attrs = { .value = value };
    const lks_type *t;
    bool any = false;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_pad, 1, &x);
    t = lks__node_type(x);
    if (n_axes != (size_t)(t->shape.rank + t->batched))
        return lks__node_fail(x.graph, lks__fail(LKS_E_ARG, "pad: expected the padding of %lld axes, got %zu",
                                                 (long long)(t->shape.rank + t->batched), n_axes));
    if (t->batched && (before_after[0][0] != 0 || before_after[0][1] != 0))
        return lks__node_fail(x.graph, lks__fail(LKS_E_ARG, "pad: axis 0 is the batch, which stays as it is"));
    for (int64_t i = 0; i < t->shape.rank; i++) {
        attrs.before[i] = before_after[i + t->batched][0];
        attrs.after[i] = before_after[i + t->batched][1];
        if (attrs.before[i] != 0 || attrs.after[i] != 0) any = true;
    }
    return any ? lks__graph_unary(&lks__op_pad, &attrs, x) : x;
}

/* As Python: negative places count from the end, and what lies beyond the ends is cut. */
static int64_t python_index(int64_t i, int64_t size)
{
    if (i < 0) i = i < -size ? 0 : i + size;
    return i > size ? size : i;
}

lks_node lks_ops_slice(lks_node x, int64_t axis, int64_t begin, int64_t end, int64_t step)
{
    lks_slice_attrs attrs = { .step = step };
    lks_node failed;
    int64_t size;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_slice, 1, &x);
    attrs.axis = own_axis("slice", x, axis, 0, &failed);
    if (attrs.axis < 0) return failed;
    size = lks__node_type(x)->shape.dim[attrs.axis];
    attrs.begin = python_index(begin, size);
    attrs.end = python_index(end, size);
    if (attrs.end < attrs.begin) attrs.end = attrs.begin;
    if (attrs.begin == 0 && attrs.end == size && step == 1) return x;
    return lks__graph_unary(&lks__op_slice, &attrs, x);
}

lks_node lks_ops_one_hot(lks_node labels, int64_t n_classes)
{
    lks_node index;

    if (!lks__build_usable(1, &labels)) return lks__build_refuse(&lks__op_equal, 1, &labels);
    index = lks_ops_expand_dims(lks_ops_cast(labels, LKS_INT32), -1);
    return lks_ops_cast(lks_ops_equal(index, lks_ops_arange(labels, n_classes)), LKS_FLOAT32);
}
