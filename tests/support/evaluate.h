/* evaluate.h - runs a graph node by node with the ops' own kernels, the whole batch as one slice: what the executor must
 * agree with, and a way to test ops without it.
 */
#ifndef LKS_TEST_EVALUATE_H
#define LKS_TEST_EVALUATE_H

#include "graph/graph.h"

/* Values of all nodes, each in memory of exactly its size. */
typedef struct evaluation {
    size_t n_nodes;
    void **value;
} evaluation;

/* `inputs`: data of input i; n examples of them if it is batched. */
evaluation evaluate(const lks_graph *g, int64_t n, const void *const *inputs, uint64_t seed, uint32_t step);
void evaluation_free(evaluation *e);

static inline const float *evaluated(const evaluation *e, lks_node node)
{
    return e->value[node.id];
}

#endif
