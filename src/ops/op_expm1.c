/* op_expm1.c - e^x - 1, exact for small x. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_unary("expm1", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_EXPM1);
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_exp(v->in[0])); /* out + 1 would lose digits below */
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, .tolerance = 1e-2 },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, .tolerance = 1e-2 },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, .tolerance = 1e-2 },
    { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) } },
    { .name = NULL },
};

const lks_op lks__op_expm1 = {
    .name = "expm1",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_EXPM1,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
