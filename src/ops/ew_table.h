/* ew_table.h - internal. The elementwise block functions and their table, to be compiled once for each instruction set.
 *
 * A .c file defines LKS_EW_SUFFIX (ref, avx2, ...) and includes this; it gets lks__ew_SUFFIX[]. The loops are plain: the
 * compiler vectorises them with the flags of the set, and scalar_math.h keeps the bits equal. A destination may be one of
 * the operands (same register), so pointers are not restrict; LKS_EW_LOOP says that iterations do not meet otherwise.
 */
#include "ops/elementwise.h"
#include "ops/scalar_math.h"

#if defined(__clang__)
#define LKS_EW_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LKS_EW_LOOP _Pragma("GCC ivdep")
#endif

/* One function: `out` and the types of its operands, and the value of an element from x, y, z. */
#define LKS_EW_FUNCTION(name, out, ta, tb, tc, value)                                  \
    static void name(int n, void *dst, const void *pa, const void *pb, const void *pc) \
    {                                                                                  \
        out *d = dst;                                                                  \
        const ta *a = pa;                                                              \
        const tb *b = pb;                                                              \
        const tc *c = pc;                                                              \
        (void)b;                                                                       \
        (void)c;                                                                       \
        LKS_EW_LOOP                                                                    \
        for (int i = 0; i < n; i++) d[i] = (value);                                    \
    }
#define LKS_EW_F1(name, value) LKS_EW_FUNCTION(name, float, float, float, float, value)
#define LKS_EW_F2(name, value) LKS_EW_FUNCTION(name, float, float, float, float, value)
#define LKS_EW_COMPARE(name, value) LKS_EW_FUNCTION(name, int32_t, float, float, float, value)
#define LKS_EW_I2(name, value) LKS_EW_FUNCTION(name, int32_t, int32_t, int32_t, int32_t, value)
#define LKS_EW_WRAP(op) ((int32_t)((uint32_t)a[i] op(uint32_t) b[i]))

LKS_EW_F1(ew_copy, a[i])
LKS_EW_F1(ew_negative, -a[i])
LKS_EW_F1(ew_abs, __builtin_fabsf(a[i]))
LKS_EW_F1(ew_sign, lks__sign_f(a[i]))
LKS_EW_F1(ew_sqrt, __builtin_sqrtf(a[i]))
LKS_EW_F1(ew_rsqrt, lks__rsqrt_f(a[i]))
LKS_EW_F1(ew_exp, lks__exp_f(a[i]))
LKS_EW_F1(ew_expm1, lks__expm1_f(a[i]))
LKS_EW_F1(ew_log, lks__log_f(a[i]))
LKS_EW_F1(ew_log1p, lks__log1p_f(a[i]))
LKS_EW_F1(ew_tanh, lks__tanh_f(a[i]))
LKS_EW_F1(ew_sigmoid, lks__sigmoid_f(a[i]))
LKS_EW_F1(ew_softplus, lks__softplus_f(a[i]))
LKS_EW_F1(ew_erf, lks__erf_f(a[i]))
LKS_EW_F1(ew_erfc, lks__erfc_f(a[i]))
LKS_EW_F1(ew_sin, lks__sin_f(a[i]))
LKS_EW_F1(ew_cos, lks__cos_f(a[i]))
LKS_EW_F1(ew_floor, lks__floor_f(a[i]))
LKS_EW_F1(ew_round, lks__round_f(a[i]))
LKS_EW_F1(ew_relu, lks__relu_f(a[i]))

LKS_EW_F2(ew_add, a[i] + b[i])
LKS_EW_F2(ew_subtract, a[i] - b[i])
LKS_EW_F2(ew_multiply, a[i] * b[i])
LKS_EW_F2(ew_divide, a[i] / b[i])
LKS_EW_F2(ew_maximum, lks__max_f(a[i], b[i]))
LKS_EW_F2(ew_minimum, lks__min_f(a[i], b[i]))
LKS_EW_F2(ew_power, lks__power_f(a[i], b[i]))
LKS_EW_F2(ew_relu_grad, a[i] > 0.0f ? b[i] : 0.0f)

