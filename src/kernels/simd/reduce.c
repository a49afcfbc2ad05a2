/* reduce.c - sums and maxima over the axes of a row, and over the batch, where a row is one run of reduced elements, of kept
 * ones, or both (bias gradients, softmax, statistics). Other rows stay with the ops' own kernels.
 *
 * Kept inside: lanes are outputs, and up to eight vectors of them (of several examples) go side by side, since one sum
 * alone waits for its own additions; two of an example, so that a cache line is read once. Reduced inside: 16 lanes and
 * the tree, as ops/order.h says.
 */
#include "ops/reduce.h"
#include "entries.h"
#include "ops/order.h"

typedef struct reduction {
    int64_t n, runs, length; /* examples; of a row */
    const float *x;
    float *y;
    int64_t x_example, y_example;
    bool add; /* join with y (over the batch) */
} reduction;

LKS_INLINE vf reduce_start(const bool max)
{
    return vf_set(max ? -LKS_INFINITY_F : 0.0f);
}

LKS_INLINE vf reduce_join(vf a, vf b, const bool max)
{
    return max ? vf_max(a, b) : vf_add(a, b);
}

/* ---- kept inside: runs of `length` kept elements ---- */

/* Sums of `streams` vectors, `vectors` side by side, the next ones `apart`. */
LKS_INLINE void reduce_columns(const reduction *r, const float *x, int64_t apart, vf *sum, vmask m, const bool max,
                               const int streams, const int vectors, const bool masked)
{
    LKS_UNROLL
    for (int s = 0; s < streams; s++) sum[s] = reduce_start(max);
    for (int64_t i = 0; i < r->runs; i++) {
        LKS_UNROLL
        for (int s = 0; s < streams; s++) {
            const float *p = x + s / vectors * apart + s % vectors * VF;

            sum[s] = reduce_join(sum[s], masked ? vf_load_m(p, m) : vf_load(p), max);
        }
        x += r->length;
    }
}

LKS_INLINE void reduce_put(const reduction *r, float *y, vf v, vmask m, const bool max)
{
    vf_store_m(y, m, r->add ? reduce_join(vf_load_m(y, m), v, max) : v);
}

/* Some examples from x, `vectors` each; the lanes of m. */
LKS_INLINE void reduce_examples(const reduction *r, const float *x, float *y, vmask m, const bool max,
                                const int examples, const int vectors, const bool masked)
{
    vf sum[8];

    reduce_columns(r, x, r->x_example, sum, m, max, examples * vectors, vectors, masked);
    LKS_UNROLL
    for (int s = 0; s < examples * vectors; s++)
        reduce_put(r, y + s / vectors * r->y_example + s % vectors * VF, sum[s], m, max);
}

/* Elements from k of one example. */
LKS_INLINE void reduce_one(const reduction *r, const float *x, float *y, int64_t k, const bool max)
{
    while (k < r->length) {
        const vmask m = vf_first(r->length - k);

        if (k + 4 * VF <= r->length) {
            reduce_examples(r, x + k, y + k, m, max, 1, 4, false);
            k += 4 * VF;
        } else if (k + 2 * VF <= r->length) {
            reduce_examples(r, x + k, y + k, m, max, 1, 2, false);
            k += 2 * VF;
        } else {
            reduce_examples(r, x + k, y + k, m, max, 1, 1, true);
            k += VF;
        }
    }
}

LKS_INLINE void reduce_kept(const reduction *r, const bool max)
{
    const int64_t pairs = r->length / (2 * VF) * (2 * VF);
    const float *x = r->x;
    float *y = r->y;
    int64_t i = 0;

    for (; i + 8 <= r->n; i += 8, x += 8 * r->x_example, y += 8 * r->y_example) {
        for (int64_t k = 0; k < pairs; k += 2 * VF) {
            reduce_examples(r, x + k, y + k, vf_first(VF), max, 4, 2, false);
            reduce_examples(r, x + 4 * r->x_example + k, y + 4 * r->y_example + k, vf_first(VF), max, 4, 2, false);
        }
        for (int64_t k = pairs; k < r->length; k += VF) {
            const vmask m = vf_first(r->length - k);

            if (k + VF <= r->length) reduce_examples(r, x + k, y + k, m, max, 8, 1, false);
            else reduce_examples(r, x + k, y + k, m, max, 8, 1, true);
        }
    }
    for (; pairs == r->length && i + 4 <= r->n; i += 4, x += 4 * r->x_example, y += 4 * r->y_example)
        for (int64_t k = 0; k < pairs; k += 2 * VF) reduce_examples(r, x + k, y + k, vf_first(VF), max, 4, 2, false);
    for (; i < r->n; i++, x += r->x_example, y += r->y_example) reduce_one(r, x, y, 0, max);
}

