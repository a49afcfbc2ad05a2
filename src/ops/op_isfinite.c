/* op_isfinite.c - whether x is neither infinite nor NaN, as bool. No gradient passes. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    LKS_TRY(lks__ew_infer_unary("isfinite", n_in, in, out));
    out->dtype = LKS_BOOL;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_ISFINITE);
}

static const lks_op_case cases[] = {
    { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) } },
    { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) } },
    { .name = NULL },
};

const lks_op lks__op_isfinite = {
    .name = "isfinite",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_ISFINITE,
    .infer = infer,
    .run = run,
    .cases = cases,
};
