/* op_erfc.c - the complementary error function 1 - erf(x), exact where that is small. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_unary("erfc", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_ERFC);
}

/* erfc'(x) = -2 / sqrt(pi) e^-x^2 */
static void gradient(const lks_vjp *v)
{
    lks_node bell = lks_ops_exp(lks_ops_negative(lks_ops_square(v->in[0])));

    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_multiply(bell, lks_ops_number(v->out, -1.1283791670955126)));
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, .tolerance = 1e-2, .low = -2, .high = 2 },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, .tolerance = 1e-2, .low = -2, .high = 2 },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, .tolerance = 1e-2, .low = -2, .high = 2 },
    { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) }, .low = -2, .high = 2 },
    { .name = NULL },
};

const lks_op lks__op_erfc = {
    .name = "erfc",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_ERFC,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
