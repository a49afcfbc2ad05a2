/* op_abs.c - |x|. The derivative at 0 is 0, as in Keras. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_sign(v->in[0]));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2);

LKS_EW_OP(abs, LKS_EW_ABS, unary, .gradient = gradient, .cases = cases);
