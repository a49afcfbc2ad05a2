/* weights.c - the weights of a model in Keras' order, and its graph. */
#include <string.h>

#include "base/sha256.h"
#include "base/words.h"
#include "names.h"
#include "tensor/tensor.h"

typedef struct list {
    lks_variable **items;
    size_t n, capacity;
} list;

static lks_status append(list *l, lks_variable *v)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i] == v) return LKS_OK;
    LKS_TRY(lks__grow(&l->items, &l->capacity, l->n + 1, sizeof *l->items));
    l->items[l->n++] = v;
    return LKS_OK;
}

/* trainable: only what training changes: weights that can be trained, of layers none of whose owners is frozen. */
static lks_status collect(const lks_model *m, bool trainable, list *l)
{
    if (trainable && !m->trainable) return LKS_OK;
    for (size_t i = 0; i < m->n_layers; i++) {
        const lks_layer *layer = m->layers[i];
        if (trainable && !layer->trainable) continue;
        if (layer->model != NULL) LKS_TRY(collect(layer->model, trainable, l));
        for (size_t k = 0; k < layer->n_weights; k++)
            if (!trainable || layer->weights[k]->trainable) LKS_TRY(append(l, layer->weights[k]));
    }
    return LKS_OK;
}

static lks_status gather(const lks_model *model, bool trainable, lks_variable ***out, size_t *n)
{
    list l = { 0 };
    lks_status status = lks__grow(&l.items, &l.capacity, 1, sizeof *l.items);

    if (status == LKS_OK) status = collect(model, trainable, &l);
    if (status != LKS_OK) {
        lks__free(l.items);
        return status;
    }
    *out = l.items;
    *n = l.n;
    return LKS_OK;
}

lks_status lks__model_weights(const lks_model *model, lks_variable ***out, size_t *n)
{
    return gather(model, false, out, n);
}

lks_status lks__model_trainable_weights(const lks_model *model, lks_variable ***out, size_t *n)
{
    return gather(model, true, out, n);
}

/* The i-th weight without an allocation: walks the layers. Weights of shared layers count once. */
static lks_variable *weight_at(const lks_model *model, size_t i)
{
    lks_variable **all = NULL, *v;
    size_t n;

    if (model == NULL || lks__model_weights(model, &all, &n) != LKS_OK) return NULL;
    v = i < n ? all[i] : NULL;
    lks__free(all);
    return v;
}

size_t lks_model_n_weights(const lks_model *model)
{
    lks_variable **all = NULL;
    size_t n = 0;

    if (model == NULL || lks__model_weights(model, &all, &n) != LKS_OK) return 0;
    lks__free(all);
    return n;
}

int64_t lks_model_count_params(const lks_model *model)
{
    lks_variable **all = NULL;
    size_t n = 0;
    int64_t total = 0;

    if (model == NULL || lks__model_weights(model, &all, &n) != LKS_OK) return 0;
    for (size_t i = 0; i < n; i++) total += lks_tensor_size(all[i]->value);
    lks__free(all);
    return total;
}

lks_tensor *lks_model_weight(lks_model *model, size_t i)
{
    lks_variable *v = weight_at(model, i);

    if (v == NULL) lks__fail(LKS_E_ARG, "the model has no weight %zu", i);
    if (v != NULL) lks__variable_changed(v); /* the caller may write it */
    return v != NULL ? lks_tensor_retain(v->value) : NULL;
}

const char *lks_model_weight_path(const lks_model *model, size_t i)
{
    lks_variable *v = weight_at(model, i);

    return v != NULL ? v->path : NULL;
}

lks_status lks_model_set_weight(lks_model *model, size_t i, const lks_tensor *value)
{
    lks_variable *v = weight_at(model, i);
    lks_shape want, have;
    char want_text[LKS_SHAPE_TEXT], have_text[LKS_SHAPE_TEXT];

    if (v == NULL) return lks__fail(LKS_E_ARG, "the model has no weight %zu", i);
    if (value == NULL) return lks__fail(LKS_E_ARG, "weight '%s': the value is NULL", v->path);
    want = lks_tensor_shape(v->value);
    have = lks_tensor_shape(value);
    if (!lks_shape_equal(&want, &have))
        return lks__fail(LKS_E_SHAPE, "weight '%s' has shape %s, the value has %s", v->path,
                         lks__shape_text(&want, want_text), lks__shape_text(&have, have_text));
    if (lks_tensor_dtype(value) == LKS_STRING) return lks__fail(LKS_E_ARG, "weight '%s' cannot take strings", v->path);
    lks__convert(lks_tensor_dtype(value), lks_tensor_cdata(value), LKS_FLOAT32, lks__variable_floats(v),
                 lks_tensor_size(value));
    return LKS_OK;
}

