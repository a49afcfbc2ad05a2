/* op_log.c - natural logarithm; -inf at 0, NaN below. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_divide(v->d_out, v->in[0]);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = 0.3, .high = 3);

LKS_EW_OP(log, LKS_EW_LOG, unary, .gradient = gradient, .cases = cases);
