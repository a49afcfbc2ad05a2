/* op_logical_or.c - a or b, of bool. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    return lks__ew_infer_logical("logical_or", 2, n_in, in, out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_OR);
}

static const lks_op_case cases[] = {
    { .name = "rows", .n_in = 2, .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4), LKS_SHARED_OF(LKS_BOOL, 1, 4) } },
    { .name = "shared", .n_in = 2, .in = { LKS_SHARED_OF(LKS_BOOL, 1, 7), LKS_SHARED_OF(LKS_BOOL, 1, 7) } },
    { .name = NULL },
};

const lks_op lks__op_logical_or = {
    .name = "logical_or",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_OR,
    .infer = infer,
    .run = run,
    .cases = cases,
};
