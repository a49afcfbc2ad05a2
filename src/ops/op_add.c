/* op_add.c - a + b. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_arithmetic("add", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, lks__ew_for(LKS_EW_ADD, call->in_type[0]->dtype));
}

static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_unbroadcast(v->d_out, v->in[0]);
    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(v->d_out, v->in[1]);
}

static const lks_op_case cases[] = {
    { .name = "same shape", .n_in = 2, .in = { LKS_ROW(2, 3, 4), LKS_ROW(2, 3, 4) }, .tolerance = 1e-2 },
    { .name = "bias", .n_in = 2, .in = { LKS_ROW(3, 5, 4, 3), LKS_SHARED(1, 3) }, .tolerance = 1e-2 },
    { .name = "scalar first", .n_in = 2, .in = { LKS_SHARED(0, 0), LKS_ROW(1, 600) }, .tolerance = 1e-2 },
    { .name = "both broadcast", .n_in = 2, .in = { LKS_ROW(2, 3, 1), LKS_SHARED(2, 1, 4) }, .tolerance = 1e-2 },
    { .name = "shared", .n_in = 2, .in = { LKS_SHARED(2, 2, 3), LKS_SHARED(2, 2, 1) }, .tolerance = 1e-2 },
    { .name = "int32",
      .n_in = 2,
      .in = { LKS_ROW_OF(LKS_INT32, 2, 3, 4), LKS_ROW_OF(LKS_INT32, 2, 3, 4) },
      .low = -9,
      .high = 9 },
    { .name = NULL },
};

const lks_op lks__op_add = {
    .name = "add",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_ADD,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
