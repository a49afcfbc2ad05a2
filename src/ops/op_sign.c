/* op_sign.c - -1, 0 or 1; NaN stays. No gradient passes. */
#include "ops/ew_op.h"

static const lks_op_case cases[] = LKS_EW_UNARY_CASES();

LKS_EW_OP(sign, LKS_EW_SIGN, unary, .cases = cases);
