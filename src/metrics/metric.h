/* metric.h - internal. Metrics: state variables, and graph that adds to them.
 *
 * All of them are means (or a sum) of values: total += sum of values x weights, count += sum of weights (spec Keras 4.2). The
 * values of an example are averaged first.
 */
#ifndef LKS_METRICS_METRIC_H
#define LKS_METRICS_METRIC_H

#include "graph/trace.h"
#include "layers/config.h"
#include "lockstep/metrics.h"
#include "losses/loss.h"

typedef struct lks_metric_config {
    size_t struct_size;
    lks_loss_config loss; /* name, and options that the metric shares with a loss */
    const char *dtype, *fn;
    double threshold;
    int64_t k;
} lks_metric_config;

typedef enum lks_metric_traits {
    LKS_METRIC_SUM = 1,    /* the total alone */
    LKS_METRIC_ROOT = 2,   /* the root of the mean */
    LKS_METRIC_VALUES = 4, /* takes values as they are, no targets */
    LKS_METRIC_SHAPES = 8  /* stands for one of several kinds, by the shapes */
} lks_metric_traits;

typedef struct lks_metric_class {
    lks_config_class config;
    unsigned traits;
    const lks_loss_class *loss; /* its values are the metric's; else `values` */
    double sign;                /* of the loss's values */
    lks_node (*values)(const lks_metric_config *o, lks_node t, lks_node p);
} lks_metric_class;

struct lks_metric {
    int references;
    const lks_metric_class *class_;
    lks_error error;
    lks_metric_config *options;
    lks_variable *total, *count; /* count is NULL where there is none */
    lks_metric_fn fn;            /* a user's own */
    void *user;
};

extern const lks_config_family lks__metric_family;

lks_status lks__metric_from_spec(const char *spec, lks_metric **out);
lks_status lks__metric_from_config(const json_t *value, lks_metric **out);
lks_status lks__metric_to_config(const lks_metric *metric, json_t **out);
lks_status lks__metric_status(const lks_metric *metric);
const char *lks__metric_name(const lks_metric *metric);

/* Adds a batch to the state. Metrics of values (Mean, Sum) take them as y_pred; y_true is ignored. weight may be
 * lks__no_node. */
void lks__metric_update(lks_metric *metric, lks_trace *trace, lks_node y_true, lks_node y_pred, lks_node weight);
double lks__metric_result(const lks_metric *metric);
void lks__metric_reset(lks_metric *metric);
/* The state: total, then count if there is one. Returns how many; borrowed. */
size_t lks__metric_variables(const lks_metric *metric, lks_variable *out[2]);

#endif