LKS_EW_COMPARE(ew_equal, a[i] == b[i])
LKS_EW_COMPARE(ew_not_equal, a[i] != b[i])
LKS_EW_COMPARE(ew_less, a[i] < b[i])
LKS_EW_COMPARE(ew_less_equal, a[i] <= b[i])
LKS_EW_COMPARE(ew_greater, a[i] > b[i])
LKS_EW_COMPARE(ew_greater_equal, a[i] >= b[i])
LKS_EW_COMPARE(ew_isfinite, __builtin_fabsf(a[i]) < LKS_INFINITY_F)

LKS_EW_I2(ew_add_i, LKS_EW_WRAP(+))
LKS_EW_I2(ew_subtract_i, LKS_EW_WRAP(-))
LKS_EW_I2(ew_multiply_i, LKS_EW_WRAP(*))
LKS_EW_I2(ew_maximum_i, a[i] >= b[i] ? a[i] : b[i])
LKS_EW_I2(ew_minimum_i, a[i] <= b[i] ? a[i] : b[i])
LKS_EW_I2(ew_equal_i, a[i] == b[i])
LKS_EW_I2(ew_not_equal_i, a[i] != b[i])
LKS_EW_I2(ew_less_i, a[i] < b[i])
LKS_EW_I2(ew_less_equal_i, a[i] <= b[i])
LKS_EW_I2(ew_greater_i, a[i] > b[i])
LKS_EW_I2(ew_greater_equal_i, a[i] >= b[i])
LKS_EW_I2(ew_and, a[i] & b[i])
LKS_EW_I2(ew_or, a[i] | b[i])
LKS_EW_I2(ew_not, a[i] == 0)
LKS_EW_I2(ew_copy_i, a[i])
LKS_EW_I2(ew_i_to_bool, a[i] != 0)
LKS_EW_I2(ew_where_i, a[i] != 0 ? b[i] : c[i])

LKS_EW_FUNCTION(ew_where, float, int32_t, float, float, a[i] != 0 ? b[i] : c[i])
LKS_EW_FUNCTION(ew_i_to_f, float, int32_t, float, float, (float)a[i])
LKS_EW_FUNCTION(ew_bytes_to_f, float, uint8_t, float, float, (float)a[i])
LKS_EW_FUNCTION(ew_f_to_i, int32_t, float, float, float, lks__int_of(a[i]))
LKS_EW_FUNCTION(ew_f_to_bool, int32_t, float, float, float, a[i] != 0.0f)

#define LKS_EW_F3(name, value) LKS_EW_FUNCTION(name, float, float, float, float, value)
LKS_EW_F3(ew_subtract_multiply, (a[i] - b[i]) * c[i])
LKS_EW_F3(ew_subtract_square, (a[i] - b[i]) * (a[i] - b[i]))
LKS_EW_F3(ew_multiply_add, a[i] * b[i] + c[i])
LKS_EW_F3(ew_capped_relu, a[i] >= b[i] ? b[i] : lks__relu_f(a[i]))
LKS_EW_F3(ew_capped_relu_grad, ((a[i] > 0.0f) & !(a[i] >= b[i])) ? c[i] : 0.0f)

#define LKS_EW_JOIN_(a, b) a##b
#define LKS_EW_JOIN(a, b) LKS_EW_JOIN_(a, b)
#define LKS_EW_NAME LKS_EW_JOIN(lks__ew_, LKS_EW_SUFFIX)

