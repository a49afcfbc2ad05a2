/* op_sqrt.c - square root, correctly rounded. The derivative at 0 is infinite, and 0 / 0 for a zero gradient, as in TensorFlow. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks_ops_divide(lks_ops_multiply(v->d_out, lks_ops_number(v->out, 0.5)), v->out);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = 0.3, .high = 3);

LKS_EW_OP(sqrt, LKS_EW_SQRT, unary, .gradient = gradient, .cases = cases);
