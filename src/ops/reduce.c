/* reduce.c - the walk over a row that sums and maxima share.
 *
 * Order. Axes of size 1 are left out and neighbours of the same kind (reduced, kept) merged. If the innermost axis is then
 * reduced, its runs are joined by 16 lanes (order.h) and the runs of one output element one after the other, in
 * row-major order, to +0 (-inf). If it is kept, each output element takes its elements one after the other.
 *
 * The two innermost axes are one tight loop: rows of a matrix that are summed across (columns) or along (runs). Columns go
 * in strips of 16 that stay in registers.
 */
#include "reduce.h"

#include "order.h"

lks_walk lks__reduce_walk(const lks_shape *shape, uint32_t axes)
{
    lks_walk w = { .n = 0, .kept = 1 };

    for (int i = 0; i < shape->rank; i++) {
        bool reduced = (axes >> i & 1) != 0;
        if (shape->dim[i] == 1) continue;
        if (w.n > 0 && w.reduced[w.n - 1] == reduced) {
            w.dim[w.n - 1] *= shape->dim[i];
            continue;
        }
        w.dim[w.n] = shape->dim[i];
        w.reduced[w.n++] = reduced;
    }
    if (w.n == 0) {
        w.dim[w.n] = 1;
        w.reduced[w.n++] = false;
    }
    for (int i = w.n - 1; i >= 0; i--) {
        w.stride[i] = w.reduced[i] ? 0 : w.kept;
        if (!w.reduced[i]) w.kept *= w.dim[i];
    }
    return w;
}

/* A matrix of rows x columns is joined to y: y[c] over the rows, or y[r] along the row. */
typedef void join_fn(int64_t rows, int64_t columns, const float *x, float *y);

static void sum_columns(int64_t rows, int64_t columns, const float *restrict x, float *restrict y)
{
    int64_t c = 0;

    for (; c + 16 <= columns; c += 16) {
        float sum[16];
        for (int l = 0; l < 16; l++) sum[l] = y[c + l];
        for (int64_t r = 0; r < rows; r++)
            for (int l = 0; l < 16; l++) sum[l] += x[r * columns + c + l];
        for (int l = 0; l < 16; l++) y[c + l] = sum[l];
    }
    for (; c + 4 <= columns; c += 4) {
        float sum[4];
        for (int l = 0; l < 4; l++) sum[l] = y[c + l];
        for (int64_t r = 0; r < rows; r++)
            for (int l = 0; l < 4; l++) sum[l] += x[r * columns + c + l];
        for (int l = 0; l < 4; l++) y[c + l] = sum[l];
    }
    for (; c < columns; c++) {
        float sum = y[c];
        for (int64_t r = 0; r < rows; r++) sum += x[r * columns + c];
        y[c] = sum;
    }
}

static void sum_runs(int64_t rows, int64_t columns, const float *restrict x, float *restrict y)
{
    for (int64_t r = 0; r < rows; r++) y[r] += lks__sum16(x + r * columns, columns);
}

static void max_columns(int64_t rows, int64_t columns, const float *restrict x, float *restrict y)
{
    int64_t c = 0;

    for (; c + 4 <= columns; c += 4) {
        float top[4];
        for (int l = 0; l < 4; l++) top[l] = y[c + l];
        for (int64_t r = 0; r < rows; r++)
            for (int l = 0; l < 4; l++) top[l] = lks__max_f(top[l], x[r * columns + c + l]);
        for (int l = 0; l < 4; l++) y[c + l] = top[l];
    }
    for (; c < columns; c++)
        for (int64_t r = 0; r < rows; r++) y[c] = lks__max_f(y[c], x[r * columns + c]);
}

static void max_runs(int64_t rows, int64_t columns, const float *restrict x, float *restrict y)
{
    for (int64_t r = 0; r < rows; r++) y[r] = lks__max_f(y[r], lks__max16(x + r * columns, columns));
}

