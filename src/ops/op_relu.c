/* op_relu.c - max(x, 0); NaN passes on. The derivative at 0 is 0, as in Keras. */
#include "ops/ew_op.h"

/* The output is positive where the input is, so the input need not be kept. */
static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_relu_grad(v->out, v->d_out);
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2);

LKS_EW_OP(relu, LKS_EW_RELU, unary, .gradient = gradient, .cases = cases);
