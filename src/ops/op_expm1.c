/* op_expm1.c - e^x - 1, exact for small x. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_exp(v->in[0])); /* out + 1 would lose digits below */
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2);

LKS_EW_OP(expm1, LKS_EW_EXPM1, unary, .gradient = gradient, .cases = cases);
