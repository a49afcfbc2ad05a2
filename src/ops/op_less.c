/* op_less.c - a < b, as bool. No gradient passes. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_compare("less", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, lks__ew_for(LKS_EW_LESS, call->in_type[0]->dtype));
}

static const lks_op_case cases[] = {
    { .name = "same shape", .n_in = 2, .in = { LKS_ROW(2, 3, 4), LKS_ROW(2, 3, 4) }, .low = -2, .high = 2 },
    { .name = "bias", .n_in = 2, .in = { LKS_ROW(3, 5, 4, 3), LKS_SHARED(1, 3) }, .low = -2, .high = 2 },
    { .name = "scalar first", .n_in = 2, .in = { LKS_SHARED(0, 0), LKS_ROW(1, 600) }, .low = -2, .high = 2 },
    { .name = "both broadcast", .n_in = 2, .in = { LKS_ROW(2, 3, 1), LKS_SHARED(2, 1, 4) }, .low = -2, .high = 2 },
    { .name = "shared", .n_in = 2, .in = { LKS_SHARED(2, 2, 3), LKS_SHARED(2, 2, 1) }, .low = -2, .high = 2 },
    { .name = "int32",
      .n_in = 2,
      .in = { LKS_ROW_OF(LKS_INT32, 3, 5, 4, 3), LKS_SHARED_OF(LKS_INT32, 1, 3) },
      .low = -3,
      .high = 3 },
    { .name = "bool", .n_in = 2, .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4), LKS_ROW_OF(LKS_BOOL, 2, 3, 4) } },
    { .name = NULL },
};

const lks_op lks__op_less = {
    .name = "less",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_LESS,
    .infer = infer,
    .run = run,
    .cases = cases,
};
