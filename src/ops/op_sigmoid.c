/* op_sigmoid.c - 1 / (1 + e^-x). */
#include "ops/ew_op.h"

/* y' = y (1 - y) */
static void gradient(const lks_vjp *v)
{
    lks_node rest = lks_ops_subtract(lks_ops_number(v->out, 1.0), v->out);

    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_multiply(v->out, rest));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -4, .high = 4);

LKS_EW_OP(sigmoid, LKS_EW_SIGMOID, unary, .gradient = gradient, .cases = cases);
