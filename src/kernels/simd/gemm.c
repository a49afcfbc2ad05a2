/* gemm.c - the blocks of gemm.h: everything of them is in registers but the two packed operands. */
#include "gemm.h"
#include "ops/scalar_math.h"

LKS_INLINE void gemm_term(vf *sum, const float *a, const float *b, const int rows)
{
    const vf b0 = vf_load(b), b1 = vf_load(b + VF);

    LKS_UNROLL
    for (int r = 0; r < rows; r++) {
        const vf v = vf_set(a[r]);

        sum[2 * r] = vf_fma(v, b0, sum[2 * r]);
        sum[2 * r + 1] = vf_fma(v, b1, sum[2 * r + 1]);
    }
}

/* sums += the products of `depth` terms. */
LKS_INLINE void gemm_terms(vf *sum, const float *a, const float *b, int64_t depth, const int rows)
{
    for (; depth >= 4; depth -= 4, a += 4 * GEMM_ROWS, b += 4 * GEMM_COLUMNS) {
        LKS_UNROLL
        for (int k = 0; k < 4; k++) gemm_term(sum, a + k * GEMM_ROWS, b + k * GEMM_COLUMNS, rows);
    }
    for (; depth > 0; depth--, a += GEMM_ROWS, b += GEMM_COLUMNS) gemm_term(sum, a, b, rows);
}

/* Stores that miss the caches would hold up all later ones: the lines are asked for while the products are made. */
LKS_INLINE void gemm_fetch_result(const float *c, int64_t c_row, const int rows)
{
    LKS_UNROLL
    for (int r = 0; r < rows; r++) {
        LKS_UNROLL
        for (int l = 0; l < GEMM_COLUMNS; l += 16) __builtin_prefetch(c + r * c_row + l, 1);
    }
}

LKS_INLINE void gemm_put(float *p, vf v, const bool stream)
{
    if (stream) vf_stream(p, v);
    else vf_store(p, v);
}

/* With another array added, past the caches or not. */
LKS_INLINE void gemm_store_sum(const gemm_tile *t, const vf *sum, const int rows, const bool stream)
{
    LKS_UNROLL
    for (int r = 0; r < rows; r++) {
        float *c = t->c + r * t->c_row;

        LKS_UNROLL
        for (int h = 0; h < 2; h++) {
            vf v = sum[2 * r + h];

            if (t->add != NULL) v = vf_add(v, vf_load(t->add + r * t->c_row + h * VF));
            gemm_put(c + h * VF, v, stream);
        }
    }
}

LKS_INLINE void gemm_block_of(const gemm_tile *t, const int rows)
{
    vf sum[2 * GEMM_ROWS];
    float *c = t->c;

    if (!t->stream) gemm_fetch_result(c, t->c_row, rows);
    if (t->add != NULL) gemm_fetch_result(t->add, t->c_row, rows);
    if (t->from != NULL) {
        LKS_UNROLL
        for (int r = 0; r < rows; r++) {
            sum[2 * r] = vf_load(t->from + r * t->from_row);
            sum[2 * r + 1] = vf_load(t->from + r * t->from_row + VF);
        }
    } else {
        LKS_UNROLL
        for (int i = 0; i < 2 * rows; i++) sum[i] = vf_zero();
    }
    gemm_terms(sum, t->a, t->b, t->depth, rows);
    if (t->stream || t->add != NULL) {
        if (t->stream) gemm_store_sum(t, sum, rows, true);
        else gemm_store_sum(t, sum, rows, false);
        return;
    }
    LKS_UNROLL
    for (int r = 0; r < rows; r++) {
        vf_store(c, sum[2 * r]);
        vf_store(c + VF, sum[2 * r + 1]);
        c += t->c_row;
    }
}

/* Adds what waits at `top` to the sums. */
LKS_INLINE void join_top(vf *sum, const float *top, const int rows)
{
    LKS_UNROLL
    for (int i = 0; i < 2 * rows; i++) sum[i] = vf_add(vf_load(top + i * VF), sum[i]);
}

/* x - x is 0 for finite numbers and NaN for all others, and NaN stays. */
LKS_INLINE vf join_finite(vf all, vf x)
{
    return vf_add(all, vf_fma(x, vf_set(-1.0f), x));
}

enum { SUM_SIZE = GEMM_ROWS * GEMM_COLUMNS };

/* One shard after the other; sums of earlier ones wait in the stack for their neighbours. Returns its top. */
LKS_INLINE float *gemm_shards(const gemm_sum *s, const int rows)
{
    float *top = s->stack;
    int64_t first = 0;

    for (int shard = 0; shard < s->shards; shard++) {
        vf sum[2 * GEMM_ROWS];

        LKS_UNROLL
        for (int i = 0; i < 2 * rows; i++) sum[i] = vf_zero();
        gemm_terms(sum, s->a + first * GEMM_ROWS, s->b + first * GEMM_COLUMNS, s->ends[shard] - first, rows);
        first = s->ends[shard];
        for (int index = shard; index % 2 == 1; index /= 2) {
            top -= SUM_SIZE;
            join_top(sum, top, rows);
        }
        LKS_UNROLL
        for (int i = 0; i < 2 * rows; i++) vf_store(top + i * VF, sum[i]);
        top += SUM_SIZE;
    }
    return top;
}

