/* elementwise.c - the elementwise table of this instruction set: the plain functions, vectorised by the compiler. */
#define LKS_EW_SUFFIX LKS_SIMD_ISA
#include "ops/ew_table.h"
