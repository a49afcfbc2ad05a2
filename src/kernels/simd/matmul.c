/* matmul.c - matmul and matmul_filter: which way a shape takes.
 *
 * Rows are the examples and all leading axes. Wide matrices go the way of 1x1 convolutions: blocks of rows times two
 * vectors of columns, the matrix in panels. Few columns (m < 16) have their own order and file, matmul_few.c.
 */
#include "entries.h"
#include "ops/scalar_math.h"

enum { FEW_COLUMNS = 16 };

static int64_t rows_of(const lks_type *type, int64_t n)
{
    for (int64_t i = 0; i + 1 < type->shape.rank; i++) n *= type->shape.dim[i];
    return n;
}

/* Columns k to k + 2 VF of w transposed: [m][2]. */
LKS_INLINE void transposed_columns(int64_t m, const float *w, vf *columns)
{
    for (int64_t j = 0; j < m; j += 4) {
        const int64_t from = j + 4 <= m ? j : m - 4;

        for (int h = 0; h < 2; h++) {
            vf c[4];

            vf_load_columns(w + h * VF * m + from, m, c);
            LKS_UNROLL
            for (int l = 0; l < 4; l++) columns[2 * (from + l) + h] = c[l];
        }
    }
}

/* y (rows, k) = d (rows, m) times w (k, m) transposed, m small: lanes run over k, two vectors at once. */
LKS_INLINE void transposed_block(int64_t m, const float *d, const vf *columns, float *y, int64_t k, const float *mask,
                                 const int rows)
{
    vf sum[12];

    LKS_UNROLL
    for (int i = 0; i < rows * 2; i++) sum[i] = vf_zero();
    for (int64_t j = 0; j < m; j++) {
        vf c0 = columns[2 * j], c1 = columns[2 * j + 1];

        LKS_ONCE(c0);
        LKS_ONCE(c1);
        LKS_UNROLL
        for (int i = 0; i < rows; i++) {
            const vf v = vf_set(d[i * m + j]);

            sum[2 * i] = vf_fma(v, c0, sum[2 * i]);
            sum[2 * i + 1] = vf_fma(v, c1, sum[2 * i + 1]);
        }
    }
    if (mask != NULL) {
        LKS_UNROLL
        for (int i = 0; i < rows * 2; i++) sum[i] = vf_where_positive(vf_load(mask + i / 2 * k + i % 2 * VF), sum[i]);
    }
    LKS_UNROLL
    for (int i = 0; i < rows; i++) {
        vf_store(y + i * k, sum[2 * i]);
        vf_store(y + i * k + VF, sum[2 * i + 1]);
    }
}

/* k from `first` on, number by number. The mask may lie where the results go: each is made once. */
static void transposed_rest(int64_t rows, int64_t first, int64_t k, int64_t m, const float *d, const float *w, float *y,
                            const float *mask)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = first; c < k; c++) {
            float sum = 0.0f;

            for (int64_t j = 0; j < m; j++) sum = lks__fma_f(d[i * m + j], w[c * m + j], sum);
            y[i * k + c] = mask == NULL || mask[i * k + c] > 0.0f ? sum : 0.0f;
        }
}

enum { TRANSPOSED_ROWS = 6, TRANSPOSED_RUN = 8 };

