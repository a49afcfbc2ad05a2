/* matmul.c - matmul and matmul_filter: which way a shape takes.
 *
 * Rows are the examples and all leading axes. Wide matrices go the way of 1x1 convolutions: blocks of rows times two
 * vectors of columns, the matrix in panels. Few columns (m < 16) have their own order and file, matmul_few.c.
 */
#include "entries.h"

enum { FEW_COLUMNS = 16 };

static int64_t rows_of(const lks_type *type, int64_t n)
{
    for (int64_t i = 0; i + 1 < type->shape.rank; i++) n *= type->shape.dim[i];
    return n;
}

/* y (rows, k) = d (rows, m) times w (k, m) transposed, m small: lanes run over k, two vectors at once. columns: [m][2]. */
LKS_INLINE void transposed_block(int64_t m, const float *d, const vf *columns, float *y, int64_t k, const float *mask,
                                 const int rows)
{
    vf sum[8];

    LKS_UNROLL
    for (int i = 0; i < rows * 2; i++) sum[i] = vf_zero();
    for (int64_t j = 0; j < m; j++) {
        LKS_UNROLL
        for (int i = 0; i < rows; i++) {
            const vf v = vf_set(d[i * m + j]);

            sum[2 * i] = vf_fma(v, columns[2 * j], sum[2 * i]);
            sum[2 * i + 1] = vf_fma(v, columns[2 * j + 1], sum[2 * i + 1]);
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

static void transposed_few(int64_t rows, int64_t k, int64_t m, const float *d, const float *w, float *y,
                           const float *mask)
{
    for (int64_t first = 0; first < k; first += 2 * VF) {
        const int64_t at = first + 2 * VF <= k ? first : k - 2 * VF; /* the last ones twice */
        vf columns[2 * FEW_COLUMNS];
        const float *masks = mask != NULL ? mask + at : NULL;
        int64_t i = 0;

        for (int64_t j = 0; j < m; j += 4) {
            const int64_t from = j + 4 <= m ? j : m - 4;

            for (int h = 0; h < 2; h++) {
                vf c[4];

                vf_load_columns(w + (at + h * VF) * m + from, m, c);
                LKS_UNROLL
                for (int l = 0; l < 4; l++) columns[2 * (from + l) + h] = c[l];
            }
        }
        for (; i + 4 <= rows; i += 4, masks += mask != NULL ? 4 * k : 0)
            transposed_block(m, d + i * m, columns, y + i * k + at, k, masks, 4);
        for (; i < rows; i++, masks += mask != NULL ? k : 0)
            transposed_block(m, d + i * m, columns, y + i * k + at, k, masks, 1);
    }
}

/* call->after for few columns, or (bias and relu only) behind transposed_few. */
static void after_rows(int64_t rows, int64_t m, float *y, const lks_after *after)
{
    for (int64_t i = 0; i < rows; i++, y += m) {
        for (int64_t j = 0; after->bias != NULL && j < m; j++) y[j] += after->bias[j];
        for (int64_t j = 0; after->relu && j < m; j++) y[j] = 0.0f > y[j] ? 0.0f : y[j];
        for (int64_t j = 0; after->mask != NULL && j < m; j++) y[j] = after->mask[i * m + j] > 0.0f ? y[j] : 0.0f;
    }
}

void SIMD(matmul)(const lks_op_call *call)
{
    const bool transposed = *(const bool *)call->attrs;
    const int64_t k = call->in_type[1]->shape.dim[0], m = call->in_type[1]->shape.dim[1];
    const int64_t rows = rows_of(call->out_type, call->n);
    const float *a = call->in[0], *w = call->in[1];
    lks_after after = { 0 };

    if (call->after != NULL) after = *call->after;
    if (!transposed && m < 16) {
        SIMD(matmul_few)(rows, k, m, a, w, call->out);
        after_rows(rows, m, call->out, &after);
    } else if (transposed && m >= 4 && m <= FEW_COLUMNS && k >= 2 * VF) {
        const float *late = after.bias != NULL || after.relu ? after.mask : NULL;

        transposed_few(rows, k, m, a, w, call->out, late != NULL ? NULL : after.mask);
        after_rows(rows, k, call->out, &(lks_after){ .bias = after.bias, .relu = after.relu, .mask = late });
    } else {
        SIMD(conv_dense)(rows, k, m, transposed, a, w, call->out, call->scratch, call->after);
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

    if (shape->rank == 1 && m < 16) SIMD(matmul_filter_few)(call->n, k, m, call->in[0], call->in[1], call->out);
    else if (shape->rank == 1) SIMD(filter_dense)(1, call->n, k, m, true, call->in[0], call->in[1], call->out);
    else SIMD(filter_dense)(call->n, rows_of(call->in_type[0], 1), k, m, false, call->in[0], call->in[1], call->out);
}
