/* op_arange.c - 0, 1, ..., n - 1 as int32. */
#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    int64_t n = *(const int64_t *)attrs;

    (void)in;
    LKS_TRY(lks__expect_inputs("arange", 0, n_in));
    if (n < 0 || n > INT32_MAX)
        return lks__fail(LKS_E_ARG, "arange: expected 0 to 2147483647 elements, got %lld", (long long)n);
    *out = (lks_type)LKS_SHARED_OF(LKS_INT32, 1, n);
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    int64_t n = *(const int64_t *)call->attrs;
    int32_t *y = call->out;

    for (int64_t i = 0; i < n; i++) y[i] = (int32_t)i;
}

static const int64_t ten = 10;

static const lks_op_case cases[] = {
    { .name = "ten", .attrs = &ten },
    { .name = NULL },
};

const lks_op lks__op_arange = {
    .name = "arange",
    .attrs_size = sizeof(int64_t),
    .infer = infer,
    .run = run,
    .cases = cases,
};
