/* matmul_few.c - matrices with few columns: a dense layer in front of a softmax, 6272 x 10 and the like.
 *
 * Ten columns are a bad fit for eight lanes, so four rows of the matrix (4 m numbers side by side) are taken as one run of
 * vectors: lane (l, j) of the run sums k = l, l + 4, ... for column j, and each number of x is spread over its lanes.
 * The order of matmul with m < 16 follows from that: four lanes over k, joined (0 + 2) + (1 + 3).
 */
#include "entries.h"
#include "ops/scalar_math.h"

enum { FEW_RUN = 64, FEW_ROWS = 16 }; /* numbers of a run at most; rows of x in a block */

typedef struct few {
    int64_t k, m, end; /* end: multiple of 4; later k are done one by one */
    const float *a, *w;
    float *lanes;           /* [row][FEW_RUN] */
    int first;              /* vector of the run */
    int32_t index[FEW_RUN]; /* of a lane: which of four numbers */
} few;

/* V vectors of the run from the first, E rows, k in [0, end) of a and w: added to the lanes. */
LKS_INLINE void few_sums(const few *f, const int V, const int E)
{
    const float *w = f->w + f->first * VF, *a = f->a;
    float *lanes = f->lanes + f->first * VF;
    vindex index[8];
    vf sum[16];

    LKS_UNROLL
    for (int v = 0; v < V; v++) index[v] = vi_load(f->index + (f->first + v) * VF);
    LKS_UNROLL
    for (int e = 0; e < E; e++) {
        LKS_UNROLL
        for (int v = 0; v < V; v++) sum[e * V + v] = vf_load(lanes + e * FEW_RUN + v * VF);
    }
    for (int64_t k = 0; k < f->end; k += 4) {
        vf quad[4];

        LKS_UNROLL
        for (int e = 0; e < E; e++) quad[e] = vf_quad(a + k + e * f->k);
        LKS_UNROLL
        for (int v = 0; v < V; v++) {
            vf wv = vf_load(w + v * VF);

            if (E > 1) LKS_ONCE(wv);
            LKS_UNROLL
            for (int e = 0; e < E; e++) sum[e * V + v] = vf_fma(vf_spread(quad[e], index[v]), wv, sum[e * V + v]);
        }
        w += 4 * f->m;
    }
    LKS_UNROLL
    for (int e = 0; e < E; e++) {
        LKS_UNROLL
        for (int v = 0; v < V; v++) vf_store(lanes + e * FEW_RUN + v * VF, sum[e * V + v]);
    }
}

/* Four k from the first of E rows, ten columns. */
LKS_INLINE void few_tens_step(const few *f, const float *a, const float *w, const vindex *index, vf *sum, const int E)
{
    vf quad[2];

    LKS_UNROLL
    for (int e = 0; e < E; e++) quad[e] = vf_quad(a + e * f->k);
    LKS_UNROLL
    for (int v = 0; v < TENS; v++) {
        vf wv = vf_load(w + v * VF);

        if (E > 1) LKS_ONCE(wv);
        LKS_UNROLL
        for (int e = 0; e < E; e++)
            sum[e * TENS + v] = vf_fma(vf_ten(a + e * f->k, quad[e], index, v), wv, sum[e * TENS + v]);
    }
}

/* few_sums for ten columns. */
LKS_INLINE void few_tens(const few *f, const int E)
{
    const float *w = f->w, *a = f->a;
    vindex index[TENS];
    vf sum[2 * TENS];

    vi_tens(index);
    LKS_UNROLL
    for (int e = 0; e < E; e++) {
        LKS_UNROLL
        for (int v = 0; v < TENS; v++) sum[e * TENS + v] = vf_load(f->lanes + e * FEW_RUN + v * VF);
    }
    for (int64_t k = 0; k < f->end; k += 4, w += 40) few_tens_step(f, a + k, w, index, sum, E);
    LKS_UNROLL
    for (int e = 0; e < E; e++) {
        LKS_UNROLL
        for (int v = 0; v < TENS; v++) vf_store(f->lanes + e * FEW_RUN + v * VF, sum[e * TENS + v]);
    }
}

static void tens_1(const few *f)
{
    few_tens(f, 1);
}

static void tens_2(const few *f)
{
    few_tens(f, 2);
}

typedef void (*few_fn)(const few *f);

