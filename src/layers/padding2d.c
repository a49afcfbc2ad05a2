/* padding2d.c - ZeroPadding2D, Cropping2D, UpSampling2D: images made larger or smaller without arithmetic. */
#include <string.h>

#include "conv_common.h"

static const lks_field padding_fields[] = {
    LKS_FIELD(lks_zero_padding2d_options, padding, INT22, "1", LKS_FIELD_NONNEGATIVE),
    LKS_FIELD_WORD(lks_zero_padding2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELDS_END,
};
static const lks_field cropping_fields[] = {
    LKS_FIELD(lks_cropping2d_options, cropping, INT22, "0", LKS_FIELD_NONNEGATIVE),
    LKS_FIELD_WORD(lks_cropping2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELDS_END,
};
static const char *const interpolations[] = { "nearest", "bilinear", NULL };
static const lks_field sampling_fields[] = {
    LKS_FIELD(lks_up_sampling2d_options, size, INT2, "2", LKS_FIELD_POSITIVE),
    LKS_FIELD_WORD(lks_up_sampling2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELD_WORD(lks_up_sampling2d_options, interpolation, "nearest", interpolations),
    LKS_FIELDS_END,
};

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)layer;
    (void)n_in;
    return lks__expect_rank(in[0], 4, 4, "(batch, height, width, channels)");
}

/* The first of the two image axes, the batch included. */
static int image_axis(const char *data_format)
{
    return strcmp(data_format, "channels_first") == 0 ? 2 : 1;
}

static void call_padding(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_zero_padding2d_options *o = layer->options;
    int64_t around[4][2] = { { 0 } };
    int axis = image_axis(o->data_format);

    (void)trace;
    (void)n_in;
    memcpy(around[axis], o->padding, sizeof o->padding);
    out[0] = lks_ops_pad(in[0], 4, (const int64_t(*)[2])around, 0);
}

static void call_cropping(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_cropping2d_options *o = layer->options;
    int axis = image_axis(o->data_format);
    lks_shape shape = lks_node_shape(in[0]);
    lks_node y = in[0];

    (void)n_in;
    for (int i = 0; i < 2; i++) {
        int64_t begin = o->cropping[i][0], end = shape.dim[axis + i] - o->cropping[i][1];
        if (begin >= end) {
            out[0] = lks__layer_fail_node(
                trace, lks__fail(LKS_E_SHAPE, "cropping %lld and %lld leaves nothing of an axis of %lld",
                                 (long long)begin, (long long)o->cropping[i][1], (long long)shape.dim[axis + i]));
            return;
        }
        y = lks_ops_slice(y, axis + i, begin, end, 1);
    }
    out[0] = y;
}

/* (h, w, c) as (h, 1, w, 1, c), repeated along the ones, as (h s, w t, c). */
static lks_node repeated(lks_node x, const int64_t size[2])
{
    lks_type wide = *lks__node_type(x);
    lks_shape in = wide.shape, apart = { 5, { in.dim[0], 1, in.dim[1], 1, in.dim[2] } };

    wide.shape = (lks_shape){ 5, { in.dim[0], size[0], in.dim[1], size[1], in.dim[2] } };
    x = lks__graph_broadcast(lks_ops_reshape(x, apart), wide);
    return lks_ops_reshape(x, (lks_shape){ 3, { in.dim[0] * size[0], in.dim[1] * size[1], in.dim[2] } });
}

/* The last axis of x stretched linearly between half-pixel centres: a product with a matrix of weights. */
static lks_node stretched(lks_trace *trace, lks_node x, int64_t factor)
{
    lks_shape shape = lks__node_type(x)->shape;
    int64_t n = shape.dim[shape.rank - 1], m = n * factor;
    lks_type type = { .dtype = LKS_FLOAT32, .shape = { 2, { n, m } } };
    float *weights = lks__calloc((size_t)(n * m), sizeof *weights);
    lks_node matrix;

    if (weights == NULL) return lks__layer_fail_node(trace, lks__fail(LKS_E_NOMEM, "out of memory"));
    for (int64_t j = 0; j < m; j++) {
        double at = ((double)j + 0.5) / (double)factor - 0.5;
        int64_t low = at < 0 ? 0 : (int64_t)at, high = low + 1 < n ? low + 1 : n - 1;
        double part = at < 0 ? 0 : at - (double)low;
        weights[low * m + j] += (float)(1 - part);
        weights[high * m + j] += (float)part;
    }
    matrix = lks__graph_constant(trace->graph, type, weights);
    lks__free(weights);
    return lks_ops_matmul(x, matrix);
}

static lks_node bilinear(lks_trace *trace, lks_node x, const int64_t size[2])
{
    static const int64_t height_last[] = { 0, 2, 3, 1 }, width_last[] = { 0, 2, 3, 1 };

    x = stretched(trace, lks_ops_transpose(x, 4, height_last), size[0]); /* (w, c, h) */
    x = lks_ops_transpose(x, 4, (const int64_t[]){ 0, 2, 3, 1 });        /* (c, h, w) */
    x = stretched(trace, x, size[1]);
    return lks_ops_transpose(x, 4, width_last); /* (h, w, c) */
}

static void call_sampling(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_up_sampling2d_options *o = layer->options;
    lks_node x = lks__channels_last(in[0], o->data_format);
    lks_shape shape = lks_node_shape(x);

    (void)n_in;
    if (o->size[0] > INT32_MAX / (shape.dim[1] + 1) || o->size[1] > INT32_MAX / (shape.dim[2] + 1)) {
        out[0] = lks__layer_fail_node(trace, lks__fail(LKS_E_LIMIT, "size is too large"));
        return;
    }
    x = strcmp(o->interpolation, "nearest") == 0 ? repeated(x, o->size) : bilinear(trace, x, o->size);
    out[0] = lks__channels_first(x, o->data_format);
}

const lks_layer_class lks__zero_padding2d_class = {
    .name = "ZeroPadding2D",
    .snake = "zero_padding2d",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_zero_padding2d_options),
    .fields = padding_fields,
    .accept = accept,
    .call = call_padding,
};

const lks_layer_class lks__cropping2d_class = {
    .name = "Cropping2D",
    .snake = "cropping2d",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_cropping2d_options),
    .fields = cropping_fields,
    .accept = accept,
    .call = call_cropping,
};

const lks_layer_class lks__up_sampling2d_class = {
    .name = "UpSampling2D",
    .snake = "up_sampling2d",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_up_sampling2d_options),
    .fields = sampling_fields,
    .accept = accept,
    .call = call_sampling,
};

LKS_DEFINE_LAYER(zero_padding2d, lks__zero_padding2d_class)
LKS_DEFINE_LAYER(cropping2d, lks__cropping2d_class)
LKS_DEFINE_LAYER(up_sampling2d, lks__up_sampling2d_class)
