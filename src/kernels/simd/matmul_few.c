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

/* ---- the gradient for the matrix: w[k][m] += a[row][k] d[row][m], rows in order ---- */

/* The products of E rows for k in [0, end) and vector f->first of the run. uniform: all its lanes take number `which` of the
 * four. d: E vectors. */
LKS_INLINE void few_outer(const few *f, float *w, const float *d, int which, const int E, const bool uniform,
                          const bool masked)
{
    const vindex index = vi_load(f->index + f->first * VF);
    const vmask last = vf_first(4 * f->m - f->first * VF);
    vf pattern[4];

    w += f->first * VF;
    LKS_UNROLL
    for (int e = 0; e < E; e++) pattern[e] = vf_load(d + e * VF);
    for (int64_t k = 0; k < f->end; k += 4) {
        vf v = masked ? vf_load_m(w, last) : vf_load(w);

        LKS_UNROLL
        for (int e = 0; e < E; e++) {
            const float *a = f->a + k + e * f->k;

            v = vf_fma(uniform ? vf_set(a[which]) : vf_spread(vf_quad(a), index), pattern[e], v);
        }
        if (masked) vf_store_m(w, last, v);
        else vf_store(w, v);
        w += 4 * f->m;
    }
}

LKS_INLINE void few_outer_vector(const few *f, float *w, const float *d, const int E)
{
    const int32_t *index = f->index + f->first * VF;

    if (4 * f->m < (f->first + 1) * VF) few_outer(f, w, d, 0, E, false, true);
    else if (index[0] == index[VF - 1]) few_outer(f, w, d, index[0], E, true, false);
    else few_outer(f, w, d, 0, E, false, false);
}

/* Four k of E rows' products for ten columns. The last vector may be partial (no AVX2). */
LKS_INLINE void few_outer_tens_step(const few *f, const float *a, float *w, const vindex *index, const vf *pattern,
                                    vmask last, const int E)
{
    vf quad[2];

    LKS_UNROLL
    for (int e = 0; e < E; e++) quad[e] = vf_quad(a + e * f->k);
    LKS_UNROLL
    for (int v = 0; v < TENS; v++) {
        const bool partial = v == TENS - 1 && 40 % VF != 0;
        vf wv = partial ? vf_load_m(w + v * VF, last) : vf_load(w + v * VF);

        LKS_UNROLL
        for (int e = 0; e < E; e++) wv = vf_fma(vf_ten(a + e * f->k, quad[e], index, v), pattern[e * TENS + v], wv);
        if (partial) vf_store_m(w + v * VF, last, wv);
        else vf_store(w + v * VF, wv);
    }
}

LKS_INLINE void few_outer_tens(const few *f, float *restrict w, const float *d, const int E)
{
    const float *restrict a = f->a;
    const vmask last = vf_first(40 - (TENS - 1) * VF);
    vindex index[TENS];
    vf pattern[2 * TENS];

    vi_tens(index);
    LKS_UNROLL
    for (int i = 0; i < E * TENS; i++) pattern[i] = vf_load(d + i * VF);
    for (int64_t k = 0; k < f->end; k += 4, w += 40) few_outer_tens_step(f, a + k, w, index, pattern, last, E);
}

static void few_tens_rows(const few *f, int64_t rows, float *w, const float *d)
{
    float pattern[2 * TENS * VF];

    for (int64_t e = 0; e < rows; e++)
        for (int i = 0; i < TENS * VF; i++) pattern[e * TENS * VF + i] = d[e * 10 + i % 10];
    if (rows == 2) few_outer_tens(f, w, pattern, 2);
    else few_outer_tens(f, w, pattern, 1);
}

/* Rows [0, rows), at most four, for `length` rows of w from `k`. */
static void few_outer_rows(few *f, int64_t rows, float *w, int64_t k, int64_t length, const float *a, const float *d)
{
    const int vectors = (int)(4 * f->m + VF - 1) / VF;

    f->a = a + k;
    f->end = length / 4 * 4;
    if (f->m == 10) {
        for (int64_t e = 0; e < rows; e += 2, f->a += 2 * f->k)
            few_tens_rows(f, rows - e < 2 ? rows - e : 2, w + k * f->m, d + e * f->m);
    }
    for (f->first = 0; f->m != 10 && f->first < vectors; f->first++) {
        float pattern[4 * VF];

        for (int64_t e = 0; e < rows; e++)
            for (int i = 0; i < VF; i++) pattern[e * VF + i] = d[e * f->m + (f->first * VF + i) % f->m];
        if (rows == 4) few_outer_vector(f, w + k * f->m, pattern, 4);
        else if (rows == 2) few_outer_vector(f, w + k * f->m, pattern, 2);
        else few_outer_vector(f, w + k * f->m, pattern, 1);
    }
    for (int64_t i = k + f->end; i < k + length; i++)
        for (int64_t e = 0; e < rows; e++)
            for (int64_t j = 0; j < f->m; j++)
                w[i * f->m + j] = lks__fma_f(a[e * f->k + i], d[e * f->m + j], w[i * f->m + j]);
}

/* A run of rows of w stays in L1 while it is zeroed, meets all rows of a, and is joined with the sums of other shards. */
void SIMD(matmul_filter_few)(const lks_op_call *call)
{
    const int64_t k = call->out_type->shape.dim[0], m = call->out_type->shape.dim[1], rows = call->n;
    const int64_t chunk = few_chunk_length(m);
    const float *a = call->in[0], *d = call->in[1];
    float *w = call->out;
    few f = { .k = k, .m = m };

    few_indices(&f);
    for (int64_t first = 0; first < k; first += chunk) {
        const int64_t length = k - first < chunk ? k - first : chunk;

        if (call->fresh) memset(w + first * m, 0, (size_t)(length * m) * sizeof *w);
        for (int64_t i = 0, n; i < rows; i += n) {
            n = rows - i >= 4 ? 4 : rows - i >= 2 ? 2 : 1;
            few_outer_rows(&f, n, w, first, length, a + i * k, d + i * m);
        }
        for (int i = 0; i < call->n_join; i++) SIMD(add)(w + first * m, call->join[i] + first * m, length * m);
    }
}
