/* ew_op.h - internal. What the files of elementwise ops share: shape rules, and the headers their gradients need. */
#ifndef LKS_OPS_EW_OP_H
#define LKS_OPS_EW_OP_H

#include "ops/build.h"
#include "ops/elementwise.h"

/* float32 -> float32 */
lks_status lks__ew_infer_unary(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* float32, float32 -> float32 */
lks_status lks__ew_infer_float(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* Two float32 or two int32 -> the same. */
lks_status lks__ew_infer_arithmetic(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* Two float32, int32 or bool -> bool. */
lks_status lks__ew_infer_compare(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* Two bool -> bool. */
lks_status lks__ew_infer_logical(const char *op, int n_in, const lks_type *const *in, lks_type *out);

/* The op lks__op_NAME of one function of elementwise.h: `rule` is the last word of its shape rule above, behind it stand
 * the fields in which these ops differ (gradient, cases). */
#define LKS_EW_OP(op_name, code, rule, ...)                                                        \
    static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out) \
    {                                                                                              \
        (void)attrs;                                                                               \
        return lks__ew_infer_##rule(#op_name, n_in, in, out);                                      \
    }                                                                                              \
                                                                                                   \
    static void run(const lks_op_call *call)                                                       \
    {                                                                                              \
        lks__ew_run(call, lks__ew_for(code, call->in_type[0]->dtype));                             \
    }                                                                                              \
                                                                                                   \
    const lks_op lks__op_##op_name = {                                                             \
        .name = #op_name,                                                                          \
        .flags = LKS_OP_ELEMENTWISE,                                                               \
        .elementwise = (code),                                                                     \
        .infer = infer,                                                                            \
        .run = run,                                                                                \
        __VA_ARGS__,                                                                               \
    }

/* Self-checks that ops of one shape rule share; the arguments are the fields that each case gets besides (tolerance, range). */
#define LKS_EW_UNARY_CASES(...)                                                                              \
    {                                                                                                        \
        { .name = "vector", .n_in = 1, .in = { LKS_ROW(1, 7) }, __VA_ARGS__ },                               \
            { .name = "image", .n_in = 1, .in = { LKS_ROW(3, 5, 4, 3) }, __VA_ARGS__ },                      \
            { .name = "shared", .n_in = 1, .in = { LKS_SHARED(2, 3, 200) }, __VA_ARGS__ },                   \
            { .name = "no elements", .n_in = 1, .in = { LKS_ROW(2, 0, 5) }, __VA_ARGS__ }, { .name = NULL }, \
    }
#define LKS_EW_BROADCASTS(...)                                                                                 \
    { .name = "same shape", .n_in = 2, .in = { LKS_ROW(2, 3, 4), LKS_ROW(2, 3, 4) }, __VA_ARGS__ },            \
        { .name = "bias", .n_in = 2, .in = { LKS_ROW(3, 5, 4, 3), LKS_SHARED(1, 3) }, __VA_ARGS__ },           \
        { .name = "scalar first", .n_in = 2, .in = { LKS_SHARED(0, 0), LKS_ROW(1, 600) }, __VA_ARGS__ },       \
        { .name = "both broadcast", .n_in = 2, .in = { LKS_ROW(2, 3, 1), LKS_SHARED(2, 1, 4) }, __VA_ARGS__ }, \
    {                                                                                                          \
        .name = "shared", .n_in = 2, .in = { LKS_SHARED(2, 2, 3), LKS_SHARED(2, 2, 1) }, __VA_ARGS__           \
    }
#define LKS_EW_BINARY_CASES(...)                          \
    {                                                     \
        LKS_EW_BROADCASTS(__VA_ARGS__), { .name = NULL }, \
    }
extern const lks_op_case lks__ew_arithmetic_cases[], lks__ew_compare_cases[], lks__ew_logical_cases[];

#endif
