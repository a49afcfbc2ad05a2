/* op_rsqrt.c - 1 / sqrt(x), both correctly rounded. */
#include "ops/ew_op.h"

/* (x^-1/2)' = -1/2 y^3 */
static void gradient(const lks_vjp *v)
{
    lks_node cube = lks_ops_multiply(v->out, lks_ops_square(v->out));

    v->d_in[0] = lks_ops_multiply(lks_ops_multiply(v->d_out, lks_ops_number(v->out, -0.5)), cube);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = 0.3, .high = 3);

LKS_EW_OP(rsqrt, LKS_EW_RSQRT, unary, .gradient = gradient, .cases = cases);
