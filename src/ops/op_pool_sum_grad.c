/* op_pool_sum_grad.c - d (out, out, C) -> the gradient of pool_sum for its input (in, in, C): each place sums the gradients of
 * the windows that hold it.
 *
 * Order: from +0, the windows in row-major order.
 */
#include "window.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_pool_attrs *a = attrs;
    int64_t channels;

    LKS_TRY(lks__expect_inputs("pool_sum_grad", 1, n_in));
    LKS_TRY(lks__pool_check("pool_sum_grad", a));
    LKS_TRY(lks__expect_image("pool_sum_grad", in[0], a->out, &channels));
    *out = *in[0];
    out->shape = (lks_shape){ 3, { a->in[0], a->in[1], channels } };
    return LKS_OK;
}

static void one_window(const lks_pool_attrs *a, int64_t channels, int64_t oy, int64_t ox, const float *restrict d,
                       float *restrict dx)
{
    lks_tap_range rows = lks__pool_range(a, 0, oy), columns = lks__pool_range(a, 1, ox);

    for (int64_t iy = rows.begin; iy < rows.end; iy++)
        for (int64_t ix = columns.begin; ix < columns.end; ix++) {
            float *tap = dx + (iy * a->in[1] + ix) * channels;
            for (int64_t c = 0; c < channels; c++) tap[c] += d[c];
        }
}

static void run(const lks_op_call *call)
{
    const lks_pool_attrs *a = call->attrs;
    int64_t channels = call->out_type->shape.dim[2], size = lks__type_size(call->out_type);
    const float *d = call->in[0];
    float *dx = call->out;

    for (int64_t i = 0; i < call->n; i++, dx += size) {
        for (int64_t j = 0; j < size; j++) dx[j] = 0.0f;
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, d += channels) one_window(a, channels, oy, ox, d, dx);
    }
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_pool_sum(v->d_out, v->attrs);
}

static const lks_pool_attrs halves = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 6, 4 }, { 3, 2 } },
                            overlap = { { 3, 3 }, { 2, 2 }, { 1, 0 }, { 5, 6 }, { 3, 2 } };

static const lks_op_case cases[] = {
    { .name = "halves", .attrs = &halves, .n_in = 1, .in = { LKS_ROW(3, 3, 2, 3) }, .tolerance = 1e-2 },
    { .name = "overlap", .attrs = &overlap, .n_in = 1, .in = { LKS_ROW(3, 3, 2, 2) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_pool_sum_grad = {
    .name = "pool_sum_grad",
    .attrs_size = sizeof(lks_pool_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__pool_flop,
    .cases = cases,
};
