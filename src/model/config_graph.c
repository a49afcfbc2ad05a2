/* config_graph.c - see config_io.h: the graph of a Functional model.
 *
 * Every layer lists its calls, each with references to outputs of other calls, in any order. Calls are made depth first
 * from their arguments, with a stack of our own, so that a cycle is found and a deep graph needs no deep recursion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_io.h"
#include "files/json.h"
#include "names.h"

typedef enum call_state { CALL_NEW, CALL_OPEN, CALL_MADE } call_state;

typedef struct node_call {
    size_t owner; /* index of its entry */
    call_state state;
    lks_config_refs refs;
    size_t next; /* the first reference that was not looked at */
    size_t n_out;
    lks_node *out;
} node_call;

/* One element of "layers". */
typedef struct entry {
    const char *name;
    lks_layer *layer; /* NULL: an input */
    lks_node input;
    bool old; /* nodes in the spelling of Keras 2, which counts calls of models from 1 */
    size_t first_call, n_calls;
} entry;

typedef struct named {
    const char *name;
    size_t entry;
} named;

typedef struct builder {
    const char *model;
    entry *entries;
    size_t n_entries;
    node_call *calls;
    size_t n_calls, capacity;
    named *by_name; /* entries sorted by name */
    size_t *stack;
} builder;

/* ---- entries ---- */

static lks_status add_call(builder *b, size_t owner, const json_t *node)
{
    const char *where = b->entries[owner].name;
    node_call *c;

    LKS_TRY(lks__grow(&b->calls, &b->capacity, b->n_calls + 1, sizeof *b->calls));
    c = &b->calls[b->n_calls++];
    *c = (node_call){ .owner = owner };
    b->entries[owner].n_calls++;
    if (json_is_object(node)) {
        LKS_TRY(lks__config_kwargs(where, json_object_get(node, "kwargs")));
        return lks__config_refs(json_object_get(node, "args"), where, &c->refs);
    }
    if (!json_is_array(node)) return lks__fail(LKS_E_FORMAT, "layer \"%.80s\": inbound_nodes must hold calls", where);
    b->entries[owner].old = true;
    return lks__config_refs(node, where, &c->refs);
}

static lks_status read_calls(builder *b, size_t owner, const json_t *object)
{
    const json_t *nodes = json_object_get(object, "inbound_nodes");
    json_t *node;
    size_t i;

    b->entries[owner].first_call = b->n_calls;
    if (nodes != NULL && !json_is_array(nodes)) {
        return lks__fail(LKS_E_FORMAT, "layer \"%.80s\": inbound_nodes must be a list", b->entries[owner].name);
    }
    json_array_foreach((json_t *)nodes, i, node) LKS_TRY(add_call(b, owner, node));
    return LKS_OK;
}

