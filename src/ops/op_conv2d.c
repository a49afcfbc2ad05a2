/* op_conv2d.c - y = correlation of x (in, in, Cin) with w (kh, kw, Cin / groups, Cout): (out, out, Cout).
 *
 * Order: each output starts at +0 and takes its taps by fused multiply-add, over kh, then the input channels of the group,
 * then kw (so that a kernel can load an input once for all columns of the window). Taps outside of the input are
 * skipped, which for finite weights equals multiplying zeros.
 * Where a group makes fewer than 4 channels from 8 or more, an output has 16 lanes instead: lane l takes the channels
 * l, l + 16, ..., of each all kh, then kw; the tree of order.h joins them.
 */
#include "window.h"

#include "order.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_conv_attrs *a = attrs;
    int64_t c_in, c_out;

    LKS_TRY(lks__expect_inputs("conv2d", 2, n_in));
    LKS_TRY(lks__conv_check("conv2d", a));
    LKS_TRY(lks__expect_image("conv2d", in[0], a->in, &c_in));
    c_out = in[1]->shape.rank == 4 ? in[1]->shape.dim[3] : 1;
    LKS_TRY(lks__conv_check_kernel("conv2d", a, in[1], c_in, c_out));
    *out = *in[0];
    out->local = !out->batched && (in[0]->local || in[1]->local);
    out->shape = (lks_shape){ 3, { a->out[0], a->out[1], c_out } };
    return LKS_OK;
}

typedef struct sizes {
    int64_t c_in, c_out, in_group, out_group;
} sizes;

static void one_output(const lks_conv_attrs *a, const sizes *s, const float *x, const float *w, int64_t oy, int64_t ox,
                       float *y)
{
    for (int64_t o = 0; o < s->c_out; o++) y[o] = 0.0f;
    for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
        int64_t iy = lks__conv_place(a, 0, oy, ky);
        if (iy < 0 || iy >= a->in[0]) continue;
        for (int64_t c = 0; c < s->c_in; c++) {
            int64_t group = c / s->in_group, first = group * s->out_group;
            for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
                int64_t ix = lks__conv_place(a, 1, ox, kx);
                const float *row = w + ((ky * a->kernel[1] + kx) * s->in_group + c - group * s->in_group) * s->c_out;
                float v;
                if (ix < 0 || ix >= a->in[1]) continue;
                v = x[(iy * a->in[1] + ix) * s->c_in + c];
                for (int64_t o = first; o < first + s->out_group; o++) y[o] = lks__fma_f(v, row[o], y[o]);
            }
        }
    }
}

/* Output channel o by 16 lanes over the input channels of its group. */
static float lanes_output(const lks_conv_attrs *a, const sizes *s, const float *x, const float *w, int64_t oy,
                          int64_t ox, int64_t o)
{
    const int64_t first = o / s->out_group * s->in_group;
    float lane[LKS_LANES] = { 0 };

    for (int64_t c = 0; c < s->in_group; c++)
        for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
            int64_t iy = lks__conv_place(a, 0, oy, ky);
            if (iy < 0 || iy >= a->in[0]) continue;
            for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
                int64_t ix = lks__conv_place(a, 1, ox, kx);
                if (ix < 0 || ix >= a->in[1]) continue;
                lane[c % LKS_LANES] = lks__fma_f(x[(iy * a->in[1] + ix) * s->c_in + first + c],
                                                 w[((ky * a->kernel[1] + kx) * s->in_group + c) * s->c_out + o],
                                                 lane[c % LKS_LANES]);
            }
        }
    return lks__tree_sum16(lane);
}

static void run(const lks_op_call *call)
{
    const lks_conv_attrs *a = call->attrs;
    sizes s = { .c_in = call->in_type[0]->shape.dim[2], .c_out = call->out_type->shape.dim[2] };
    const float *x = call->in[0], *w = call->in[1];
    float *y = call->out;

    s.in_group = s.c_in / a->groups;
    s.out_group = s.c_out / a->groups;
    for (int64_t i = 0; i < call->n; i++, x += a->in[0] * a->in[1] * s.c_in)
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, y += s.c_out) {
                if (s.out_group >= 4 || s.in_group < 8) one_output(a, &s, x, w, oy, ox, y);
                else
                    for (int64_t o = 0; o < s.c_out; o++) y[o] = lanes_output(a, &s, x, w, oy, ox, o);
            }
}

static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_conv2d_input(v->d_out, v->in[1], v->attrs);
    if (v->wanted[1]) v->d_in[1] = lks__graph_conv2d_filter(v->in[0], v->d_out, v->attrs);
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    return lks__conv_flop(attrs, in[0]->shape.dim[2], out->shape.dim[2]);
}

static const lks_conv_attrs same = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 5, 4 }, { 5, 4 } },
                            strided = { { 3, 2 }, { 2, 3 }, { 1, 1 }, { 0, 1 }, 1, { 6, 7 }, { 3, 3 } },
                            dilated = { { 2, 3 }, { 1, 1 }, { 3, 2 }, { 0, 2 }, 1, { 6, 5 }, { 3, 5 } },
                            grouped = { { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, 2, { 4, 4 }, { 4, 2 } },
                            depthwise = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 3, { 4, 4 }, { 4, 4 } },
                            one_pixel = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 1, 1 }, { 1, 1 } },
                            digits = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 28, 28 }, { 28, 28 } };

static const lks_op_case cases[] = {
    { .name = "same",
      .attrs = &same,
      .n_in = 2,
      .in = { LKS_ROW(3, 5, 4, 3), LKS_SHARED(4, 3, 3, 3, 4) },
      .tolerance = 2e-2 },
    { .name = "strides",
      .attrs = &strided,
      .n_in = 2,
      .in = { LKS_ROW(3, 6, 7, 2), LKS_SHARED(4, 3, 2, 2, 5) },
      .tolerance = 2e-2 },
    { .name = "dilation",
      .attrs = &dilated,
      .n_in = 2,
      .in = { LKS_ROW(3, 6, 5, 2), LKS_SHARED(4, 2, 3, 2, 3) },
      .tolerance = 2e-2 },
    { .name = "two groups",
      .attrs = &grouped,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 4), LKS_SHARED(4, 3, 3, 2, 6) },
      .tolerance = 2e-2 },
    { .name = "depthwise",
      .attrs = &depthwise,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 3), LKS_SHARED(4, 3, 3, 1, 6) },
      .tolerance = 2e-2 },
    { .name = "one pixel",
      .attrs = &one_pixel,
      .n_in = 2,
      .in = { LKS_ROW(3, 1, 1, 2), LKS_SHARED(4, 3, 3, 2, 3) },
      .tolerance = 2e-2 },
    { .name = "digits", .attrs = &digits, .n_in = 2, .in = { LKS_ROW(3, 28, 28, 1), LKS_SHARED(4, 3, 3, 1, 8) } },
    { .name = NULL },
};

const lks_op lks__op_conv2d = {
    .name = "conv2d",
    .attrs_size = sizeof(lks_conv_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = flop,
    .cases = cases,
};
