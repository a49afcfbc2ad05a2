/* values.c - the values of accuracies and of metrics that are not a loss: spec Keras 4.2. */
#include "values.h"

static lks_node argmax(lks_node x)
{
    return lks_ops_argmax(lks__as_float(x), -1);
}

static lks_node agree(lks_node a, lks_node b)
{
    return lks_ops_cast(lks_ops_equal(a, b), LKS_FLOAT32);
}

lks_node lks__values_accuracy(const lks_metric_config *o, lks_node t, lks_node p)
{
    (void)o;
    lks__align_ranks(&t, &p);
    return agree(lks__as_float(t), lks__as_float(p));
}

lks_node lks__values_binary_accuracy(const lks_metric_config *o, lks_node t, lks_node p)
{
    lks_node positive;

    lks__align_ranks(&t, &p);
    p = lks__as_float(p);
    positive = lks_ops_cast(lks_ops_greater(p, lks_ops_number(p, (double)(float)o->threshold)), LKS_FLOAT32);
    return agree(lks__as_float(t), positive);
}

lks_node lks__values_categorical_accuracy(const lks_metric_config *o, lks_node t, lks_node p)
{
    (void)o;
    return agree(argmax(t), argmax(p));
}

/* Class numbers without a trailing axis of 1, as int32. */
static lks_node labels_of(lks_node t, lks_node p)
{
    lks_shape ts = lks_node_shape(t);

    if (ts.rank == lks_node_shape(p).rank && ts.rank > 0 && ts.dim[ts.rank - 1] == 1) t = lks_ops_squeeze(t, -1);
    return lks__node_ok(t) && lks__node_type(t)->dtype == LKS_INT32 ? t : lks_ops_cast(t, LKS_INT32);
}

lks_node lks__values_sparse_categorical_accuracy(const lks_metric_config *o, lks_node t, lks_node p)
{
    (void)o;
    return agree(labels_of(t, p), argmax(p));
}

lks_node lks__values_accuracy_by_shape(const lks_metric_config *o, lks_node t, lks_node p)
{
    switch (lks__target_kind(t, p)) {
    case LKS_TARGET_BINARY: return lks__values_binary_accuracy(o, t, p);
    case LKS_TARGET_SPARSE: return lks__values_sparse_categorical_accuracy(o, t, p);
    default: return lks__values_categorical_accuracy(o, t, p);
    }
}

/* The true score is among the k greatest if fewer than k are greater. A row with a score that is not finite is out. */
static lks_node among_top(lks_node labels, lks_node p, int64_t k)
{
    const int64_t last = -1;
    lks_shape shape = lks_node_shape(p);
    lks_node hot = lks_ops_one_hot(labels, shape.rank > 0 ? shape.dim[shape.rank - 1] : 0), zero = lks_ops_number(p, 0);
    lks_node own = lks_ops_sum(lks_ops_where(lks_ops_greater(hot, zero), p, zero), 1, &last, 1);
    lks_node greater = lks_ops_sum(lks_ops_cast(lks_ops_greater(p, own), LKS_FLOAT32), 1, &last, 0);
    lks_node finite = lks_ops_cast(lks_ops_isfinite(p), LKS_FLOAT32), all;

    all = lks_ops_min(finite, 1, &last, 0);
    return lks_ops_multiply(lks_ops_cast(lks_ops_less(greater, lks_ops_number(p, (double)k)), LKS_FLOAT32), all);
}

lks_node lks__values_top_k(const lks_metric_config *o, lks_node t, lks_node p)
{
    return among_top(argmax(t), lks__as_float(p), o->k);
}

lks_node lks__values_sparse_top_k(const lks_metric_config *o, lks_node t, lks_node p)
{
    return among_top(labels_of(t, p), lks__as_float(p), o->k);
}

lks_node lks__values_squared_error(const lks_metric_config *o, lks_node t, lks_node p)
{
    (void)o;
    lks__align_ranks(&t, &p);
    return lks_ops_square(lks_ops_subtract(lks__as_float(p), lks__as_float(t)));
}
