/* op_batch_sum.c - the sum over the batch, and over axes of the row.
 *
 * Order: each example's row is summed as reduce_sum does (reduce.c), and the result added to the accumulator, in the
 * order of the examples.
 */
#include "reduce.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    return lks__batch_infer("batch_sum", attrs, n_in, in, out);
}

static void run(const lks_op_call *call)
{
    const lks_batch_attrs *a = call->attrs;
    int64_t n_x = lks__type_size(call->in_type[0]), n_y = lks__type_size(call->out_type);
    const float *restrict x = call->in[0];
    float *restrict y = call->out, *restrict one = call->scratch;
    lks_walk w = lks__reduce_walk(&call->in_type[0]->shape, a->axes);

    for (int64_t i = 0; i < call->n; i++, x += n_x) {
        const float *restrict row = x;
        if (n_x != n_y) {
            lks__reduce_sum_row(&w, x, one);
            row = one;
        }
        for (int64_t j = 0; j < n_y; j++) y[j] += row[j];
    }
}

static void gradient(const lks_vjp *v)
{
    const lks_batch_attrs *a = v->attrs;
    lks_type in = *lks__node_type(v->in[0]);
    lks_shape keep = lks__reduce_keep_shape(&in.shape, a->axes);

    v->d_in[0] = lks__graph_broadcast(lks__graph_unary(&lks__op_reshape, &keep, v->d_out), in);
}

static const lks_batch_attrs none = { .axes = 0 }, space = { .axes = 3 }, last = { .axes = 4 }, all = { .axes = 7 };

static const lks_op_case cases[] = {
    { .name = "scalars", .attrs = &none, .n_in = 1, .in = { LKS_ROW(0, 0) }, .tolerance = 1e-2 },
    { .name = "whole rows", .attrs = &none, .n_in = 1, .in = { LKS_ROW(2, 3, 5) }, .tolerance = 1e-2 },
    { .name = "over space", .attrs = &space, .n_in = 1, .in = { LKS_ROW(3, 4, 4, 3) }, .tolerance = 1e-2 },
    { .name = "last axis", .attrs = &last, .n_in = 1, .in = { LKS_ROW(3, 2, 2, 37) }, .tolerance = 1e-2 },
    { .name = "everything", .attrs = &all, .n_in = 1, .in = { LKS_ROW(3, 4, 4, 3) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_batch_sum = {
    .name = "batch_sum",
    .flags = LKS_OP_BATCH_SUM,
    .attrs_size = sizeof(lks_batch_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .scratch = lks__batch_scratch,
    .flop = lks__reduce_flop,
    .cases = cases,
};
