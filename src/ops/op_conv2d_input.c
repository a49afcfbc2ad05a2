/* op_conv2d_input.c - the gradient of conv2d for its input, d (out, out, Cout) and w -> (in, in, Cin); also the transposed
 * convolution.
 *
 * Order: each element starts at +0 and takes its terms by fused multiply-add, over kh, then kw, then the output channels of
 * the group; taps whose output does not exist are skipped.
 */
#include "window.h"

#include "scalar_math.h"

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

static void add_tap(const sizes *s, const float *d, const float *w, float *restrict dx)
{
    for (int64_t c = 0; c < s->c_in; c++) {
        int64_t group = c / s->in_group, first = group * s->out_group;
        const float *row = w + (c - group * s->in_group) * s->c_out;
        float sum = dx[c];
        for (int64_t o = first; o < first + s->out_group; o++) sum = lks__fma_f(d[o], row[o], sum);
        dx[c] = sum;
    }
}

static void one_place(const lks_conv_attrs *a, const sizes *s, const float *d, const float *w, int64_t iy, int64_t ix,
                      float *dx)
{
    for (int64_t c = 0; c < s->c_in; c++) dx[c] = 0.0f;
    for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
        int64_t oy = lks__conv_output(a, 0, iy, ky);
        if (oy < 0) continue;
        for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
            int64_t ox = lks__conv_output(a, 1, ix, kx);
            if (ox < 0) continue;
            add_tap(s, d + (oy * a->out[1] + ox) * s->c_out, w + (ky * a->kernel[1] + kx) * s->in_group * s->c_out, dx);
        }
    }
}

static void run(const lks_op_call *call)
{
    const lks_conv_attrs *a = call->attrs;
    sizes s = { .c_in = call->out_type->shape.dim[2], .c_out = call->in_type[0]->shape.dim[2] };
    const float *d = call->in[0], *w = call->in[1];
    float *dx = call->out;

    s.in_group = s.c_in / a->groups;
    s.out_group = s.c_out / a->groups;
    for (int64_t i = 0; i < call->n; i++, d += a->out[0] * a->out[1] * s.c_out)
        for (int64_t iy = 0; iy < a->in[0]; iy++)
            for (int64_t ix = 0; ix < a->in[1]; ix++, dx += s.c_in) one_place(a, &s, d, w, iy, ix, dx);
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