static lks_status read_entry(builder *b, size_t i, const json_t *object)
{
    entry *e = &b->entries[i];
    const char *class_name;
    const json_t *config;
    lks_type row;

    LKS_TRY(lks__config_split("layer", object, &class_name, &config));
    LKS_TRY(lks__json_opt_string(config, "layer", "name", NULL, &e->name));
    LKS_TRY(lks__json_opt_string(object, "layer", "name", e->name, &e->name));
    if (e->name == NULL)
        return lks__fail(LKS_E_FORMAT, "model \"%.80s\": layer %zu (%.80s) has no name", b->model, i, class_name);
    if (strcmp(class_name, "InputLayer") == 0) {
        LKS_TRY(lks__input_from_config(config, e->name, &row));
        e->input = lks__symbolic_input(row, e->name);
        if (e->input.id < 0) return e->input.graph != NULL ? lks__error_raise(&e->input.graph->error) : LKS_E_NOMEM;
        return LKS_OK;
    }
    LKS_TRY(lks__any_layer_from_config(object, &e->layer));
    return read_calls(b, i, object);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static lks_status sort_names(builder *b)
{
    for (size_t i = 0; i < b->n_entries; i++) b->by_name[i] = (named){ b->entries[i].name, i };
    qsort(b->by_name, b->n_entries, sizeof *b->by_name, compare_names);
    for (size_t i = 1; i < b->n_entries; i++) {
        if (strcmp(b->by_name[i - 1].name, b->by_name[i].name) != 0) continue;
        return lks__fail(LKS_E_FORMAT, "model \"%.80s\": two layers are named \"%.80s\"", b->model, b->by_name[i].name);
    }
    return LKS_OK;
}

static lks_status read_entries(builder *b, const json_t *layers)
{
    b->n_entries = json_array_size(layers);
    b->entries = lks__calloc(b->n_entries + 1, sizeof *b->entries);
    b->by_name = lks__calloc(b->n_entries + 1, sizeof *b->by_name);
    if (b->entries == NULL || b->by_name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model");
    for (size_t i = 0; i < b->n_entries; i++) b->entries[i].input = lks__no_node;
    for (size_t i = 0; i < b->n_entries; i++) LKS_TRY(read_entry(b, i, json_array_get(layers, i)));
    return sort_names(b);
}

/* ---- references ---- */

/* The entry a reference names; *call gets the number of the call, or SIZE_MAX for an input. from_one: calls of models are
 * counted from 1 here. */
static lks_status find(const builder *b, const char *where, const lks_config_ref *ref, bool from_one, size_t *call)
{
    const named key = { ref->layer, 0 };
    const named *found = bsearch(&key, b->by_name, b->n_entries, sizeof *b->by_name, compare_names);
    const entry *e;
    int64_t node = ref->node;

    if (found == NULL)
        return lks__fail(LKS_E_FORMAT, "%s refers to layer \"%.80s\", which does not exist", where, ref->layer);
    e = &b->entries[found->entry];
    if (from_one && e->layer != NULL && e->layer->model != NULL && node > 0) node--;
    *call = SIZE_MAX;
    if (e->layer == NULL && node == 0) return LKS_OK;
    if (node < 0 || (size_t)node >= e->n_calls) {
        return lks__fail(LKS_E_FORMAT, "%s refers to call %lld of layer \"%.80s\", which has %zu", where,
                         (long long)ref->node, ref->layer, e->n_calls);
    }
    *call = e->first_call + (size_t)node;
    return LKS_OK;
}

static lks_status node_of(const builder *b, const char *where, const lks_config_ref *ref, size_t number, lks_node *out)
{
    const named key = { ref->layer, 0 };
    size_t n_out = 1;

    if (number != SIZE_MAX) n_out = b->calls[number].n_out;
    if (ref->tensor < 0 || (size_t)ref->tensor >= n_out) {
        return lks__fail(LKS_E_FORMAT, "%s refers to output %lld of layer \"%.80s\", which has %zu", where,
                         (long long)ref->tensor, ref->layer, n_out);
    }
    if (number != SIZE_MAX) {
        *out = b->calls[number].out[ref->tensor];
        return LKS_OK;
    }
    *out = b->entries[((const named *)bsearch(&key, b->by_name, b->n_entries, sizeof key, compare_names))->entry].input;
    return LKS_OK;
}

/* ---- making the calls ---- */

static lks_status make_call(builder *b, node_call *c)
{
    lks_layer *layer = b->entries[c->owner].layer;
    const char *where = b->entries[c->owner].name;
    lks_node in[LKS_MAX_IO_NODES];

    if (c->refs.n == 0) return lks__fail(LKS_E_FORMAT, "layer \"%.80s\" is called on nothing", where);
    if (c->refs.n > LKS_MAX_IO_NODES) {
        return lks__fail(LKS_E_LIMIT, "layer \"%.80s\" takes %zu inputs; %d is the limit", where, c->refs.n,
                         (int)LKS_MAX_IO_NODES);
    }
    for (size_t i = 0; i < c->refs.n; i++) {
        size_t from;
        LKS_TRY(find(b, where, &c->refs.items[i], b->entries[c->owner].old, &from));
        LKS_TRY(node_of(b, where, &c->refs.items[i], from, &in[i]));
    }
    c->n_out = layer->class_->n_outputs != NULL ? (size_t)layer->class_->n_outputs(layer) : 1;
    c->out = lks__calloc(c->n_out, sizeof *c->out);
    if (c->out == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model");
    lks__symbolic_call(layer, (int)c->refs.n, in, (int)c->n_out, c->out);
    if (c->out[0].id >= 0) return LKS_OK;
    return c->out[0].graph != NULL ? lks__error_raise(&c->out[0].graph->error) : LKS_E_NOMEM;
}

/* Makes call `first` and what it needs. */
static lks_status make_with_arguments(builder *b, size_t first)
{
    size_t depth = 0;

    if (b->calls[first].state == CALL_MADE) return LKS_OK;
    b->stack[depth++] = first;
    b->calls[first].state = CALL_OPEN;
    while (depth > 0) {
        node_call *c = &b->calls[b->stack[depth - 1]];
        const char *where = b->entries[c->owner].name;
        size_t from = SIZE_MAX;
        while (c->next < c->refs.n && from == SIZE_MAX) {
            LKS_TRY(find(b, where, &c->refs.items[c->next++], b->entries[c->owner].old, &from));
            if (from != SIZE_MAX && b->calls[from].state == CALL_MADE) from = SIZE_MAX;
        }
        if (from == SIZE_MAX) {
            LKS_TRY(make_call(b, c));
            c->state = CALL_MADE;
            depth--;
            continue;
        }
        if (b->calls[from].state == CALL_OPEN) {
            return lks__fail(LKS_E_FORMAT, "model \"%.80s\": the graph has a cycle through layer \"%.80s\"", b->model,
                             where);
        }
        b->calls[from].state = CALL_OPEN;
        b->stack[depth++] = from;
    }
    return LKS_OK;
}

static lks_status make_calls(builder *b)
{
    b->stack = lks__calloc(b->n_calls + 1, sizeof *b->stack);
    if (b->stack == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model");
    for (size_t i = 0; i < b->n_calls; i++) LKS_TRY(make_with_arguments(b, i));
    return LKS_OK;
}

/* ---- the model ---- */

static lks_status ends(const builder *b, const json_t *config, const char *key, lks_node *nodes, size_t *n)
{
    lks_config_refs refs = { 0 };
    const json_t *list = json_object_get(config, key);
    char where[128];
    lks_status status;

    if (list == NULL) return lks__fail(LKS_E_FORMAT, "model \"%.80s\": %s is missing", b->model, key);
    snprintf(where, sizeof where, "model \"%.80s\": %s", b->model, key);
    status = lks__config_refs(list, where, &refs);
    if (status == LKS_OK && refs.n == 0) status = lks__fail(LKS_E_FORMAT, "%s is empty", where);
    if (status == LKS_OK && refs.n > LKS_MAX_IO_NODES) {
        status = lks__fail(LKS_E_LIMIT, "%s has %zu entries; %d is the limit", where, refs.n, (int)LKS_MAX_IO_NODES);
    }
    for (size_t i = 0; i < refs.n && status == LKS_OK; i++) {
        size_t from = SIZE_MAX;
        status = find(b, where, &refs.items[i], true, &from);
        if (status == LKS_OK) status = node_of(b, where, &refs.items[i], from, &nodes[i]);
    }
    *n = refs.n;
    lks__free(refs.items);
    return status;
}

/* One recording for all inputs, also those that lead nowhere. */
static lks_status join(builder *b, lks_symbolic **out)
{
    int64_t value;

    for (size_t i = 0; i < b->n_entries; i++) {
        lks_symbolic *s = lks__symbolic_of(b->entries[i].input, &value);
        if (s == NULL || s == *out) continue;
        if (*out == NULL) *out = s;
        else LKS_TRY(lks__symbolic_join(*out, s));
    }
    return *out != NULL ? LKS_OK : lks__fail(LKS_E_FORMAT, "model \"%.80s\" has no InputLayer", b->model);
}

static lks_status create(builder *b, const json_t *config, lks_symbolic *recording, lks_model **out)
{
    lks_model_options options = { .struct_size = sizeof options, .name = b->model };
    lks_node in[LKS_MAX_IO_NODES], outputs[LKS_MAX_IO_NODES];
    size_t n_in, n_out;
    lks_model *model;
    lks_status status;

    LKS_TRY(ends(b, config, "input_layers", in, &n_in));
    LKS_TRY(ends(b, config, "output_layers", outputs, &n_out));
    recording->references++; /* so that it lives on, whatever becomes of the model */
    model = lks_model_create_io_with(n_in, in, n_out, outputs, &options);
    status = lks_model_status(model);
    if (status == LKS_OK) *out = model;
    else lks_model_release(model);
    recording->references--;
    return status;
}

/* Recordings that no model took over. */
static void free_recordings(builder *b)
{
    int64_t value;

    for (size_t i = 0; i < b->n_entries; i++) {
        lks_symbolic *s = lks__symbolic_of(b->entries[i].input, &value);
        if (s == NULL) continue;
        for (size_t k = i + 1; k < b->n_entries; k++) {
            if (lks__symbolic_of(b->entries[k].input, &value) == s) b->entries[k].input = lks__no_node;
        }
        b->entries[i].input = lks__no_node;
        if (s->references == 0) lks__symbolic_free(s);
    }
}

static void clear(builder *b)
{
    if (b->entries != NULL) free_recordings(b);
    for (size_t i = 0; i < b->n_entries && b->entries != NULL; i++) lks_layer_release(b->entries[i].layer);
    for (size_t i = 0; i < b->n_calls; i++) {
        lks__free(b->calls[i].refs.items);
        lks__free(b->calls[i].out);
    }
    lks__free(b->entries);
    lks__free(b->calls);
    lks__free(b->by_name);
    lks__free(b->stack);
}

lks_status lks__functional_from_config(const json_t *config, lks_model **out)
{
    builder b = { .model = "functional" };
    lks_symbolic *recording = NULL;
    json_t *layers;
    lks_status status;

    if (!json_is_object(config)) return lks__fail(LKS_E_FORMAT, "a Functional model's config must be an object");
    LKS_TRY(lks__json_opt_string(config, "Functional", "name", "functional", &b.model));
    LKS_TRY(lks__json_get_array(config, b.model, "layers", &layers));
    status = read_entries(&b, layers);
    if (status == LKS_OK) status = make_calls(&b);
    if (status == LKS_OK) status = join(&b, &recording);
    if (status == LKS_OK) status = create(&b, config, recording, out);
    clear(&b);
    return status;
}
