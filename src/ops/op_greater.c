/* op_greater.c - a > b, as bool. No gradient passes. */
#include "ops/ew_op.h"

LKS_EW_OP(greater, LKS_EW_GREATER, compare, .cases = lks__ew_compare_cases);
