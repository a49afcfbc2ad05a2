/* autodiff.c - reverse mode: gradients are more graph.
 *
 * Nodes are visited from the loss downwards, each after all its consumers, so its gradient is complete when its rule runs.
 * Contributions are added in the order in which consumers are visited: fixed by the graph alone.
 */
#include <string.h>

#include "graph.h"

typedef struct reverse {
    lks_graph *graph;
    bool *wanted; /* leads to one of wrt */
    lks_node *grads;
} reverse;

static void mark_wanted(reverse *r, size_t n, const lks_node *wrt, int64_t last)
{
    for (size_t i = 0; i < n; i++)
        if (wrt[i].id <= last) r->wanted[wrt[i].id] = true;
    for (int64_t id = 0; id <= last; id++) {
        const lks_graph_node *node = lks__graph_at(r->graph, id);
        for (int k = 0; k < node->n_in; k++)
            if (r->wanted[node->in[k]]) r->wanted[id] = true;
    }
}

static void add_gradient(reverse *r, int64_t id, lks_node d)
{
    if (!lks__node_ok(d)) return;
    if (r->grads[id].id < 0) r->grads[id] = d;
    else r->grads[id] = lks_ops_add(r->grads[id], d);
}

static lks_status visit(reverse *r, int64_t id)
{
    const lks_graph_node *node = lks__graph_at(r->graph, id);
    size_t n = (size_t)node->n_in;
    lks_node *in = lks__calloc(2 * n + 1, sizeof *in), *d_in = in != NULL ? in + n : NULL;
    bool *wanted = lks__calloc(n + 1, sizeof *wanted);
    lks_vjp v = { node->attrs, node->n_in, in, wanted, { r->graph, id }, r->grads[id], d_in };
    const char *scope = r->graph->scope;

    if (in == NULL || wanted == NULL) {
        lks__free(in);
        lks__free(wanted);
        return lks__fail(LKS_E_NOMEM, "no memory for the gradient graph");
    }
    for (size_t k = 0; k < n; k++) {
        in[k] = (lks_node){ r->graph, node->in[k] };
        d_in[k] = lks__no_node;
        wanted[k] = r->wanted[node->in[k]] && lks__node_type(in[k])->dtype == LKS_FLOAT32;
    }
    r->graph->scope = node->scope; /* gradient nodes carry the layer's name */
    node->op->gradient(&v);
    for (size_t k = 0; k < n; k++)
        if (wanted[k]) add_gradient(r, node->in[k], d_in[k]);
    r->graph->scope = scope;
    lks__free(in);
    lks__free(wanted);
    return LKS_OK;
}

static lks_status run_reverse(reverse *r, lks_node loss, size_t n, const lks_node *wrt, lks_node *out)
{
    for (int64_t id = 0; id <= loss.id; id++) r->grads[id] = lks__no_node;
    mark_wanted(r, n, wrt, loss.id);
    r->grads[loss.id] = lks__graph_number(r->graph, 1.0);
    for (int64_t id = loss.id; id >= 0; id--) {
        const lks_graph_node *node = lks__graph_at(r->graph, id);
        if (!r->wanted[id] || r->grads[id].id < 0 || node->op->gradient == NULL || node->n_in == 0) continue;
        LKS_TRY(visit(r, id));
    }
    LKS_TRY(lks__graph_status(r->graph));
    for (size_t i = 0; i < n; i++) out[i] = wrt[i].id <= loss.id ? r->grads[wrt[i].id] : lks__no_node;
    return LKS_OK;
}

lks_status lks__graph_gradients(lks_node loss, size_t n, const lks_node *wrt, lks_node *out)
{
    reverse r = { .graph = loss.graph };
    lks_status status;

    if (loss.graph == NULL) return lks__fail(LKS_E_ARG, "the loss is an absent node");
    LKS_TRY(lks__graph_status(loss.graph));
    if (!lks__node_ok(loss) || lks__node_type(loss)->batched || lks__type_size(lks__node_type(loss)) != 1)
        return lks__fail(LKS_E_ARG, "gradients are of a shared scalar: reduce the loss over the batch first");
    r.wanted = lks__calloc((size_t)loss.id + 1, sizeof *r.wanted);
    r.grads = lks__calloc((size_t)loss.id + 1, sizeof *r.grads);
    if (r.wanted == NULL || r.grads == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for the gradient graph");
    else status = run_reverse(&r, loss, n, wrt, out);
    lks__free(r.wanted);
    lks__free(r.grads);
    return status;
}
