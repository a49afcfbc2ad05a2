/* op_add.c - a + b. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_unbroadcast(v->d_out, v->in[0]);
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(v->d_out, v->in[1]);
}

LKS_EW_OP(add, LKS_EW_ADD, arithmetic, .gradient = gradient, .cases = lks__ew_arithmetic_cases);
