/* matmul.c - matmul and matmul_filter: which way a shape takes.
 *
 * Rows are the examples and all leading axes. Wide matrices go the way of 1x1 convolutions: blocks of rows times two
 * vectors of columns, the matrix in panels. Few columns (m < 16) have their own order and file, matmul_few.c.
 */
#include "matmul_few.h"

static int64_t rows_of(const lks_type *type, int64_t n)
{
    for (int64_t i = 0; i + 1 < type->shape.rank; i++) n *= type->shape.dim[i];
    return n;
}

/* Few columns, and what follows: row by row, where the mask may lie where the results go. */
static void few_after(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, const float *packed, float *y,
                      const lks_after *after)
{
    float row[FEW_COLUMNS];

    for (int64_t i = 0; i < rows; i++, y += m) {
        const float *mask = after->mask != NULL ? after->mask + i * m : NULL;
        float *to = mask != NULL ? row : y;

        if (mask != NULL) SIMD(matmul_few)(1, k, m, a + i * k, w, packed, row);
        for (int64_t j = 0; after->bias != NULL && j < m; j++) to[j] += after->bias[j];
        for (int64_t j = 0; after->relu && j < m; j++) to[j] = 0.0f > to[j] ? 0.0f : to[j];
        for (int64_t j = 0; mask != NULL && j < m; j++) y[j] = mask[j] > 0.0f ? row[j] : 0.0f;
    }
}

/* Has the shape a kernel of matmul_few.h, whatever follows? */
static bool is_few(bool transposed, int64_t k, int64_t m)
{
    return transposed ? m <= FEW_COLUMNS && k >= 2 * VF : m < FEW_COLUMNS;
}

static void run_matmul(const lks_op_call *call, const float *packed)
{
    const bool transposed = *(const bool *)call->attrs;
    const int64_t k = call->in_type[1]->shape.dim[0], m = call->in_type[1]->shape.dim[1];
    const int64_t rows = rows_of(call->out_type, call->n);
    const float *a = call->in[0], *w = call->in[1];
    const lks_after *after = call->after;

    if (is_few(transposed, k, m) && !transposed) {
        if (after == NULL || after->mask == NULL) SIMD(matmul_few)(rows, k, m, a, w, packed, call->out);
        if (after != NULL) few_after(rows, k, m, a, w, packed, call->out, after);
    } else if (is_few(transposed, k, m) && (after == NULL || (after->bias == NULL && !after->relu))) {
        const float *mask = after != NULL ? after->mask : NULL;

        SIMD(matmul_few_transposed)(rows, k, m, a, w, packed, call->out, mask);
    } else {
        SIMD(conv_dense)(rows, k, m, transposed, a, w, call->out, call->scratch, after);
    }
}

void SIMD(matmul)(const lks_op_call *call)
{
    run_matmul(call, NULL);
}

size_t SIMD(matmul_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const bool transposed = *(const bool *)attrs;

    (void)out;
    return (size_t)(in[1]->shape.dim[transposed] * 2 * VF) * sizeof(float);
}

/* ---- by weights that were packed before: both directions read the same packed matrix ---- */

static bool parts_applicable(const void *attrs, const lks_type *const *in)
{
    const lks_shape *w = &in[1]->shape;

    return !in[1]->batched && w->dim[0] >= FEW_BLOCK && is_few(*(const bool *)attrs, w->dim[0], w->dim[1]);
}

static size_t packed_bytes(const void *attrs, const lks_type *const *in)
{
    const lks_shape *w = &in[1]->shape;

    (void)attrs;
    return (size_t)(w->dim[0] / FEW_BLOCK * FEW_BLOCK * w->dim[1]) * sizeof(float);
}

static void pack(const void *attrs, const lks_type *const *in, const void *from, void *to, int part, int parts)
{
    const lks_shape *w = &in[1]->shape;
    const int64_t blocks = w->dim[0] / FEW_BLOCK, m = w->dim[1], begin = blocks * part / parts;
    const int64_t at = begin * FEW_BLOCK * m;

    (void)attrs;
    SIMD(few_pack)(blocks * (part + 1) / parts - begin, m, (const float *)from + at, (float *)to + at);
}

static void run_packed(const lks_op_call *call, const lks_part *part)
{
    run_matmul(call, part->packed);
}

const lks_parts SIMD(matmul_parts) = { parts_applicable, packed_bytes, pack, run_packed, true };

/* ---- the gradient of the matrix ---- */

static bool is_few_filter(const lks_op_call *call)
{
    return call->in_type[0]->shape.rank == 1 && call->out_type->shape.dim[1] < FEW_COLUMNS;
}

void SIMD(matmul_filter_settle)(const lks_op_call *call, int part, int parts)
{
    const lks_shape *w = &call->out_type->shape;
    const int64_t blocks = w->dim[0] / FEW_BLOCK, m = w->dim[1], begin = blocks * part / parts;
    float *sums = (float *)call->out + begin * FEW_BLOCK * m;

    if (is_few_filter(call)) SIMD(few_unpack)(blocks * (part + 1) / parts - begin, m, sums, sums);
}

void SIMD(matmul_filter)(const lks_op_call *call)
{
    const lks_shape *shape = &call->in_type[0]->shape;
    const int64_t k = call->out_type->shape.dim[0], m = call->out_type->shape.dim[1];

    if (is_few_filter(call)) {
        SIMD(matmul_filter_few)(call);
        return;
    }
    if (call->fresh) memset(call->out, 0, (size_t)(k * m) * sizeof(float));
    if (shape->rank == 1) SIMD(filter_dense)(1, call->n, k, m, true, call->in[0], call->in[1], call->out);
    else SIMD(filter_dense)(call->n, rows_of(call->in_type[0], 1), k, m, false, call->in[0], call->in[1], call->out);
    for (int i = 0; i < call->n_join; i++) SIMD(add)(call->out, call->join[i], k * m);
}
