/* op_power.c - a to the power of b, by the rules of C for zeros, infinities and negative bases. */
#include "ops/ew_op.h"

/* b a^(b - 1), and a^b log a, which counts as 0 where a is not positive, as in TensorFlow. */
static void gradient(const lks_vjp *v)
{
    lks_node a = v->in[0], b = v->in[1], zero = lks_ops_number(v->out, 0.0), one = lks_ops_number(v->out, 1.0);

    if (v->wanted[0]) {
        lks_node slope = lks_ops_multiply(b, lks_ops_power(a, lks_ops_subtract(b, one)));
        v->d_in[0] = lks__graph_unbroadcast(lks_ops_multiply(v->d_out, slope), a);
    }
    if (v->wanted[1]) {
        lks_node positive = lks_ops_greater(a, zero);
        lks_node log_a = lks_ops_where(positive, lks_ops_log(lks_ops_where(positive, a, one)), zero);
        v->d_in[1] = lks__graph_unbroadcast(lks_ops_multiply(v->d_out, lks_ops_multiply(v->out, log_a)), b);
    }
}

static const lks_op_case cases[] = LKS_EW_BINARY_CASES(.tolerance = 1e-2, .low = 0.4, .high = 2);

LKS_EW_OP(power, LKS_EW_POWER, float, .gradient = gradient, .cases = cases);
