/* model_layer.c - a model as a layer of another one. */
#include <string.h>

#include "names.h"

typedef struct model_options {
    LKS_LAYER_OPTIONS;
} model_options;

static const lks_field no_fields[] = { LKS_FIELDS_END };

lks_model *lks__layer_model(const lks_layer *layer)
{
    return layer->model;
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    lks_model *m = layer->model;

    LKS_TRY(lks_model_status(m));
    if (!m->built && n_in == 1) LKS_TRY(lks__sequential_build(m, *in[0]));
    return LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    lks_model *m = layer->model;

    if ((size_t)n_in != m->n_inputs) {
        out[0] = lks__node_fail(trace->graph,
                                lks__fail(LKS_E_ARG, "model '%s' has %zu inputs, got %d", m->name, m->n_inputs, n_in));
        return;
    }
    lks__model_trace(m, trace, in, out);
}

static int n_outputs(const lks_layer *layer)
{
    return layer->model->n_outputs > 0 ? (int)layer->model->n_outputs : 1;
}

static void release(lks_layer *layer)
{
    if (layer->model == NULL) return;
    layer->model->as_layer = NULL;
    lks_model_release(layer->model);
}

static const lks_layer_class functional_class = {
    .name = "Functional",
    .snake = "functional",
    .module = "keras.src.models.functional",
    .options_size = sizeof(model_options),
    .fields = no_fields,
    .build = build,
    .call = call,
    .n_outputs = n_outputs,
    .release = release,
};

static const lks_layer_class sequential_class = {
    .name = "Sequential",
    .snake = "sequential",
    .module = "keras",
    .options_size = sizeof(model_options),
    .fields = no_fields,
    .build = build,
    .call = call,
    .n_outputs = n_outputs,
    .release = release,
};

/* One layer object a model, however often it is called; it holds the model, and goes with its last call. */
static lks_layer *as_layer(lks_model *m)
{
    model_options options = { .struct_size = sizeof options, .name = m->auto_named ? NULL : m->name };
    lks_layer *layer;

    if (m->as_layer != NULL) return lks_layer_retain(m->as_layer);
    layer = lks__layer_create(m->sequential ? &sequential_class : &functional_class, &options);
    if (layer == NULL) return NULL;
    layer->model = lks_model_retain(m);
    layer->trainable = m->trainable;
    m->as_layer = layer;
    return layer;
}

lks_layer *lks__model_as_layer(lks_model *model)
{
    return as_layer(model);
}

void lks_model_call_io(lks_model *model, size_t n_inputs, const lks_node *inputs, lks_node *outputs)
{
    lks_layer *layer;
    size_t n_out;

    if (model == NULL || n_inputs > LKS_MAX_IO_NODES) {
        if (model != NULL) lks__fail(LKS_E_LIMIT, "a model is called on at most %d nodes", LKS_MAX_IO_NODES);
        outputs[0] = model == NULL ? lks__symbolic_no_memory() : lks__no_node;
        return;
    }
    n_out = model->n_outputs > 0 ? model->n_outputs : 1;
    layer = as_layer(model);
    lks__symbolic_call(layer, (int)n_inputs, inputs, (int)n_out, outputs);
    lks_layer_release(layer);
}

lks_node lks_model_call(lks_model *model, lks_node input)
{
    lks_node out[LKS_MAX_IO_NODES];

    lks_model_call_io(model, 1, &input, out);
    return out[0];
}
