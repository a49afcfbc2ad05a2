/* train.h - compile, fit, evaluate, predict. */
#ifndef LOCKSTEP_TRAIN_H
#define LOCKSTEP_TRAIN_H

#include "dataset.h"
#include "losses.h"
#include "metrics.h"
#include "model.h"
#include "optimizers.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_compile_options {
    size_t struct_size;
    const char *optimizer;           /* "adam", "sgd:learning_rate=0.1,momentum=0.9"; default "rmsprop" */
    lks_optimizer *optimizer_object; /* or an object; steals it */
    const char *loss;                /* "categorical_crossentropy:from_logits=true"; several outputs: one for all, or
                                         one each separated by ';' (an empty one: no loss) */
    lks_loss *loss_object;           /* or an object, for every output; steals it */
    const char *metrics;             /* "accuracy,mse" for every output, or one such list each separated by ';' */
    const char *weighted_metrics;    /* the same, seeing sample weights */
    lks_metric *metric_object;       /* one more metric, for the first output; steals it */
    const double *loss_weights;      /* one an output; NULL: all 1. Copied */
    int64_t n_loss_weights;
} lks_compile_options;

/* Settles how the model is trained. Compiling again starts a fresh optimizer. */
LKS_API lks_status lks_compile_with(lks_model *model, const lks_compile_options *options);
#ifndef __cplusplus
#define lks_compile(...) LKS_CALL1(lks_compile_with, lks_compile_options, __VA_ARGS__, )
#endif

/* ---- logs and history ---- */

typedef struct lks_log {
    const char *name; /* "loss", "accuracy", "val_loss", ... */
    double value;
} lks_log;

/* Sorted by name, as Keras. */
typedef struct lks_logs {
    size_t n;
    const lks_log *items;
} lks_logs;
/* The value of `name`, or NaN. */
LKS_API double lks_logs_get(const lks_logs *logs, const char *name);

typedef struct lks_history lks_history; /* what fit returns; one reference for the caller */
LKS_API void lks_history_release(lks_history *history);
LKS_API size_t lks_history_epochs(const lks_history *history);
LKS_API size_t lks_history_n_keys(const lks_history *history);
LKS_API const char *lks_history_key(const lks_history *history, size_t i); /* in order of first appearance */
/* Values of a key; *n gets their number (fewer than epochs for val_ keys with validation_freq > 1). NULL if unknown. */
LKS_API const double *lks_history_values(const lks_history *history, const char *key, size_t *n);
LKS_API int64_t lks_history_epoch(const lks_history *history, size_t i); /* index of the i-th epoch run */
LKS_API double lks_history_seconds(const lks_history *history,
                                   size_t i); /* wall time of the i-th epoch, validation included */

/* ---- callbacks ---- struct_size must be set, `{ .struct_size = sizeof(lks_callback), ... }`; every function may be NULL; a status other than LKS_OK stops the call and is returned by it. Setting
 * stop_training through lks_model_stop_training ends fit after the present batch or epoch, as Keras. */
typedef struct lks_callback {
    size_t struct_size;
    void *user;
    lks_status (*on_train_begin)(void *user, lks_model *model);
    lks_status (*on_train_end)(void *user, lks_model *model, const lks_logs *logs);
    lks_status (*on_epoch_begin)(void *user, lks_model *model, int64_t epoch);
    lks_status (*on_epoch_end)(void *user, lks_model *model, int64_t epoch, const lks_logs *logs);
    lks_status (*on_train_batch_begin)(void *user, lks_model *model, int64_t step);
    lks_status (*on_train_batch_end)(void *user, lks_model *model, int64_t step, const lks_logs *logs);
    lks_status (*on_test_begin)(void *user, lks_model *model);
    lks_status (*on_test_end)(void *user, lks_model *model, const lks_logs *logs);
    lks_status (*on_test_batch_begin)(void *user, lks_model *model, int64_t step);
    lks_status (*on_test_batch_end)(void *user, lks_model *model, int64_t step, const lks_logs *logs);
    lks_status (*on_predict_begin)(void *user, lks_model *model);
    lks_status (*on_predict_end)(void *user, lks_model *model);
} lks_callback;
LKS_API void lks_model_stop_training(lks_model *model);

/* ---- arrays as data ---- */

enum { LKS_MAX_IO = 16 };

