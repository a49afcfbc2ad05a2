/* op_sin.c - sine. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_cos(v->in[0]));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -4, .high = 4);

LKS_EW_OP(sin, LKS_EW_SIN, unary, .gradient = gradient, .cases = cases);
