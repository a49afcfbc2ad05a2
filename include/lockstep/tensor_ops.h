/* tensor_ops.h - small eager operations on float32 tensors: for scripts, tests and timings. Models are graphs instead.
 *
 * All borrow their operands and return a new tensor, one reference for the caller; NULL on failure (lks_last_error says
 * why). They compute on all usable cores; the number of threads cannot change a bit.
 */
#ifndef LOCKSTEP_TENSOR_OPS_H
#define LOCKSTEP_TENSOR_OPS_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element by element, shapes broadcast as in NumPy. */
LKS_API lks_tensor *lks_tensor_add(const lks_tensor *a, const lks_tensor *b);
LKS_API lks_tensor *lks_tensor_subtract(const lks_tensor *a, const lks_tensor *b);
LKS_API lks_tensor *lks_tensor_multiply(const lks_tensor *a, const lks_tensor *b);
LKS_API lks_tensor *lks_tensor_divide(const lks_tensor *a, const lks_tensor *b);

typedef struct lks_tensor_matmul_options {
    size_t struct_size;
    const lks_tensor *add; /* (..., n, m): added to the product on the way; borrowed. Default: nothing */
    lks_tensor *out;       /* written and returned (with one more reference) instead of a new tensor; not an operand */
    int64_t threads;       /* default 0: all usable cores */
} lks_tensor_matmul_options;

/* Matrix products a (..., n, k) times b (..., k, m), gives (..., n, m), as tf.linalg.matmul. The leading axes are the same, or
 * one of the two is a single matrix. Each element is one sum over k, in order, of fused multiply-adds. */
LKS_API lks_tensor *lks_tensor_matmul_with(const lks_tensor *a, const lks_tensor *b,
                                           const lks_tensor_matmul_options *options);
#ifndef __cplusplus
#define lks_tensor_matmul(...) LKS_CALL2(lks_tensor_matmul_with, lks_tensor_matmul_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
