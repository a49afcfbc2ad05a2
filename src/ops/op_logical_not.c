/* op_logical_not.c - not a, of bool. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    LKS_TRY(lks__expect_inputs("logical_not", 1, n_in));
    LKS_TRY(lks__expect_dtype("logical_not", in[0], LKS_BOOL));
    *out = *in[0];
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, LKS_EW_NOT);
}

static const lks_op_case cases[] = {
    { .name = "rows", .n_in = 1, .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4) } },
    { .name = "shared", .n_in = 1, .in = { LKS_SHARED_OF(LKS_BOOL, 1, 7) } },
    { .name = NULL },
};

const lks_op lks__op_logical_not = {
    .name = "logical_not",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_NOT,
    .infer = infer,
    .run = run,
    .cases = cases,
};
