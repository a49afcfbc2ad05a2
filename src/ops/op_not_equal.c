/* op_not_equal.c - a differs from b (NaN differs from everything), as bool. No gradient passes. */
#include "ops/ew_op.h"

LKS_EW_OP(not_equal, LKS_EW_NOT_EQUAL, compare, .cases = lks__ew_compare_cases);
