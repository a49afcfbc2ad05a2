/* model.c - making models from recordings, and their life. */
#include "model.h"

#include <stdio.h>

#include "base/options.h"
#include "base/text.h"
#include "names.h"

static _Thread_local uint64_t default_seed;

void lks_set_seed(uint64_t seed)
{
    default_seed = seed;
}

uint64_t lks__default_seed(void)
{
    return default_seed;
}

uint64_t lks__seed_option(int64_t option)
{
    if (option == 0) return default_seed;
    return option == LKS_ZERO_INT ? 0 : (uint64_t)option;
}

lks_model *lks__model_alloc(const char *name, const char *fallback)
{
    lks_model *m = lks__calloc(1, sizeof *m);

    if (m == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a model");
        return NULL;
    }
    m->references = 1;
    m->trainable = true;
    m->auto_named = name == NULL;
    m->name = lks__strdup(name != NULL ? name : fallback);
    m->input_shape.rank = -1;
    m->strategy = lks_strategy_retain(lks__scope_current());
    if (m->name == NULL) lks__error_capture(&m->error, lks__fail(LKS_E_NOMEM, "no memory for a model's name"));
    if (m->strategy != NULL && m->error.code == LKS_OK)
        lks__error_capture(&m->error, lks__error_raise(&m->strategy->error));
    return m;
}

lks_model *lks_model_retain(lks_model *model)
{
    if (model != NULL) model->references++;
    return model;
}

void lks_model_release(lks_model *model)
{
    if (model == NULL || --model->references > 0) return;
    lks__model_drop_functions(model);
    if (model->compiled != NULL) lks__compiled_release(model->compiled, model->n_outputs);
    lks__variable_release(model->loss_total);
    lks__variable_release(model->loss_count);
    for (size_t i = 0; model->output_loss != NULL && i < 2 * model->n_outputs; i++)
        lks__variable_release(model->output_loss[i]);
    lks__free(model->output_loss);
    for (size_t i = 0; i < model->n_layers; i++) lks_layer_release(model->layers[i]);
    lks__free(model->layers);
    lks__free(model->calls);
    lks__free(model->inputs);
    lks__free(model->outputs);
    for (size_t i = 0; i < model->n_logs; i++) lks__free(model->log_names[i]);
    lks__free(model->log_names);
    lks__free(model->logs);
    if (model->recording != NULL && --model->recording->references == 0) lks__symbolic_free(model->recording);
    lks_strategy_release(model->strategy);
    lks__free(model->name);
    lks__free(model);
}

lks_status lks_model_status(const lks_model *model)
{
    if (model == NULL) return lks__fail(LKS_E_NOMEM, "the model is NULL: there was no memory to make it");
    return lks__error_raise(&model->error);
}

const char *lks_model_name(const lks_model *model)
{
    return model->name;
}

/* ---- which calls and layers belong to the model, and in which order ---- */

typedef struct orderer {
    lks_model *m;
    lks_symbolic *s;
    bool *used;          /* call */
    int *depth;          /* call: longest path to an output */
    lks_layer **visited; /* layers in pre-order of a walk from the outputs */
    size_t n_visited;
    bool *seen; /* call */
} orderer;

static size_t visit_index(const orderer *o, const lks_layer *layer)
{
    for (size_t i = 0; i < o->n_visited; i++)
        if (o->visited[i] == layer) return i;
    return SIZE_MAX;
}

/* An explicit stack: user graphs may be deeper than the caller's stack allows. Inputs are pushed right to left, so
 * that they are visited left to right. */
static lks_status walk(orderer *o, int64_t output)
{
    int64_t *stack = NULL;
    size_t capacity = 0, n = 0;
    lks_status status = lks__grow(&stack, &capacity, 1, sizeof *stack);

    if (status == LKS_OK) stack[n++] = o->s->call_of[output];
    while (status == LKS_OK && n > 0) {
        int64_t call = stack[--n];
        lks_sym_call *c = o->s->calls[call];
        if (o->seen[call]) continue;
        o->seen[call] = o->used[call] = true;
        if (visit_index(o, c->layer) == SIZE_MAX) o->visited[o->n_visited++] = c->layer;
        status = lks__grow(&stack, &capacity, n + (size_t)c->n_in, sizeof *stack);
        for (int k = c->n_in - 1; k >= 0 && status == LKS_OK; k--) stack[n++] = o->s->call_of[c->in[k]];
    }
    lks__free(stack);
    return status;
}

