/* reduce.c - the walk over a row that sums and maxima share.
 *
 * Order. Axes of size 1 are left out and neighbours of the same kind (reduced, kept) merged. If the innermost axis is then
 * reduced, its runs are joined by 16 lanes (order.h) and the runs of one output element one after the other, in
 * row-major order, to +0 (-inf). If it is kept, each output element takes its elements one after the other.
 */
#include "reduce.h"

#include "order.h"

typedef struct walk {
    int n; /* merged axes */
    int64_t dim[LKS_MAX_RANK + 1];
    bool reduced[LKS_MAX_RANK + 1];
    int64_t stride[LKS_MAX_RANK + 1]; /* in the output; 0 where reduced */
    int64_t kept;                     /* elements of the output */
} walk;

static walk plan(const lks_shape *shape, uint32_t axes)
{
    walk w = { .n = 0, .kept = 1 };

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

typedef void join_fn(bool reduced, int64_t n, const float *x, float *y);

static void join_sum(bool reduced, int64_t n, const float *restrict x, float *restrict y)
{
    if (reduced) {
        *y += lks__sum16(x, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) y[i] += x[i];
}

static void join_max(bool reduced, int64_t n, const float *restrict x, float *restrict y)
{
    if (reduced) {
        *y = lks__max_f(*y, lks__max16(x, n));
        return;
    }
    for (int64_t i = 0; i < n; i++) y[i] = lks__max_f(y[i], x[i]);
}

/* Runs of the innermost axis in memory order. */
static void run_walk(const walk *w, const float *x, float *y, join_fn *join)
{
    int64_t at[LKS_MAX_RANK + 1] = { 0 }, runs = 1;
    int last = w->n - 1;

    for (int i = 0; i < last; i++) runs *= w->dim[i];
    for (; runs > 0; runs--, x += w->dim[last]) {
        join(w->reduced[last], w->dim[last], x, y);
        for (int i = last - 1; i >= 0; i--) {
            y += w->stride[i];
            if (++at[i] < w->dim[i]) break;
            y -= w->stride[i] * w->dim[i];
            at[i] = 0;
        }
    }
}

void lks__reduce_sum_row(const lks_shape *shape, uint32_t axes, const float *x, float *y)
{
    walk w = plan(shape, axes);

    for (int64_t i = 0; i < w.kept; i++) y[i] = 0.0f;
    run_walk(&w, x, y, join_sum);
}

void lks__reduce_max_row(const lks_shape *shape, uint32_t axes, const float *x, float *y)
{
    walk w = plan(shape, axes);

    for (int64_t i = 0; i < w.kept; i++) y[i] = -LKS_INFINITY_F;
    run_walk(&w, x, y, join_max);
}

lks_shape lks__reduce_keep_shape(const lks_shape *in, uint32_t axes)
{
    lks_shape s = *in;

    for (int i = 0; i < s.rank; i++)
        if ((axes >> i & 1) != 0) s.dim[i] = 1;
    return s;
}

lks_status lks__reduce_infer(const char *op, const lks_type *in, uint32_t axes, bool keep, lks_type *out)
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

double lks__reduce_flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    (void)out;
    return (double)lks__type_size(in[0]);
}
