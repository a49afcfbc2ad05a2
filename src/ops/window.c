/* window.c - checks of the geometry of convolution and pooling. The kernels assume that they passed. */
#include "window.h"

enum { MOST = 1 << 30 }; /* of every size, so that places fit int64_t */

static lks_status in_range(const char *op, const char *what, const int64_t v[2], int64_t least)
{
    for (int axis = 0; axis < 2; axis++)
        if (v[axis] < least || v[axis] > MOST)
            return lks__fail(LKS_E_ARG, "%s: %s must be at least %lld, got (%lld, %lld)", op, what, (long long)least,
                             (long long)v[0], (long long)v[1]);
    return LKS_OK;
}

lks_status lks__conv_check(const char *op, const lks_conv_attrs *a)
{
    LKS_TRY(in_range(op, "the kernel size", a->kernel, 1));
    LKS_TRY(in_range(op, "the stride", a->stride, 1));
    LKS_TRY(in_range(op, "the dilation", a->dilation, 1));
    LKS_TRY(in_range(op, "the padding", a->before, -MOST));
    LKS_TRY(in_range(op, "the input size", a->in, 0));
    LKS_TRY(in_range(op, "the output size", a->out, 0));
    if (a->groups < 1) return lks__fail(LKS_E_ARG, "%s: groups must be at least 1, got %lld", op, (long long)a->groups);
    return LKS_OK;
}

lks_status lks__expect_image(const char *op, const lks_type *type, const int64_t size[2], int64_t *channels)
{
    char text[LKS_TYPE_TEXT];
    const lks_shape *s = &type->shape;

    LKS_TRY(lks__expect_dtype(op, type, LKS_FLOAT32));
    if (s->rank != 3 || s->dim[0] != size[0] || s->dim[1] != size[1] || s->dim[2] < 1)
        return lks__fail(LKS_E_SHAPE, "%s: expected rows of shape (%lld, %lld, channels), got %s", op,
                         (long long)size[0], (long long)size[1], lks__type_text(type, text));
    *channels = s->dim[2];
    return LKS_OK;
}

lks_status lks__conv_check_kernel(const char *op, const lks_conv_attrs *a, const lks_type *w, int64_t c_in,
                                  int64_t c_out)
{
    char text[LKS_TYPE_TEXT];
    const lks_shape *s = &w->shape;

    LKS_TRY(lks__expect_dtype(op, w, LKS_FLOAT32));
    if (c_in % a->groups != 0 || c_out % a->groups != 0)
        return lks__fail(LKS_E_SHAPE, "%s: %lld input and %lld output channels do not divide into %lld groups", op,
                         (long long)c_in, (long long)c_out, (long long)a->groups);
    if (w->batched || s->rank != 4 || s->dim[0] != a->kernel[0] || s->dim[1] != a->kernel[1] ||
        s->dim[2] != c_in / a->groups || s->dim[3] != c_out)
        return lks__fail(LKS_E_SHAPE, "%s: expected a kernel of shape (%lld, %lld, %lld, %lld), got %s", op,
                         (long long)a->kernel[0], (long long)a->kernel[1], (long long)(c_in / a->groups),
                         (long long)c_out, lks__type_text(w, text));
    return LKS_OK;
}

double lks__conv_flop(const lks_conv_attrs *a, int64_t c_in, int64_t c_out)
{
    double taps = (double)a->kernel[0] * (double)a->kernel[1] * (double)c_in / (double)a->groups;

    return 2.0 * (double)a->out[0] * (double)a->out[1] * taps * (double)c_out;
}

lks_status lks__pool_check(const char *op, const lks_pool_attrs *a)
{
    LKS_TRY(in_range(op, "the window size", a->size, 1));
    LKS_TRY(in_range(op, "the stride", a->stride, 1));
    LKS_TRY(in_range(op, "the padding", a->before, -MOST));
    LKS_TRY(in_range(op, "the input size", a->in, 0));
    return in_range(op, "the output size", a->out, 0);
}

lks_status lks__pool_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_pool_attrs *a = attrs;
    int64_t channels;

    LKS_TRY(lks__expect_inputs(op, 1, n_in));
    LKS_TRY(lks__pool_check(op, a));
    LKS_TRY(lks__expect_image(op, in[0], a->in, &channels));
    *out = *in[0];
    out->shape = (lks_shape){ 3, { a->out[0], a->out[1], channels } };
    return LKS_OK;
}

void lks__pool_windows(const lks_op_call *call,
                       void (*one_output)(const lks_pool_attrs *a, int64_t channels, const float *x, int64_t oy,
                                          int64_t ox, float *restrict y))
{
    const lks_pool_attrs *a = call->attrs;
    int64_t channels = call->out_type->shape.dim[2];
    const float *x = call->in[0];
    float *y = call->out;

    for (int64_t i = 0; i < call->n; i++, x += a->in[0] * a->in[1] * channels)
        for (int64_t oy = 0; oy < a->out[0]; oy++)
            for (int64_t ox = 0; ox < a->out[1]; ox++, y += channels) one_output(a, channels, x, oy, ox, y);
}

static const lks_pool_attrs halves = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 6, 4 }, { 3, 2 } },
                            overlap = { { 3, 3 }, { 2, 2 }, { 1, 0 }, { 5, 6 }, { 3, 2 } },
                            gaps = { { 1, 2 }, { 3, 3 }, { 0, 0 }, { 7, 5 }, { 3, 2 } };

const lks_op_case lks__pool_cases[] = {
    { .name = "halves", .attrs = &halves, .n_in = 1, .in = { LKS_ROW(3, 6, 4, 3) }, .tolerance = 1e-2 },
    { .name = "overlap", .attrs = &overlap, .n_in = 1, .in = { LKS_ROW(3, 5, 6, 2) }, .tolerance = 1e-2 },
    { .name = "gaps", .attrs = &gaps, .n_in = 1, .in = { LKS_ROW(3, 7, 5, 1) }, .tolerance = 1e-2 },
    { .name = NULL },
};

double lks__pool_flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const lks_pool_attrs *a = attrs;
    double channels = (double)in[0]->shape.dim[2];

    (void)out;
    return (double)a->out[0] * (double)a->out[1] * (double)a->size[0] * (double)a->size[1] * channels;
}
