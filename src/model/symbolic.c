/* symbolic.c - recording layer calls. Each call is tried out at once on a throw-away graph: that gives the output's type, builds the
 * layer's weights and reports shape errors where the user made them, without a second set of shape rules.
 */
#include "symbolic.h"

#include "base/options.h"
#include "names.h"
#include "tensor/tensor.h"

typedef struct input_options {
    LKS_LAYER_OPTIONS;
} input_options;

static const lks_field input_fields[] = { LKS_FIELDS_END };

const lks_layer_class lks__input_layer_class = {
    .name = "InputLayer",
    .snake = "input_layer",
    .module = "keras.layers",
    .options_size = sizeof(input_options),
    .fields = input_fields,
};

/* What nodes belong to that there was no memory for: read only, never freed, so that the cause is still told later. */
static lks_symbolic no_memory = {
    .base = { .kind = LKS_GRAPH_LAYERS,
              .error = { LKS_E_NOMEM, "there was no memory for a model's graph" },
              .scope = "" },
    .references = 1,
};

lks_node lks__symbolic_no_memory(void)
{
    return (lks_node){ &no_memory.base, -1 };
}

static lks_symbolic *create(void)
{
    lks_symbolic *s = lks__calloc(1, sizeof *s);

    if (s == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a model's graph");
        return NULL;
    }
    s->base.kind = LKS_GRAPH_LAYERS;
    s->base.scope = "";
    return s;
}

static void free_call(lks_sym_call *c)
{
    if (c == NULL) return;
    lks_layer_release(c->layer);
    lks__free(c->in);
    lks__free(c->out);
    lks__free(c);
}

void lks__symbolic_free(lks_symbolic *s)
{
    while (s != NULL) {
        lks_symbolic *rest = s->absorbed, *next = s->next;
        if (s->into == NULL)
            for (size_t i = 0; i < s->n_calls; i++) free_call(s->calls[i]);
        lks__free(s->calls);
        lks__free(s->call_of);
        lks__free(s->base.nodes);
        lks__arena_free(&s->base.arena);
        lks__free(s);
        if (rest != NULL) { /* depth first without recursion: what it absorbed goes before its sisters */
            lks_symbolic *last = rest;
            while (last->next != NULL) last = last->next;
            last->next = next;
            next = rest;
        }
        s = next;
    }
}

lks_symbolic *lks__symbolic_of(lks_node node, int64_t *value)
{
    lks_symbolic *s = (lks_symbolic *)node.graph;

    if (s == NULL || node.graph->kind != LKS_GRAPH_LAYERS) return NULL;
    *value = node.id;
    for (; s->into != NULL; s = s->into)
        if (*value >= 0) *value += s->offset;
    return s;
}

lks_node lks__symbolic_node(lks_symbolic *s, int64_t value)
{
    return (lks_node){ &s->base, value };
}

/* ---- growing ---- */

static lks_status reserve(lks_symbolic *s, size_t values, size_t calls)
{
    LKS_TRY(lks__grow(&s->base.nodes, &s->base.capacity, s->base.n_nodes + values, sizeof *s->base.nodes));
    LKS_TRY(lks__grow(&s->call_of, &s->call_of_capacity, s->base.n_nodes + values, sizeof *s->call_of));
    return lks__grow(&s->calls, &s->calls_capacity, s->n_calls + calls, sizeof *s->calls);
}

static lks_status absorb(lks_symbolic *s, lks_symbolic *other)
{
    int64_t offset = (int64_t)s->base.n_nodes, calls = (int64_t)s->n_calls;

    LKS_TRY(reserve(s, other->base.n_nodes, other->n_calls));
    for (size_t i = 0; i < other->base.n_nodes; i++) {
        s->base.nodes[offset + (int64_t)i] = other->base.nodes[i];
        s->call_of[offset + (int64_t)i] = other->call_of[i] + calls;
    }
    for (size_t i = 0; i < other->n_calls; i++) {
        lks_sym_call *c = other->calls[i];
        for (int k = 0; k < c->n_in; k++) c->in[k] += offset;
        for (int k = 0; k < c->n_out; k++) c->out[k] += offset;
        s->calls[calls + (int64_t)i] = c;
    }
    s->base.n_nodes += other->base.n_nodes;
    s->n_calls += other->n_calls;
    if (s->base.error.code == LKS_OK) s->base.error = other->base.error;
    other->into = s;
    other->offset = offset;
    other->next = s->absorbed;
    s->absorbed = other;
    return LKS_OK;
}

