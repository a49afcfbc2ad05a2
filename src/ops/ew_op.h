/* ew_op.h - internal. What the files of elementwise ops share: shape rules, and the headers their gradients need. */
#ifndef LKS_OPS_EW_OP_H
#define LKS_OPS_EW_OP_H

#include "ops/build.h"
#include "ops/elementwise.h"

/* float32 -> float32 */
lks_status lks__ew_infer_unary(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* float32, float32 -> float32 */
lks_status lks__ew_infer_float(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* Two float32 or two int32 -> the same. */
lks_status lks__ew_infer_arithmetic(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* Two float32, int32 or bool -> bool. */
lks_status lks__ew_infer_compare(const char *op, int n_in, const lks_type *const *in, lks_type *out);
/* n bool -> bool. */
lks_status lks__ew_infer_logical(const char *op, int want, int n_in, const lks_type *const *in, lks_type *out);

#endif
