/* op_rsqrt.c - 1 / sqrt(x), both correctly rounded. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_unary("rsqrt", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_RSQRT);
}

/* (x^-1/2)' = -1/2 y^3 */
static void gradient(const lks_vjp *v)
{
    lks_node cube = lks_ops_multiply(v->out, lks_ops_square(v->out));

    v->d_in[0] = lks_ops_multiply(lks_ops_multiply(v->d_out, lks_ops_number(v->out, -0.5)), cube);
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, .tolerance = 1e-2, .low = 0.3, .high = 3 },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, .tolerance = 1e-2, .low = 0.3, .high = 3 },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, .tolerance = 1e-2, .low = 0.3, .high = 3 },
    { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) }, .low = 0.3, .high = 3 },
    { .name = NULL },
};

const lks_op lks__op_rsqrt = {
    .name = "rsqrt",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_RSQRT,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
