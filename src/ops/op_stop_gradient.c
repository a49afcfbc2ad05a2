/* op_stop_gradient.c - the value itself, through which no gradient passes. A view: no kernel is needed. */
#include <string.h>

#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)attrs;
    LKS_TRY(lks__expect_inputs("stop_gradient", 1, n_in));
    *out = *in[0];
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    memcpy(call->out, call->in[0], (size_t)call->n * lks__type_bytes(call->out_type));
}

static const lks_op_case cases[] = {
    { .name = "rows", .n_in = 1, .in = { LKS_ROW(2, 3, 4) } },
    { .name = NULL },
};

const lks_op lks__op_stop_gradient = {
    .name = "stop_gradient",
    .flags = LKS_OP_VIEW,
    .infer = infer,
    .run = run,
    .cases = cases,
};