/* The matrices of the two innermost axes in memory order. */
static void run_walk(const lks_walk *w, const float *x, float *y, join_fn *columns, join_fn *runs)
{
    int64_t at[LKS_MAX_RANK + 1] = { 0 }, last = w->dim[w->n - 1], before = w->n > 1 ? w->dim[w->n - 2] : 1, count = 1;
    join_fn *join = w->reduced[w->n - 1] ? runs : columns;

    for (int i = 0; i < w->n - 2; i++) count *= w->dim[i];
    for (; count > 0; count--, x += before * last) {
        join(before, last, x, y);
        for (int i = w->n - 3; i >= 0; i--) {
            y += w->stride[i];
            if (++at[i] < w->dim[i]) break;
            y -= w->stride[i] * w->dim[i];
            at[i] = 0;
        }
    }
}

void lks__reduce_sum_row(const lks_walk *w, const float *x, float *y)
{
    for (int64_t i = 0; i < w->kept; i++) y[i] = 0.0f;
    run_walk(w, x, y, sum_columns, sum_runs);
}

void lks__reduce_max_row(const lks_walk *w, const float *x, float *y)
{
    for (int64_t i = 0; i < w->kept; i++) y[i] = -LKS_INFINITY_F;
    run_walk(w, x, y, max_columns, max_runs);
}

lks_shape lks__reduce_keep_shape(const lks_shape *in, uint32_t axes)
{
    lks_shape s = *in;

    for (int i = 0; i < s.rank; i++)
        if ((axes >> i & 1) != 0) s.dim[i] = 1;
    return s;
}

static lks_status without_axes(const char *op, const lks_type *in, uint32_t axes, bool keep, lks_type *out)
{
    char text[LKS_TYPE_TEXT];
    lks_type t = *in;

    LKS_TRY(lks__expect_dtype(op, in, LKS_FLOAT32));
    if ((axes >> in->shape.rank) != 0)
        return lks__fail(LKS_E_SHAPE, "%s: an axis to reduce is outside of %s", op, lks__type_text(in, text));
    t.shape = lks__reduce_keep_shape(&in->shape, axes);
    if (!keep) {
        t.shape.rank = 0;
        for (int i = 0; i < in->shape.rank; i++)
            if ((axes >> i & 1) == 0) t.shape.dim[t.shape.rank++] = in->shape.dim[i];
        for (int64_t i = t.shape.rank; i < LKS_MAX_RANK; i++) t.shape.dim[i] = 0;
    }
    *out = t;
    return LKS_OK;
}

lks_status lks__reduce_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_reduce_attrs *a = attrs;

    LKS_TRY(lks__expect_inputs(op, 1, n_in));
    return without_axes(op, in[0], a->axes, a->keep, out);
}

lks_status lks__batch_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_batch_attrs *a = attrs;
    char text[LKS_TYPE_TEXT];

    LKS_TRY(lks__expect_inputs(op, 1, n_in));
    if (!in[0]->batched)
        return lks__fail(LKS_E_SHAPE, "%s: %s does not carry the batch", op, lks__type_text(in[0], text));
    LKS_TRY(without_axes(op, in[0], a->axes, false, out));
    out->batched = false;
    out->local = a->local;
    return LKS_OK;
}

void lks__reduce_run(const lks_op_call *call, void (*one_row)(const lks_walk *w, const float *x, float *y))
{
    const lks_reduce_attrs *a = call->attrs;
    int64_t n_x = lks__type_size(call->in_type[0]), n_y = lks__type_size(call->out_type);
    lks_walk w = lks__reduce_walk(&call->in_type[0]->shape, a->axes);
    const float *x = call->in[0];
    float *y = call->out;

    for (int64_t i = 0; i < call->n; i++) one_row(&w, x + i * n_x, y + i * n_y);
}

size_t lks__batch_scratch(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    (void)in;
    return lks__type_bytes(out);
}

double lks__reduce_flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    (void)out;
    return (double)lks__type_size(in[0]);
}
