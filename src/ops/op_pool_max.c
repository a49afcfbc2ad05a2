/* op_pool_max.c - the maximum of each window of an image (in, in, C) -> (out, out, C); taps outside are skipped, NaN passes
 * on. Of several equal maxima the first in row-major order receives the gradient, as in TensorFlow.
 *
 * Order: from -inf, the taps in row-major order.
 */
#include "window.h"

#include "scalar_math.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    return lks__pool_infer("pool_max", attrs, n_in, in, out);
}

static void one_output(const lks_pool_attrs *a, int64_t channels, const float *x, int64_t oy, int64_t ox,
                       float *restrict y)
{
    lks_tap_range rows = lks__pool_range(a, 0, oy), columns = lks__pool_range(a, 1, ox);

    for (int64_t c = 0; c < channels; c++) y[c] = -LKS_INFINITY_F;
    for (int64_t iy = rows.begin; iy < rows.end; iy++)
        for (int64_t ix = columns.begin; ix < columns.end; ix++) {
            const float *tap = x + (iy * a->in[1] + ix) * channels;
            for (int64_t c = 0; c < channels; c++) y[c] = lks__max_f(y[c], tap[c]);
        }
}

static void run(const lks_op_call *call)
{
    lks__pool_windows(call, one_output);
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_pool_max_grad(v->in[0], v->d_out, v->attrs);
}

const lks_op lks__op_pool_max = {
    .name = "pool_max",
    .attrs_size = sizeof(lks_pool_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = lks__pool_flop,
    .cases = lks__pool_cases,
};
