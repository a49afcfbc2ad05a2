/* matmul_few.c - matrices with few columns: a dense layer in front of a softmax, 6272 x 10 and the like.
 *
 * Ten columns are a bad fit for eight lanes, so four rows of the matrix (4 m numbers side by side) are taken as one run of
 * vectors: lane (l, j) of the run sums k = l, l + 4, ... for column j, and each number of x is spread over its lanes.
 * The order of matmul with m < 16 follows from that: four lanes over k, joined (0 + 2) + (1 + 3).
 */
#include "entries.h"
#include "ops/scalar_math.h"

enum { FEW_RUN = 64, FEW_ROWS = 4 }; /* numbers of a run at most; rows of x at once */

typedef struct few {
    int64_t k, m, end; /* end: multiple of 4; later k are done one by one */
    const float *a, *w;
    float *lanes;           /* [row][FEW_RUN] */
    int first;              /* vector of the run */
    int32_t index[FEW_RUN]; /* of a lane: which of four numbers */
} few;

/* V vectors of the run from the first, E rows. */
LKS_INLINE void few_sums(const few *f, const int V, const int E)
{
    const float *w = f->w + f->first * VF, *a = f->a;
    float *lanes = f->lanes + f->first * VF;
    vindex index[8];
    vf sum[16];

    LKS_UNROLL
    for (int v = 0; v < V; v++) index[v] = vi_load(f->index + (f->first + v) * VF);
    LKS_UNROLL
    for (int i = 0; i < E * V; i++) sum[i] = vf_zero();
    for (int64_t k = 0; k < f->end; k += 4) {
        vf quad[FEW_ROWS];

        LKS_UNROLL
        for (int e = 0; e < E; e++) quad[e] = vf_quad(a + k + e * f->k);
        LKS_UNROLL
        for (int v = 0; v < V; v++) {
            vf wv = vf_load(w + v * VF);

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

static void few_finish(const few *f, float *lanes, const float *a, float *y)
{
    for (int64_t k = f->end; k < f->k; k++) {
        float *lane = lanes + k % 4 * f->m;

        for (int64_t j = 0; j < f->m; j++) lane[j] = lks__fma_f(a[k], f->w[k * f->m + j], lane[j]);
    }
    for (int64_t j = 0; j < f->m; j++)
        y[j] = (lanes[j] + lanes[2 * f->m + j]) + (lanes[f->m + j] + lanes[3 * f->m + j]);
}

void SIMD(matmul_few)(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, float *y)
{
    float lanes[FEW_ROWS * FEW_RUN];
    few f = { .k = k, .m = m, .end = k / 4 * 4, .w = w, .lanes = lanes };
    const int vectors = (int)(4 * m + VF - 1) / VF;
    int together;

    for (int i = 0; i < FEW_RUN; i++) f.index[i] = i < 4 * m ? (int32_t)(i / m) : 0;
    while (f.end > 0 && (f.end - 4) * m + vectors * VF > k * m) f.end -= 4; /* its last vector would pass the end */
    for (int64_t i = 0; i < rows; i += together) {
        together = few_of[vectors < 8 ? vectors : 8].rows;
        if (rows - i < together) together = 1;
        f.a = a + i * k;
        for (f.first = 0; f.first < vectors; f.first += 8) {
            const int V = vectors - f.first < 8 ? vectors - f.first : 8;

            if (together == 1) few_of[V].one(&f);
            for (int e = 0; together > 1 && e < together; e += few_of[V].rows) {
                f.a = a + (i + e) * k;
                f.lanes = lanes + e * FEW_RUN;
                few_of[V].rows_fn(&f);
            }
            f.a = a + i * k;
            f.lanes = lanes;
        }
        for (int e = 0; e < together; e++) few_finish(&f, lanes + e * FEW_RUN, a + (i + e) * k, y + (i + e) * m);
    }
}

/* ---- the gradient for the matrix: w[k][m] += a[row][k] d[row][m], rows in order ---- */

/* Rows' products for k in [0, end): d[e][lane] is repeated over the run. */
LKS_INLINE void few_outer(const few *f, float *w, const float *d, const int V, const int E)
{
    vindex index[8];
    vf pattern[16];
    const vmask last = vf_first(4 * f->m - (f->first + V - 1) * VF);
    const int whole = 4 * f->m >= (f->first + V) * VF;

    w += f->first * VF;
    LKS_UNROLL
    for (int v = 0; v < V; v++) {
        index[v] = vi_load(f->index + (f->first + v) * VF);
        LKS_UNROLL
        for (int e = 0; e < E; e++) pattern[e * V + v] = vf_load(d + e * FEW_RUN + (f->first + v) * VF);
    }
    for (int64_t k = 0; k < f->end; k += 4) {
        vf quad[2];

        LKS_UNROLL
        for (int e = 0; e < E; e++) quad[e] = vf_quad(f->a + k + e * f->k);
        LKS_UNROLL
        for (int v = 0; v < V; v++) {
            const int masked = v == V - 1 && !whole;
            vf wv = masked ? vf_load_m(w + v * VF, last) : vf_load(w + v * VF);

            LKS_UNROLL
            for (int e = 0; e < E; e++) wv = vf_fma(vf_spread(quad[e], index[v]), pattern[e * V + v], wv);
            if (masked) vf_store_m(w + v * VF, last, wv);
            else vf_store(w + v * VF, wv);
        }
        w += 4 * f->m;
    }
}

typedef void (*outer_fn)(const few *f, float *w, const float *d);

#define FEW_OUTER(V, E)                                                 \
    static void outer_##V##_##E(const few *f, float *w, const float *d) \
    {                                                                   \
        few_outer(f, w, d, V, E);                                       \
    }
FEW_OUTER(1, 1)
FEW_OUTER(2, 1)
FEW_OUTER(3, 1)
FEW_OUTER(4, 1)
FEW_OUTER(5, 1)
FEW_OUTER(6, 1)
FEW_OUTER(7, 1)
FEW_OUTER(8, 1)
FEW_OUTER(1, 2)
FEW_OUTER(2, 2)
FEW_OUTER(3, 2)
FEW_OUTER(4, 2)
FEW_OUTER(5, 2)
FEW_OUTER(6, 2)
FEW_OUTER(7, 2)
FEW_OUTER(8, 2)

static const outer_fn outer_of[9][2] = {
    [1] = { outer_1_1, outer_1_2 }, [2] = { outer_2_1, outer_2_2 }, [3] = { outer_3_1, outer_3_2 },
    [4] = { outer_4_1, outer_4_2 }, [5] = { outer_5_1, outer_5_2 }, [6] = { outer_6_1, outer_6_2 },
    [7] = { outer_7_1, outer_7_2 }, [8] = { outer_8_1, outer_8_2 },
};

/* Rows [0, rows), at most two, for `length` rows of w from `k`. */
static void few_outer_rows(few *f, int rows, float *w, int64_t k, int64_t length, const float *a, const float *d)
{
    float pattern[2 * FEW_RUN];
    const int vectors = (int)(4 * f->m + VF - 1) / VF;

    for (int e = 0; e < rows; e++)
        for (int i = 0; i < FEW_RUN; i++) pattern[e * FEW_RUN + i] = i < 4 * f->m ? d[e * f->m + i % f->m] : 0.0f;
    f->a = a + k;
    f->end = length / 4 * 4;
    for (f->first = 0; f->first < vectors; f->first += 8)
        outer_of[vectors - f->first < 8 ? vectors - f->first : 8][rows - 1](f, w + k * f->m, pattern);
    for (int64_t i = k + f->end; i < k + length; i++)
        for (int e = 0; e < rows; e++)
            for (int64_t j = 0; j < f->m; j++)
                w[i * f->m + j] = lks__fma_f(a[e * f->k + i], d[e * f->m + j], w[i * f->m + j]);
}

void SIMD(matmul_filter_few)(int64_t rows, int64_t k, int64_t m, const float *a, const float *d, float *w)
{
    few f = { .k = k, .m = m };
    const int64_t chunk = 4096 / m / 4 * 4; /* rows of w that stay in L1 */

    for (int i = 0; i < FEW_RUN; i++) f.index[i] = i < 4 * m ? (int32_t)(i / m) : 0;
    for (int64_t first = 0; first < k; first += chunk)
        for (int64_t i = 0; i < rows; i += 2)
            few_outer_rows(&f, rows - i < 2 ? 1 : 2, w, first, k - first < chunk ? k - first : chunk, a + i * k,
                           d + i * m);
}
