/* op_reduce_max.c - the maximum over axes of a row, or of a shared value; NaN passes on. The order is stated in reduce.c.
 * Equal maxima share the gradient, as in TensorFlow. */
#include "reduce.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    return lks__reduce_infer("reduce_max", attrs, n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__reduce_run(call, lks__reduce_max_row);
}

static void gradient(const lks_vjp *v)
{
    const lks_reduce_attrs *a = v->attrs;
    lks_shape keep = lks__reduce_keep_shape(&lks__node_type(v->in[0])->shape, a->axes);
    lks_node y = lks__graph_unary(&lks__op_reshape, &keep, v->out),
             d = lks__graph_unary(&lks__op_reshape, &keep, v->d_out);
    lks_node hit = lks_ops_cast(lks_ops_equal(v->in[0], y), LKS_FLOAT32);

    v->d_in[0] = lks_ops_multiply(hit, lks_ops_divide(d, lks__graph_reduce_sum(hit, a->axes, true)));
}

static const lks_reduce_attrs last = { .axes = 4 }, first = { .axes = 1, .keep = true }, all = { .axes = 7 };

static const lks_op_case cases[] = {
    { .name = "last axis", .attrs = &last, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 37) }, .tolerance = 1e-2 },
    { .name = "first axis, kept", .attrs = &first, .n_in = 1, .in = { LKS_ROW(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = "all", .attrs = &all, .n_in = 1, .in = { LKS_ROW(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = "shared", .attrs = &all, .n_in = 1, .in = { LKS_SHARED(3, 4, 3, 5) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_reduce_max = {
    .name = "reduce_max",
    .attrs_size = sizeof(lks_reduce_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__reduce_flop,
    .cases = cases,
};
