/* conv2d_transpose.c - Conv2DTranspose: the gradient of a convolution for its input, as a layer.
 *
 * The layer's output is the input of that convolution and the other way round; sizes and crops are spec Keras 1.3.
 */
#include <string.h>

#include "conv_common.h"

#define ROW(member, KIND, fallback, flags) LKS_FIELD(lks_conv2d_transpose_options, member, KIND, fallback, flags)
static const lks_field fields[] = {
    ROW(filters, INT, NULL, LKS_FIELD_POSITIVE),
    ROW(kernel_size, INT2, NULL, LKS_FIELD_POSITIVE),
    ROW(strides, INT2, "1", LKS_FIELD_POSITIVE),
    LKS_FIELD_WORD(lks_conv2d_transpose_options, padding, "valid", lks__paddings),
    ROW(output_padding, INT2, "none", LKS_FIELD_NONNEGATIVE),
    LKS_FIELD_WORD(lks_conv2d_transpose_options, data_format, "channels_last", lks__data_formats),
    ROW(dilation_rate, INT2, "1", LKS_FIELD_POSITIVE),
    ROW(activation, ACTIVATION, "linear", 0),
    ROW(use_bias, BOOL, "true", 0),
    ROW(kernel_initializer, INITIALIZER, "glorot_uniform", 0),
    ROW(bias_initializer, INITIALIZER, "zeros", 0),
    ROW(kernel_regularizer, REGULARIZER, "none", 0),
    ROW(bias_regularizer, REGULARIZER, "none", 0),
    ROW(activity_regularizer, REGULARIZER, "none", 0),
    ROW(kernel_constraint, CONSTRAINT, "none", 0),
    ROW(bias_constraint, CONSTRAINT, "none", 0),
    LKS_FIELDS_END,
};

static lks_status check(lks_layer *layer)
{
    const lks_conv2d_transpose_options *o = layer->options;

    for (int i = 0; i < 2; i++) {
        if (o->output_padding[i] != LKS_NONE_INT && o->output_padding[i] >= o->strides[i]) {
            return lks__fail(LKS_E_ARG, "output_padding must be smaller than strides, found %lld and %lld",
                             (long long)o->output_padding[i], (long long)o->strides[i]);
        }
    }
    return lks__layer_conv_check(o->strides, o->dilation_rate, false);
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    return lks__conv_accept(layer, in[0], ((const lks_conv2d_transpose_options *)layer->options)->data_format);
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_conv2d_transpose_options *o = layer->options;
    int64_t channels = lks__channels(in[0], o->data_format);
    lks_weight_options kernel = { .name = "kernel",
                                  .shape = { 4, { o->kernel_size[0], o->kernel_size[1], o->filters, channels } },
                                  .initializer = o->kernel_initializer,
                                  .regularizer = o->kernel_regularizer,
                                  .constraint = o->kernel_constraint };
    lks_weight_options bias = { .name = "bias",
                                .shape = { 1, { o->filters } },
                                .initializer = o->bias_initializer,
                                .regularizer = o->bias_regularizer,
                                .constraint = o->bias_constraint };

    (void)n_in;
    LKS_TRY(lks__layer_add_weight(layer, &kernel));
    return o->use_bias == LKS_TRUE ? lks__layer_add_weight(layer, &bias) : LKS_OK;
}

/* One axis: n input cells give `out` cells, `crop` of the full result being cut off at its beginning. */
static lks_status stretch(bool same, int64_t n, int64_t k, int64_t s, int64_t d, int64_t padding, int64_t *out,
                          int64_t *crop)
{
    int64_t effective, full, total, left;

    if (n > (INT64_MAX / 4) / s || k > (INT64_MAX / 4) / d) return lks__fail(LKS_E_LIMIT, "the output is too large");
    effective = (k - 1) * d + 1;
    full = (n - 1) * s + effective;
    *crop = 0;
    if (!same) {
        *out = padding == LKS_NONE_INT ? full + (s > effective ? s - effective : 0) : full + padding;
    } else if (padding == LKS_NONE_INT) {
        *out = n * s;
        *crop = effective >= s ? (effective - s) / 2 : 0;
    } else {
        if (effective % 2 == 0 && padding == 0) {
            return lks__fail(LKS_E_SHAPE,
                             "output_padding 0 with padding \"same\" and an even kernel: no convolution has that "
                             "size; use an odd kernel or another output_padding");
        }
        *out = (n - 1) * s + effective % 2 + padding;
        total = effective + effective % 2 - 2 + padding;
        left = (total + 1) / 2 < effective - 1 ? (total + 1) / 2 : effective - 1;
        *crop = effective - 1 - left;
    }
    return LKS_OK;
}

static lks_status geometry(const lks_conv2d_transpose_options *o, lks_node x, lks_conv_attrs *a)
{
    lks_shape shape = lks_node_shape(x);

    for (int i = 0; i < 2; i++) {
        a->out[i] = shape.dim[1 + i];
        LKS_TRY(stretch(strcmp(o->padding, "same") == 0, a->out[i], a->kernel[i], a->stride[i], a->dilation[i],
                        o->output_padding[i], &a->in[i], &a->before[i]));
    }
    return LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_conv2d_transpose_options *o = layer->options;
    lks_node x = lks__channels_last(in[0], o->data_format), y;
    lks_conv_attrs a = { .groups = 1 };
    lks_status status;

    (void)n_in;
    memcpy(a.kernel, o->kernel_size, sizeof a.kernel);
    memcpy(a.stride, o->strides, sizeof a.stride);
    memcpy(a.dilation, o->dilation_rate, sizeof a.dilation);
    status = geometry(o, x, &a);
    if (status != LKS_OK) {
        out[0] = lks__layer_fail_node(trace, status);
        return;
    }
    y = lks__graph_conv2d_input(x, lks__layer_weight(layer, trace, 0), &a);
    out[0] = lks__conv_finish(layer, trace, y, o->use_bias == LKS_TRUE, o->activation, o->activity_regularizer,
                              o->data_format);
}

const lks_layer_class lks__conv2d_transpose_class = {
    .name = "Conv2DTranspose",
    .snake = "conv2d_transpose",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_conv2d_transpose_options),
    .fields = fields,
    .check = check,
    .accept = accept,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(conv2d_transpose, lks__conv2d_transpose_class)