/* ---- reduced inside: `runs` sums of `length` neighbours ---- */

LKS_INLINE float reduce_run(const float *x, int64_t n, const bool max)
{
    vf sum[VP];
    float lane[LKS_LANES];
    int64_t i = 0;

    LKS_UNROLL
    for (int p = 0; p < VP; p++) sum[p] = reduce_start(max);
    for (; i + LKS_LANES <= n; i += LKS_LANES) {
        LKS_UNROLL
        for (int p = 0; p < VP; p++) sum[p] = reduce_join(sum[p], vf_load(x + i + p * VF), max);
    }
    LKS_UNROLL
    for (int p = 0; p < VP; p++) vf_store(lane + p * VF, sum[p]);
    for (int l = 0; i + l < n; l++) lane[l] = max ? lks__max_f(lane[l], x[i + l]) : lane[l] + x[i + l];
    return max ? lks__max_f(-LKS_INFINITY_F, lks__tree_max16(lane)) : 0.0f + lks__tree_sum16(lane);
}

/* Sums of one element each: what the lanes and the tree make of it is 0 + x. */
LKS_INLINE void reduce_alone(const reduction *r, const float *x, float *y, const bool max)
{
    int64_t k = 0;

    for (; k + VF <= r->runs; k += VF) {
        const vf v = reduce_join(reduce_start(max), vf_load(x + k), max);

        vf_store(y + k, r->add ? reduce_join(vf_load(y + k), v, max) : v);
    }
    for (; k < r->runs; k++) {
        const float v = max ? lks__max_f(-LKS_INFINITY_F, x[k]) : 0.0f + x[k];

        y[k] = !r->add ? v : max ? lks__max_f(y[k], v) : y[k] + v;
    }
}

LKS_INLINE void reduce_inside(const reduction *r, const bool max)
{
    for (int64_t i = 0; r->length == 1 && i < r->n; i++)
        reduce_alone(r, r->x + i * r->x_example, r->y + i * r->y_example, max);
    if (r->length == 1) return;
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < r->runs; k++) {
            const float v = reduce_run(r->x + i * r->x_example + k * r->length, r->length, max);
            float *y = r->y + i * r->y_example + k;

            *y = !r->add ? v : max ? lks__max_f(*y, v) : *y + v;
        }
}

LKS_INLINE void reduce_call(const lks_op_call *call, uint32_t axes, bool add, const bool max)
{
    const lks_walk w = lks__reduce_walk(&call->in_type[0]->shape, axes);
    const bool inside = w.reduced[w.n - 1];
    const reduction r = { .n = call->n,
                          .runs = w.n == 2 ? w.dim[0] : 1,
                          .length = w.dim[w.n - 1],
                          .x = call->in[0],
                          .y = call->out,
                          .x_example = lks__type_size(call->in_type[0]),
                          .y_example = add ? 0 : lks__type_size(call->out_type),
                          .add = add };

    if (inside) reduce_inside(&r, max);
    else reduce_kept(&r, max);
}

void SIMD(reduce_sum)(const lks_op_call *call)
{
    reduce_call(call, ((const lks_reduce_attrs *)call->attrs)->axes, false, false);
}

void SIMD(reduce_max)(const lks_op_call *call)
{
    reduce_call(call, ((const lks_reduce_attrs *)call->attrs)->axes, false, true);
}

void SIMD(batch_sum)(const lks_op_call *call)
{
    reduce_call(call, ((const lks_batch_attrs *)call->attrs)->axes, true, false);
}

void SIMD(batch_max)(const lks_op_call *call)
{
    reduce_call(call, ((const lks_batch_attrs *)call->attrs)->axes, true, true);
}

bool SIMD(reduce_applicable)(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out)
{
    const uint32_t axes = *(const uint32_t *)attrs; /* first in both kinds of attributes */

    (void)n_in;
    (void)out;
    return in[0]->shape.rank == 0 || lks__reduce_walk(&in[0]->shape, axes).n <= 2;
}