/* Inputs, targets and weights of N examples (axis 0). Single ones go into x, y, sample_weight; several into the lists. Borrowed. */
typedef struct lks_arrays {
    lks_tensor *x, *y, *sample_weight;
    lks_tensor *const *xs, *const *ys, *const *sample_weights;
    int64_t n_xs, n_ys, n_sample_weights;
    /* Preparation inside the step, so that pictures stay bytes in memory; 0 = as they are. */
    double x_divisor, y_divisor; /* float32 of each element, divided by this: 255 for pictures */
    int64_t y_one_hot;           /* class numbers become one-hot rows of so many classes */
} lks_arrays;

typedef struct lks_fit_options {
    size_t struct_size;
    int64_t epochs; /* default 1; the index of the final epoch, as Keras */
    int64_t initial_epoch;
    int64_t batch_size; /* arrays: default 32 (or by steps_per_epoch) */
    int64_t steps_per_epoch;
    int64_t verbose;         /* 0 silent (default), 1 progress bar, 2 one line an epoch */
    lks_tristate shuffle;    /* arrays: default true */
    double validation_split; /* arrays: the tail, before shuffling */
    const lks_arrays *validation_arrays;
    lks_dataset *validation_data; /* shares it for the call */
    int64_t validation_batch_size, validation_steps, validation_freq;
    const double *class_weight; /* weight of class i; n_class_weight of them, others 1 */
    int64_t n_class_weight;
    const lks_callback *callbacks; /* n_callbacks of them, in order */
    int64_t n_callbacks;
    int64_t seed;          /* of shuffling, dropout; default: the thread's root seed */
    int64_t threads;       /* compute threads; default: usable cores. Cannot change results */
    lks_history **history; /* gets the History if not NULL */
    /* Keras' BackupAndRestore: what is needed to go on after a crash, with the same final weights bit for bit, in one file in this
     * folder (made if missing; the file is replaced as a whole). A run that finds it there goes on from it; one that was made
     * with another model, seed or other data is refused. The data must be replayable: LKS_E_STATE names the stage that is not. What
     * callbacks remember is not in it. */
    const char *backup_dir;         /* NULL = none */
    int64_t save_freq;              /* steps between two backups, counted from the first step; default: one an epoch */
    lks_tristate delete_checkpoint; /* default true: when fit is through, the backup goes */
} lks_fit_options;

/* Trains on a dataset of (x, y) or (x, y, sample_weight) batches. Steals the dataset. On LKS_E_NONFINITE the weights are
 * those before the failing step; on a callback's status those after the last whole step. */
LKS_API lks_status lks_fit_with(lks_model *model, lks_dataset *data, const lks_fit_options *options);
/* Trains on arrays in memory, gathered without a copy. */
LKS_API lks_status lks_fit_arrays_with(lks_model *model, const lks_arrays *arrays, const lks_fit_options *options);

typedef struct lks_evaluate_options {
    size_t struct_size;
    int64_t batch_size, steps, verbose, threads;
    const lks_callback *callbacks;
    int64_t n_callbacks;
} lks_evaluate_options;

/* Results, valid until the model is next used: loss and metrics sorted by name. `logs` may be NULL. Steals the dataset. */
LKS_API lks_status lks_evaluate_with(lks_model *model, lks_dataset *data, lks_logs *logs,
                                     const lks_evaluate_options *options);
LKS_API lks_status lks_evaluate_arrays_with(lks_model *model, const lks_arrays *arrays, lks_logs *logs,
                                            const lks_evaluate_options *options);

typedef struct lks_predict_options {
    size_t struct_size;
    int64_t batch_size, steps, verbose, threads;
    const lks_callback *callbacks;
    int64_t n_callbacks;
    double x_divisor; /* arrays: as in lks_arrays */
} lks_predict_options;

/* Outputs for all rows of `x`, one owned tensor for each output of the model in outputs[0..n_outputs). Borrows x (n_x inputs). */
LKS_API lks_status lks_predict_arrays_with(lks_model *model, size_t n_x, lks_tensor *const *x, size_t n_outputs,
                                           lks_tensor **outputs, const lks_predict_options *options);
/* The same for a dataset of batches (x or (x, ...)). Steals the dataset. */
LKS_API lks_status lks_predict_data_with(lks_model *model, lks_dataset *data, size_t n_outputs, lks_tensor **outputs,
                                         const lks_predict_options *options);
