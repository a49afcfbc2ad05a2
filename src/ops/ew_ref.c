/* ew_ref.c - the elementwise block functions in plain C. */
#define LKS_EW_SUFFIX ref
#include "ops/ew_table.h"
