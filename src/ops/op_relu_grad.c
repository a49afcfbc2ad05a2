/* op_relu_grad.c - (y, d) -> d where y > 0, else 0: the gradient of relu, from its output or its input. */
#include "ops/ew_op.h"

/* Linear in d; constant in y but for the step. */
static void gradient(const lks_vjp *v)
{
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(lks__graph_relu_grad(v->in[0], v->d_out), v->in[1]);
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 2, .in = { LKS_ROW(1, 7), LKS_ROW(1, 7) }, .tolerance = 1e-2 },
    { .name = "image", .n_in = 2, .in = { LKS_ROW(3, 5, 4, 3), LKS_ROW(3, 5, 4, 3) }, .tolerance = 1e-2 },
    { .name = NULL },
};

LKS_EW_OP(relu_grad, LKS_EW_RELU_GRAD, float, .gradient = gradient, .cases = cases);
