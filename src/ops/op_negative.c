/* op_negative.c - -x. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_negative(v->d_out);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2);

LKS_EW_OP(negative, LKS_EW_NEGATIVE, unary, .gradient = gradient, .cases = cases);
