/* op_input.c - a value fed at run time: the rows of a batch, or a shared value. The executor provides it. */
#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)in;
    LKS_TRY(lks__expect_inputs("input", 0, n_in));
    *out = *(const lks_type *)attrs;
    return LKS_OK;
}

const lks_op lks__op_input = {
    .name = "input",
    .flags = LKS_OP_SOURCE,
    .attrs_size = sizeof(lks_type),
    .infer = infer,
};
