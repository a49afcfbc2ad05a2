/* build_value.c - values: numbers, constants, counts, random numbers; broadcasting to a type and back. */
#include "graph/build.h"
#include "tensor/tensor.h"

lks_node lks_ops_number(lks_node like, double value)
{
    return lks__graph_number(like.graph, value);
}

lks_node lks_ops_constant(lks_node like, const lks_tensor *value)
{
    lks_type type = { .dtype = LKS_FLOAT32 };

    if (like.graph == NULL) return lks__no_node;
    if (value == NULL) return lks__node_fail(like.graph, lks__fail(LKS_E_ARG, "constant: the tensor is NULL"));
    type.dtype = lks_tensor_dtype(value);
    type.shape = lks_tensor_shape(value);
    if (type.dtype != LKS_FLOAT32 && type.dtype != LKS_INT32 && type.dtype != LKS_BOOL)
        return lks__node_fail(like.graph, lks__fail(LKS_E_ARG,
                                                    "constant: expected a float32, int32 or bool tensor, got %s; "
                                                    "convert it with lks_tensor_cast",
                                                    lks_dtype_name(type.dtype)));
    return lks__graph_constant(like.graph, type, lks_tensor_cdata(value));
}

lks_node lks_ops_arange(lks_node like, int64_t n)
{
    return lks__node_create(like.graph, &lks__op_arange, &n, 0, NULL);
}

lks_node lks_ops_batch_size(lks_node like)
{
    return lks__graph_batch_size(like.graph);
}

lks_node lks_ops_full_like(lks_node like, double value)
{
    lks_type type;

    if (!lks__build_usable(1, &like)) return lks__build_refuse(&lks__op_broadcast, 1, &like);
    type = *lks__node_type(like);
    type.dtype = LKS_FLOAT32;
    return lks__graph_broadcast(lks_ops_number(like, value), type);
}

lks_node lks__graph_uniform(lks_graph *g, lks_shape row, uint32_t stream)
{
    lks_uniform_attrs attrs = { .stream = stream, .shape = row };

    return lks__node_create(g, &lks__op_uniform, &attrs, 0, NULL);
}

lks_node lks__graph_broadcast(lks_node x, lks_type type)
{
    const lks_type *t;

    if (!lks__build_usable(1, &x)) return lks__build_refuse(&lks__op_broadcast, 1, &x);
    t = lks__node_type(x);
    if (t->batched == type.batched && lks_shape_equal(&t->shape, &type.shape)) return x;
    return lks__graph_unary(&lks__op_broadcast, &type, x);
}

lks_node lks_ops_broadcast_like(lks_node x, lks_node like)
{
    lks_node both[2] = { x, like };

    if (!lks__build_usable(2, both)) return lks__build_refuse(&lks__op_broadcast, 2, both);
    return lks__graph_broadcast(x, *lks__node_type(like));
}

/* The axes of a row of d that a row of x was broadcast along. */
static uint32_t broadcast_axes(const lks_shape *d, const lks_shape *x)
{
    uint32_t axes = 0;

    for (int64_t i = 0; i < d->rank; i++) {
        int64_t k = i - (d->rank - x->rank);
        if (k < 0 || (x->dim[k] == 1 && d->dim[i] != 1)) axes |= 1u << i;
    }
    return axes;
}

lks_node lks__graph_unbroadcast(lks_node d, lks_node x)
{
    lks_node both[2] = { d, x };
    lks_type to, full;
    uint32_t axes;

    if (!lks__build_usable(2, both)) return lks__build_refuse(&lks__op_broadcast, 2, both);
    to = *lks__node_type(x);
    if (lks__broadcast_types("gradient", lks__node_type(d), &to, &full) != LKS_OK)
        return lks__node_fail(d.graph, LKS_E_SHAPE);
    d = lks__graph_broadcast(d, full); /* where d is the smaller one */
    axes = broadcast_axes(&full.shape, &to.shape);
    if (full.batched && !to.batched) d = lks__graph_batch_sum(d, axes, to.local);
    else if (axes != 0) d = lks__graph_reduce_sum(d, axes, false);
    if (!lks__build_usable(1, &d)) return d;
    if (lks__node_type(d)->local && !to.local) { /* every replica read the one x */
        const bool sum = true;
        d = lks__graph_unary(&lks__op_replica_mean, &sum, d);
    }
    return lks__build_reshape(d, to.shape);
}

lks_node lks__graph_replica_mean(lks_node x)
{
    if (lks__build_usable(1, &x) && !lks__node_type(x)->local && !lks__node_type(x)->batched) return x;
    return lks__graph_unary(&lks__op_replica_mean, &(const bool){ false }, x);
}
