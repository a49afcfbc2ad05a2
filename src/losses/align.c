/* align.c - see loss.h: ranks, weights and masks, as Keras lines them up. */
#include "loss.h"

static int64_t rank_of(lks_node x)
{
    return lks_node_shape(x).rank;
}

static bool ends_in_one(lks_node x)
{
    lks_shape shape = lks_node_shape(x);

    return shape.rank > 0 && shape.dim[shape.rank - 1] == 1;
}

static void shorten(lks_node *longer, lks_node *shorter)
{
    if (!ends_in_one(*longer)) return;
    if (rank_of(*shorter) == 1) *shorter = lks_ops_expand_dims(*shorter, -1);
    else *longer = lks_ops_squeeze(*longer, -1);
}

void lks__align_ranks(lks_node *a, lks_node *b)
{
    if (!lks__node_ok(*a) || !lks__node_ok(*b)) return;
    if (rank_of(*a) == rank_of(*b) + 1) shorten(a, b);
    else if (rank_of(*b) == rank_of(*a) + 1) shorten(b, a);
}

lks_node lks__as_float(lks_node x)
{
    return lks__node_ok(x) && lks__node_type(x)->dtype != LKS_FLOAT32 ? lks_ops_cast(x, LKS_FLOAT32) : x;
}

lks_node lks__element_count(lks_node x)
{
    const lks_type *type;
    lks_node size;

    if (!lks__node_ok(x)) return x;
    type = lks__node_type(x);
    size = lks_ops_number(x, (double)lks__type_size(type));
    return type->batched ? lks_ops_multiply(lks_ops_batch_size(x), size) : size;
}

lks_node lks__divide_no_nan(lks_node a, lks_node b)
{
    lks_node zero = lks_ops_number(b, 0), empty = lks_ops_equal(b, zero);

    return lks_ops_where(empty, zero, lks_ops_divide(a, lks_ops_where(empty, lks_ops_number(b, 1), b)));
}

lks_node lks__masked_weight(lks_node weight, lks_node mask, bool mean)
{
    lks_node valid;

    if (lks__node_ok(weight)) weight = lks__as_float(weight);
    if (!lks__node_ok(mask)) return weight;
    mask = lks__as_float(mask);
    if (mean) {
        valid = lks_ops_add(lks_ops_sum(mask, 0, NULL, 0), lks_ops_number(mask, 1e-7));
        mask = lks_ops_multiply(mask, lks_ops_divide(lks__element_count(mask), valid));
    }
    if (!lks__node_ok(weight)) return mask;
    lks__align_ranks(&mask, &weight);
    return lks_ops_multiply(weight, mask);
}

lks_target_kind lks__target_kind(lks_node y_true, lks_node y_pred)
{
    lks_shape t = lks_node_shape(y_true), p = lks_node_shape(y_pred);

    if (p.rank > 0 && p.dim[p.rank - 1] == 1) return LKS_TARGET_BINARY;
    if (t.rank < p.rank || ends_in_one(y_true)) return LKS_TARGET_SPARSE;
    return LKS_TARGET_CATEGORICAL;
}
