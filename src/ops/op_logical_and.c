/* op_logical_and.c - a and b, of bool. */
#include "ops/ew_op.h"

LKS_EW_OP(logical_and, LKS_EW_AND, logical, .cases = lks__ew_logical_cases);