/* Rows in blocks of about the same number, each over a run of columns: short enough for L1, long enough for prefetching. */
static void transposed_few(int64_t rows, int64_t k, int64_t m, const float *d, const float *w, float *y,
                           const float *mask)
{
    const int64_t whole = k / (2 * VF) * (2 * VF);
    vf columns[TRANSPOSED_RUN][2 * FEW_COLUMNS];

    for (int64_t first = 0; first < whole; first += TRANSPOSED_RUN * 2 * VF) {
        const int64_t left = (whole - first) / (2 * VF), run = left < TRANSPOSED_RUN ? left : TRANSPOSED_RUN;
        int64_t i = 0;

        for (int64_t c = 0; c < run; c++) transposed_columns(m, w + (first + c * 2 * VF) * m, columns[c]);
        for (int64_t blocks = (rows + TRANSPOSED_ROWS - 1) / TRANSPOSED_ROWS, n; blocks > 0; blocks--, i += n) {
            n = (rows - i + blocks - 1) / blocks;
            for (int64_t c = 0; c < run; c++) {
                const int64_t at = i * k + first + c * 2 * VF;
                const float *masks = mask != NULL ? mask + at : NULL;

                switch (n) {
                case 6: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 6); break;
                case 5: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 5); break;
                case 4: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 4); break;
                case 3: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 3); break;
                case 2: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 2); break;
                default: transposed_block(m, d + i * m, columns[c], y + at, k, masks, 1); break;
                }
            }
        }
    }
    transposed_rest(rows, whole, k, m, d, w, y, mask);
}

/* Few columns, and what follows: row by row, since the mask may lie where the results go. */
static void few_after(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, float *y,
                      const lks_after *after)
{
    float row[FEW_COLUMNS];

    for (int64_t i = 0; i < rows; i++, y += m) {
        const float *mask = after->mask != NULL ? after->mask + i * m : NULL;
        float *to = mask != NULL ? row : y;

        if (mask != NULL) SIMD(matmul_few)(1, k, m, a + i * k, w, row);
        for (int64_t j = 0; after->bias != NULL && j < m; j++) to[j] += after->bias[j];
        for (int64_t j = 0; after->relu && j < m; j++) to[j] = 0.0f > to[j] ? 0.0f : to[j];
        for (int64_t j = 0; mask != NULL && j < m; j++) y[j] = mask[j] > 0.0f ? row[j] : 0.0f;
    }
}

void SIMD(matmul)(const lks_op_call *call)
{
    const bool transposed = *(const bool *)call->attrs;
    const int64_t k = call->in_type[1]->shape.dim[0], m = call->in_type[1]->shape.dim[1];
    const int64_t rows = rows_of(call->out_type, call->n);
    const float *a = call->in[0], *w = call->in[1];
    const lks_after *after = call->after;

    if (!transposed && m < FEW_COLUMNS) {
        if (after == NULL || after->mask == NULL) SIMD(matmul_few)(rows, k, m, a, w, call->out);
        if (after != NULL) few_after(rows, k, m, a, w, call->out, after);
    } else if (transposed && m >= 4 && m <= FEW_COLUMNS && k >= 2 * VF &&
               (after == NULL || (after->bias == NULL && !after->relu))) {
        transposed_few(rows, k, m, a, w, call->out, after != NULL ? after->mask : NULL);
    } else {
        SIMD(conv_dense)(rows, k, m, transposed, a, w, call->out, call->scratch, after);
    }
}

size_t SIMD(matmul_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const bool transposed = *(const bool *)attrs;

    (void)out;
    return (size_t)(in[1]->shape.dim[transposed] * 2 * VF) * sizeof(float);
}

void SIMD(matmul_filter)(const lks_op_call *call)
{
    const lks_shape *shape = &call->in_type[0]->shape;
    const int64_t k = call->out_type->shape.dim[0], m = call->out_type->shape.dim[1];

    if (shape->rank == 1 && m < FEW_COLUMNS) {
        SIMD(matmul_filter_few)(call);
        return;
    }
    if (call->fresh) memset(call->out, 0, (size_t)(k * m) * sizeof(float));
    if (shape->rank == 1) SIMD(filter_dense)(1, call->n, k, m, true, call->in[0], call->in[1], call->out);
    else SIMD(filter_dense)(call->n, rows_of(call->in_type[0], 1), k, m, false, call->in[0], call->in[1], call->out);
    for (int i = 0; i < call->n_join; i++) SIMD(add)(call->out, call->join[i], k * m);
}
