/* op_cos.c - cosine. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_negative(lks_ops_multiply(v->d_out, lks_ops_sin(v->in[0])));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -4, .high = 4);

LKS_EW_OP(cos, LKS_EW_COS, unary, .gradient = gradient, .cases = cases);
