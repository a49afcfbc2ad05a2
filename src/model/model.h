/* model.h - internal side of lockstep/model.h and train.h. */
#ifndef LKS_MODEL_MODEL_H
#define LKS_MODEL_MODEL_H

#include "backend/backend.h"
#include "lockstep/train.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optimizers/optimizer.h"
#include "strategy/strategy.h"
#include "symbolic.h"

/* What compile settled. Lists have one entry an output of the model. */
typedef struct lks_compiled {
    lks_optimizer *optimizer;
    lks_loss **losses;     /* NULL: output without a loss */
    double *loss_weights;  /* NULL: all 1 */
    lks_metric ***metrics; /* [output][k] */
    size_t *n_metrics;
    lks_metric ***weighted_metrics;
    size_t *n_weighted_metrics;
    char *loss_spelling, *metrics_spelling, *weighted_spelling,
        *optimizer_spelling; /* as strings were given; NULL: objects */
} lks_compiled;

typedef enum lks_function_kind { LKS_TRAIN = 0, LKS_TEST = 1, LKS_PREDICT = 2 } lks_function_kind;

/* A compiled function for one signature; see function.c. */
typedef struct lks_function lks_function;

struct lks_model {
    int references;
    lks_error error;
    char *name;
    bool auto_named;
    bool sequential;
    bool built; /* sequential models without an input shape: not yet */
    uint64_t seed;
    lks_symbolic *recording; /* owned; NULL for an unbuilt sequential model */
    lks_dtype input_dtype;   /* sequential */
    lks_shape input_shape;   /* sequential: rank -1 = unknown */
    size_t n_inputs, n_outputs;
    int64_t *inputs, *outputs; /* value numbers */
    lks_layer **layers;        /* Keras' model.layers order (spec 6.8); inputs are layers of class InputLayer */
    size_t n_layers, layers_capacity;
    lks_sym_call **calls; /* those that matter, topological */
    size_t n_calls;
    lks_layer *as_layer;    /* made when the model is first called as a layer; that layer holds the model */
    lks_strategy *strategy; /* the scope it was made in; held, or NULL */
    bool trainable;
    /* training */
    lks_compiled *compiled;
    bool optimizer_built;
    lks_function *functions[3];
    lks_variable *loss_total, *loss_count;
    lks_variable **output_loss; /* total, count for each output with a loss, if more than one has */
    bool stop_training;
    int64_t threads;
    lks_log *logs; /* storage behind lks_logs handed out */
    char **log_names;
    size_t n_logs;
};

/* The constraint on a weight of the model or of a nested one (layers/weights.h), or NULL. */
const char *lks__model_constraint(const lks_model *model, const lks_variable *v);

/* All weights in Keras' order: layer by layer, each variable once. Freed with lks__free. */
lks_status lks__model_weights(const lks_model *model, lks_variable ***out, size_t *n);
lks_status lks__model_trainable_weights(const lks_model *model, lks_variable ***out, size_t *n);

/* Builds the model's graph on the given input nodes. */
void lks__model_trace(lks_model *model, lks_trace *trace, const lks_node *in, lks_node *out);

/* Makes a model from a recording that the caller hands over. names, seed as in the options. */
lks_model *lks__model_from_recording(lks_symbolic *recording, size_t n_in, const int64_t *inputs, size_t n_out,
                                     const int64_t *outputs, const char *name);
/* Builds a sequential model for rows of this type, if it has no shape of its own. */
lks_status lks__sequential_build(lks_model *model, lks_type row);

/* The type of input or output i; valid once built. */
const lks_type *lks__model_input_type(const lks_model *model, size_t i);
const lks_type *lks__model_output_type(const lks_model *model, size_t i);
const char *lks__model_output_name(const lks_model *model, size_t i); /* the producing layer's name */
lks_layer *lks__model_find_layer(const lks_model *model, const char *path);

/* Takes over `compiled`, releasing a former one; functions and metric state start anew. */
lks_status lks__model_set_compiled(lks_model *model, lks_compiled *compiled);
void lks__compiled_release(lks_compiled *compiled, size_t n_outputs);
/* Empty lists for n outputs; and one more metric, which is taken over also when this fails. */
lks_status lks__compiled_create(size_t n_outputs, lks_compiled **out);
lks_status lks__compiled_add_metric(lks_compiled *c, bool weighted, size_t output, lks_metric *metric);
/* Makes optimizer slots if there are none yet. */
lks_status lks__model_build_optimizer(lks_model *model);
void lks__model_drop_functions(lks_model *model);

/* The one layer object that stands for the model in others; one reference for the caller. */
lks_layer *lks__model_as_layer(lks_model *model);
/* The model behind a layer of class Functional or Sequential, or NULL. */
lks_model *lks__layer_model(const lks_layer *layer);

#endif