#define FEW_SUMS(V, E)                       \
    static void sums_##V##_##E(const few *f) \
    {                                        \
        few_sums(f, V, E);                   \
    }
FEW_SUMS(1, 1)
FEW_SUMS(2, 1)
FEW_SUMS(3, 1)
FEW_SUMS(4, 1)
FEW_SUMS(5, 1)
FEW_SUMS(6, 1)
FEW_SUMS(7, 1)
FEW_SUMS(8, 1)
FEW_SUMS(1, 4)
FEW_SUMS(2, 4)
FEW_SUMS(3, 2)
FEW_SUMS(4, 2)
FEW_SUMS(5, 2)
FEW_SUMS(6, 2)

static const struct {
    int rows;
    few_fn one, rows_fn;
} few_of[9] = {
    [1] = { 4, sums_1_1, sums_1_4 }, [2] = { 4, sums_2_1, sums_2_4 }, [3] = { 2, sums_3_1, sums_3_2 },
    [4] = { 2, sums_4_1, sums_4_2 }, [5] = { 2, sums_5_1, sums_5_2 }, [6] = { 2, sums_6_1, sums_6_2 },
    [7] = { 1, sums_7_1, sums_7_1 }, [8] = { 1, sums_8_1, sums_8_1 },
};

/* Rows [0, rows), at most FEW_ROWS, over one chunk. */
static void few_chunk(few *f, const float *a, float *lanes, int64_t rows)
{
    const int vectors = (int)(4 * f->m + VF - 1) / VF;

    if (f->m == 10) {
        for (int64_t i = 0; i < rows; i += 2) {
            f->a = a + i * f->k;
            f->lanes = lanes + i * FEW_RUN;
            if (i + 2 <= rows) tens_2(f);
            else tens_1(f);
        }
        return;
    }
    for (f->first = 0; f->first < vectors; f->first += 8) {
        const int V = vectors - f->first < 8 ? vectors - f->first : 8, together = few_of[V].rows;
        int64_t i = 0;

        for (; i + together <= rows; i += together) {
            f->a = a + i * f->k;
            f->lanes = lanes + i * FEW_RUN;
            few_of[V].rows_fn(f);
        }
        for (; i < rows; i++) {
            f->a = a + i * f->k;
            f->lanes = lanes + i * FEW_RUN;
            few_of[V].one(f);
        }
    }
}

static void few_finish(const few *f, int64_t end, const float *w, float *lanes, const float *a, float *y)
{
    const int64_t m = f->m;

    for (int64_t k = end; k < f->k; k++) {
        float *lane = lanes + k % 4 * m;

        for (int64_t j = 0; j < m; j++) lane[j] = lks__fma_f(a[k], w[k * m + j], lane[j]);
    }
    for (int64_t j = 0; j < m; j++) y[j] = (lanes[j] + lanes[2 * m + j]) + (lanes[m + j] + lanes[3 * m + j]);
}

static void few_indices(few *f)
{
    for (int i = 0; i < FEW_RUN; i++) f->index[i] = i < 4 * f->m ? (int32_t)(i / f->m) : 0;
}

/* A part of the matrix that stays in L1 while all rows of a block meet it. */
static int64_t few_chunk_length(int64_t m)
{
    return 3072 / m / 4 * 4;
}

void SIMD(matmul_few)(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, float *y)
{
    float lanes[FEW_ROWS * FEW_RUN];
    few f = { .k = k, .m = m };
    const int64_t vectors = (4 * m + VF - 1) / VF, chunk = few_chunk_length(m);
    int64_t end = k / 4 * 4;

    few_indices(&f);
    while (end > 0 && (end - 4) * m + vectors * VF > k * m) end -= 4; /* its last vector would pass the end */
    for (int64_t i = 0; i < rows; i += FEW_ROWS) {
        const int64_t n = rows - i < FEW_ROWS ? rows - i : FEW_ROWS;

        memset(lanes, 0, sizeof lanes);
        for (int64_t first = 0; first < end; first += chunk) {
            f.end = end - first < chunk ? end - first : chunk;
            f.w = w + first * m;
            few_chunk(&f, a + i * k + first, lanes, n);
        }
        for (int64_t e = 0; e < n; e++) few_finish(&f, end, w, lanes + e * FEW_RUN, a + (i + e) * k, y + (i + e) * m);
    }
}
