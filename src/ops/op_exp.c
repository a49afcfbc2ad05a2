/* op_exp.c - e to the x. */
#include "ops/ew_op.h"

/* The output is its own derivative. */
static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_multiply(v->d_out, v->out);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2);

LKS_EW_OP(exp, LKS_EW_EXP, unary, .gradient = gradient, .cases = cases);
