/* gemm_pack.c - operands of gemm.h, copied to where a block reads them in one stream. */
#include "gemm.h"

/* Rows [0, rows) of one group, at most GEMM_ROWS; the others are zeros, which make results that nobody reads. */
static void pack_group(const float *a, int64_t a_row, int64_t rows, int64_t depth, float *to)
{
    int64_t k = 0;

    for (; rows == GEMM_ROWS && k + 4 <= depth; k += 4) {
        LKS_UNROLL
        for (int r = 0; r < GEMM_ROWS; r++) {
            const float *p = a + r * a_row + k;

            LKS_UNROLL
            for (int l = 0; l < 4; l++) to[(k + l) * GEMM_ROWS + r] = p[l];
        }
    }
    for (; k < depth; k++)
        for (int64_t r = 0; r < GEMM_ROWS; r++) to[k * GEMM_ROWS + r] = r < rows ? a[r * a_row + k] : 0.0f;
}

void SIMD(gemm_pack_rows)(const float *a, int64_t a_row, int64_t rows, int64_t depth, float *to)
{
    for (; rows > 0; rows -= GEMM_ROWS, a += GEMM_ROWS * a_row, to += GEMM_ROWS * depth)
        pack_group(a, a_row, rows < GEMM_ROWS ? rows : GEMM_ROWS, depth, to);
}

/* The outer loop is over terms: each is read in one run. */
void SIMD(gemm_pack_terms)(const float *a, int64_t a_term, int64_t rows, int64_t depth, float *to)
{
    for (int64_t k = 0; k < depth; k++, a += a_term, to += GEMM_ROWS) {
        float *p = to;
        int64_t r = 0;

        for (; r + GEMM_ROWS <= rows; r += GEMM_ROWS, p += GEMM_ROWS * depth)
            memcpy(p, a + r, GEMM_ROWS * sizeof *p);
        if (r == rows) continue;
        memset(p, 0, GEMM_ROWS * sizeof *p);
        memcpy(p, a + r, (size_t)(rows - r) * sizeof *p);
    }
}

/* Here too a term is read in one run, whatever the number of panels. */
void SIMD(gemm_pack_columns)(const float *b, int64_t b_term, int64_t columns, int64_t depth, float *to)
{
    const int64_t panel = GEMM_COLUMNS * depth;

    for (int64_t k = 0; k < depth; k++, b += b_term, to += GEMM_COLUMNS) {
        float *p = to;
        int64_t c = 0;

        for (; c + GEMM_COLUMNS <= columns; c += GEMM_COLUMNS, p += panel) {
            vf_store(p, vf_load(b + c));
            vf_store(p + VF, vf_load(b + c + VF));
        }
        if (c == columns) continue;
        memset(p, 0, GEMM_COLUMNS * sizeof *p);
        memcpy(p, b + c, (size_t)(columns - c) * sizeof *p);
    }
}

/* VF columns, VF terms. */
LKS_INLINE void transpose_square(const float *b, int64_t b_column, float *to)
{
    vf r[VF];

    LKS_UNROLL
    for (int i = 0; i < VF; i++) r[i] = vf_load(b + i * b_column);
    vf_transpose(r);
    LKS_UNROLL
    for (int i = 0; i < VF; i++) vf_store(to + i * GEMM_COLUMNS, r[i]);
}

static void transpose_panel(const float *b, int64_t b_column, int64_t columns, int64_t depth, float *to)
{
    const int64_t whole = columns == GEMM_COLUMNS ? depth / VF * VF : 0;

    for (int c = 0; c < GEMM_COLUMNS && whole > 0; c += VF)
        for (int64_t k = 0; k < whole; k += VF)
            transpose_square(b + c * b_column + k, b_column, to + k * GEMM_COLUMNS + c);
    for (int64_t k = whole; k < depth; k++)
        for (int64_t c = 0; c < GEMM_COLUMNS; c++)
            to[k * GEMM_COLUMNS + c] = c < columns ? b[c * b_column + k] : 0.0f;
}

void SIMD(gemm_pack_transposed)(const float *b, int64_t b_column, int64_t columns, int64_t depth, float *to)
{
    for (; columns > 0; columns -= GEMM_COLUMNS, b += GEMM_COLUMNS * b_column, to += GEMM_COLUMNS * depth)
        transpose_panel(b, b_column, columns < GEMM_COLUMNS ? columns : GEMM_COLUMNS, depth, to);
}
