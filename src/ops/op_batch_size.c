/* op_batch_size.c - the number of examples in the global batch, as a float32 scalar. The executor provides it. */
#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)in;
    LKS_TRY(lks__expect_inputs("batch_size", 0, n_in));
    *out = *(const lks_type *)attrs;
    return LKS_OK;
}

const lks_op lks__op_batch_size = {
    .name = "batch_size",
    .flags = LKS_OP_SOURCE,
    .attrs_size = sizeof(lks_type),
    .infer = infer,
};
