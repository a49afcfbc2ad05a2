/* op_less.c - a < b, as bool. No gradient passes. */
#include "ops/ew_op.h"

LKS_EW_OP(less, LKS_EW_LESS, compare, .cases = lks__ew_compare_cases);
