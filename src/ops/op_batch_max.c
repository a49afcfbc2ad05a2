/* op_batch_max.c - the maximum over the batch, and over axes of the row; NaN passes on. Equal maxima share the gradient.
 *
 * Order: each example's row as reduce_max does (reduce.c), then joined with the accumulator in the order of the examples.
 */
#include "reduce.h"

#include "scalar_math.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    return lks__batch_infer("batch_max", attrs, n_in, in, out);
}

static void run(const lks_op_call *call)
{
    const lks_batch_attrs *a = call->attrs;
    int64_t n_x = lks__type_size(call->in_type[0]), n_y = lks__type_size(call->out_type);
    const float *x = call->in[0];
    float *restrict y = call->out, *restrict one = call->scratch;
    lks_walk w = lks__reduce_walk(&call->in_type[0]->shape, a->axes);

    for (int64_t i = 0; i < call->n; i++, x += n_x) {
        lks__reduce_max_row(&w, x, one);
        for (int64_t j = 0; j < n_y; j++) y[j] = lks__max_f(y[j], one[j]);
    }
}

static void gradient(const lks_vjp *v)
{
    const lks_batch_attrs *a = v->attrs;
    lks_shape keep = lks__reduce_keep_shape(&lks__node_type(v->in[0])->shape, a->axes);
    lks_node y = lks__graph_unary(&lks__op_reshape, &keep, v->out);
    lks_node hit = lks_ops_cast(lks_ops_equal(v->in[0], y), LKS_FLOAT32);
    lks_node share = lks_ops_divide(v->d_out, lks__graph_batch_sum(hit, a->axes, a->local));

    v->d_in[0] = lks_ops_multiply(hit, lks__graph_unary(&lks__op_reshape, &keep, share));
}

static const lks_batch_attrs none = { .axes = 0 }, space = { .axes = 3 }, all = { .axes = 7 };

static const lks_op_case cases[] = {
    { .name = "whole rows", .attrs = &none, .n_in = 1, .in = { LKS_ROW(2, 3, 5) }, .tolerance = 1e-2 },
    { .name = "over space", .attrs = &space, .n_in = 1, .in = { LKS_ROW(3, 4, 4, 3) }, .tolerance = 1e-2 },
    { .name = "everything", .attrs = &all, .n_in = 1, .in = { LKS_ROW(3, 4, 4, 3) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_batch_max = {
    .name = "batch_max",
    .flags = LKS_OP_BATCH_MAX,
    .attrs_size = sizeof(lks_batch_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .scratch = lks__batch_scratch,
    .flop = lks__reduce_flop,
    .cases = cases,
};
