/* op_reduce_sum.c - the sum over axes of a row, or of a shared value. The order is stated in reduce.c. */
#include "reduce.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    return lks__reduce_infer("reduce_sum", attrs, n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__reduce_run(call, lks__reduce_sum_row);
}

/* Every summed element receives the sum's gradient. */
static void gradient(const lks_vjp *v)
{
    const lks_reduce_attrs *a = v->attrs;
    lks_type in = *lks__node_type(v->in[0]);
    lks_shape keep = lks__reduce_keep_shape(&in.shape, a->axes);

    v->d_in[0] = lks__graph_broadcast(lks__graph_unary(&lks__op_reshape, &keep, v->d_out), in);
}

static const lks_reduce_attrs last = { .axes = 4 }, first = { .axes = 1, .keep = true }, all = { .axes = 7 },
                              outer = { .axes = 5 }, space = { .axes = 3 };

static const lks_op_case cases[] = {
    { .name = "last axis", .attrs = &last, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 37) }, .tolerance = 1e-2 },
    { .name = "first axis, kept", .attrs = &first, .n_in = 1, .in = { LKS_ROW(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = "all", .attrs = &all, .n_in = 1, .in = { LKS_ROW(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = "first and last", .attrs = &outer, .n_in = 1, .in = { LKS_ROW(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = "space, one channel", .attrs = &space, .n_in = 1, .in = { LKS_ROW(3, 7, 7, 1) }, .tolerance = 1e-2 },
    { .name = "shared", .attrs = &all, .n_in = 1, .in = { LKS_SHARED(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_reduce_sum = {
    .name = "reduce_sum",
    .attrs_size = sizeof(lks_reduce_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__reduce_flop,
    .cases = cases,
};
