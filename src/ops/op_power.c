/* op_power.c - a to the power of b, by the rules of C for zeros, infinities and negative bases. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_float("power", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_POWER);
}

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

static const lks_op_case cases[] = {
    { .name = "same shape",
      .n_in = 2,
      .in = { LKS_ROW(2, 3, 4), LKS_ROW(2, 3, 4) },
      .tolerance = 1e-2,
      .low = 0.4,
      .high = 2 },
    { .name = "bias",
      .n_in = 2,
      .in = { LKS_ROW(3, 5, 4, 3), LKS_SHARED(1, 3) },
      .tolerance = 1e-2,
      .low = 0.4,
      .high = 2 },
    { .name = "scalar first",
      .n_in = 2,
      .in = { LKS_SHARED(0, 0), LKS_ROW(1, 600) },
      .tolerance = 1e-2,
      .low = 0.4,
      .high = 2 },
    { .name = "both broadcast",
      .n_in = 2,
      .in = { LKS_ROW(2, 3, 1), LKS_SHARED(2, 1, 4) },
      .tolerance = 1e-2,
      .low = 0.4,
      .high = 2 },
    { .name = "shared",
      .n_in = 2,
      .in = { LKS_SHARED(2, 2, 3), LKS_SHARED(2, 2, 1) },
      .tolerance = 1e-2,
      .low = 0.4,
      .high = 2 },
    { .name = NULL },
};

const lks_op lks__op_power = {
    .name = "power",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_POWER,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