lks_status lks_model_digest(const lks_model *model, char digest[65])
{
    lks_variable **all = NULL;
    size_t n = 0;
    lks_sha256 hash;
    uint8_t bytes[32];

    LKS_TRY(lks_model_status(model));
    LKS_TRY(lks__model_weights(model, &all, &n));
    lks__sha256_init(&hash);
    for (size_t i = 0; i < n; i++)
        lks__sha256_update(&hash, lks__variable_floats(all[i]), (size_t)lks_tensor_size(all[i]->value) * sizeof(float));
    lks__sha256_final(&hash, bytes);
    lks__sha256_to_hex(bytes, digest);
    lks__free(all);
    return LKS_OK;
}

const char *lks__model_constraint(const lks_model *model, const lks_variable *v)
{
    for (size_t i = 0; i < model->n_layers; i++) {
        const lks_layer *layer = model->layers[i];
        const char *inner = layer->model != NULL ? lks__model_constraint(layer->model, v) : NULL;
        if (inner != NULL) return inner;
        for (size_t k = 0; k < layer->n_weights; k++)
            if (layer->weights[k] == v) return layer->info[k].constraint;
    }
    return NULL;
}

/* ---- finding and freezing ---- */

static lks_layer *find(const lks_model *m, const char *path)
{
    for (size_t i = 0; i < m->n_layers; i++) {
        lks_layer *layer = m->layers[i];
        size_t n = strlen(layer->name);
        if (strcmp(layer->name, path) == 0) return layer;
        if (layer->model != NULL && strncmp(layer->name, path, n) == 0 && path[n] == '/')
            return find(layer->model, path + n + 1);
    }
    return NULL;
}

lks_layer *lks__model_find_layer(const lks_model *model, const char *path)
{
    return find(model, path);
}

/* Of the model that the path leads into; more names than anybody reads are left out. */
static lks_status no_such_layer(const lks_model *m, const char *path)
{
    enum { NAMES = 256 };
    const char *names[NAMES + 1];
    size_t n = 0;

    for (size_t i = 0; i < m->n_layers; i++) {
        const lks_layer *layer = m->layers[i];
        size_t length = strlen(layer->name);
        if (layer->model != NULL && strncmp(layer->name, path, length) == 0 && path[length] == '/')
            return no_such_layer(layer->model, path + length + 1);
        if (n < NAMES) names[n++] = layer->name;
    }
    names[n] = NULL;
    return lks__context(lks__no_such(LKS_E_NOTFOUND, "layer", path, names), "model '%s'", m->name);
}

/* As in Keras, what is set for a model is set for everything in it. */
static void set_trainable(lks_model *model, bool trainable)
{
    model->trainable = trainable;
    for (size_t i = 0; i < model->n_layers; i++) {
        model->layers[i]->trainable = trainable;
        if (model->layers[i]->model != NULL) set_trainable(model->layers[i]->model, trainable);
    }
}

lks_status lks_model_set_trainable(lks_model *model, const char *layer, int trainable)
{
    lks_layer *found;

    LKS_TRY(lks_model_status(model));
    if (layer == NULL) {
        set_trainable(model, trainable != 0);
        return LKS_OK;
    }
    found = find(model, layer);
    if (found == NULL) return no_such_layer(model, layer);
    found->trainable = trainable != 0;
    if (found->model != NULL) set_trainable(found->model, found->trainable);
    return LKS_OK;
}

/* ---- types and graph ---- */

const lks_type *lks__model_input_type(const lks_model *model, size_t i)
{
    return &model->recording->base.nodes[model->inputs[i]]->type;
}

const lks_type *lks__model_output_type(const lks_model *model, size_t i)
{
    return &model->recording->base.nodes[model->outputs[i]]->type;
}

const char *lks__model_output_name(const lks_model *model, size_t i)
{
    return model->recording->calls[model->recording->call_of[model->outputs[i]]]->layer->name;
}

void lks__model_trace(lks_model *model, lks_trace *trace, const lks_node *in, lks_node *out)
{
    size_t n = model->recording->base.n_nodes;
    lks_node *nodes = lks__calloc(n + 1, sizeof *nodes);
    lks_node call_in[LKS_MAX_IO_NODES], call_out[LKS_MAX_IO_NODES];

    for (size_t i = 0; i < model->n_outputs; i++) out[i] = (lks_node){ trace->graph, -1 };
    if (nodes == NULL) {
        lks__node_fail(trace->graph, lks__fail(LKS_E_NOMEM, "no memory to trace model '%s'", model->name));
        return;
    }
    for (size_t i = 0; i < n; i++) nodes[i] = (lks_node){ trace->graph, -1 };
    for (size_t i = 0; i < model->n_inputs; i++) nodes[model->inputs[i]] = in[i];
    for (size_t i = 0; i < model->n_calls; i++) {
        const lks_sym_call *c = model->calls[i];
        if (c->n_in == 0) continue;
        for (int k = 0; k < c->n_in; k++) call_in[k] = nodes[c->in[k]];
        lks__layer_apply(c->layer, trace, c->n_in, call_in, call_out);
        for (int k = 0; k < c->n_out; k++) nodes[c->out[k]] = call_out[k];
    }
    for (size_t i = 0; i < model->n_outputs; i++) out[i] = nodes[model->outputs[i]];
    lks__free(nodes);
}
