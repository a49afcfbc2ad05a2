/* graph.c - nodes in one arena, in topological order by construction.
 *
 * Errors stick: the first failure is kept in the graph, and whatever is built from a failed node is a failed node. So
 * layers, losses and optimizers are written without a single check, and the first action reports the cause.
 */
#include "graph.h"

#include <string.h>

const lks_node lks__no_node = { NULL, -1 };

lks_status lks__graph_create(lks_graph **out)
{
    lks_graph *g = lks__calloc(1, sizeof *g);

    if (g == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a graph");
    g->kind = LKS_GRAPH_OPS;
    g->scope = "";
    *out = g;
    return LKS_OK;
}

void lks__graph_release(lks_graph *g)
{
    if (g == NULL) return;
    for (size_t i = 0; i < g->n_nodes; i++) lks__variable_release(g->nodes[i]->variable);
    lks__free(g->nodes);
    lks__arena_free(&g->arena);
    lks__free(g);
}

lks_status lks__graph_status(const lks_graph *g)
{
    return lks__error_raise(&g->error);
}

lks_graph_node *lks__graph_at(const lks_graph *g, int64_t id)
{
    return g->nodes[id];
}

bool lks__node_ok(lks_node node)
{
    return node.graph != NULL && node.id >= 0;
}

lks_graph_node *lks__node_at(lks_node node)
{
    return node.graph->nodes[node.id];
}

const lks_type *lks__node_type(lks_node node)
{
    return &lks__node_at(node)->type;
}

lks_node lks__node_fail(lks_graph *graph, lks_status code)
{
    lks_node failed = { graph, -1 };

    if (graph != NULL) {
        if (graph->kind == LKS_GRAPH_OPS && graph->scope[0] != '\0' && graph->error.code == LKS_OK)
            lks__context(code, "%s", graph->scope);
        lks__error_capture(&graph->error, code);
    }
    return failed;
}

static lks_graph_node *add_node(lks_graph *g)
{
    lks_graph_node *n;

    if (lks__grow(&g->nodes, &g->capacity, g->n_nodes + 1, sizeof *g->nodes) != LKS_OK) return NULL;
    n = lks__arena_calloc(&g->arena, sizeof *n);
    if (n == NULL) return NULL;
    n->scope = g->scope;
    n->input = -1;
    n->logits = -1;
    return n;
}

/* Copies op, attributes and inputs; the node is not yet in the list. */
static bool fill_node(lks_graph *g, lks_graph_node *n, const lks_op *op, const void *attrs, int n_in,
                      const lks_node *in)
{
    size_t count = n_in > 0 ? (size_t)n_in : 1;

    n->op = op;
    n->n_in = n_in;
    n->in = lks__arena_calloc(&g->arena, count * sizeof *n->in);
    n->in_type = lks__arena_calloc(&g->arena, count * sizeof *n->in_type);
    n->attrs = lks__arena_calloc(&g->arena, op->attrs_size ? op->attrs_size : 1);
    if (n->in == NULL || n->in_type == NULL || n->attrs == NULL) return false;
    if (op->attrs_size > 0 && attrs != NULL) memcpy(n->attrs, attrs, op->attrs_size);
    for (int i = 0; i < n_in; i++) {
        n->in[i] = in[i].id;
        n->in_type[i] = &g->nodes[in[i].id]->type;
    }
    return true;
}

static lks_status check_inputs(lks_graph *g, const lks_op *op, int n_in, const lks_node *in)
{
    for (int i = 0; i < n_in; i++) {
        if (in[i].graph == g && in[i].id >= 0) continue;
        if (in[i].graph == g) return g->error.code ? g->error.code : LKS_E_ARG;
        if (!lks__node_ok(in[i])) return lks__fail(LKS_E_ARG, "%s: input %d is an absent node", op->name, i);
        return lks__fail(LKS_E_ARG, "%s: input %d belongs to another graph", op->name, i);
    }
    return LKS_OK;
}

lks_node lks__node_create(lks_graph *g, const lks_op *op, const void *attrs, int n_in, const lks_node *in)
{
    lks_status status;
    lks_graph_node *n;

    if (g == NULL) return lks__no_node;
    if (g->kind != LKS_GRAPH_OPS)
        return lks__node_fail(g, lks__fail(LKS_E_UNSUPPORTED,
                                           "%s: graph operations work inside layers, losses and metrics; "
                                           "between layers use a layer (lks_lambda takes a function of yours)",
                                           op->name));
    if (g->error.code != LKS_OK) return (lks_node){ g, -1 };
    status = check_inputs(g, op, n_in, in);
    if (status != LKS_OK) return lks__node_fail(g, status);
    n = add_node(g);
    if (n == NULL || !fill_node(g, n, op, attrs, n_in, in))
        return lks__node_fail(g, lks__fail(LKS_E_NOMEM, "no memory for a node of the graph"));
    status = op->infer(n->attrs, n_in, n->in_type, &n->type);
    if (status != LKS_OK) return lks__node_fail(g, status);
    g->nodes[g->n_nodes] = n;
    return (lks_node){ g, (int64_t)g->n_nodes++ };
}

const char *lks__graph_scope(lks_graph *g, const char *scope)
{
    const char *former = g->scope, *copy = lks__arena_strdup(&g->arena, scope);

    if (copy != NULL) g->scope = copy;
    else lks__node_fail(g, lks__fail(LKS_E_NOMEM, "no memory for a scope's name"));
    return former;
}

lks_node lks__graph_input(lks_graph *g, lks_type type)
{
    lks_node node = lks__node_create(g, &lks__op_input, &type, 0, NULL);

    if (lks__node_ok(node)) lks__node_at(node)->input = g->n_inputs++;
    return node;
}

lks_node lks__graph_variable(lks_graph *g, lks_variable *v)
{
    lks_type type = { .dtype = lks_tensor_dtype(v->value), .shape = lks_tensor_shape(v->value) };
    lks_node node;

    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->variable == v) return (lks_node){ g, (int64_t)i };
    node = lks__node_create(g, &lks__op_variable, &type, 0, NULL);
    if (lks__node_ok(node)) lks__node_at(node)->variable = lks__variable_retain(v);
    return node;
}

