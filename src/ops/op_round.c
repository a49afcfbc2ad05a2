/* op_round.c - to the nearest whole number, halves to even. No gradient passes. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_unary("round", n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_ROUND);
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, .low = -4, .high = 4 },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, .low = -4, .high = 4 },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, .low = -4, .high = 4 },
    { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) }, .low = -4, .high = 4 },
    { .name = NULL },
};

const lks_op lks__op_round = {
    .name = "round",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_ROUND,
    .infer = infer,
    .run = run,
    .cases = cases,
};
