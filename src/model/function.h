/* function.h - internal. The train, test and predict functions of a model: traced and compiled for one signature of batches, kept
 * until the signature changes.
 */
#ifndef LKS_MODEL_FUNCTION_H
#define LKS_MODEL_FUNCTION_H

#include "feed.h"

struct lks_function {
    lks_trace trace;
    lks_executable *exe;
    size_t n_x, n_y, n_w;
    lks_type types[LKS_MAX_FEEDS];
    lks_preparation preparation;
    int64_t max_batch;
    int threads;
    uint64_t class_weight_key;   /* of the class weights it was traced with */
    int64_t classes[LKS_MAX_IO]; /* targets that are class numbers: how many classes; else 0 */
    int64_t ignored[LKS_MAX_IO]; /* the one class that may lie outside, or -1 */
};

typedef struct lks_function_options {
    int threads;
    const double *class_weight;
    int64_t n_class_weight;
} lks_function_options;

/* The function for batches like this one; compiles if none fits. */
lks_status lks__function_get(lks_model *m, lks_function_kind kind, const lks_batch *batch,
                             const lks_function_options *options, lks_function **out);
void lks__function_release(lks_function *f);

/* One step. train: the loss and gradients are checked, variables assigned, iterations advanced. */
lks_status lks__function_run(lks_model *m, lks_function_kind kind, lks_function *f, const lks_batch *batch,
                             uint64_t seed, void *const *outputs);

/* Profiles `repeats` steps on one batch; rows freed with lks__free. */
typedef struct lks_profiled {
    lks_function_kind kind;
    uint64_t seed;
    int repeats;
    void *const *outputs; /* of predictions */
} lks_profiled;
lks_status lks__function_profile(lks_model *m, lks_function *f, const lks_batch *batch, const lks_profiled *what,
                                 lks_profile_row **rows, size_t *n_rows);

/* LKS_E_ARG if a class number of the batch lies outside what its loss takes: names the target, the example and the value. */
lks_status lks__check_labels(const lks_function *f, const lks_batch *batch);

/* trace.c of the model: inputs cast and shaped for the model, its outputs; then losses, metrics, gradients, update. */
lks_status lks__trace_predict(lks_model *m, lks_function *f, size_t *n_fetches, lks_node *fetches);
lks_status lks__trace_train(lks_model *m, lks_function *f, bool training, const lks_function_options *options,
                            lks_node *loss, size_t *n_checks, lks_node **checks);

/* Zeroes the loss tracker and every metric. */
enum { LKS_LOG_NAME = 256 };
void lks__model_reset_metrics(lks_model *m);
/* Present results, sorted by name; with_val: names get "val_" in front. Storage belongs to the model. */
lks_status lks__model_logs(lks_model *m, bool val, lks_logs *out);

#endif
