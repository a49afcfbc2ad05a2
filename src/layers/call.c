/* call.c - see layer.h: one call of a layer, and what it leaves in the trace. */
#include <stdio.h>
#include <string.h>

#include "layer.h"
#include "weights.h"

enum { MAX_INPUTS = 1024 };

static const char *name_of(const lks_layer *layer)
{
    return layer->name != NULL ? layer->name : layer->class_->snake;
}

lks_node lks__layer_fail_node(lks_trace *trace, lks_status code)
{
    return lks__node_fail(trace->graph, code);
}

static lks_status keep_types(lks_layer *layer, int n, const lks_type *const *types)
{
    layer->input_types = lks__calloc((size_t)n, sizeof *layer->input_types);
    if (layer->input_types == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    for (int i = 0; i < n; i++) layer->input_types[i] = *types[i];
    layer->n_inputs = n;
    return LKS_OK;
}

/* Builds at the first call; later ones only have to fit. */
static lks_status prepare(lks_layer *layer, int n, const lks_type *const *types)
{
    LKS_TRY(lks__layer_status(layer));
    if (n != 1 && layer->model == NULL && (layer->class_->traits & LKS_LAYER_MERGES) == 0) {
        return lks__fail(LKS_E_ARG, "takes one input, found %d", n);
    }
    if (layer->class_->accept != NULL) LKS_TRY(layer->class_->accept(layer, n, types));
    if (layer->built) return LKS_OK;
    if (layer->class_->build != NULL) LKS_TRY(layer->class_->build(layer, n, types));
    LKS_TRY(keep_types(layer, n, types));
    layer->built = true;
    return LKS_OK;
}

static lks_status collect_types(int n, const lks_node *in, const lks_type **types)
{
    for (int i = 0; i < n; i++) {
        if (!lks__node_ok(in[i])) return lks__fail(LKS_E_ARG, "input %d is a failed node", i);
        types[i] = lks__node_type(in[i]);
    }
    return LKS_OK;
}

/* ---- losses of weights and values ---- */

static bool depends_on(const lks_graph *graph, int64_t node, int64_t wanted, int depth)
{
    const lks_graph_node *n;

    if (node == wanted) return true;
    if (depth == 0) return false;
    n = lks__graph_at(graph, node);
    for (int i = 0; n != NULL && i < n->n_in; i++) {
        if (depends_on(graph, n->in[i], wanted, depth - 1)) return true;
    }
    return false;
}

static const char regularizer_scope[] = "regularizer";

/* A shared layer is called several times, but a weight is penalised once. The penalties of this trace are few and small. */
static bool penalised(const lks_trace *trace, lks_node weight)
{
    for (size_t i = 0; i < trace->n_losses; i++) {
        const lks_graph_node *loss = lks__node_at(trace->losses[i]);
        const char *slash = loss != NULL && loss->scope != NULL ? strrchr(loss->scope, '/') : NULL;
        if (slash == NULL || strcmp(slash + 1, regularizer_scope) != 0) continue;
        if (depends_on(trace->graph, trace->losses[i].id, weight.id, 8)) return true;
    }
    return false;
}

static void add_penalties(const lks_layer *layer, lks_trace *trace, const char *scope)
{
    char inner[256];
    const char *former;

    if (!layer->trainable) return;
    snprintf(inner, sizeof inner, "%.200s/%s", scope, regularizer_scope);
    former = lks__graph_scope(trace->graph, inner);
    for (size_t i = 0; i < layer->n_weights; i++) {
        lks_node w;
        if (layer->info[i].regularizer == NULL || !layer->weights[i]->trainable) continue;
        w = lks__layer_weight(layer, trace, i);
        if (!penalised(trace, w)) lks__trace_add_loss(trace, lks__regularizer_apply(layer->info[i].regularizer, w));
    }
    lks__graph_scope(trace->graph, former);
}

void lks__layer_activity_loss(lks_trace *trace, const char *regularizer, lks_node y)
{
    if (regularizer == NULL) return;
    lks__trace_add_loss(trace, lks_ops_divide(lks__regularizer_apply(regularizer, y), lks_ops_batch_size(y)));
}

/* ---- calls ---- */

static void fail_outputs(lks_layer *layer, lks_trace *trace, lks_status status, lks_node *out)
{
    int n = layer != NULL && layer->class_->n_outputs != NULL ? layer->class_->n_outputs(layer) : 1;
    lks_node failed;

    if (layer != NULL && layer->error.code == LKS_OK) {
        status = lks__context(status, "layer \"%s\" (%s)", name_of(layer), layer->class_->name);
    }
    failed = lks__node_fail(trace->graph, status);
    for (int i = 0; i < n; i++) out[i] = failed;
}

/* Says in the graph's first failure which layer was being called. */
static void name_the_layer(const lks_layer *layer, lks_graph *graph)
{
    lks_status status = lks__error_raise(&graph->error);

    lks__context(status, "layer \"%s\" (%s)", name_of(layer), layer->class_->name);
    graph->error.code = LKS_OK;
    lks__error_capture(&graph->error, status);
}

void lks__layer_apply(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_type *few[8], **types = few;
    const char *former = trace->graph->scope;
    char scope[256];
    bool sound = trace->graph->error.code == LKS_OK;
    lks_status status;

    if (layer == NULL || n_in < 1 || n_in > MAX_INPUTS) {
        status = layer == NULL ? lks__layer_status(NULL) : lks__fail(LKS_E_ARG, "called with %d inputs", n_in);
        fail_outputs(layer, trace, status, out);
        return;
    }
    if (n_in > 8) types = lks__calloc((size_t)n_in, sizeof *types);
    status = types == NULL ? lks__fail(LKS_E_NOMEM, "out of memory") : collect_types(n_in, in, types);
    if (status == LKS_OK) status = prepare(layer, n_in, types);
    if (types != few) lks__free(types);
    if (status != LKS_OK) {
        fail_outputs(layer, trace, status, out);
        return;
    }
    if (former != NULL && *former != '\0') snprintf(scope, sizeof scope, "%.120s/%.120s", former, name_of(layer));
    else snprintf(scope, sizeof scope, "%.240s", name_of(layer));
    former = lks__graph_scope(trace->graph, scope);
    layer->class_->call(layer, trace, n_in, in, out);
    add_penalties(layer, trace, scope);
    lks__graph_scope(trace->graph, former);
    if (sound && trace->graph->error.code != LKS_OK) name_the_layer(layer, trace->graph);
}

lks_node lks_call(lks_layer *layer, lks_node x)
{
    return lks_call_n(layer, 1, &x);
}

lks_node lks_call_n(lks_layer *layer, size_t n, const lks_node *inputs)
{
    if (n == 0 || n > MAX_INPUTS || inputs == NULL) {
        lks__fail(LKS_E_ARG, "a layer is called on 1 to %d nodes", (int)MAX_INPUTS);
        return lks__no_node;
    }
    return lks__layer_call_symbolic(layer, (int)n, inputs);
}

lks_node lks__layer_call_new(const lks_layer_class *class_, const void *options, size_t n, const lks_node *inputs)
{
    lks_layer *layer = lks__layer_create(class_, options);
    lks_node y = lks_call_n(layer, n, inputs);

    lks_layer_release(layer);
    return y;
}

lks_node lks_input_with(lks_shape shape, const lks_input_options *options)
{
    return lks__input_symbolic(options, shape);
}
