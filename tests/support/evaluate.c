/* evaluate.c - one call of op->run a node. */
#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void run_node(const evaluation *e, const lks_graph_node *node, int64_t n, int64_t id, uint64_t seed,
                     uint32_t step)
{
    const void *in[64];
    size_t scratch = node->op->scratch != NULL ? node->op->scratch(node->attrs, node->in_type, &node->type) : 0;
    bool batched = node->type.batched || (node->n_in > 0 && node->in_type[0]->batched);
    lks_op_call call = { .attrs = node->attrs,
                         .n_in = node->n_in,
                         .in_type = node->in_type,
                         .out_type = &node->type,
                         .in = in,
                         .out = e->value[id],
                         .n = batched ? n : 1,
                         .batch = n,
                         .seed = seed,
                         .step = step };

    for (int k = 0; k < node->n_in; k++) in[k] = e->value[node->in[k]];
    call.scratch = malloc(scratch + 1);
    if ((node->op->flags & LKS_OP_BATCH_MAX) != 0)
        for (int64_t i = 0; i < lks__type_size(&node->type); i++) ((float *)call.out)[i] = -INFINITY;
    node->op->run(&call);
    free(call.scratch);
}

static void source(const evaluation *e, const lks_graph_node *node, int64_t n, int64_t id, const void *const *inputs)
{
    size_t bytes = lks__type_bytes(&node->type) * (size_t)(node->type.batched ? n : 1);
    float count = (float)n;

    if (node->op == &lks__op_input) memcpy(e->value[id], inputs[node->input], bytes);
    else if (node->op == &lks__op_constant) memcpy(e->value[id], node->constant, bytes);
    else if (node->op == &lks__op_variable) memcpy(e->value[id], lks__variable_floats(node->variable), bytes);
    else memcpy(e->value[id], &count, sizeof count);
}

evaluation evaluate(const lks_graph *g, int64_t n, const void *const *inputs, uint64_t seed, uint32_t step)
{
    evaluation e = { .n_nodes = g->n_nodes, .value = calloc(g->n_nodes + 1, sizeof(void *)) };

    for (size_t i = 0; i < g->n_nodes; i++) {
        const lks_graph_node *node = g->nodes[i];
        size_t bytes = lks__type_bytes(&node->type) * (size_t)(node->type.batched ? n : 1);
        e.value[i] = calloc(1, bytes > 0 ? bytes : 1);
        if ((node->op->flags & LKS_OP_SOURCE) != 0) source(&e, node, n, (int64_t)i, inputs);
        else run_node(&e, node, n, (int64_t)i, seed, step);
    }
    return e;
}

void evaluation_free(evaluation *e)
{
    for (size_t i = 0; i < e->n_nodes; i++) free(e->value[i]);
    free(e->value);
}
