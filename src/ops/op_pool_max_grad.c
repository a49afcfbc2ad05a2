/* op_pool_max_grad.c - (x, d) -> the gradient of pool_max for x: each d goes to the first maximum of its window.
 *
 * Order: from +0, the windows in row-major order. The first maximum is found as pool_max finds the value: a tap takes over
 * if it is larger, or the first NaN.
 */
#include "window.h"

#include "scalar_math.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_pool_attrs *a = attrs;
    int64_t channels, channels_d;

    LKS_TRY(lks__expect_inputs("pool_max_grad", 2, n_in));
    LKS_TRY(lks__pool_check("pool_max_grad", a));
    LKS_TRY(lks__expect_image("pool_max_grad", in[0], a->in, &channels));
    LKS_TRY(lks__expect_image("pool_max_grad", in[1], a->out, &channels_d));
    if (channels != channels_d || in[0]->batched != in[1]->batched)
        return lks__fail(LKS_E_SHAPE, "pool_max_grad: %lld channels and gradients of %lld do not fit",
                         (long long)channels, (long long)channels_d);
    *out = *in[0];
    return LKS_OK;
}

static void one_window(const lks_pool_attrs *a, int64_t channels, const float *x, lks_tap_range rows,
                       lks_tap_range columns, const float *d, float *dx)
{
    for (int64_t c = 0; c < channels; c++) {
        int64_t best = (rows.begin * a->in[1] + columns.begin) * channels + c;
        for (int64_t iy = rows.begin; iy < rows.end; iy++)
            for (int64_t ix = columns.begin; ix < columns.end; ix++) {
                int64_t at = (iy * a->in[1] + ix) * channels + c;
                if (!(x[best] >= x[at] || x[best] != x[best])) best = at;
            }
        dx[best] += d[c];
    }
}

static void run(const lks_op_call *call)
{
    const lks_pool_attrs *a = call->attrs;
    int64_t channels = call->out_type->shape.dim[2], size = lks__type_size(call->out_type);
    const float *x = call->in[0], *d = call->in[1];
    float *dx = call->out;

    for (int64_t i = 0; i < call->n; i++, x += size, dx += size) {
        for (int64_t j = 0; j < size; j++) dx[j] = 0.0f;
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, d += channels) {
                lks_tap_range rows = lks__pool_range(a, 0, oy), columns = lks__pool_range(a, 1, ox);
                if (rows.begin < rows.end && columns.begin < columns.end)
                    one_window(a, channels, x, rows, columns, d, dx);
            }
    }
}

static void gradient(const lks_vjp *v)
{
    v->d_in[1] = lks__node_fail(v->out.graph,
                                lks__fail(LKS_E_UNSUPPORTED, "the gradient of max pooling has itself no gradient"));
}

static const lks_pool_attrs halves = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 6, 4 }, { 3, 2 } },
                            overlap = { { 3, 3 }, { 2, 2 }, { 1, 0 }, { 5, 6 }, { 3, 2 } };

static const lks_op_case cases[] = {
    { .name = "halves", .attrs = &halves, .n_in = 2, .in = { LKS_ROW(3, 6, 4, 3), LKS_ROW(3, 3, 2, 3) } },
    { .name = "overlap", .attrs = &overlap, .n_in = 2, .in = { LKS_ROW(3, 5, 6, 2), LKS_ROW(3, 3, 2, 2) } },
    { .name = NULL },
};

const lks_op lks__op_pool_max_grad = {
    .name = "pool_max_grad",
    .attrs_size = sizeof(lks_pool_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__pool_flop,
    .cases = cases,
};
