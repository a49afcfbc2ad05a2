/* op_logical_or.c - a or b, of bool. */
#include "ops/ew_op.h"

LKS_EW_OP(logical_or, LKS_EW_OR, logical, .cases = lks__ew_logical_cases);
