/* symbolic.h - internal. The record of layer calls from which models are made: what `Input` and calling layers leave behind.
 *
 * A recording is a lks_graph of kind LKS_GRAPH_LAYERS whose nodes are values (Keras tensors): only their types matter
 * to the graph's readers. Two recordings become one when a layer takes nodes of both; the absorbed one lives on as an alias until
 * the other goes, so that handles into it stay good.
 */
#ifndef LKS_MODEL_SYMBOLIC_H
#define LKS_MODEL_SYMBOLIC_H

#include "graph/graph.h"
#include "layers/layer.h"

/* One call of a layer. Inputs and outputs are value numbers of the (final) recording. */
typedef struct lks_sym_call {
    lks_layer *layer; /* held; of class InputLayer where n_in is 0 */
    int n_in, n_out;
    int64_t *in, *out;
    int node_index; /* among the layer's calls in the model, set when a model is made */
} lks_sym_call;

enum { LKS_MAX_IO_NODES = 64 }; /* inputs or outputs of one layer call */

typedef struct lks_symbolic {
    lks_graph base;                /* kind LKS_GRAPH_LAYERS; nodes are values */
    int references;                /* models made from it */
    struct lks_symbolic *into;     /* absorbed by */
    int64_t offset;                /* number of its value 0 there */
    struct lks_symbolic *absorbed; /* list of what this one absorbed */
    struct lks_symbolic *next;
    lks_sym_call **calls; /* in the order they were made: topological */
    size_t n_calls, calls_capacity;
    int64_t *call_of; /* value -> call number */
    size_t call_of_capacity;
} lks_symbolic;

/* The recording that now holds the node, and the node's value number in it. NULL for nodes that belong to none. */
lks_symbolic *lks__symbolic_of(lks_node node, int64_t *value);
void lks__symbolic_free(lks_symbolic *s); /* whatever its references; NULL is fine */
/* A handle of a value. */
lks_node lks__symbolic_node(lks_symbolic *s, int64_t value);

/* Calls `layer` (which the recording then shares) on n nodes; writes its outputs. */
void lks__symbolic_call(lks_layer *layer, int n_in, const lks_node *in, int n_out, lks_node *out);
/* A new recording with one input of this row type. name may be NULL. */
lks_node lks__symbolic_input(lks_type type, const char *name);

/* A failed node for what there was no memory for. */
lks_node lks__symbolic_no_memory(void);

/* The class of inputs: it is never called. */
extern const lks_layer_class lks__input_layer_class;

#endif
