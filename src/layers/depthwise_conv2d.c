/* depthwise_conv2d.c - DepthwiseConv2D: a convolution with as many groups as channels. The kernel (kh, kw, in, multiplier)
 * is the grouped one's (kh, kw, 1, in * multiplier) in another shape.
 */
#include <string.h>

#include "conv_common.h"

#define ROW(member, KIND, fallback, flags) LKS_FIELD(lks_depthwise_conv2d_options, member, KIND, fallback, flags)
static const lks_field fields[] = {
    ROW(depth_multiplier, INT, "1", LKS_FIELD_POSITIVE),
    ROW(kernel_size, INT2, NULL, LKS_FIELD_POSITIVE),
    ROW(strides, INT2, "1", LKS_FIELD_POSITIVE),
    LKS_FIELD_WORD(lks_depthwise_conv2d_options, padding, "valid", lks__paddings),
    LKS_FIELD_WORD(lks_depthwise_conv2d_options, data_format, "channels_last", lks__data_formats),
    ROW(dilation_rate, INT2, "1", LKS_FIELD_POSITIVE),
    ROW(activation, ACTIVATION, "linear", 0),
    ROW(use_bias, BOOL, "true", 0),
    ROW(depthwise_initializer, INITIALIZER, "glorot_uniform", 0),
    ROW(bias_initializer, INITIALIZER, "zeros", 0),
    ROW(depthwise_regularizer, REGULARIZER, "none", 0),
    ROW(bias_regularizer, REGULARIZER, "none", 0),
    ROW(activity_regularizer, REGULARIZER, "none", 0),
    ROW(depthwise_constraint, CONSTRAINT, "none", 0),
    ROW(bias_constraint, CONSTRAINT, "none", 0),
    LKS_FIELDS_END,
};

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    return lks__conv_accept(layer, in[0], ((const lks_depthwise_conv2d_options *)layer->options)->data_format);
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_depthwise_conv2d_options *o = layer->options;
    int64_t channels = lks__channels(in[0], o->data_format);
    lks_weight_options kernel = { .name = "kernel",
                                  .shape = { 4,
                                             { o->kernel_size[0], o->kernel_size[1], channels, o->depth_multiplier } },
                                  .initializer = o->depthwise_initializer,
                                  .regularizer = o->depthwise_regularizer,
                                  .constraint = o->depthwise_constraint };
    lks_weight_options bias = { .name = "bias",
                                .shape = { 1, { channels * o->depth_multiplier } },
                                .initializer = o->bias_initializer,
                                .regularizer = o->bias_regularizer,
                                .constraint = o->bias_constraint };

    (void)n_in;
    LKS_TRY(lks__layer_add_weight(layer, &kernel));
    return o->use_bias == LKS_TRUE ? lks__layer_add_weight(layer, &bias) : LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_depthwise_conv2d_options *o = layer->options;
    lks_node x = lks__channels_last(in[0], o->data_format), w, y;
    lks_conv_attrs a = { .groups = lks__channels(lks__node_type(in[0]), o->data_format) };
    lks_shape grouped = { 4, { o->kernel_size[0], o->kernel_size[1], 1, a.groups * o->depth_multiplier } };
    lks_status status;

    (void)n_in;
    memcpy(a.kernel, o->kernel_size, sizeof a.kernel);
    memcpy(a.stride, o->strides, sizeof a.stride);
    memcpy(a.dilation, o->dilation_rate, sizeof a.dilation);
    status = lks__conv_geometry(x, o->padding, &a);
    if (status != LKS_OK) {
        out[0] = lks__layer_fail_node(trace, status);
        return;
    }
    w = lks_ops_reshape(lks__layer_weight(layer, trace, 0), grouped);
    y = lks__graph_conv2d(x, w, &a);
    out[0] = lks__conv_finish(layer, trace, y, o->use_bias == LKS_TRUE, o->activation, o->activity_regularizer,
                              o->data_format);
}

const lks_layer_class lks__depthwise_conv2d_class = {
    .name = "DepthwiseConv2D",
    .snake = "depthwise_conv2d",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_depthwise_conv2d_options),
    .fields = fields,
    .accept = accept,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(depthwise_conv2d, lks__depthwise_conv2d_class)
