/* repeat_vector.c - RepeatVector: (features) n times, one below the other. */
#include "layer.h"

static const lks_field fields[] = {
    LKS_FIELD(lks_repeat_vector_options, n, INT, NULL, LKS_FIELD_POSITIVE),
    LKS_FIELDS_END,
};

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)layer;
    (void)n_in;
    return lks__expect_rank(in[0], 2, 0, "(batch, features)");
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_repeat_vector_options *o = layer->options;
    lks_type type = *lks__node_type(in[0]);

    (void)trace;
    (void)n_in;
    type.shape = (lks_shape){ 2, { o->n, type.shape.dim[0] } };
    out[0] = lks__graph_broadcast(in[0], type);
}

const lks_layer_class lks__repeat_vector_class = {
    .name = "RepeatVector",
    .snake = "repeat_vector",
    .module = "keras.layers",
    .options_size = sizeof(lks_repeat_vector_options),
    .fields = fields,
    .accept = accept,
    .call = call,
};

LKS_DEFINE_LAYER(repeat_vector, lks__repeat_vector_class)
