/* op_divide.c - a / b. */
#include "ops/ew_op.h"

/* d/db (a / b) = -(a / b) / b */
static void gradient(const lks_vjp *v)
{
    lks_node d = lks_ops_divide(v->d_out, v->in[1]);

    if (v->wanted[0]) v->d_in[0] = lks__graph_unbroadcast(d, v->in[0]);
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(lks_ops_negative(lks_ops_multiply(d, v->out)), v->in[1]);
}

static const lks_op_case cases[] = LKS_EW_BINARY_CASES(.tolerance = 1e-2, .low = 0.4, .high = 2);

LKS_EW_OP(divide, LKS_EW_DIVIDE, float, .gradient = gradient, .cases = cases);
