/* metrics.h - metrics by name, and metrics of your own.
 *
 * Names are Keras': "accuracy" (which kind is decided by the shapes), "mse", "top_k_categorical_accuracy:k=3", a class such as
 * "MeanSquaredError", or a loss's name.
 */
#ifndef LOCKSTEP_METRICS_H
#define LOCKSTEP_METRICS_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counted. A failed one stays failed; the first action reports why. */
typedef struct lks_metric lks_metric;

/* By name. NULL only if there is no memory. */
LKS_API lks_metric *lks_metric_named(const char *spec);
LKS_API lks_metric *lks_metric_retain(lks_metric *metric); /* NULL gives NULL */
LKS_API void lks_metric_release(lks_metric *metric);       /* NULL is fine */

/* A metric of your own as graph (ops.h): from the targets and the predictions to values for each example; reported is
 * their mean. */
typedef lks_node (*lks_metric_fn)(void *user, lks_node y_true, lks_node y_pred);

typedef struct lks_metric_options {
    size_t struct_size;
    const char *name; /* "metric" */
} lks_metric_options;

/* `user` is passed on and must live as long as the metric. */
LKS_API lks_metric *lks_metric_create_with(lks_metric_fn fn, void *user, const lks_metric_options *options);

#ifndef __cplusplus
#define lks_metric_create(...) LKS_CALL2(lks_metric_create_with, lks_metric_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
