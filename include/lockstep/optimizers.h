/* optimizers.h - optimizers, with Keras' names, options and defaults.
 *
 * By name and options in one string, "adam:learning_rate=0.01,clipnorm=1", or as an object: lks_adam(.learning_rate = 0.01). A field
 * left out means Keras' default; an explicit zero is LKS_ZERO. From C++ fill the struct, its struct_size first, and use
 * the _with form.
 */
#ifndef LOCKSTEP_OPTIMIZERS_H
#define LOCKSTEP_OPTIMIZERS_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counted. A failed one stays failed; the first action reports why. Trains one model. */
typedef struct lks_optimizer lks_optimizer;

/* By name. NULL only if there is no memory. */
LKS_API lks_optimizer *lks_optimizer_named(const char *spec);
LKS_API lks_optimizer *lks_optimizer_retain(lks_optimizer *optimizer); /* NULL gives NULL */
LKS_API void lks_optimizer_release(lks_optimizer *optimizer);          /* NULL is fine */

/* The rate of the next step: 0 of a failed optimizer, NaN where a schedule decides; there setting it is LKS_E_STATE. */
LKS_API double lks_optimizer_learning_rate(const lks_optimizer *optimizer);
LKS_API lks_status lks_optimizer_set_learning_rate(lks_optimizer *optimizer, double rate);

/* Fields that all optimizers begin with. schedule: instead of a rate, for example
 * "cosine_decay:initial_learning_rate=0.1,decay_steps=1000" (also exponential_decay, inverse_time_decay, polynomial_decay,
 * piecewise_constant_decay, cosine_decay_restarts, with Keras' options). At most one of the three clips. weight_decay is decoupled from the gradient.
 * exclude_from_weight_decay: parts of weight names, separated by commas ("bias,gamma"). */
#define LKS_OPTIMIZER_OPTIONS                    \
    size_t struct_size;                          \
    const char *name;                            \
    double learning_rate;                        \
    const char *schedule;                        \
    double weight_decay;                         \
    double clipnorm, global_clipnorm, clipvalue; \
    lks_tristate use_ema;                        \
    double ema_momentum;                         \
    int64_t ema_overwrite_frequency;             \
    double loss_scale_factor;                    \
    int64_t gradient_accumulation_steps;         \
    const char *exclude_from_weight_decay

typedef struct lks_sgd_options {
    LKS_OPTIMIZER_OPTIONS;
    double momentum;       /* 0 */
    lks_tristate nesterov; /* false */
} lks_sgd_options;

typedef struct lks_rmsprop_options {
    LKS_OPTIMIZER_OPTIONS;
    double rho;            /* 0.9 */
    double momentum;       /* 0 */
    double epsilon;        /* 1e-7 */
    lks_tristate centered; /* false */
} lks_rmsprop_options;

typedef struct lks_adam_options {
    LKS_OPTIMIZER_OPTIONS;
    double beta_1, beta_2; /* 0.9, 0.999 */
    double epsilon;        /* 1e-7 */
    lks_tristate amsgrad;  /* false */
} lks_adam_options;

/* Gradient descent; learning_rate 0.01. */
LKS_API lks_optimizer *lks_sgd_with(const lks_sgd_options *options);
/* Learning rate 0.001. */
LKS_API lks_optimizer *lks_rmsprop_with(const lks_rmsprop_options *options);
LKS_API lks_optimizer *lks_adam_with(const lks_adam_options *options);
/* Adam with weight_decay 0.004. */
LKS_API lks_optimizer *lks_adamw_with(const lks_adam_options *options);

#ifndef __cplusplus
#define lks_sgd(...) lks_sgd_with(&(const lks_sgd_options){ .struct_size = sizeof(lks_sgd_options), __VA_ARGS__ })
#define lks_rmsprop(...) \
    lks_rmsprop_with(&(const lks_rmsprop_options){ .struct_size = sizeof(lks_rmsprop_options), __VA_ARGS__ })
#define lks_adam(...) lks_adam_with(&(const lks_adam_options){ .struct_size = sizeof(lks_adam_options), __VA_ARGS__ })
#define lks_adamw(...) lks_adamw_with(&(const lks_adam_options){ .struct_size = sizeof(lks_adam_options), __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