/* What a model was made of keeps its numbers: it takes in the other. */
lks_status lks__symbolic_join(lks_symbolic *s, lks_symbolic *other)
{
    if (s == &no_memory || other == &no_memory) return lks__error_raise(&no_memory.base.error);
    if (other->references == 0) return absorb(s, other);
    if (s->references == 0) return absorb(other, s);
    return lks__fail(LKS_E_UNSUPPORTED,
                     "nodes of two finished models meet in one layer; call one of the models as a layer instead");
}

/* ---- calls ---- */

/* The types of the layer's outputs for these inputs; builds the layer. */
static lks_status try_out(lks_layer *layer, int n_in, const lks_type *in, int n_out, lks_type *out)
{
    lks_node nodes[LKS_MAX_IO_NODES], results[LKS_MAX_IO_NODES];
    lks_trace trace;
    lks_status status;

    LKS_TRY(lks__trace_init(&trace, false, 1));
    for (int i = 0; i < n_in; i++) nodes[i] = lks__graph_input(trace.graph, in[i]);
    for (int i = 0; i < n_out; i++) results[i] = lks__no_node;
    lks__layer_apply(layer, &trace, n_in, nodes, results);
    status = lks__graph_status(trace.graph);
    for (int i = 0; i < n_out && status == LKS_OK; i++) {
        if (!lks__node_ok(results[i]))
            status = lks__fail(LKS_E_INTERNAL, "layer '%s' gave no output", layer->class_->name);
        else out[i] = *lks__node_type(results[i]);
    }
    lks__trace_free(&trace);
    return status;
}

static lks_sym_call *make_call(lks_layer *layer, int n_in, int n_out)
{
    lks_sym_call *c = lks__calloc(1, sizeof *c);

    if (c == NULL) return NULL;
    c->layer = lks_layer_retain(layer);
    c->n_in = n_in;
    c->n_out = n_out;
    c->in = lks__calloc((size_t)n_in + 1, sizeof *c->in);
    c->out = lks__calloc((size_t)n_out + 1, sizeof *c->out);
    if (c->in != NULL && c->out != NULL) return c;
    free_call(c);
    return NULL;
}

