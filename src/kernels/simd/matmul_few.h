/* matmul_few.h - internal. Matrices with fewer than 16 columns: a dense layer in front of a softmax, 6272 x 10 and the like.
 *
 * Vectors run over the rows of such a matrix. Packed, blocks of 16 rows lie one after the other, each column by column: number (row,
 * column) is at (row / 16 * m + column) * 16 + row % 16. Rows behind the last whole block stay as they were: in their place and
 * order, so that packing moves numbers within their block alone.
 */
#ifndef LKS_KERNELS_SIMD_MATMUL_FEW_H
#define LKS_KERNELS_SIMD_MATMUL_FEW_H

#include "entries.h"

enum { FEW_BLOCK = 16, FEW_COLUMNS = 16 /* fewer than these */ };

/* The first `blocks` blocks of w; and back, where w may be `from`. */
void SIMD(few_pack)(int64_t blocks, int64_t m, const float *w, float *to);
void SIMD(few_unpack)(int64_t blocks, int64_t m, const float *from, float *w);

/* y (rows, m) = a (rows, k) w (k, m). packed: w, or NULL: it is packed on the way. */
void SIMD(matmul_few)(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, const float *packed,
                      float *y);

/* y (rows, k) = d (rows, m) times w transposed; m <= FEW_COLUMNS; 0 where mask is not NULL and not positive; it may be y. */
void SIMD(matmul_few_transposed)(int64_t rows, int64_t k, int64_t m, const float *d, const float *w,
                                 const float *packed, float *y, const float *mask);

/* The gradient, in the packed order. */
void SIMD(matmul_filter_few)(const lks_op_call *call);

/* Where the packed numbers of row k + v VF, column 0 begin; those of the next column are FEW_BLOCK further. k: a multiple of VF. */
LKS_INLINE int64_t few_at(int64_t m, int64_t k, const int v)
{
    k += v * VF;
    return k / FEW_BLOCK * m * FEW_BLOCK + k % FEW_BLOCK;
}

#endif
