/* op_less_equal.c - a <= b, as bool. No gradient passes. */
#include "ops/ew_op.h"

LKS_EW_OP(less_equal, LKS_EW_LESS_EQUAL, compare, .cases = lks__ew_compare_cases);
