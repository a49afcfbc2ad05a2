/* values.h - internal to src/metrics: values before they are averaged. */
#ifndef LKS_METRICS_VALUES_H
#define LKS_METRICS_VALUES_H

#include "metric.h"

lks_node lks__values_accuracy(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_accuracy_by_shape(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_binary_accuracy(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_categorical_accuracy(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_sparse_categorical_accuracy(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_top_k(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_sparse_top_k(const lks_metric_config *o, lks_node t, lks_node p);
lks_node lks__values_squared_error(const lks_metric_config *o, lks_node t, lks_node p);

extern const lks_config_class *const lks__metric_shorthands[]; /* "accuracy", "crossentropy": strings alone */

#endif
