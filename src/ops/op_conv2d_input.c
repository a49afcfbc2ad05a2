/* op_conv2d_input.c - the gradient of conv2d for its input, d (out, out, Cout) and w -> (in, in, Cin); also the transposed
 * convolution.
 *
 * Order: each element starts at +0 and takes its terms by fused multiply-add, over kh, then the output channels of the
 * group, then kw; taps whose output does not exist are skipped.
 * Where a group makes fewer than 4 channels from 8 or more, an element has 16 lanes instead: lane l takes the output
 * channels l, l + 16, ..., of each all kh, then kw; the tree of order.h joins them.
 */
#include "window.h"

#include "order.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_conv_attrs *a = attrs;
    int64_t c_in, c_out;

    LKS_TRY(lks__expect_inputs("conv2d_input", 2, n_in));
    LKS_TRY(lks__conv_check("conv2d_input", a));
    LKS_TRY(lks__expect_image("conv2d_input", in[0], a->out, &c_out));
    c_in = in[1]->shape.rank == 4 ? in[1]->shape.dim[2] * a->groups : a->groups;
    LKS_TRY(lks__conv_check_kernel("conv2d_input", a, in[1], c_in, c_out));
    *out = *in[0];
    out->local = !out->batched && (in[0]->local || in[1]->local);
    out->shape = (lks_shape){ 3, { a->in[0], a->in[1], c_in } };
    return LKS_OK;
}

typedef struct sizes {
    int64_t c_in, c_out, in_group, out_group;
} sizes;

/* Element c at (iy, ix): the sum over kh, output channels, kw in one accumulator. */
static float one_element(const lks_conv_attrs *a, const sizes *s, const float *d, const float *w, int64_t iy,
                         int64_t ix, int64_t c)
{
    const int64_t group = c / s->in_group;
    float sum = 0.0f;

    for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
        int64_t oy = lks__conv_output(a, 0, iy, ky);
        if (oy < 0) continue;
        for (int64_t o = group * s->out_group; o < (group + 1) * s->out_group; o++)
            for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
                int64_t ox = lks__conv_output(a, 1, ix, kx);
                if (ox < 0) continue;
                sum = lks__fma_f(d[(oy * a->out[1] + ox) * s->c_out + o],
                                 w[((ky * a->kernel[1] + kx) * s->in_group + c % s->in_group) * s->c_out + o], sum);
            }
    }
    return sum;
}

/* The same by 16 lanes over the output channels of the group. */
static float lanes_element(const lks_conv_attrs *a, const sizes *s, const float *d, const float *w, int64_t iy,
                           int64_t ix, int64_t c)
{
    const int64_t first = c / s->in_group * s->out_group;
    float lane[LKS_LANES] = { 0 };

    for (int64_t o = 0; o < s->out_group; o++)
        for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
            int64_t oy = lks__conv_output(a, 0, iy, ky);
            if (oy < 0) continue;
            for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
                int64_t ox = lks__conv_output(a, 1, ix, kx);
                if (ox < 0) continue;
                lane[o % LKS_LANES] = lks__fma_f(
                    d[(oy * a->out[1] + ox) * s->c_out + first + o],
                    w[((ky * a->kernel[1] + kx) * s->in_group + c % s->in_group) * s->c_out + first + o],
                    lane[o % LKS_LANES]);
            }
        }
    return lks__tree_sum16(lane);
}

static void run(const lks_op_call *call)
{
    const lks_conv_attrs *a = call->attrs;
    sizes s = { .c_in = call->out_type->shape.dim[2], .c_out = call->in_type[0]->shape.dim[2] };
    const float *d = call->in[0], *w = call->in[1];
    float *dx = call->out;
    bool lanes;

    s.in_group = s.c_in / a->groups;
    s.out_group = s.c_out / a->groups;
    lanes = s.in_group < 4 && s.out_group >= 8;
    for (int64_t i = 0; i < call->n; i++, d += a->out[0] * a->out[1] * s.c_out)
        for (int64_t iy = 0; iy < a->in[0]; iy++)
            for (int64_t ix = 0; ix < a->in[1]; ix++, dx += s.c_in)
                for (int64_t c = 0; c < s.c_in; c++)
                    dx[c] = lanes ? lanes_element(a, &s, d, w, iy, ix, c) : one_element(a, &s, d, w, iy, ix, c);
}

/* Its own transpose is the convolution. */
static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_conv2d(v->d_out, v->in[1], v->attrs);
    if (v->wanted[1]) v->d_in[1] = lks__graph_conv2d_filter(v->d_out, v->in[0], v->attrs);
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    return lks__conv_flop(attrs, out->shape.dim[2], in[0]->shape.dim[2]);
}

static const lks_conv_attrs same = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 5, 4 }, { 5, 4 } },
                            doubled = { { 3, 3 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, 1, { 6, 8 }, { 3, 4 } },
                            far = { { 2, 2 }, { 3, 4 }, { 1, 1 }, { 0, 0 }, 1, { 8, 10 }, { 3, 3 } },
                            dilated = { { 2, 3 }, { 1, 1 }, { 3, 2 }, { 0, 2 }, 1, { 6, 5 }, { 3, 5 } },
                            grouped = { { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, 2, { 4, 4 }, { 4, 2 } },
                            depthwise = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 3, { 4, 4 }, { 4, 4 } };

static const lks_op_case cases[] = {
    { .name = "same",
      .attrs = &same,
      .n_in = 2,
      .in = { LKS_ROW(3, 5, 4, 4), LKS_SHARED(4, 3, 3, 3, 4) },
      .tolerance = 2e-2 },
    { .name = "stride 2",
      .attrs = &doubled,
      .n_in = 2,
      .in = { LKS_ROW(3, 3, 4, 3), LKS_SHARED(4, 3, 3, 2, 3) },
      .tolerance = 2e-2 },
    { .name = "stride above kernel",
      .attrs = &far,
      .n_in = 2,
      .in = { LKS_ROW(3, 3, 3, 3), LKS_SHARED(4, 2, 2, 2, 3) },
      .tolerance = 2e-2 },
    { .name = "dilation",
      .attrs = &dilated,
      .n_in = 2,
      .in = { LKS_ROW(3, 3, 5, 3), LKS_SHARED(4, 2, 3, 2, 3) },
      .tolerance = 2e-2 },
    { .name = "two groups",
      .attrs = &grouped,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 2, 6), LKS_SHARED(4, 3, 3, 2, 6) },
      .tolerance = 2e-2 },
    { .name = "depthwise",
      .attrs = &depthwise,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 6), LKS_SHARED(4, 3, 3, 1, 6) },
      .tolerance = 2e-2 },
    { .name = NULL },
};

const lks_op lks__op_conv2d_input = {
    .name = "conv2d_input",
    .attrs_size = sizeof(lks_conv_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = flop,
    .cases = cases,
};
