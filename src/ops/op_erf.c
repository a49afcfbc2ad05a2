/* op_erf.c - the error function, 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x. */
#include "ops/ew_op.h"

/* erf'(x) = 2 / sqrt(pi) e^-x^2 */
static void gradient(const lks_vjp *v)
{
    lks_node bell = lks_ops_exp(lks_ops_negative(lks_ops_square(v->in[0])));

    v->d_in[0] = lks_ops_multiply(v->d_out, lks_ops_multiply(bell, lks_ops_number(v->out, 1.1283791670955126)));
}

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.tolerance = 1e-2, .low = -2, .high = 2);

LKS_EW_OP(erf, LKS_EW_ERF, unary, .gradient = gradient, .cases = cases);
