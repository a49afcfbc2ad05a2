/* config_write.c - see config_io.h: a model as Keras 3.15 writes it, with the keys in its order. */
#include <string.h>

#include "config_io.h"
#include "files/json.h"
#include "names.h"

static lks_status no_memory(void)
{
    return lks__fail(LKS_E_NOMEM, "no memory for a model's config");
}

static lks_status set(json_t *object, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(object, key, value) == 0 ? LKS_OK : no_memory();
}

static lks_status append(json_t *list, json_t *value)
{
    return value != NULL && json_array_append_new(list, value) == 0 ? LKS_OK : no_memory();
}

/* [null, 28, 28, 1]; NULL without memory. */
static json_t *shape_json(const lks_type *type)
{
    json_t *list = json_array();

    if (list == NULL || json_array_append_new(list, json_null()) != 0) return list;
    for (int64_t i = 0; i < type->shape.rank; i++) {
        if (json_array_append_new(list, json_integer(type->shape.dim[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ---- references ---- */

/* [layer, call, output] of a value. In the lists of inputs and outputs Keras counts calls of nested Functional models
 * from 1. */
static json_t *history(const lks_model *m, int64_t value, bool from_one)
{
    const lks_sym_call *call = m->recording->calls[m->recording->call_of[value]];
    int output = 0, node = call->node_index;

    while (output < call->n_out - 1 && call->out[output] != value) output++;
    if (from_one && call->layer->model != NULL && !call->layer->model->sequential) node++;
    return json_pack("[s, i, i]", call->layer->name, node, output);
}

static json_t *tensor_json(const lks_model *m, int64_t value)
{
    const lks_type *type = &m->recording->base.nodes[value]->type;

    return json_pack("{s:s, s:{s:o, s:s, s:o}}", "class_name", "__keras_tensor__", "config", "shape", shape_json(type),
                     "dtype", lks_dtype_name(type->dtype), "keras_history", history(m, value, false));
}

static bool takes_list(const lks_layer *layer)
{
    if (layer->model != NULL) return layer->model->n_inputs > 1;
    return (layer->class_->traits & LKS_LAYER_MERGES) != 0;
}

/* The call arguments besides the inputs that Keras records. */
static json_t *kwargs_json(const lks_layer *layer)
{
    static const char *const with_mask[] = { "BatchNormalization", "Softmax", "Functional", "Sequential" };
    static const char *const with_training[] = { "Dropout", "SpatialDropout2D", "SpatialDropout1D", "GaussianNoise",
                                                 "GaussianDropout" };

    for (size_t i = 0; i < sizeof with_mask / sizeof *with_mask; i++) {
        if (strcmp(layer->class_->name, with_mask[i]) == 0) return json_pack("{s:n}", "mask");
    }
    for (size_t i = 0; i < sizeof with_training / sizeof *with_training; i++) {
        if (strcmp(layer->class_->name, with_training[i]) == 0) return json_pack("{s:b}", "training", 0);
    }
    return json_object();
}

static json_t *node_json(const lks_model *m, const lks_sym_call *call)
{
    json_t *inputs = json_array();
    bool ok = inputs != NULL;

    for (int k = 0; k < call->n_in && ok; k++) ok = append(inputs, tensor_json(m, call->in[k])) == LKS_OK;
    if (!ok) {
        json_decref(inputs);
        return NULL;
    }
    if (takes_list(call->layer)) inputs = json_pack("[o]", inputs);
    return json_pack("{s:o, s:o}", "args", inputs, "kwargs", kwargs_json(call->layer));
}

static json_t *nodes_json(const lks_model *m, const lks_layer *layer)
{
    json_t *nodes = json_array();

    for (size_t i = 0; i < m->n_calls && nodes != NULL; i++) {
        if (m->calls[i]->layer != layer || m->calls[i]->n_in == 0) continue;
        if (append(nodes, node_json(m, m->calls[i])) == LKS_OK) continue;
        json_decref(nodes);
        return NULL;
    }
    return nodes;
}

/* ---- layers ---- */

static json_t *policy(void)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:n}", "module", "keras", "class_name", "DTypePolicy", "config", "name",
                     "float32", "registered_name");
}

static lks_status input_json(const lks_model *m, const lks_layer *layer, json_t **out)
{
    const lks_type *type = NULL;

    for (size_t i = 0; i < m->n_calls; i++) {
        if (m->calls[i]->layer == layer) type = &m->recording->base.nodes[m->calls[i]->out[0]]->type;
    }
    if (type == NULL) return lks__fail(LKS_E_INTERNAL, "input '%s' is not in the model's graph", layer->name);
    *out = json_pack("{s:s, s:s, s:{s:o, s:s, s:b, s:b, s:s, s:b}, s:n}", "module", "keras.layers", "class_name",
                     "InputLayer", "config", "batch_shape", shape_json(type), "dtype", lks_dtype_name(type->dtype),
                     "sparse", 0, "ragged", 0, "name", layer->name, "optional", 0, "registered_name");
    return *out != NULL ? LKS_OK : no_memory();
}

static lks_status layer_json(const lks_model *m, const lks_layer *layer, json_t **out)
{
    if (layer->class_ == &lks__input_layer_class) return input_json(m, layer, out);
    if (layer->model != NULL) return lks__model_to_config(layer->model, false, out);
    return lks__layer_to_config(layer, out);
}

static lks_status layers_json(const lks_model *m, json_t *list)
{
    for (size_t i = 0; i < m->n_layers; i++) {
        json_t *object = NULL;
        LKS_TRY(layer_json(m, m->layers[i], &object));
        LKS_TRY(append(list, object));
        if (m->sequential) continue;
        LKS_TRY(set(object, "name", json_string(m->layers[i]->name)));
        LKS_TRY(set(object, "inbound_nodes", nodes_json(m, m->layers[i])));
    }
    return LKS_OK;
}

/* ---- models ---- */

/* A single one stands alone: ["x", 0, 0]. In a list Keras 3.15 would take it for a structure, and warn at every call. */
static json_t *ends_json(const lks_model *m, size_t n, const int64_t *values)
{
    json_t *list = n == 1 ? history(m, values[0], true) : json_array();

    if (n == 1) return list;
    for (size_t i = 0; i < n && list != NULL; i++) {
        if (append(list, history(m, values[i], true)) == LKS_OK) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static lks_status fill_config(const lks_model *m, json_t *config)
{
    json_t *layers = json_array();

    LKS_TRY(set(config, "name", json_string(m->name)));
    LKS_TRY(set(config, "trainable", json_boolean(m->trainable)));
    if (m->sequential) LKS_TRY(set(config, "dtype", policy()));
    LKS_TRY(set(config, "layers", layers));
    LKS_TRY(layers_json(m, layers));
    if (!m->sequential) {
        LKS_TRY(set(config, "input_layers", ends_json(m, m->n_inputs, m->inputs)));
        return set(config, "output_layers", ends_json(m, m->n_outputs, m->outputs));
    }
    return m->built ? set(config, "build_input_shape", shape_json(lks__model_input_type(m, 0))) : LKS_OK;
}

static lks_status fill_object(const lks_model *m, bool with_compile, json_t *object)
{
    json_t *config = json_object(), *compile = NULL;

    LKS_TRY(set(object, "module", json_string(m->sequential ? "keras" : "keras.src.models.functional")));
    LKS_TRY(set(object, "class_name", json_string(m->sequential ? "Sequential" : "Functional")));
    LKS_TRY(set(object, "config", config));
    LKS_TRY(fill_config(m, config));
    LKS_TRY(set(object, "registered_name", m->sequential ? json_null() : json_string("Functional")));
    if (m->built) {
        LKS_TRY(set(
            object, "build_config",
            json_pack("{s:o}", "input_shape", m->sequential ? shape_json(lks__model_input_type(m, 0)) : json_null())));
    }
    if (with_compile) LKS_TRY(lks__compile_to_config(m, &compile));
    else compile = json_object();
    return set(object, "compile_config", compile);
}

lks_status lks__model_to_config(const lks_model *model, bool with_compile, json_t **out)
{
    json_t *object;
    lks_status status;

    LKS_TRY(lks_model_status(model));
    object = json_object();
    status = object != NULL ? fill_object(model, with_compile, object) : no_memory();
    if (status == LKS_OK) *out = object;
    else json_decref(object);
    return status;
}

lks_status lks_model_to_json(const lks_model *model, char **out)
{
    json_t *object = NULL;
    lks_status status;

    LKS_TRY(lks__model_to_config(model, true, &object));
    status = lks__json_dump(object, out);
    json_decref(object);
    return status;
}