/* The first output for one input; NULL on failure. */
LKS_API lks_tensor *lks_predict_with(lks_model *model, lks_tensor *x, const lks_predict_options *options);

#ifndef __cplusplus
#define LKS_CALL3(fn, type, a, b, c, ...) fn(a, b, c, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define lks_fit(...) LKS_CALL2(lks_fit_with, lks_fit_options, __VA_ARGS__, )
#define lks_fit_arrays(...) LKS_CALL2(lks_fit_arrays_with, lks_fit_options, __VA_ARGS__, )
#define lks_evaluate(...) LKS_CALL3(lks_evaluate_with, lks_evaluate_options, __VA_ARGS__, )
#define lks_evaluate_arrays(...) LKS_CALL3(lks_evaluate_arrays_with, lks_evaluate_options, __VA_ARGS__, )
#define lks_predict(...) LKS_CALL2(lks_predict_with, lks_predict_options, __VA_ARGS__, )
#endif

/* One step on one batch (all rows of the arrays); metrics are reset first, so the logs are that batch's own. */
LKS_API lks_status lks_train_on_batch(lks_model *model, const lks_arrays *arrays, lks_logs *logs);
LKS_API lks_status lks_test_on_batch(lks_model *model, const lks_arrays *arrays, lks_logs *logs);

/* optimizer.iterations */
LKS_API int64_t lks_model_iterations(const lks_model *model);

/* ---- plan: before anything runs ---- */
typedef struct lks_plan {
    int64_t params, trainable_params, optimizer_params;
    int64_t threads, replicas, virtual_shards, phases, slice;
    const char *isa; /* "avx2" */
    double flop_per_example, flop_per_step;
    int64_t weights_bytes, optimizer_bytes, gradient_bytes, activation_bytes, scratch_bytes,
        total_bytes;       /* of the process' heap */
    int64_t process_bytes; /* resident before the plan: program, libraries, data already loaded */
    const char
        *reproducible; /* "any_world": the strategy's word. With the others virtual_shards counts the threads' sums */
} lks_plan;
/* The plan of fit with this batch size. The model must be compiled and have known input shapes. */
LKS_API lks_status lks_model_plan(lks_model *model, int64_t batch_size, int64_t threads, lks_plan *out);
/* What the last fit or train_on_batch really ran with. LKS_E_STATE before the first step. */
LKS_API lks_status lks_model_last_plan(const lks_model *model, lks_plan *out);

/* ---- profile: where the time of a training step or an answer goes ---- */

/* Work of one kind: an instruction of the compiled step, or what lies between instructions. Seconds are wall time of a step. */
typedef struct lks_profile_item {
    const char *op;       /* "conv2d_few", "elementwise"; "gather rows"; "join shards, wait"; "check, assign" */
    const char *layer;    /* "encoder/conv2d"; "" for work that belongs to no layer */
    int batched;          /* 1: over the examples; 0: once a step, as an optimizer's update */
    double seconds, flop; /* floating-point operations of useful work; a multiply-add counts 2 */
    double bytes;         /* operands read and written, each once */
    double memory_bytes; /* of those, what does not live in a slice of examples and so comes from beyond the L2 cache */
} lks_profile_item;

typedef struct lks_profile {
    size_t n;
    const lks_profile_item *items; /* in the order of the step */
    int64_t batch_size, threads, steps;
    double step_seconds; /* median of as many steps without clocks in them */
    double flop;         /* of forward and backward; the update is not counted */
} lks_profile;

/* Trains `steps` steps (0: 20) on these examples, all in one batch, with clocks around every instruction, and as many without;
 * the weights change, though not as by fit. threads 0: usable cores. *out is freed with lks_profile_release. */
LKS_API lks_status lks_model_profile(lks_model *model, const lks_arrays *batch, int64_t threads, int64_t steps,
                                     lks_profile **out);
/* The same for predictions: lks_predict on these examples in one batch. Targets are ignored, no weight changes; a lks_profile's
 * step is a call, and the model need not be compiled. */
LKS_API lks_status lks_model_profile_predict(lks_model *model, const lks_arrays *batch, int64_t threads, int64_t steps,
                                             lks_profile **out);
LKS_API void lks_profile_release(lks_profile *profile); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
