/* rescaling.c - Rescaling, Identity. */
#include "layer.h"

static const lks_field fields[] = {
    LKS_FIELD_LIST(lks_rescaling_options, scale, FLOATS, NULL, 0, scales),
    LKS_FIELD_LIST(lks_rescaling_options, offset, FLOATS, "0", 0, offsets),
    LKS_FIELDS_END,
};
static const lks_field no_fields[] = { LKS_FIELDS_END };

static lks_node number_or_list(lks_trace *trace, double single, const lks_numbers *list)
{
    lks_type type = { .dtype = LKS_FLOAT32, .shape = { 1, { list->n } } };
    float *values;
    lks_node node;

    if (list->n == 0) return lks__graph_number(trace->graph, single);
    values = lks__calloc((size_t)list->n, sizeof *values);
    if (values == NULL) return lks__layer_fail_node(trace, lks__fail(LKS_E_NOMEM, "out of memory"));
    for (int64_t i = 0; i < list->n; i++) values[i] = (float)list->values[i];
    node = lks__graph_constant(trace->graph, type, values);
    lks__free(values);
    return node;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_rescaling_options *o = layer->options;
    lks_node x = in[0];

    (void)n_in;
    if (lks__node_type(x)->dtype != LKS_FLOAT32) x = lks_ops_cast(x, LKS_FLOAT32);
    x = lks_ops_multiply(x, number_or_list(trace, o->scale, &o->scales));
    out[0] = lks_ops_add(x, number_or_list(trace, o->offset, &o->offsets));
}

static void call_identity(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    (void)n_in;
    out[0] = in[0];
}

const lks_layer_class lks__rescaling_class = {
    .name = "Rescaling",
    .snake = "rescaling",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_rescaling_options),
    .fields = fields,
    .call = call,
};

const lks_layer_class lks__identity_class = {
    .name = "Identity",
    .snake = "identity",
    .module = "keras.layers",
    .options_size = sizeof(lks_identity_options),
    .fields = no_fields,
    .call = call_identity,
};

LKS_DEFINE_LAYER(rescaling, lks__rescaling_class)
LKS_DEFINE_LAYER(identity, lks__identity_class)