static void find_depths(orderer *o)
{
    for (size_t i = o->s->n_calls; i-- > 0;) {
        const lks_sym_call *c = o->s->calls[i];
        if (!o->used[i]) continue;
        for (int k = 0; k < c->n_in; k++) {
            int64_t from = o->s->call_of[c->in[k]];
            if (o->depth[from] < o->depth[i] + 1) o->depth[from] = o->depth[i] + 1;
        }
    }
}

static int layer_depth(const orderer *o, const lks_layer *layer)
{
    int depth = 0;

    for (size_t i = 0; i < o->s->n_calls; i++)
        if (o->used[i] && o->s->calls[i]->layer == layer && o->depth[i] > depth) depth = o->depth[i];
    return depth;
}

static lks_status append_layer(lks_model *m, lks_layer *layer)
{
    LKS_TRY(lks__grow(&m->layers, &m->layers_capacity, m->n_layers + 1, sizeof *m->layers));
    m->layers[m->n_layers++] = lks_layer_retain(layer);
    return LKS_OK;
}

/* By depth, deepest first; equal ones in order of first visit (spec/keras.md 6.8). */
static lks_status order_layers(orderer *o)
{
    int deepest = 0;

    for (size_t i = 0; i < o->n_visited; i++) {
        int d = layer_depth(o, o->visited[i]);
        if (d > deepest) deepest = d;
    }
    for (int d = deepest; d >= 0; d--)
        for (size_t i = 0; i < o->n_visited; i++)
            if (layer_depth(o, o->visited[i]) == d) LKS_TRY(append_layer(o->m, o->visited[i]));
    return LKS_OK;
}