static lks_status record(lks_symbolic *s, lks_layer *layer, int n_in, const int64_t *in, int n_out,
                         const lks_type *types, lks_node *out)
{
    lks_sym_call *c;

    LKS_TRY(reserve(s, (size_t)n_out, 1));
    c = make_call(layer, n_in, n_out);
    if (c == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a layer call");
    for (int k = 0; k < n_in; k++) c->in[k] = in[k];
    for (int k = 0; k < n_out; k++) {
        lks_graph_node *node = lks__arena_calloc(&s->base.arena, sizeof *node);
        if (node == NULL) {
            free_call(c);
            return lks__fail(LKS_E_NOMEM, "no memory for a layer call");
        }
        node->type = types[k];
        node->scope = "";
        c->out[k] = (int64_t)s->base.n_nodes + k;
        s->base.nodes[c->out[k]] = node;
        s->call_of[c->out[k]] = (int64_t)s->n_calls;
        out[k] = lks__symbolic_node(s, c->out[k]);
    }
    s->base.n_nodes += (size_t)n_out;
    s->calls[s->n_calls++] = c;
    return LKS_OK;
}

/* Brings all inputs into one recording; false if one of them is failed or absent. */
static lks_status gather(int n_in, const lks_node *in, lks_symbolic **out, int64_t *values)
{
    lks_symbolic *s = NULL;
    int64_t value;

    for (int k = 0; k < n_in; k++) {
        lks_symbolic *other = lks__symbolic_of(in[k], &value);
        if (other == NULL) continue;
        if (s == NULL) s = other;
        else if (s != other) LKS_TRY(lks__symbolic_join(s, other));
        *out = s = lks__symbolic_of(in[k], &value);
    }
    if (s == NULL) return lks__fail(LKS_E_ARG, "the layer's input is not a node of a model");
    for (int k = 0; k < n_in; k++) {
        lks_symbolic *other = lks__symbolic_of(in[k], &values[k]);
        if (other == NULL) return lks__fail(LKS_E_ARG, "input %d of the layer is not a node of a model", k);
        if (values[k] < 0) return s->base.error.code ? lks__error_raise(&s->base.error) : LKS_E_ARG;
    }
    return s->base.error.code ? lks__error_raise(&s->base.error) : LKS_OK;
}

static lks_status call_layer(lks_layer *layer, int n_in, const lks_node *in, int n_out, lks_node *out,
                             lks_symbolic **where)
{
    int64_t values[LKS_MAX_IO_NODES];
    lks_type in_types[LKS_MAX_IO_NODES], out_types[LKS_MAX_IO_NODES];

    if (n_in < 1 || n_in > LKS_MAX_IO_NODES || n_out > LKS_MAX_IO_NODES)
        return lks__fail(LKS_E_LIMIT, "a layer takes 1 to %d inputs, got %d", LKS_MAX_IO_NODES, n_in);
    LKS_TRY(gather(n_in, in, where, values));
    if (layer == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a layer");
    LKS_TRY(lks__layer_status(layer));
    for (int k = 0; k < n_in; k++) in_types[k] = (*where)->base.nodes[values[k]]->type;
    LKS_TRY(try_out(layer, n_in, in_types, n_out, out_types));
    return record(*where, layer, n_in, values, n_out, out_types, out);
}

void lks__symbolic_call(lks_layer *layer, int n_in, const lks_node *in, int n_out, lks_node *out)
{
    lks_symbolic *s = NULL;
    lks_status status = call_layer(layer, n_in, in, n_out, out, &s);

    if (status == LKS_OK) return;
    if (s != NULL) lks__error_capture(&s->base.error, status);
    for (int k = 0; k < n_out; k++) out[k] = (lks_node){ s != NULL ? &s->base : NULL, -1 };
}

lks_node lks__layer_call_symbolic(lks_layer *layer, int n, const lks_node *in)
{
    lks_node out = lks__no_node;

    lks__symbolic_call(layer, n, in, 1, &out);
    return out;
}

/* ---- inputs ---- */

lks_node lks__symbolic_input(lks_type type, const char *name)
{
    input_options options = { .struct_size = sizeof options, .name = name };
    lks_symbolic *s = create();
    lks_layer *layer;
    lks_node out = lks__no_node;
    lks_status status;

    if (s == NULL) return lks__symbolic_no_memory();
    layer = lks__layer_create(&lks__input_layer_class, &options);
    status = lks__layer_status(layer);
    if (status == LKS_OK) status = record(s, layer, 0, NULL, 1, &type, &out);
    lks_layer_release(layer);
    if (status == LKS_OK) return out;
    lks__error_capture(&s->base.error, status);
    return (lks_node){ &s->base, -1 };
}

static lks_status input_type(const lks_input_options *o, const lks_shape *shape, lks_type *type)
{
    const char *dtype = o->dtype != NULL ? o->dtype : "float32";

    type->batched = true;
    type->shape = *shape;
    type->dtype = lks__dtype_from_name(dtype);
    if (type->dtype != LKS_FLOAT32 && type->dtype != LKS_INT32 && type->dtype != LKS_UINT8 && type->dtype != LKS_BOOL &&
        type->dtype != LKS_INT64)
        return lks__fail(LKS_E_UNSUPPORTED, "lks_input: dtype '%s' is not one of float32, int32, int64, uint8, bool",
                         dtype);
    if (shape->rank >= LKS_MAX_RANK) return lks__fail(LKS_E_SHAPE, "lks_input: at most %d axes", LKS_MAX_RANK - 1);
    return lks__shape_check(shape) == LKS_OK ? LKS_OK : lks__context(LKS_E_SHAPE, "lks_input");
}

lks_node lks__input_symbolic(const lks_input_options *options, lks_shape shape)
{
    lks_input_options o = { 0 };
    lks_type type = { 0 };
    lks_status status;

    lks__options_copy(&o, sizeof o, options);
    status = input_type(&o, &shape, &type);
    if (status != LKS_OK) {
        lks_symbolic *s = create();
        if (s == NULL) return lks__symbolic_no_memory();
        lks__error_capture(&s->base.error, status);
        return (lks_node){ &s->base, -1 };
    }
    return lks__symbolic_input(type, o.name);
}

void lks_node_discard(lks_node node)
{
    int64_t value;
    lks_symbolic *s = lks__symbolic_of(node, &value);

    if (s != NULL && s->references == 0) lks__symbolic_free(s);
}
