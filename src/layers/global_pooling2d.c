/* global_pooling2d.c - GlobalAveragePooling2D, GlobalMaxPooling2D: each channel as one number. */
#include <string.h>

#include "conv_common.h"

static const lks_field fields[] = {
    LKS_FIELD_WORD(lks_global_pooling2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELD(lks_global_pooling2d_options, keepdims, BOOL, "false", 0),
    LKS_FIELDS_END,
};

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    LKS_TRY(lks__expect_rank(in[0], 4, 4, "(batch, height, width, channels)"));
    return lks__expect_dtype(layer->class_->name, in[0], LKS_FLOAT32);
}

static void axes_of(const lks_global_pooling2d_options *o, int64_t axes[2])
{
    axes[0] = strcmp(o->data_format, "channels_first") == 0 ? 2 : 1;
    axes[1] = axes[0] + 1;
}

static void call_average(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_global_pooling2d_options *o = layer->options;
    int64_t axes[2];

    (void)trace;
    (void)n_in;
    axes_of(o, axes);
    out[0] = lks_ops_mean(in[0], 2, axes, o->keepdims == LKS_TRUE);
}

static void call_max(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_global_pooling2d_options *o = layer->options;
    int64_t axes[2];

    (void)trace;
    (void)n_in;
    axes_of(o, axes);
    out[0] = lks_ops_max(in[0], 2, axes, o->keepdims == LKS_TRUE);
}

const lks_layer_class lks__global_average_pooling2d_class = {
    .name = "GlobalAveragePooling2D",
    .snake = "global_average_pooling2d",
    .module = "keras.layers",
    .options_size = sizeof(lks_global_pooling2d_options),
    .fields = fields,
    .accept = accept,
    .call = call_average,
};

const lks_layer_class lks__global_max_pooling2d_class = {
    .name = "GlobalMaxPooling2D",
    .snake = "global_max_pooling2d",
    .module = "keras.layers",
    .options_size = sizeof(lks_global_pooling2d_options),
    .fields = fields,
    .accept = accept,
    .call = call_max,
};

LKS_DEFINE_LAYER(global_average_pooling2d, lks__global_average_pooling2d_class)
LKS_DEFINE_LAYER(global_max_pooling2d, lks__global_max_pooling2d_class)