lks_node lks__graph_constant(lks_graph *g, lks_type type, const void *data)
{
    size_t bytes = lks__type_bytes(&type);
    lks_node node = lks__node_create(g, &lks__op_constant, &type, 0, NULL);
    void *copy;

    if (!lks__node_ok(node)) return node;
    copy = lks__arena_calloc(&g->arena, bytes ? bytes : 1);
    if (copy == NULL) return lks__node_fail(g, lks__fail(LKS_E_NOMEM, "no memory for a constant of %zu bytes", bytes));
    memcpy(copy, data, bytes);
    lks__node_at(node)->constant = copy;
    return node;
}

/* By bits: 0 and -0 differ, a NaN equals itself. */
static bool same_bits(const void *constant, float value)
{
    uint32_t a, b;

    memcpy(&a, constant, sizeof a);
    memcpy(&b, &value, sizeof b);
    return a == b;
}

lks_node lks__graph_number(lks_graph *g, double value)
{
    lks_type scalar = { .dtype = LKS_FLOAT32 };
    float f = (float)value;

    if (g == NULL) return lks__no_node;
    if (g->kind == LKS_GRAPH_OPS) /* equal numbers share a node */
        for (size_t i = 0; i < g->n_nodes; i++) {
            const lks_graph_node *n = g->nodes[i];
            if (n->constant != NULL && n->type.dtype == LKS_FLOAT32 && n->type.shape.rank == 0 &&
                same_bits(n->constant, f))
                return (lks_node){ g, (int64_t)i };
        }
    return lks__graph_constant(g, scalar, &f);
}

lks_node lks__graph_batch_size(lks_graph *g)
{
    lks_type scalar = { .dtype = LKS_FLOAT32 };

    if (g != NULL && g->kind == LKS_GRAPH_OPS)
        for (size_t i = 0; i < g->n_nodes; i++)
            if (g->nodes[i]->op == &lks__op_batch_size) return (lks_node){ g, (int64_t)i };
    return lks__node_create(g, &lks__op_batch_size, &scalar, 0, NULL);
}

void lks__graph_note_softmax(lks_node softmax, lks_node logits)
{
    if (lks__node_ok(softmax) && lks__node_ok(logits)) lks__node_at(softmax)->logits = logits.id;
}

lks_node lks__graph_logits(lks_node probabilities, bool sigmoid)
{
    const lks_graph_node *n;

    if (!lks__node_ok(probabilities)) return lks__no_node;
    n = lks__node_at(probabilities);
    if (sigmoid) return n->op == &lks__op_sigmoid ? (lks_node){ probabilities.graph, n->in[0] } : lks__no_node;
    return n->logits >= 0 ? (lks_node){ probabilities.graph, n->logits } : lks__no_node;
}
