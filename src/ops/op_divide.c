/* op_divide.c - a / b. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_float("divide", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_DIVIDE);
}

/* d/db (a / b) = -(a / b) / b */
static void gradient(const lks_vjp *v)
{
    lks_node d = lks_ops_divide(v->d_out, v->in[1]);

    if (v->wanted[0]) v->d_in[0] = lks__graph_unbroadcast(d, v->in[0]);
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(lks_ops_negative(lks_ops_multiply(d, v->out)), v->in[1]);
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

const lks_op lks__op_divide = {
    .name = "divide",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_DIVIDE,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
