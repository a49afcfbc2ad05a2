/* op_floor.c - the largest whole number not above x. No gradient passes. */
#include "ops/ew_op.h"

static const lks_op_case cases[] = LKS_EW_UNARY_CASES(.low = -4, .high = 4);

LKS_EW_OP(floor, LKS_EW_FLOOR, unary, .cases = cases);
