/* matmul_few_filter.c - the gradient for a matrix of few columns: w (k, m) += a (rows, k) transposed times d (rows, m), rows in order.
 *
 * Lanes run over k, so that a number of d is spread over a whole vector by its load: two vectors of k times up to five columns
 * stay in registers while all rows pass by, and w is met once, turned from and to its rows of m numbers. There it is joined
 * with other shards' sums too.
 */
#include "entries.h"
#include "ops/scalar_math.h"

/* RUN: blocks whose part of w stays in L1 until it is joined. AHEAD: numbers of a row to ask memory for beforehand. */
enum { MOST_COLUMNS = 16, TOGETHER = 5, RUN = 8, AHEAD = 8 * VF };

typedef struct few_filter {
    const lks_op_call *call;
    int64_t rows, k, m;
    const float *a, *d;
    float *w;
} few_filter;

/* C columns from the first of a block: columns[column][2] of vectors over k. */
LKS_INLINE void few_columns(const few_filter *f, const float *a, const float *d, vf *columns, const int C)
{
    vf sum[2 * TOGETHER];

    LKS_UNROLL
    for (int i = 0; i < 2 * C; i++) sum[i] = columns[i];
    for (int64_t r = 0; r < f->rows; r++, a += f->k, d += f->m) {
        vf a0 = vf_load(a), a1 = vf_load(a + VF);

        LKS_ONCE(a0);
        LKS_ONCE(a1);
        LKS_UNROLL
        for (int c = 0; c < C; c++) {
            const vf v = vf_set(d[c]);

            sum[2 * c] = vf_fma(a0, v, sum[2 * c]);
            sum[2 * c + 1] = vf_fma(a1, v, sum[2 * c + 1]);
        }
    }
    LKS_UNROLL
    for (int i = 0; i < 2 * C; i++) columns[i] = sum[i];
}

/* The block's rows of w as columns, zeros if they are fresh. */
LKS_INLINE void few_take(const few_filter *f, const float *w, vf *columns, const int64_t m)
{
    if (f->call->fresh) {
        LKS_UNROLL
        for (int64_t i = 0; i < 2 * m; i++) columns[i] = vf_zero();
        return;
    }
    for (int64_t j = 0; m < 4 && j < m; j++) {
        float lanes[2 * VF];

        for (int l = 0; l < 2 * VF; l++) lanes[l] = w[l * m + j];
        columns[2 * j] = vf_load(lanes);
        columns[2 * j + 1] = vf_load(lanes + VF);
    }
    LKS_UNROLL
    for (int64_t j = 0; m >= 4 && j < m; j += 4) {
        const int64_t from = j + 4 <= m ? j : m - 4;

        LKS_UNROLL
        for (int h = 0; h < 2; h++) {
            vf c[4];

            vf_load_columns(w + h * VF * m + from, m, c);
            LKS_UNROLL
            for (int l = 0; l < 4; l++) columns[2 * (from + l) + h] = c[l];
        }
    }
}

/* And back. The last columns of more than VF come from one vector that overlaps the one before: the numbers are the same. */
LKS_INLINE void few_put(float *w, const vf *columns, const int64_t m)
{
    const vmask mask = vf_first(m);

    LKS_UNROLL
    for (int h = 0; h < 2; h++) {
        LKS_UNROLL
        for (int64_t j = 0; j < m; j += VF) {
            const int64_t from = j + VF <= m || m < VF ? j : m - VF;
            float *to = w + h * VF * m + from;
            vf row[VF];

            LKS_UNROLL
            for (int l = 0; l < VF; l++) row[l] = from + l < m ? columns[2 * (from + l) + h] : vf_zero();
            vf_transpose(row);
            LKS_UNROLL
            for (int l = 0; l < VF; l++) {
                if (m < VF) vf_store_m(to + l * m, mask, row[l]);
                else vf_store(to + l * m, row[l]);
            }
        }
    }
}

/* What the next blocks will read, while this one computes. */
LKS_INLINE void few_ask(const few_filter *f, int64_t first)
{
    const int64_t at = first + AHEAD, w = at * f->m;

    if (at + 2 * VF > f->k) return;
    for (int64_t r = 0; r < f->rows; r++) __builtin_prefetch(f->a + r * f->k + at);
    for (int64_t i = 0; i < 2 * VF * f->m; i += 16) {
        __builtin_prefetch(f->w + w + i, 1);
        for (int s = 0; s < f->call->n_join; s++) __builtin_prefetch(f->call->join[s] + w + i);
    }
}

/* Ten classes are what most programs have: a function of their own. */
static void few_block_of_10(const few_filter *f, int64_t first)
{
    vf columns[20];

    few_take(f, f->w + first * 10, columns, 10);
    few_ask(f, first);
    few_columns(f, f->a + first, f->d, columns, 5);
    few_columns(f, f->a + first, f->d + 5, columns + 10, 5);
    few_put(f->w + first * 10, columns, 10);
}

static void few_block(const few_filter *f, int64_t first)
{
    const float *a = f->a + first, *d = f->d;
    vf columns[2 * MOST_COLUMNS], *to = columns;

    few_take(f, f->w + first * f->m, columns, f->m);
    few_ask(f, first);
    for (int64_t groups = (f->m + TOGETHER - 1) / TOGETHER, left = f->m, n; groups > 0; groups--, left -= n) {
        n = (left + groups - 1) / groups;
        switch (n) {
        case 5: few_columns(f, a, d, to, 5); break;
        case 4: few_columns(f, a, d, to, 4); break;
        case 3: few_columns(f, a, d, to, 3); break;
        case 2: few_columns(f, a, d, to, 2); break;
        default: few_columns(f, a, d, to, 1); break;
        }
        d += n;
        to += 2 * n;
    }
    few_put(f->w + first * f->m, columns, f->m);
}

/* Number by number. */
static void few_rest(const few_filter *f, int64_t first)
{
    for (int64_t at = first * f->m; at < f->k * f->m; at++) {
        const float *a = f->a + at / f->m, *d = f->d + at % f->m;
        float sum = f->call->fresh ? 0.0f : f->w[at];

        for (int64_t r = 0; r < f->rows; r++) sum = lks__fma_f(a[r * f->k], d[r * f->m], sum);
        for (int s = 0; s < f->call->n_join; s++) sum += f->call->join[s][at];
        f->w[at] = sum;
    }
}

void SIMD(matmul_filter_few)(const lks_op_call *call)
{
    const few_filter f = { .call = call,
                           .rows = call->n,
                           .k = call->out_type->shape.dim[0],
                           .m = call->out_type->shape.dim[1],
                           .a = call->in[0],
                           .d = call->in[1],
                           .w = call->out };
    const int64_t whole = f.k / (2 * VF) * (2 * VF), run = RUN * 2 * VF;

    for (int64_t first = 0; first < whole; first += run) {
        const int64_t end = first + run < whole ? first + run : whole;

        for (int64_t at = first; at < end; at += 2 * VF) {
            if (f.m == 10) few_block_of_10(&f, at);
            else few_block(&f, at);
        }
        for (int s = 0; s < call->n_join; s++)
            SIMD(add)(f.w + first * f.m, call->join[s] + first * f.m, (end - first) * f.m);
    }
    few_rest(&f, whole);
}
