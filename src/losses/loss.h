/* loss.h - internal. Losses: classes (one table of functions each) and objects; they build graph.
 *
 * Values with and without the batch axis are handled alike (ops.h counts axes as Keras does), so a loss can also be evaluated on
 * whole arrays fed as shared values.
 */
#ifndef LKS_LOSSES_LOSS_H
#define LKS_LOSSES_LOSS_H

#include "graph/trace.h"
#include "layers/config.h"
#include "lockstep/layers.h"
#include "lockstep/losses.h"

typedef enum lks_reduction {
    LKS_REDUCTION_MEAN,          /* sum over the number of elements: "sum_over_batch_size", "mean" */
    LKS_REDUCTION_WEIGHTED_MEAN, /* over the sum of the weights: "mean_with_sample_weight" */
    LKS_REDUCTION_SUM,
    LKS_REDUCTION_NONE /* values as they are; fit reports their mean and follows the gradient of their sum */
} lks_reduction;

/* The options of all classes in one struct; each class' table names those it has. */
typedef struct lks_loss_config {
    size_t struct_size;
    const char *name, *reduction;
    lks_tristate from_logits, apply_class_balancing;
    double label_smoothing, delta, alpha, beta, gamma, q;
    lks_numbers alphas;
    int64_t axis, ignore_class;
    int64_t axes[LKS_MAX_RANK];
} lks_loss_config;

typedef struct lks_loss_class {
    lks_config_class config;
    /* Values of aligned targets and predictions, one axis fewer; *mask (preset to none) where some elements do not count. */
    lks_node (*values)(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask);
    bool labels; /* targets are class numbers */
} lks_loss_class;

struct lks_loss {
    int references;
    const lks_loss_class *class_;
    lks_error error;
    lks_loss_config *options; /* normalised; NULL in a failed loss */
    lks_reduction reduction;
    lks_loss_fn fn; /* a user's own */
    void *user;
};

extern const lks_config_family lks__loss_family;

/* From a name or an object in JSON; an unknown name or bad option is an error with a sentence. */
lks_status lks__loss_from_config(const json_t *value, lks_loss **out);
lks_status lks__loss_from_spec(const char *spec, lks_loss **out);
lks_status lks__loss_to_config(const lks_loss *loss, json_t **out);
lks_status lks__loss_status(const lks_loss *loss); /* its failure again; NULL = no memory */
const char *lks__loss_name(const lks_loss *loss);

/* Values before weights and reduction, and the mask of those that count (lks__no_node: all). */
lks_node lks__loss_values(const lks_loss *loss, lks_node y_true, lks_node y_pred, lks_node *mask);
/* What calling the loss gives in Keras: reduced by its own rule. weight and mask may be lks__no_node. */
lks_node lks__loss_reduce(const lks_loss *loss, lks_node values, lks_node weight, lks_node mask);
/* Both, for a step: the scalar whose gradient is taken, and in *report the one that logs show. */
lks_node lks__loss_apply(const lks_loss *loss, lks_trace *trace, lks_node y_true, lks_node y_pred, lks_node weight,
                         lks_node *report);

/* If the targets are class numbers: how many classes there are for predictions of this type, else 0. *ignored gets the one class
 * that may lie outside, or -1. The host checks labels against it. */
int64_t lks__loss_classes(const lks_loss *loss, const lks_type *y_true, const lks_type *y_pred, int64_t *ignored);

/* ---- shared with metrics ---- */

/* Keras' rule for ranks that differ by one: a trailing axis of size 1 is dropped, or added to the one of rank 1. */
void lks__align_ranks(lks_node *a, lks_node *b);
lks_node lks__as_float(lks_node x);
/* The number of elements of a value, batch included, as a scalar. */
lks_node lks__element_count(lks_node x);
/* a / b, and 0 where b is 0; scalars. */
lks_node lks__divide_no_nan(lks_node a, lks_node b);
/* weight with the mask taken in (spec Keras 3.2); `mean`: scaled so that a mean is one over the elements that count. */
lks_node lks__masked_weight(lks_node weight, lks_node mask, bool mean);

/* The kind that "accuracy" and "crossentropy" stand for with values of these shapes (spec Keras 4.1). */
typedef enum lks_target_kind { LKS_TARGET_BINARY, LKS_TARGET_SPARSE, LKS_TARGET_CATEGORICAL } lks_target_kind;
lks_target_kind lks__target_kind(lks_node y_true, lks_node y_pred);

#define LKS_LOSS(word) extern const lks_loss_class lks__loss_##word;
#include "loss_list.h"
#undef LKS_LOSS

#endif
