/* build.c - what the builders of lockstep/ops.h share: refusals, dtypes, alignment, axes. */
#include "graph/build.h"

#include <string.h>

bool lks__build_usable(size_t n, const lks_node *x)
{
    for (size_t i = 0; i < n; i++)
        if (!lks__node_ok(x[i]) || x[i].graph->kind != LKS_GRAPH_OPS) return false;
    return true;
}

/* lks__node_create knows what to say about each kind of unusable input. */
lks_node lks__build_refuse(const lks_op *op, size_t n, const lks_node *x)
{
    for (size_t i = 0; i < n; i++)
        if (x[i].graph != NULL) return lks__node_create(x[i].graph, op, NULL, (int)n, x);
    lks__fail(LKS_E_ARG, "%s: an operand is an absent node", op->name);
    return lks__no_node;
}

lks_node lks__graph_unary(const lks_op *op, const void *attrs, lks_node x)
{
    if (!lks__build_usable(1, &x)) return lks__build_refuse(op, 1, &x);
    return lks__node_create(x.graph, op, attrs, 1, &x);
}

static lks_node convert(lks_node x, lks_dtype dtype)
{
    return lks__node_type(x)->dtype == dtype ? x : lks__graph_unary(&lks__op_cast, &dtype, x);
}

lks_node lks__build_float(lks_node x)
{
    return lks__build_usable(1, &x) ? convert(x, LKS_FLOAT32) : x;
}

lks_node lks__build_bool(lks_node x)
{
    return lks__build_usable(1, &x) ? convert(x, LKS_BOOL) : x;
}

static bool is_integer(lks_dtype d)
{
    return d == LKS_INT32 || d == LKS_BOOL;
}

/* Drops leading axes of size 1 of a shared operand that the row of `other` does not have. */
static lks_node align(lks_node x, lks_node other)
{
    const lks_type *t, *row;
    lks_shape s;

    if (!lks__node_ok(x) || !lks__node_ok(other)) return x;
    t = lks__node_type(x);
    row = lks__node_type(other);
    s = t->shape;
    if (t->batched || !row->batched) return x;
    while (s.rank > row->shape.rank && s.dim[0] == 1) {
        s.rank--;
        memmove(s.dim, s.dim + 1, (size_t)s.rank * sizeof *s.dim);
    }
    return s.rank == t->shape.rank ? x : lks__build_reshape(x, s);
}

void lks__build_pair(lks_node *a, lks_node *b, bool keep_bool)
{
    lks_dtype da = lks__node_type(*a)->dtype, db = lks__node_type(*b)->dtype, to = LKS_FLOAT32;
    lks_node before = *a;

    if (is_integer(da) && is_integer(db)) to = keep_bool && da == LKS_BOOL && db == LKS_BOOL ? LKS_BOOL : LKS_INT32;
    *a = align(convert(*a, to), *b);
    *b = align(convert(*b, to), before);
}

bool lks__build_is_number(lks_node x, float value)
{
    const lks_graph_node *n = lks__node_at(x);
    float f;

    if (n->constant == NULL || n->type.dtype != LKS_FLOAT32 || n->type.shape.rank != 0) return false;
    memcpy(&f, n->constant, sizeof f);
    return f == value;
}

lks_status lks__build_axis(const char *op, lks_node x, int64_t axis, int extra, int64_t *row_axis)
{
    const lks_type *t = lks__node_type(x);
    int64_t rank = t->shape.rank + t->batched + extra, k = axis < 0 ? axis + rank : axis;
    char text[LKS_TYPE_TEXT];

    if (k < 0 || k >= rank)
        return lks__fail(LKS_E_ARG, "%s: axis %lld is outside of %s", op, (long long)axis, lks__type_text(t, text));
    *row_axis = k - t->batched;
    return LKS_OK;
}

lks_status lks__build_axes(const char *op, lks_node x, size_t n, const int64_t *axes, uint32_t *mask, bool *batch)
{
    const lks_type *t = lks__node_type(x);
    uint32_t m = 0;
    bool all = false;

    if (n == 0) {
        *mask = (1u << t->shape.rank) - 1;
        *batch = t->batched;
        return LKS_OK;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t k = 0;
        LKS_TRY(lks__build_axis(op, x, axes[i], 0, &k));
        if (k < 0 ? all : (m >> k & 1) != 0)
            return lks__fail(LKS_E_ARG, "%s: axis %lld is listed twice", op, (long long)axes[i]);
        if (k < 0) all = true;
        else m |= 1u << k;
    }
    *mask = m;
    *batch = all;
    return LKS_OK;
}

lks_node lks__build_reshape(lks_node x, lks_shape shape)
{
    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_reshape, 1, &x);
    if (lks_shape_equal(&lks__node_type(x)->shape, &shape)) return x;
    return lks__graph_unary(&lks__op_reshape, &shape, x);
}
