/* dropout.c - Dropout, SpatialDropout2D. The draw depends on (seed, step, example, layer's path) alone: never on threads or
 * slices. A layer called twice draws twice.
 */
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "conv_common.h"

static const lks_field fields[] = {
    LKS_FIELD(lks_dropout_options, rate, FLOAT, NULL, LKS_FIELD_FRACTION),
    LKS_FIELD(lks_dropout_options, seed, INT, "none", 0),
    LKS_FIELD(lks_dropout_options, noise_shape, INTS, "none", LKS_FIELD_NULLS),
    LKS_FIELDS_END,
};

static const lks_field spatial_fields[] = {
    LKS_FIELD(lks_spatial_dropout2d_options, rate, FLOAT, NULL, LKS_FIELD_FRACTION),
    LKS_FIELD(lks_spatial_dropout2d_options, seed, INT, "none", 0),
    LKS_FIELD_WORD(lks_spatial_dropout2d_options, data_format, "channels_last", lks__data_formats),
    LKS_FIELDS_END,
};

/* How many uniform draws this layer has made in the graph already. */
static int draws_so_far(const lks_graph *graph)
{
    int n = 0;

    for (size_t i = 0; i < graph->n_nodes; i++) {
        const lks_graph_node *node = lks__graph_at(graph, (int64_t)i);
        if (node->op == &lks__op_uniform && node->scope != NULL && strcmp(node->scope, graph->scope) == 0) n++;
    }
    return n;
}

static lks_node dropped(lks_trace *trace, lks_node x, double rate, int64_t seed, lks_shape noise)
{
    lks_node zero = lks_ops_number(x, 0), draw, kept;
    char purpose[64];

    if (!trace->training || rate == 0) return x;
    if (rate == 1) return lks_ops_full_like(x, 0);
    snprintf(purpose, sizeof purpose, "mask %d seed %lld", draws_so_far(trace->graph),
             seed == LKS_NONE_INT ? -1LL : (long long)seed);
    draw = lks__graph_uniform(trace->graph, noise, lks__philox_stream(trace->graph->scope, purpose));
    kept = lks_ops_multiply(x, lks_ops_number(x, 1 / (1 - rate)));
    return lks_ops_where(lks_ops_greater_equal(draw, lks_ops_number(x, rate)), kept, zero);
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_dropout_options *o = layer->options;
    int64_t n = 0;

    (void)n_in;
    LKS_TRY(lks__expect_dtype("Dropout", in[0], LKS_FLOAT32));
    if (o->noise_shape[0] == LKS_NONE_INT) return LKS_OK;
    while (n < LKS_MAX_RANK && o->noise_shape[n] != 0) n++;
    if (n != in[0]->shape.rank + 1) {
        return lks__fail(LKS_E_SHAPE, "noise_shape has %lld entries, the input %lld axes (the batch counts)",
                         (long long)n, (long long)in[0]->shape.rank + 1);
    }
    if (o->noise_shape[0] == 1) {
        return lks__fail(LKS_E_UNSUPPORTED,
                         "noise_shape: one draw for all examples of a batch is not available; begin with -1");
    }
    for (int64_t i = 1; i < n; i++) {
        int64_t size = in[0]->shape.dim[i - 1], want = o->noise_shape[i];
        if (want != -1 && want != 1 && want != size) {
            return lks__fail(LKS_E_SHAPE, "noise_shape: entry %lld is %lld, the input's axis %lld", (long long)i,
                             (long long)want, (long long)size);
        }
    }
    return LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_dropout_options *o = layer->options;
    lks_shape noise = lks__node_type(in[0])->shape;

    (void)n_in;
    for (int64_t i = 0; o->noise_shape[0] != LKS_NONE_INT && i < noise.rank; i++) {
        if (o->noise_shape[i + 1] == 1) noise.dim[i] = 1;
    }
    out[0] = dropped(trace, in[0], o->rate, o->seed, noise);
}

static lks_status accept_spatial(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    LKS_TRY(lks__expect_rank(in[0], 4, 4, "(batch, height, width, channels)"));
    return lks__expect_dtype(layer->class_->name, in[0], LKS_FLOAT32);
}

static void call_spatial(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_spatial_dropout2d_options *o = layer->options;
    lks_shape noise = lks__node_type(in[0])->shape;
    int axis = strcmp(o->data_format, "channels_first") == 0 ? 1 : 0;

    (void)n_in;
    noise.dim[axis] = noise.dim[axis + 1] = 1;
    out[0] = dropped(trace, in[0], o->rate, o->seed, noise);
}

const lks_layer_class lks__dropout_class = {
    .name = "Dropout",
    .snake = "dropout",
    .module = "keras.layers",
    .options_size = sizeof(lks_dropout_options),
    .fields = fields,
    .accept = accept,
    .call = call,
};

const lks_layer_class lks__spatial_dropout2d_class = {
    .name = "SpatialDropout2D",
    .snake = "spatial_dropout2d",
    .module = "keras.layers",
    .options_size = sizeof(lks_spatial_dropout2d_options),
    .fields = spatial_fields,
    .accept = accept_spatial,
    .call = call_spatial,
};

LKS_DEFINE_LAYER(dropout, lks__dropout_class)
LKS_DEFINE_LAYER(spatial_dropout2d, lks__spatial_dropout2d_class)
