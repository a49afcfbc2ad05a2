/* op_cast.c - to another dtype: to float rounds to nearest even; float to integer truncates towards zero and saturates, NaN
 * gives 0; to bool is x != 0. The gradient passes from float to float.
 *
 * Alone it knows all numeric dtypes; float32, int32 and bool (and uint8 as its operand) may be fused.
 */
#include "ops/ew_op.h"
#include "tensor/tensor.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    lks_dtype to = *(const lks_dtype *)attrs;

    LKS_TRY(lks__expect_inputs("cast", 1, n_in));
    if (lks_dtype_size(to) == 0 || to == LKS_STRING || in[0]->dtype == LKS_STRING)
        return lks__fail(LKS_E_ARG, "cast: from %s to %s is not a conversion of numbers", lks_dtype_name(in[0]->dtype),
                         lks_dtype_name(to));
    *out = *in[0];
    out->dtype = to;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    int64_t rows = call->out_type->batched ? call->n : 1;

    lks__convert(call->in_type[0]->dtype, call->in[0], call->out_type->dtype, call->out,
                 rows * lks__type_size(call->out_type));
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = v->d_out;
}

static const lks_dtype to_float = LKS_FLOAT32, to_int = LKS_INT32, to_bool = LKS_BOOL;

static const lks_op_case cases[] = {
    { .name = "float to float", .attrs = &to_float, .n_in = 1, .in = { LKS_ROW(2, 3, 4) }, .tolerance = 1e-2 },
    { .name = "float to int", .attrs = &to_int, .n_in = 1, .in = { LKS_ROW(2, 3, 4) }, .low = -9, .high = 9 },
    { .name = "float to bool", .attrs = &to_bool, .n_in = 1, .in = { LKS_ROW(2, 3, 4) } },
    { .name = "int to float",
      .attrs = &to_float,
      .n_in = 1,
      .in = { LKS_ROW_OF(LKS_INT32, 1, 5) },
      .low = -9,
      .high = 9 },
    { .name = "bool to int", .attrs = &to_int, .n_in = 1, .in = { LKS_ROW_OF(LKS_BOOL, 1, 5) } },
    { .name = "uint8 to float",
      .attrs = &to_float,
      .n_in = 1,
      .in = { LKS_ROW_OF(LKS_UINT8, 1, 5) },
      .low = 0,
      .high = 255 },
    { .name = "int64 to int",
      .attrs = &to_int,
      .n_in = 1,
      .in = { LKS_ROW_OF(LKS_INT64, 1, 5) },
      .low = -9,
      .high = 9 },
    { .name = NULL },
};

const lks_op lks__op_cast = {
    .name = "cast",
    .flags = LKS_OP_ELEMENTWISE,
    .attrs_size = sizeof(lks_dtype),
    .elementwise = LKS_EW_COPY,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
