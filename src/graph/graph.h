/* graph.h - internal. The static graph of one function (a training step, a prediction): nodes in the order they were
 * built, which is a topological order, in one arena.
 */
#ifndef LKS_GRAPH_GRAPH_H
#define LKS_GRAPH_GRAPH_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "ops/build.h"
#include "ops/op.h"

/* A value that outlives a step: weight, optimizer slot, metric total. Counted; owned by who created it. */
typedef struct lks_variable {
    int references;
    char *path;        /* "conv2d/kernel"; unique in a model */
    lks_tensor *value; /* float32, except counters (int64) that no graph touches */
    bool trainable;
    bool metric_state;   /* zeroed at the start of an epoch */
    atomic_uint version; /* moves with every change of the value */
} lks_variable;

lks_status lks__variable_create(const char *path, lks_dtype dtype, lks_shape shape, bool trainable, lks_variable **out);
lks_variable *lks__variable_retain(lks_variable *v);
void lks__variable_release(lks_variable *v);  /* NULL is fine */
float *lks__variable_floats(lks_variable *v); /* to write: moves the version */
/* Whoever writes the value by another way, or hands the tensor out, says so before or after. */
void lks__variable_changed(lks_variable *v);
/* Does somebody outside hold the tensor, who may write it at any time? */
bool lks__variable_is_shared(const lks_variable *v);
/* How many elements variables created by this thread may still take together; returns the former number (INT64_MAX: no
 * limit). For models whose sizes a file declares. */
int64_t lks__variable_limit(int64_t elements);

/* What a lks_graph pointer in a lks_node may be: a graph of ops (this file), or the record of layer calls of a model under
 * construction (model/symbolic.h). Both start with this. */
typedef enum lks_graph_kind { LKS_GRAPH_OPS = 1, LKS_GRAPH_LAYERS = 2 } lks_graph_kind;

typedef struct lks_graph_node {
    const lks_op *op;
    void *attrs;
    int n_in;
    int64_t *in;
    lks_type type;
    const lks_type **in_type;
    const char *scope;      /* path of the layer (or loss, ...) that built it; in messages */
    lks_variable *variable; /* op "variable" */
    const void *constant;   /* op "constant": type bytes in the arena */
    int64_t input;          /* op "input": its number */
    int64_t logits;         /* a softmax's input, for losses that prefer it; -1 = none */
} lks_graph_node;

struct lks_graph {
    lks_graph_kind kind;
    lks_error error;
    lks_arena arena;
    lks_graph_node **nodes;
    size_t n_nodes, capacity;
    int64_t n_inputs;
    const char *scope;
};

lks_status lks__graph_create(lks_graph **out);
void lks__graph_release(lks_graph *g); /* NULL is fine */
/* The first failure while building, raised again; LKS_OK if none. */
lks_status lks__graph_status(const lks_graph *g);
lks_graph_node *lks__graph_at(const lks_graph *g, int64_t id);
lks_graph_node *lks__node_at(lks_node node);

/* Names nodes made from now on; returns the former scope, to be put back. Copies `scope`. */
const char *lks__graph_scope(lks_graph *g, const char *scope);

/* Sources. An input is fed at run time: batched (rows) or shared. A variable is read, and can be assigned by the
 * compiled function; asking twice for one variable gives one node. Shares the variable. */
lks_node lks__graph_input(lks_graph *g, lks_type type);
lks_node lks__graph_variable(lks_graph *g, lks_variable *v);
lks_node lks__graph_constant(lks_graph *g, lks_type type, const void *data); /* shared; copies */
lks_node lks__graph_number(lks_graph *g, double value);                      /* float32 scalar */
lks_node lks__graph_batch_size(lks_graph *g);                                /* float32 scalar */

/* Remembers that `softmax` is the softmax of `logits` over the last axis; and the logits of a node made by softmax (or by the
 * op sigmoid, where sigmoid is asked for), or lks__no_node. Losses use them instead of clipping probabilities, as Keras
 * on TensorFlow does. */
void lks__graph_note_softmax(lks_node softmax, lks_node logits);
lks_node lks__graph_logits(lks_node probabilities, bool sigmoid);

/* Gradients of a shared scalar with respect to `wrt`. Where nothing flows, out[i] is lks__no_node. */
lks_status lks__graph_gradients(lks_node loss, size_t n, const lks_node *wrt, lks_node *out);

#endif
