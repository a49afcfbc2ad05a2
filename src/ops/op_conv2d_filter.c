/* op_conv2d_filter.c - the gradient of conv2d for its kernel, x (in, in, Cin) and d (out, out, Cout) -> (kh, kw, Cin / groups,
 * Cout), summed over the batch.
 *
 * Order: each example has an accumulator of its own that starts at +0 and takes the output positions in row-major order by
 * fused multiply-add, those whose tap lies outside of the input left out; it is then added to the running sum, in the
 * order of the examples.
 */
#include "window.h"

#include "scalar_math.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_conv_attrs *a = attrs;
    char text[LKS_TYPE_TEXT];
    int64_t c_in, c_out;

    LKS_TRY(lks__expect_inputs("conv2d_filter", 2, n_in));
    LKS_TRY(lks__conv_check("conv2d_filter", a));
    LKS_TRY(lks__expect_image("conv2d_filter", in[0], a->in, &c_in));
    LKS_TRY(lks__expect_image("conv2d_filter", in[1], a->out, &c_out));
    if (!in[0]->batched || !in[1]->batched)
        return lks__fail(LKS_E_UNSUPPORTED,
                         "conv2d_filter: %s does not carry the batch; a kernel's gradient needs both the "
                         "images and their gradients of a batch",
                         lks__type_text(in[in[0]->batched], text));
    if (c_in % a->groups != 0 || c_out % a->groups != 0)
        return lks__fail(LKS_E_SHAPE, "conv2d_filter: %lld and %lld channels do not divide into %lld groups",
                         (long long)c_in, (long long)c_out, (long long)a->groups);
    *out = (lks_type)LKS_SHARED(4, a->kernel[0], a->kernel[1], c_in / a->groups, c_out);
    return LKS_OK;
}

static size_t scratch(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    (void)in;
    return lks__type_bytes(out);
}

typedef struct sizes {
    int64_t c_in, c_out, in_group, out_group;
} sizes;

static void add_tap(const sizes *s, const float *x, const float *d, float *restrict w)
{
    for (int64_t c = 0; c < s->c_in; c++) {
        int64_t group = c / s->in_group, first = group * s->out_group;
        float *restrict row = w + (c - group * s->in_group) * s->c_out;
        for (int64_t o = first; o < first + s->out_group; o++) row[o] = lks__fma_f(x[c], d[o], row[o]);
    }
}

static void one_output(const lks_conv_attrs *a, const sizes *s, const float *x, const float *d, int64_t oy, int64_t ox,
                       float *w)
{
    for (int64_t ky = 0; ky < a->kernel[0]; ky++) {
        int64_t iy = lks__conv_place(a, 0, oy, ky);
        if (iy < 0 || iy >= a->in[0]) continue;
        for (int64_t kx = 0; kx < a->kernel[1]; kx++) {
            int64_t ix = lks__conv_place(a, 1, ox, kx);
            if (ix < 0 || ix >= a->in[1]) continue;
            add_tap(s, x + (iy * a->in[1] + ix) * s->c_in, d, w + (ky * a->kernel[1] + kx) * s->in_group * s->c_out);
        }
    }
}

static void run(const lks_op_call *call)
{
    const lks_conv_attrs *a = call->attrs;
    sizes s = { .c_in = call->in_type[0]->shape.dim[2], .c_out = call->in_type[1]->shape.dim[2] };
    const float *x = call->in[0], *d = call->in[1];
    int64_t size = lks__type_size(call->out_type);
    float *restrict sum = call->out, *restrict one = call->scratch;

    s.in_group = s.c_in / a->groups;
    s.out_group = s.c_out / a->groups;
    for (int64_t i = 0; i < call->n; i++, x += a->in[0] * a->in[1] * s.c_in) {
        for (int64_t j = 0; j < size; j++) one[j] = 0.0f;
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, d += s.c_out) one_output(a, &s, x, d, oy, ox, one);
        for (int64_t j = 0; j < size; j++) sum[j] += one[j];
    }
}

/* Linear in each: with D the gradient of the kernel-shaped output. */
static void gradient(const lks_vjp *v)
{
    if (v->wanted[0]) v->d_in[0] = lks__graph_conv2d_input(v->in[1], v->d_out, v->attrs);
    if (v->wanted[1]) v->d_in[1] = lks__graph_conv2d(v->in[0], v->d_out, v->attrs);
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)out;
    return lks__conv_flop(attrs, in[0]->shape.dim[2], in[1]->shape.dim[2]);
}

static const lks_conv_attrs same = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 5, 4 }, { 5, 4 } },
                            strided = { { 3, 2 }, { 2, 3 }, { 1, 1 }, { 0, 1 }, 1, { 6, 7 }, { 3, 3 } },
                            dilated = { { 2, 3 }, { 1, 1 }, { 3, 2 }, { 0, 2 }, 1, { 6, 5 }, { 3, 5 } },
                            grouped = { { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, 2, { 4, 4 }, { 4, 2 } },
                            depthwise = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 3, { 4, 4 }, { 4, 4 } };

static const lks_op_case cases[] = {
    { .name = "same",
      .attrs = &same,
      .n_in = 2,
      .in = { LKS_ROW(3, 5, 4, 3), LKS_ROW(3, 5, 4, 4) },
      .tolerance = 2e-2 },
    { .name = "strides",
      .attrs = &strided,
      .n_in = 2,
      .in = { LKS_ROW(3, 6, 7, 2), LKS_ROW(3, 3, 3, 5) },
      .tolerance = 2e-2 },
    { .name = "dilation",
      .attrs = &dilated,
      .n_in = 2,
      .in = { LKS_ROW(3, 6, 5, 2), LKS_ROW(3, 3, 5, 3) },
      .tolerance = 2e-2 },
    { .name = "two groups",
      .attrs = &grouped,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 4), LKS_ROW(3, 4, 2, 6) },
      .tolerance = 2e-2 },
    { .name = "depthwise",
      .attrs = &depthwise,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 3), LKS_ROW(3, 4, 4, 6) },
      .tolerance = 2e-2 },
    { .name = NULL },
};

const lks_op lks__op_conv2d_filter = {
    .name = "conv2d_filter",
    .flags = LKS_OP_BATCH_SUM,
    .attrs_size = sizeof(lks_conv_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .scratch = scratch,
    .flop = flop,
    .cases = cases,
};
