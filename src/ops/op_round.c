/* op_round.c - to the nearest whole number, halves to even. No gradient passes. */
#include "ops/ew_op.h"

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.low = -4, .high = 4);

LKS_EW_OP(round, LKS_EW_ROUND, unary, .cases = cases);