static lks_status collect_calls(orderer *o)
{
    lks_model *m = o->m;

    m->calls = lks__calloc(o->s->n_calls + 1, sizeof *m->calls);
    if (m->calls == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model");
    for (size_t i = 0; i < o->s->n_calls; i++) {
        lks_sym_call *c = o->s->calls[i];
        bool listed = false;
        if (!o->used[i]) continue;
        c->node_index = 0;
        for (size_t k = 0; k < m->n_calls; k++) c->node_index += m->calls[k]->layer == c->layer;
        m->calls[m->n_calls++] = c;
        for (size_t k = 0; k < m->n_inputs && c->n_in == 0; k++) listed = listed || m->inputs[k] == c->out[0];
        if (c->n_in == 0 && !listed)
            return lks__fail(LKS_E_ARG,
                             "model '%s': an output depends on input '%s', which is not among the model's inputs",
                             m->name, c->layer->name != NULL ? c->layer->name : "input_layer");
    }
    return LKS_OK;
}

static lks_status order(orderer *o)
{
    lks_model *m = o->m;

    for (size_t i = 0; i < m->n_outputs; i++) LKS_TRY(walk(o, m->outputs[i]));
    for (size_t i = 0; i < m->n_inputs; i++) { /* inputs that lead nowhere come last, with depth 0 */
        int64_t call = o->s->call_of[m->inputs[i]];
        if (o->s->calls[call]->n_in != 0)
            return lks__fail(LKS_E_ARG,
                             "model '%s': input %zu is the output of layer '%s'; it must come from lks_input", m->name,
                             i, o->s->calls[call]->layer->class_->name);
        if (o->used[call]) continue;
        o->used[call] = true;
        o->visited[o->n_visited++] = o->s->calls[call]->layer;
    }
    find_depths(o);
    LKS_TRY(order_layers(o));
    return collect_calls(o);
}

static lks_status assemble(lks_model *m)
{
    lks_symbolic *s = m->recording;
    size_t n = s->n_calls;
    orderer o = { .m = m, .s = s };
    lks_status status;

    o.used = lks__calloc(2 * n + 1, sizeof *o.used);
    o.depth = lks__calloc(n + 1, sizeof *o.depth);
    o.visited = lks__calloc(n + 1, sizeof *o.visited);
    o.seen = o.used != NULL ? o.used + n : NULL;
    if (o.used == NULL || o.depth == NULL || o.visited == NULL)
        status = lks__fail(LKS_E_NOMEM, "no memory for a model");
    else status = order(&o);
    lks__free(o.used);
    lks__free(o.depth);
    lks__free(o.visited);
    LKS_TRY(status);
    return lks__name_layers(m);
}

lks_status lks__model_assemble(lks_model *m)
{
    for (size_t i = 0; i < m->n_layers; i++) lks_layer_release(m->layers[i]);
    m->n_layers = 0;
    lks__free(m->calls);
    m->calls = NULL;
    m->n_calls = 0;
    return assemble(m);
}

static lks_status copy_values(size_t n, const int64_t *from, int64_t **to, size_t *count)
{
    *to = lks__memdup(from, (n ? n : 1) * sizeof **to);
    *count = n;
    return *to != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a model");
}

lks_model *lks__model_from_recording(lks_symbolic *recording, size_t n_in, const int64_t *inputs, size_t n_out,
                                     const int64_t *outputs, const char *name)
{
    lks_model *m = lks__model_alloc(name, "functional");
    lks_status status;

    if (m == NULL) {
        if (recording->references == 0) lks__symbolic_free(recording);
        return NULL;
    }
    m->recording = recording;
    recording->references++;
    m->built = true;
    m->seed = default_seed;
    status = m->error.code;
    if (status == LKS_OK) status = recording->base.error.code ? lks__error_raise(&recording->base.error) : LKS_OK;
    if (status == LKS_OK) status = copy_values(n_in, inputs, &m->inputs, &m->n_inputs);
    if (status == LKS_OK) status = copy_values(n_out, outputs, &m->outputs, &m->n_outputs);
    if (status == LKS_OK) status = lks__model_assemble(m);
    lks__error_capture(&m->error, status);
    return m;
}

/* ---- the public builders ---- */

/* All nodes in one recording: a model of nodes that no layer joined (two separate chains) is legal. */
static lks_status find_values(size_t n, const lks_node *nodes, lks_symbolic **recording, int64_t *values)
{
    for (size_t i = 0; i < n; i++) {
        lks_symbolic *s = lks__symbolic_of(nodes[i], &values[i]);
        if (s == NULL) return lks__fail(LKS_E_ARG, "node %zu is absent or not made by layers", i);
        if (*recording == NULL) *recording = s;
        if (*recording != s) LKS_TRY(lks__symbolic_join(*recording, s));
        *recording = lks__symbolic_of(nodes[i], &values[i]);
    }
    for (size_t i = 0; i < n; i++) {
        lks_symbolic *s = lks__symbolic_of(nodes[i], &values[i]);
        if (values[i] < 0)
            return s->base.error.code ? lks__error_raise(&s->base.error)
                                      : lks__fail(LKS_E_ARG, "node %zu has failed", i);
    }
    return LKS_OK;
}

static lks_model *failed_model(const char *name, lks_symbolic *recording, lks_status status)
{
    lks_model *m;
    lks_error kept = { 0 };

    lks__error_capture(&kept, status);
    m = lks__model_alloc(name, "functional");
    if (m == NULL) return NULL;
    m->error = kept;
    if (recording == NULL || lks__symbolic_no_memory().graph == &recording->base) return m;
    m->recording = recording;
    recording->references++;
    return m;
}

lks_model *lks_model_create_io_with(size_t n_inputs, const lks_node *inputs, size_t n_outputs, const lks_node *outputs,
                                    const lks_model_options *options)
{
    lks_model_options o = { 0 };
    int64_t in[LKS_MAX_IO_NODES], out[LKS_MAX_IO_NODES];
    lks_symbolic *recording = NULL;
    lks_status status = LKS_OK;
    lks_model *m;

    lks__options_copy(&o, sizeof o, options);
    if (n_inputs < 1 || n_outputs < 1 || n_inputs > LKS_MAX_IO_NODES || n_outputs > LKS_MAX_IO_NODES)
        return failed_model(o.name, NULL,
                            lks__fail(LKS_E_ARG, "a model has 1 to %d inputs and outputs", LKS_MAX_IO_NODES));
    status = find_values(n_inputs, inputs, &recording, in);
    if (status == LKS_OK) status = find_values(n_outputs, outputs, &recording, out);
    if (status != LKS_OK) return failed_model(o.name, recording, status);
    m = lks__model_from_recording(recording, n_inputs, in, n_outputs, out, o.name);
    if (m == NULL) return NULL;
    m->seed = lks__seed_option(o.seed);
    if (m->error.code == LKS_OK) lks__error_capture(&m->error, lks__model_initialize(m));
    return m;
}

lks_model *lks_model_create_with(lks_node input, lks_node output, const lks_model_options *options)
{
    return lks_model_create_io_with(1, &input, 1, &output, options);
}
