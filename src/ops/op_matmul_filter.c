/* op_matmul_filter.c - the gradient of matmul for its matrix, a (..., k) and d (..., m) -> (k, m), summed over the batch and
 * the leading axes.
 *
 * Order: without leading axes an element takes a[k] d[m] of each example, in their order, by fused multiply-add. With
 * leading axes each example has an accumulator of its own that starts at +0 and takes the positions in row-major order by
 * fused multiply-add; it is then added to the running sum, in the order of the examples.
 */
#include "build.h"
#include "scalar_math.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    char text_a[LKS_TYPE_TEXT], text_d[LKS_TYPE_TEXT];
    const lks_shape *a, *d;
    bool fits;

    (void)attrs;
    LKS_TRY(lks__expect_inputs("matmul_filter", 2, n_in));
    LKS_TRY(lks__expect_dtype("matmul_filter", in[0], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype("matmul_filter", in[1], LKS_FLOAT32));
    a = &in[0]->shape;
    d = &in[1]->shape;
    fits = in[0]->batched && in[1]->batched && a->rank >= 1 && a->rank == d->rank;
    for (int64_t i = 0; fits && i < a->rank - 1; i++) fits = a->dim[i] == d->dim[i];
    if (!fits)
        return lks__fail(LKS_E_SHAPE,
                         "matmul_filter: %s and %s must carry the batch and be equal but for the last axis",
                         lks__type_text(in[0], text_a), lks__type_text(in[1], text_d));
    *out = (lks_type)LKS_SHARED(2, a->dim[a->rank - 1], d->dim[d->rank - 1]);
    return LKS_OK;
}

static size_t scratch(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    return in[0]->shape.rank > 1 ? lks__type_bytes(out) : 0;
}

static void add_outer(int64_t k, int64_t m, const float *a, const float *d, float *restrict sum)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < m; j++) sum[i * m + j] = lks__fma_f(a[i], d[j], sum[i * m + j]);
}

static void run(const lks_op_call *call)
{
    const lks_shape *shape = &call->in_type[0]->shape;
    int64_t k = call->out_type->shape.dim[0], m = call->out_type->shape.dim[1], positions = 1;
    const float *a = call->in[0], *d = call->in[1];
    float *restrict sum = call->out, *restrict one = call->scratch;

    for (int64_t i = 0; i < shape->rank - 1; i++) positions *= shape->dim[i];
    for (int64_t i = 0; i < call->n; i++) {
        if (shape->rank == 1) {
            add_outer(k, m, a + i * k, d + i * m, sum);
            continue;
        }
        for (int64_t j = 0; j < k * m; j++) one[j] = 0.0f;
        for (int64_t p = 0; p < positions; p++)
            add_outer(k, m, a + (i * positions + p) * k, d + (i * positions + p) * m, one);
        for (int64_t j = 0; j < k * m; j++) sum[j] += one[j];
    }
}

static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_matmul(v->in[1], v->d_out, true);
    if (v->wanted[1]) v->d_in[1] = lks__graph_matmul(v->in[0], v->d_out, false);
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    return 2.0 * (double)lks__type_size(in[0]) * (double)out->shape.dim[1];
}

static const lks_op_case cases[] = {
    { .name = "dense", .n_in = 2, .in = { LKS_ROW(1, 20), LKS_ROW(1, 10) }, .tolerance = 2e-2 },
    { .name = "leading axes", .n_in = 2, .in = { LKS_ROW(3, 2, 3, 5), LKS_ROW(3, 2, 3, 4) }, .tolerance = 2e-2 },
    { .name = "one by one", .n_in = 2, .in = { LKS_ROW(1, 1), LKS_ROW(1, 1) }, .tolerance = 2e-2 },
    { .name = NULL },
};

const lks_op lks__op_matmul_filter = {
    .name = "matmul_filter",
    .flags = LKS_OP_BATCH_SUM,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .scratch = scratch,
    .flop = flop,
    .cases = cases,
};