LKS_INLINE vf gemm_sum_of(const gemm_sum *s, float *out, int64_t out_row, const int rows)
{
    const float *top;
    vf sum[2 * GEMM_ROWS], finite = vf_zero();

    if (!s->stream) gemm_fetch_result(out, out_row, rows);
    top = gemm_shards(s, rows) - SUM_SIZE;

    LKS_UNROLL
    for (int i = 0; i < 2 * rows; i++) sum[i] = vf_load(top + i * VF);
    while (top > s->stack) { /* the shards are no power of two: what is left of the tree's right side */
        top -= SUM_SIZE;
        join_top(sum, top, rows);
    }
    LKS_UNROLL
    for (int r = 0; r < rows; r++) {
        LKS_UNROLL
        for (int h = 0; h < 2; h++) {
            finite = join_finite(finite, sum[2 * r + h]);
            if (s->stream) vf_stream(out + h * VF, sum[2 * r + h]);
            else vf_store(out + h * VF, sum[2 * r + h]);
        }
        out += out_row;
    }
    return finite;
}

static bool all_zero(vf x)
{
    float lane[VF];
    bool zero = true;

    vf_store(lane, x);
    for (int i = 0; i < VF; i++) zero = zero && lane[i] == 0.0f;
    return zero;
}

#define BLOCK(rows)                                                        \
    static void block_##rows(const gemm_tile *t)                           \
    {                                                                      \
        gemm_block_of(t, rows);                                            \
    }                                                                      \
    static bool sum_##rows(const gemm_sum *s, float *out, int64_t out_row) \
    {                                                                      \
        return all_zero(gemm_sum_of(s, out, out_row, rows));               \
    }
BLOCK(1)
BLOCK(2)
BLOCK(3)
BLOCK(4)
BLOCK(5)
BLOCK(6)
#if V_REGISTERS_32
BLOCK(8)
BLOCK(10)
BLOCK(12)
#endif

typedef struct gemm_fns {
    void (*block)(const gemm_tile *t);
    bool (*sum)(const gemm_sum *s, float *out, int64_t out_row);
    int64_t rows; /* it makes: rows past the wanted ones go to memory of ours */
} gemm_fns;

static const gemm_fns fns[GEMM_ROWS + 1] = {
    [1] = { block_1, sum_1, 1 },     [2] = { block_2, sum_2, 2 },     [3] = { block_3, sum_3, 3 },
    [4] = { block_4, sum_4, 4 },     [5] = { block_5, sum_5, 5 },     [6] = { block_6, sum_6, 6 },
#if V_REGISTERS_32
    [7] = { block_8, sum_8, 8 },     [8] = { block_8, sum_8, 8 },     [9] = { block_10, sum_10, 10 },
    [10] = { block_10, sum_10, 10 }, [11] = { block_12, sum_12, 12 }, [12] = { block_12, sum_12, 12 },
#endif
};

void SIMD(gemm_edge)(const gemm_tile *t, int64_t rows, int64_t columns)
{
    float c[GEMM_ROWS * GEMM_COLUMNS];
    gemm_tile edge = *t;

    edge.c = c;
    edge.c_row = GEMM_COLUMNS;
    edge.add = NULL;
    edge.stream = false;
    fns[rows].block(&edge);
    for (int64_t r = 0; t->add != NULL && r < rows; r++)
        for (int64_t j = 0; j < columns; j++) c[r * GEMM_COLUMNS + j] += t->add[r * t->c_row + j];
    for (int64_t r = 0; r < rows; r++) memcpy(t->c + r * t->c_row, c + r * GEMM_COLUMNS, (size_t)columns * sizeof *c);
}

void SIMD(gemm_block)(const gemm_tile *t, int64_t rows)
{
    if (fns[rows].rows == rows) fns[rows].block(t);
    else SIMD(gemm_edge)(t, rows, GEMM_COLUMNS);
}

bool SIMD(gemm_sum_block)(const gemm_sum *s, int64_t rows)
{
    float c[GEMM_ROWS * GEMM_COLUMNS];
    gemm_sum edge;
    bool finite;

    if (fns[rows].rows == rows && s->columns == GEMM_COLUMNS) return fns[rows].sum(s, s->c, s->c_row);
    edge = *s;
    edge.stream = false;
    finite = fns[rows].sum(&edge, c, GEMM_COLUMNS);
    for (int64_t r = 0; r < rows; r++)
        memcpy(s->c + r * s->c_row, c + r * GEMM_COLUMNS, (size_t)s->columns * sizeof *c);
    return finite;
}

LKS_INLINE void add_terms(const int terms, const float *a, const float *b, int64_t b_term, int64_t n, float *restrict c)
{
    int64_t j = 0;
    vf x[4];

    LKS_UNROLL
    for (int t = 0; t < terms; t++) x[t] = vf_set(a[t]);
    for (; j + VF <= n; j += VF) {
        vf sum = vf_load(c + j);

        LKS_UNROLL
        for (int t = 0; t < terms; t++) sum = vf_fma(x[t], vf_load(b + t * b_term + j), sum);
        vf_store(c + j, sum);
    }
    for (; j < n; j++)
        for (int t = 0; t < terms; t++) c[j] = lks__fma_f(a[t], b[t * b_term + j], c[j]);
}

void SIMD(gemm_add_terms)(int64_t terms, const float *a, const float *b, int64_t b_term, int64_t n, float *c)
{
    switch (terms) {
    case 4: add_terms(4, a, b, b_term, n, c); break;
    case 3: add_terms(3, a, b, b_term, n, c); break;
    case 2: add_terms(2, a, b, b_term, n, c); break;
    default: add_terms(1, a, b, b_term, n, c); break;
    }
}