extern const lks_ew_fn LKS_EW_NAME[LKS_EW_COUNT];
const lks_ew_fn LKS_EW_NAME[LKS_EW_COUNT] = {
    [LKS_EW_COPY] = ew_copy,
    [LKS_EW_NEGATIVE] = ew_negative,
    [LKS_EW_ABS] = ew_abs,
    [LKS_EW_SIGN] = ew_sign,
    [LKS_EW_SQRT] = ew_sqrt,
    [LKS_EW_RSQRT] = ew_rsqrt,
    [LKS_EW_EXP] = ew_exp,
    [LKS_EW_EXPM1] = ew_expm1,
    [LKS_EW_LOG] = ew_log,
    [LKS_EW_LOG1P] = ew_log1p,
    [LKS_EW_TANH] = ew_tanh,
    [LKS_EW_SIGMOID] = ew_sigmoid,
    [LKS_EW_SOFTPLUS] = ew_softplus,
    [LKS_EW_ERF] = ew_erf,
    [LKS_EW_ERFC] = ew_erfc,
    [LKS_EW_SIN] = ew_sin,
    [LKS_EW_COS] = ew_cos,
    [LKS_EW_FLOOR] = ew_floor,
    [LKS_EW_ROUND] = ew_round,
    [LKS_EW_RELU] = ew_relu,
    [LKS_EW_ADD] = ew_add,
    [LKS_EW_SUBTRACT] = ew_subtract,
    [LKS_EW_MULTIPLY] = ew_multiply,
    [LKS_EW_DIVIDE] = ew_divide,
    [LKS_EW_MAXIMUM] = ew_maximum,
    [LKS_EW_MINIMUM] = ew_minimum,
    [LKS_EW_POWER] = ew_power,
    [LKS_EW_RELU_GRAD] = ew_relu_grad,
    [LKS_EW_EQUAL] = ew_equal,
    [LKS_EW_NOT_EQUAL] = ew_not_equal,
    [LKS_EW_LESS] = ew_less,
    [LKS_EW_LESS_EQUAL] = ew_less_equal,
    [LKS_EW_GREATER] = ew_greater,
    [LKS_EW_GREATER_EQUAL] = ew_greater_equal,
    [LKS_EW_ISFINITE] = ew_isfinite,
    [LKS_EW_ADD_I] = ew_add_i,
    [LKS_EW_SUBTRACT_I] = ew_subtract_i,
    [LKS_EW_MULTIPLY_I] = ew_multiply_i,
    [LKS_EW_MAXIMUM_I] = ew_maximum_i,
    [LKS_EW_MINIMUM_I] = ew_minimum_i,
    [LKS_EW_EQUAL_I] = ew_equal_i,
    [LKS_EW_NOT_EQUAL_I] = ew_not_equal_i,
    [LKS_EW_LESS_I] = ew_less_i,
    [LKS_EW_LESS_EQUAL_I] = ew_less_equal_i,
    [LKS_EW_GREATER_I] = ew_greater_i,
    [LKS_EW_GREATER_EQUAL_I] = ew_greater_equal_i,
    [LKS_EW_AND] = ew_and,
    [LKS_EW_OR] = ew_or,
    [LKS_EW_NOT] = ew_not,
    [LKS_EW_WHERE] = ew_where,
    [LKS_EW_WHERE_I] = ew_where_i,
    [LKS_EW_I_TO_F] = ew_i_to_f,
    [LKS_EW_BYTES_TO_F] = ew_bytes_to_f,
    [LKS_EW_F_TO_I] = ew_f_to_i,
    [LKS_EW_F_TO_BOOL] = ew_f_to_bool,
    [LKS_EW_I_TO_BOOL] = ew_i_to_bool,
    [LKS_EW_COPY_I] = ew_copy_i,
    [LKS_EW_SUBTRACT_MULTIPLY] = ew_subtract_multiply,
    [LKS_EW_SUBTRACT_SQUARE] = ew_subtract_square,
    [LKS_EW_MULTIPLY_ADD] = ew_multiply_add,
    [LKS_EW_CAPPED_RELU] = ew_capped_relu,
    [LKS_EW_CAPPED_RELU_GRAD] = ew_capped_relu_grad,
};
