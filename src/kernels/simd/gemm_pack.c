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

        for (; r + GEMM_ROWS <= rows; r += GEMM_ROWS, p += GEMM_ROWS * depth) memcpy(p, a + r, GEMM_ROWS * sizeof *p);
        if (r == rows) continue;
        memset(p, 0, GEMM_ROWS * sizeof *p);
        memcpy(p, a + r, (size_t)(rows - r) * sizeof *p);
    }
}

/* The columns of one term, into panels `panel` floats apart. */
LKS_INLINE void pack_term(const float *b, int64_t columns, int64_t panel, float *to)
{
    int64_t c = 0;

    for (; c + GEMM_COLUMNS <= columns; c += GEMM_COLUMNS, to += panel) {
        vf_store(to, vf_load(b + c));
        vf_store(to + VF, vf_load(b + c + VF));
    }
    if (c == columns) return;
    memset(to, 0, GEMM_COLUMNS * sizeof *to);
    memcpy(to, b + c, (size_t)(columns - c) * sizeof *to);
}

/* Here too a term is read in one run, whatever the number of panels. */
void SIMD(gemm_pack_columns)(const float *b, int64_t b_term, int64_t columns, int64_t depth, float *to)
{
    for (int64_t k = 0; k < depth; k++) pack_term(b + k * b_term, columns, GEMM_COLUMNS * depth, to + k * GEMM_COLUMNS);
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

/* Unit `at` of a transposed block: a vector of columns, LINE terms (a cache line's). */
enum { LINE = 16, AHEAD_TERMS = 12, AHEAD_LINES = 4 };

static void pack_transposed(const gemm_packer *p, int64_t at)
{
    const int64_t lines = (p->depth + LINE - 1) / LINE, column = at / lines * VF, first = at % lines * LINE;
    const int64_t end = first + LINE < p->depth ? first + LINE : p->depth, ahead = first + AHEAD_LINES * LINE;
    const float *b = p->b + column * p->b_step;
    float *to = p->to + column / GEMM_COLUMNS * GEMM_COLUMNS * p->depth + column % GEMM_COLUMNS;
    int64_t k = first;

    if (ahead < p->depth)
        for (int64_t c = 0; c < VF && column + c < p->columns; c++) __builtin_prefetch(b + c * p->b_step + ahead, 0, 2);
    for (; column + VF <= p->columns && k + VF <= end; k += VF)
        transpose_square(b + k, p->b_step, to + k * GEMM_COLUMNS);
    for (; k < end; k++)
        for (int64_t c = 0; c < VF; c++)
            to[k * GEMM_COLUMNS + c] = column + c < p->columns ? b[c * p->b_step + k] : 0.0f;
}

gemm_packer SIMD(gemm_packer)(bool transposed, const float *b, int64_t b_step, int64_t columns, int64_t depth,
                              float *to)
{
    const int64_t panels = (columns + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
    const gemm_packer p = { transposed, b,  b_step, columns,
                            depth,      to, 0,      transposed ? panels * 2 * ((depth + LINE - 1) / LINE) : depth };

    return p;
}

void SIMD(gemm_pack_some)(gemm_packer *p, int64_t units)
{
    for (; units > 0 && p->at < p->units; units--, p->at++) {
        const int64_t ahead = p->at + AHEAD_TERMS;

        if (p->transposed) {
            pack_transposed(p, p->at);
            continue;
        }
        for (int64_t c = 0; ahead < p->depth && c < p->columns; c += LINE)
            __builtin_prefetch(p->b + ahead * p->b_step + c, 0, 2);
        pack_term(p->b + p->at * p->b_step, p->columns, GEMM_COLUMNS * p->depth, p->to + p->at * GEMM_COLUMNS);
    }
}
