/* losses.h - losses by name, and losses of your own.
 *
 * Names are Keras': a class ("CategoricalCrossentropy"), its string ("categorical_crossentropy", "mse", "bce", ...), and options
 * after a colon: "categorical_crossentropy:from_logits=true,label_smoothing=0.1", "huber:delta=0.5,reduction=sum".
 */
#ifndef LOCKSTEP_LOSSES_H
#define LOCKSTEP_LOSSES_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counted, immutable. A failed one stays failed; the first action reports why. */
typedef struct lks_loss lks_loss;

/* By name, for example "sparse_categorical_crossentropy:from_logits=true". NULL only if there is no memory. */
LKS_API lks_loss *lks_loss_named(const char *spec);
LKS_API lks_loss *lks_loss_retain(lks_loss *loss); /* NULL gives NULL */
LKS_API void lks_loss_release(lks_loss *loss);     /* NULL is fine */

/* A loss of your own as graph (ops.h): from the targets and the predictions to one value for each example (batch axis kept;
 * more axes are averaged as well), or to one shared number, which then is the loss. */
typedef lks_node (*lks_loss_fn)(void *user, lks_node y_true, lks_node y_pred);

typedef struct lks_loss_options {
    size_t struct_size;
    const char *name;      /* "loss" */
    const char *reduction; /* "sum_over_batch_size" (default), "mean_with_sample_weight", "sum", "none" */
} lks_loss_options;

/* `user` is passed on and must live as long as the loss. */
LKS_API lks_loss *lks_loss_create_with(lks_loss_fn fn, void *user, const lks_loss_options *options);

#ifndef __cplusplus
#define lks_loss_create(...) LKS_CALL2(lks_loss_create_with, lks_loss_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
