/* lambda.c - a layer of the user's own: a C function that builds graph. */
#include "layer.h"

static const lks_field fields[] = { LKS_FIELDS_END };

static lks_status check(lks_layer *layer)
{
    const lks_lambda_options *o = layer->options;

    return o->function != NULL ? LKS_OK : lks__fail(LKS_E_ARG, "function is missing");
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_lambda_options *o = layer->options;
    unsigned before = lks__error_serial();

    out[0] = o->function(o->user, (size_t)n_in, in);
    if (lks__node_ok(out[0]) && out[0].graph == trace->graph) return;
    if (lks__graph_status(trace->graph) == LKS_OK && lks__error_serial() == before) {
        lks__fail(LKS_E_ARG, "the function returned no node of this graph");
    }
    out[0] = lks__layer_fail_node(trace, LKS_E_ARG);
}

const lks_layer_class lks__lambda_class = {
    .name = "Lambda",
    .snake = "lambda",
    .module = "keras.layers",
    .traits = LKS_LAYER_UNSAVED | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_lambda_options),
    .fields = fields,
    .check = check,
    .call = call,
};

LKS_DEFINE_LAYER(lambda, lks__lambda_class)

lks_node lks_lambda_n(size_t n, const lks_node *inputs, lks_layer_fn function, void *user)
{
    const lks_lambda_options options = { .struct_size = sizeof options, .function = function, .user = user };

    return lks__layer_call_new(&lks__lambda_class, &options, n, inputs);
}
