/* op_tanh.c - hyperbolic tangent. */
#include "ops/ew_op.h"

/* y' = 1 - y^2 */
static void gradient(const lks_vjp *v)
{
    lks_node rest = lks_ops_subtract(lks_ops_number(v->out, 1.0), lks_ops_square(v->out));

    v->d_in[0] = lks_ops_multiply(v->d_out, rest);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -2, .high = 2);

LKS_EW_OP(tanh, LKS_EW_TANH, unary, .gradient = gradient, .cases = cases);
