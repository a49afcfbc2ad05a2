/* activation.c - Activation: one of the functions of activations.c as a layer. */
#include "layer.h"
#include "weights.h"

static const lks_field fields[] = { LKS_FIELD(lks_activation_options, activation, ACTIVATION, NULL, 0),
                                    LKS_FIELDS_END };

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_activation_options *o = layer->options;

    (void)trace;
    (void)n_in;
    out[0] = lks__activation_apply(o->activation, in[0]);
}

const lks_layer_class lks__activation_class = {
    .name = "Activation",
    .snake = "activation",
    .module = "keras.layers",
    .options_size = sizeof(lks_activation_options),
    .fields = fields,
    .call = call,
};

LKS_DEFINE_LAYER(activation, lks__activation_class)
