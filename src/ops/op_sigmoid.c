/* op_sigmoid.c - 1 / (1 + e^-x). */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_unary("sigmoid", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_SIGMOID);
}

/* y' = y (1 - y) */
static void gradient(const lks_vjp *v)
{
    lks_node rest = lks_ops_subtract(lks_ops_number(v->out, 1.0), v->out);

    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_multiply(v->out, rest));
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, .tolerance = 1e-2, .low = -4, .high = 4 },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, .tolerance = 1e-2, .low = -4, .high = 4 },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, .tolerance = 1e-2, .low = -4, .high = 4 },
    { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) }, .low = -4, .high = 4 },
    { .name = NULL },
};

const lks_op lks__op_sigmoid = {
    .name = "sigmoid",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_SIGMOID,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
