/* op_minimum.c - the smaller of a and b; NaN passes on. Where they are equal the whole gradient goes to a, as in TensorFlow. */
#include "ops/ew_op.h"

static void gradient(const lks_vjp *v)
{
    lks_node first = lks_ops_less_equal(v->in[0], v->in[1]), zero = lks_ops_number(v->out, 0.0);

    if (v->wanted[0]) v->d_in[0] = lks__graph_unbroadcast(lks_ops_where(first, v->d_out, zero), v->in[0]);
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(lks_ops_where(first, zero, v->d_out), v->in[1]);
}

LKS_EW_OP(minimum, LKS_EW_MINIMUM, arithmetic, .gradient = gradient, .cases = lks__ew_arithmetic_cases);
