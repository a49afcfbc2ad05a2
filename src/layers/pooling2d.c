/* pooling2d.c - MaxPooling2D, AveragePooling2D. Padding never counts: not in the maximum, not in the mean's divisor. */
#include <string.h>

#include "conv_common.h"

#define ROW(member, KIND, fallback, flags) LKS_FIELD(lks_pooling2d_options, member, KIND, fallback, flags)
static const lks_field fields[] = {
    ROW(pool_size, INT2, "2", LKS_FIELD_POSITIVE),
    LKS_FIELD_WORD(lks_pooling2d_options, padding, "valid", lks__paddings),
    ROW(strides, INT2, "none", LKS_FIELD_POSITIVE),
    LKS_FIELD_WORD(lks_pooling2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELDS_END,
};

static lks_status check(lks_layer *layer)
{
    lks_pooling2d_options *o = layer->options;

    if (o->strides[0] == LKS_NONE_INT) memcpy(o->strides, o->pool_size, sizeof o->strides);
    return LKS_OK;
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)layer;
    (void)n_in;
    LKS_TRY(lks__expect_rank(in[0], 4, 4, "(batch, height, width, channels)"));
    return lks__expect_dtype(layer->class_->name, in[0], LKS_FLOAT32);
}

static lks_status geometry(const lks_pooling2d_options *o, lks_node x, lks_pool_attrs *a)
{
    lks_shape shape = lks_node_shape(x);

    memcpy(a->size, o->pool_size, sizeof a->size);
    memcpy(a->stride, o->strides, sizeof a->stride);
    for (int i = 0; i < 2; i++) {
        a->in[i] = shape.dim[1 + i];
        LKS_TRY(lks__window(strcmp(o->padding, "same") == 0, a->in[i], a->size[i], a->stride[i], 1, &a->out[i],
                            &a->before[i]));
    }
    return LKS_OK;
}

/* How many cells of the window at output position i of one axis lie inside the input. */
static int64_t cells(const lks_pool_attrs *a, int axis, int64_t i)
{
    int64_t begin = i * a->stride[axis] - a->before[axis], end = begin + a->size[axis];

    if (begin < 0) begin = 0;
    if (end > a->in[axis]) end = a->in[axis];
    return end - begin;
}

/* The divisors: one number where all windows are full, else a map (height, width, 1). */
static lks_node divisors(lks_trace *trace, const lks_pool_attrs *a)
{
    lks_type type = { .dtype = LKS_FLOAT32, .shape = { 3, { a->out[0], a->out[1], 1 } } };
    int64_t n = a->out[0] * a->out[1], full = a->size[0] * a->size[1], partial = 0;
    float *counts = lks__calloc((size_t)n, sizeof *counts);
    lks_node node;

    if (counts == NULL) return lks__layer_fail_node(trace, lks__fail(LKS_E_NOMEM, "out of memory"));
    for (int64_t i = 0; i < n; i++) {
        int64_t count = cells(a, 0, i / a->out[1]) * cells(a, 1, i % a->out[1]);
        counts[i] = (float)count;
        partial += count != full;
    }
    node = partial == 0 ? lks__graph_number(trace->graph, (double)full)
                        : lks__graph_constant(trace->graph, type, counts);
    lks__free(counts);
    return node;
}

static void pool(lks_layer *layer, lks_trace *trace, const lks_node *in, lks_node *out, bool average)
{
    const lks_pooling2d_options *o = layer->options;
    lks_node x = lks__channels_last(in[0], o->data_format), y;
    lks_pool_attrs a = { 0 };
    lks_status status = geometry(o, x, &a);

    if (status != LKS_OK) {
        out[0] = lks__layer_fail_node(trace, status);
        return;
    }
    y = average ? lks_ops_divide(lks__graph_pool_sum(x, &a), divisors(trace, &a)) : lks__graph_pool_max(x, &a);
    out[0] = lks__channels_first(y, o->data_format);
}

static void call_max(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)n_in;
    pool(layer, trace, in, out, false);
}

static void call_average(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)n_in;
    pool(layer, trace, in, out, true);
}

const lks_layer_class lks__max_pooling2d_class = {
    .name = "MaxPooling2D",
    .snake = "max_pooling2d",
    .module = "keras.layers",
    .options_size = sizeof(lks_pooling2d_options),
    .fields = fields,
    .check = check,
    .accept = accept,
    .call = call_max,
};

const lks_layer_class lks__average_pooling2d_class = {
    .name = "AveragePooling2D",
    .snake = "average_pooling2d",
    .module = "keras.layers",
    .options_size = sizeof(lks_pooling2d_options),
    .fields = fields,
    .check = check,
    .accept = accept,
    .call = call_average,
};

LKS_DEFINE_LAYER(max_pooling2d, lks__max_pooling2d_class)
LKS_DEFINE_LAYER(average_pooling2d, lks__average_pooling2d_class)
