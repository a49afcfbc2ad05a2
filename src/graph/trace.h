/* trace.h - internal. One function being built: the graph and what the layers, losses, metrics and the optimizer leave in it
 * besides values: assignments to variables, extra losses.
 */
#ifndef LKS_GRAPH_TRACE_H
#define LKS_GRAPH_TRACE_H

#include "graph.h"

typedef struct lks_assignment {
    lks_variable *variable; /* held */
    lks_node value;         /* shared, of the variable's type */
} lks_assignment;

typedef struct lks_trace {
    lks_graph *graph;
    bool training; /* fit and train_on_batch; false for evaluate and predict */
    int replicas;
    lks_node iterations; /* optimizer.iterations before this step, float32 scalar input; no node outside training */
    lks_assignment *assignments;
    size_t n_assignments, assignments_capacity;
    lks_node *losses; /* shared scalars: regularizers, activity losses, add_loss */
    size_t n_losses, losses_capacity;
} lks_trace;

lks_status lks__trace_init(lks_trace *t, bool training, int replicas); /* makes the graph */
void lks__trace_free(lks_trace *t);

/* v <- value when the step is applied. The last assignment of a variable wins. Errors stick to the graph. */
void lks__trace_assign(lks_trace *t, lks_variable *v, lks_node value);
void lks__trace_add_loss(lks_trace *t, lks_node scalar);

#endif
