/* op_pool_sum.c - the sum of each window of an image (in, in, C) -> (out, out, C); taps outside are skipped. Average pooling
 * divides it by the number of taps.
 *
 * Order: from +0, the taps in row-major order.
 */
#include "window.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_pool_attrs *a = attrs;
    int64_t channels;

    LKS_TRY(lks__expect_inputs("pool_sum", 1, n_in));
    LKS_TRY(lks__pool_check("pool_sum", a));
    LKS_TRY(lks__expect_image("pool_sum", in[0], a->in, &channels));
    *out = *in[0];
    out->shape = (lks_shape){ 3, { a->out[0], a->out[1], channels } };
    return LKS_OK;
}

static void one_output(const lks_pool_attrs *a, int64_t channels, const float *x, int64_t oy, int64_t ox,
                       float *restrict y)
{
    lks_tap_range rows = lks__pool_range(a, 0, oy), columns = lks__pool_range(a, 1, ox);

    for (int64_t c = 0; c < channels; c++) y[c] = 0.0f;
    for (int64_t iy = rows.begin; iy < rows.end; iy++)
        for (int64_t ix = columns.begin; ix < columns.end; ix++) {
            const float *tap = x + (iy * a->in[1] + ix) * channels;
            for (int64_t c = 0; c < channels; c++) y[c] += tap[c];
        }
}

static void run(const lks_op_call *call)
{
    const lks_pool_attrs *a = call->attrs;
    int64_t channels = call->out_type->shape.dim[2];
    const float *x = call->in[0];
    float *y = call->out;

    for (int64_t i = 0; i < call->n; i++, x += a->in[0] * a->in[1] * channels)
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, y += channels) one_output(a, channels, x, oy, ox, y);
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_pool_sum_grad(v->d_out, v->attrs);
}

static const lks_pool_attrs halves = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 6, 4 }, { 3, 2 } },
                            overlap = { { 3, 3 }, { 2, 2 }, { 1, 0 }, { 5, 6 }, { 3, 2 } },
                            gaps = { { 1, 2 }, { 3, 3 }, { 0, 0 }, { 7, 5 }, { 3, 2 } };

static const lks_op_case cases[] = {
    { .name = "halves", .attrs = &halves, .n_in = 1, .in = { LKS_ROW(3, 6, 4, 3) }, .tolerance = 1e-2 },
    { .name = "overlap", .attrs = &overlap, .n_in = 1, .in = { LKS_ROW(3, 5, 6, 2) }, .tolerance = 1e-2 },
    { .name = "gaps", .attrs = &gaps, .n_in = 1, .in = { LKS_ROW(3, 7, 5, 1) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_pool_sum = {
    .name = "pool_sum",
    .attrs_size = sizeof(lks_pool_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__pool_flop,
    .cases = cases,
};
