/* op_constant.c - a value known when the graph is built; the graph keeps its bytes. The executor provides it. */
#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    (void)in;
    LKS_TRY(lks__expect_inputs("constant", 0, n_in));
    *out = *(const lks_type *)attrs;
    return LKS_OK;
}

const lks_op lks__op_constant = {
    .name = "constant",
    .flags = LKS_OP_SOURCE,
    .attrs_size = sizeof(lks_type),
    .infer = infer,
};
