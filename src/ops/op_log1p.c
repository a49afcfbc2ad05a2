/* op_log1p.c - log(1 + x), exact for small x. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_divide(v->d_out, lks_ops_add(v->in[0], lks_ops_number(v->out, 1.0)));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -0.5, .high = 2);

LKS_EW_OP(log1p, LKS_EW_LOG1P, unary, .gradient = gradient, .cases = cases);
