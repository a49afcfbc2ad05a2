/* elementwise.h - internal. Codes of the elementwise functions and the blocks that compute them.
 *
 * A fused group of elementwise nodes is a little program over registers that hold LKS_EW_BLOCK elements each, in L1. A
 * register is float (F) or int32 (I: integers, and booleans as 0 or 1). Every function is one fixed sequence of IEEE operations
 * with explicit fused multiply-adds, so the table compiled for any instruction set gives the same bits.
 */
#ifndef LKS_OPS_ELEMENTWISE_H
#define LKS_OPS_ELEMENTWISE_H

#include "op.h"

enum { LKS_EW_BLOCK = 512 };

typedef enum lks_ew_code {
    LKS_EW_NONE = 0,
    /* F <- F */
    LKS_EW_COPY,
    LKS_EW_NEGATIVE,
    LKS_EW_ABS,
    LKS_EW_SIGN,
    LKS_EW_SQRT,
    LKS_EW_RSQRT,
    LKS_EW_EXP,
    LKS_EW_EXPM1,
    LKS_EW_LOG,
    LKS_EW_LOG1P,
    LKS_EW_TANH,
    LKS_EW_SIGMOID,
    LKS_EW_SOFTPLUS,
    LKS_EW_ERF,
    LKS_EW_ERFC,
    LKS_EW_SIN,
    LKS_EW_COS,
    LKS_EW_FLOOR,
    LKS_EW_ROUND,
    LKS_EW_RELU,
    /* F <- F, F */
    LKS_EW_ADD,
    LKS_EW_SUBTRACT,
    LKS_EW_MULTIPLY,
    LKS_EW_DIVIDE,
    LKS_EW_MAXIMUM,
    LKS_EW_MINIMUM,
    LKS_EW_POWER,
    LKS_EW_RELU_GRAD, /* (y, d) -> y > 0 ? d : 0 */
    /* I <- F, F and I <- F */
    LKS_EW_EQUAL,
    LKS_EW_NOT_EQUAL,
    LKS_EW_LESS,
    LKS_EW_LESS_EQUAL,
    LKS_EW_GREATER,
    LKS_EW_GREATER_EQUAL,
    LKS_EW_ISFINITE,
    /* I <- I, I */
    LKS_EW_ADD_I,
    LKS_EW_SUBTRACT_I,
    LKS_EW_MULTIPLY_I,
    LKS_EW_MAXIMUM_I,
    LKS_EW_MINIMUM_I,
    LKS_EW_EQUAL_I,
    LKS_EW_NOT_EQUAL_I,
    LKS_EW_LESS_I,
    LKS_EW_LESS_EQUAL_I,
    LKS_EW_GREATER_I,
    LKS_EW_GREATER_EQUAL_I,
    LKS_EW_AND,
    LKS_EW_OR,
    /* I <- I */
    LKS_EW_NOT,
    /* where: F <- I, F, F and I <- I, I, I */
    LKS_EW_WHERE,
    LKS_EW_WHERE_I,
    /* between register kinds: I <- F truncates and saturates, NaN gives 0; TO_BOOL: x != 0 */
    LKS_EW_I_TO_F,
    LKS_EW_F_TO_I,
    LKS_EW_F_TO_BOOL,
    LKS_EW_I_TO_BOOL,
    LKS_EW_COPY_I,
    /* two or three of the above in one pass, rounded where they round; made by fusion alone, F <- F, F, F */
    LKS_EW_SUBTRACT_MULTIPLY, /* (a - b) c */
    LKS_EW_SUBTRACT_SQUARE,   /* (a - b) (a - b) */
    LKS_EW_MULTIPLY_ADD,      /* a b + c */
    LKS_EW_CAPPED_RELU,       /* a >= b ? b : relu(a) */
    LKS_EW_CAPPED_RELU_GRAD,  /* (a, b, d) -> relu(a) > 0 ? (a >= b ? 0 : d) : 0 */
    /* made by fusion too: F <- bytes in their own memory */
    LKS_EW_BYTES_TO_F,
    LKS_EW_COUNT
} lks_ew_code;

/* dst[i] = f(a[i], b[i], c[i]) for i < n; operands a function does not take are ignored. All point to 4-byte elements and
 * may be the same register; but for the bytes of LKS_EW_BYTES_TO_F. */
typedef void (*lks_ew_fn)(int n, void *dst, const void *a, const void *b, const void *c);

/* The table of an instruction set (index lks_ew_code); plain C always exists. */
extern const lks_ew_fn lks__ew_ref[LKS_EW_COUNT];

/* The code for operands of these dtypes: the float code, or its _I form for int32 and bool operands. */
lks_ew_code lks__ew_for(int code, lks_dtype operand);

/* The kernel that all elementwise op files share: runs the op alone, with broadcasting, by the plain C table. */
void lks__ew_run(const lks_op_call *call, lks_ew_code code);

#endif
