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
    if (a->size[0] > INT32_MAX / (a->in[1] + 1))
        return lks__fail(LKS_E_LIMIT, "pool_max_grad: the window is too large");
    LKS_TRY(lks__expect_image("pool_max_grad", in[0], a->in, &channels));
    LKS_TRY(lks__expect_image("pool_max_grad", in[1], a->out, &channels_d));
    if (channels != channels_d || in[0]->batched != in[1]->batched)
        return lks__fail(LKS_E_SHAPE, "pool_max_grad: %lld channels and gradients of %lld do not fit",
                         (long long)channels, (long long)channels_d);
    *out = *in[0];
    return LKS_OK;
}

enum { STRIP = 64 }; /* channels at a time, so that the search vectorises */

static void one_window(const lks_pool_attrs *a, int64_t channels, const float *x, lks_tap_range rows,
                       lks_tap_range columns, const float *d, float *dx)
{
    float top[STRIP];
    int32_t place[STRIP];

    for (int64_t c0 = 0; c0 < channels; c0 += STRIP) {
        int n = channels - c0 < STRIP ? (int)(channels - c0) : STRIP;
        int64_t first = rows.begin * a->in[1] + columns.begin;
        for (int c = 0; c < n; c++) top[c] = x[first * channels + c0 + c];
        for (int c = 0; c < n; c++) place[c] = 0; /* pixels after the first */
        for (int64_t iy = rows.begin; iy < rows.end; iy++)
            for (int64_t ix = columns.begin; ix < columns.end; ix++) {
                int32_t here = (int32_t)(iy * a->in[1] + ix - first);
                const float *tap = x + (first + here) * channels + c0;
                for (int c = 0; c < n; c++) {
                    bool stays = top[c] >= tap[c] || top[c] != top[c];
                    place[c] = stays ? place[c] : here;
                    top[c] = stays ? top[c] : tap[c];
                }
            }
        for (int c = 0; c < n; c++) dx[(first + place[c]) * channels + c0 + c] += d[c0 + c];
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
