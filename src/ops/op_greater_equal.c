/* op_greater_equal.c - a >= b, as bool. No gradient passes. */
#include "ops/ew_op.h"

LKS_EW_OP(greater_equal, LKS_EW_GREATER_EQUAL, compare, .cases = lks__ew_compare_cases);
