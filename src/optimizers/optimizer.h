/* optimizer.h - internal. Optimizers: classes (one file each, with the update rule as graph) and objects with their variables.
 *
 * An update is elementwise on the weight, its gradient and its slots, with shared scalars beside: one pass over memory.
 */
#ifndef LKS_OPTIMIZERS_OPTIMIZER_H
#define LKS_OPTIMIZERS_OPTIMIZER_H

#include "graph/trace.h"
#include "layers/config.h"
#include "lockstep/layers.h"
#include "lockstep/optimizers.h"

enum { LKS_MAX_SLOTS = 4 };

typedef struct lks_optimizer_class lks_optimizer_class;

typedef struct lks_optimizer_head {
    LKS_OPTIMIZER_OPTIONS;
} lks_optimizer_head;

struct lks_optimizer {
    int references;
    const lks_optimizer_class *class_;
    lks_error error;
    void *options; /* normalised; begins like lks_optimizer_head */
    bool built;
    size_t n; /* the model's trainable variables; held */
    lks_variable **model;
    lks_variable **all; /* own variables in Keras' order */
    size_t n_all, all_capacity;
    lks_variable *iteration, *learning_rate; /* in `all`; learning_rate is NULL where a schedule decides */
    lks_variable **average, **accumulator;   /* one a variable, or NULL */
    lks_variable **slot[LKS_MAX_SLOTS];      /* by the class' numbers */
    lks_variable *scalar;                    /* a class' own scalar, or NULL */
};

/* One variable's update under construction. */
typedef struct lks_update {
    lks_optimizer *optimizer;
    lks_trace *trace;
    size_t index;       /* of the variable */
    lks_node rate;      /* learning rate */
    lks_node step;      /* t = 1, 2, ...: updates, this one included */
    lks_node applies;   /* true at the last of the accumulated steps; no node: always */
    lks_node scalar[4]; /* what prepare left */
} lks_update;

typedef struct lks_slot {
    const char *name; /* "momentum" */
    int number;       /* index into optimizer->slot */
    double initial;
    bool paired; /* made variable by variable together with the next one */
} lks_slot;

struct lks_optimizer_class {
    lks_config_class config;
    /* The slots that these options need, in Keras' order; returns how many. */
    int (*slots)(const void *options, lks_slot *out);
    void (*prepare)(lks_update *u);                            /* scalars shared by all variables; may be NULL */
    lks_node (*update)(lks_update *u, lks_node w, lks_node g); /* the new value of the weight */
    const char *scalar; /* name of the class' own scalar variable (starts at 1), or NULL */
};

extern const lks_config_family lks__optimizer_family;

lks_status lks__optimizer_from_spec(const char *spec, lks_optimizer **out);
lks_status lks__optimizer_from_config(const json_t *value, lks_optimizer **out);
lks_status lks__optimizer_to_config(const lks_optimizer *optimizer, json_t **out);
lks_status lks__optimizer_status(const lks_optimizer *optimizer);
const char *lks__optimizer_name(const lks_optimizer *optimizer);
lks_optimizer *lks__optimizer_create(const lks_optimizer_class *class_, const void *options);

/* Makes the variables for n trainable ones (shares them). Once. */
lks_status lks__optimizer_build(lks_optimizer *optimizer, size_t n, lks_variable *const *vars);
/* Own variables in Keras' order: iteration, learning_rate, averages, accumulators, slots. Borrowed. */
lks_variable **lks__optimizer_variables(const lks_optimizer *optimizer, size_t *n);

/* The loss that is to be differentiated (loss_scale_factor). */
lks_node lks__optimizer_scale_loss(const lks_optimizer *optimizer, lks_node loss);
/* Assigns the new values of n of the built variables. Absent gradients: the variable is left alone, with a warning; all
 * absent is an error. trace->iterations must be set. Errors stick to the graph. */
void lks__optimizer_apply(lks_optimizer *optimizer, lks_trace *trace, size_t n, lks_variable *const *vars,
                          const lks_node *grads);
/* The same with constraints (specs, NULL = none) applied to the new values. */
void lks__optimizer_apply_constrained(lks_optimizer *optimizer, lks_trace *trace, size_t n, lks_variable *const *vars,
                                      const lks_node *grads, const char *const *constraints);

/* The host counts steps: writes the variable `iteration`. */
void lks__optimizer_set_iterations(lks_optimizer *optimizer, int64_t n);
int64_t lks__optimizer_iterations(const lks_optimizer *optimizer);
/* With use_ema: the weights become their averages (the end of fit). */
void lks__optimizer_finalize(lks_optimizer *optimizer);

/* ---- for the classes ---- */

lks_node lks__slot_read(const lks_update *u, int slot);
void lks__slot_write(const lks_update *u, int slot, lks_node value);
/* a where the step applies, else b. */
lks_node lks__applied(const lks_update *u, lks_node a, lks_node b);

/* The common rows of a class' table. The public options struct of each begins with LKS_OPTIMIZER_OPTIONS. */
#define LKS_OPTIMIZER_FIELDS(type, word, rate, decay)                                                              \
    LKS_FIELD(type, name, TEXT, word, 0),                                                                          \
        LKS_FIELD_LIST(type, learning_rate, RATE, rate, LKS_FIELD_NONNEGATIVE, schedule),                          \
        LKS_FIELD(type, weight_decay, FLOAT, decay, LKS_FIELD_NONNEGATIVE),                                        \
        LKS_FIELD(type, clipnorm, FLOAT, "none", LKS_FIELD_POSITIVE),                                              \
        LKS_FIELD(type, global_clipnorm, FLOAT, "none", LKS_FIELD_POSITIVE),                                       \
        LKS_FIELD(type, clipvalue, FLOAT, "none", LKS_FIELD_POSITIVE), LKS_FIELD(type, use_ema, BOOL, "false", 0), \
        LKS_FIELD(type, ema_momentum, FLOAT, "0.99", LKS_FIELD_FRACTION),                                          \
        LKS_FIELD(type, ema_overwrite_frequency, INT, "none", LKS_FIELD_POSITIVE),                                 \
        LKS_FIELD(type, loss_scale_factor, FLOAT, "none", LKS_FIELD_POSITIVE),                                     \
        LKS_FIELD(type, gradient_accumulation_steps, INT, "none", LKS_FIELD_POSITIVE),                             \
        LKS_FIELD(type, exclude_from_weight_decay, TEXT, "none", LKS_FIELD_UNWRITTEN)

#define LKS_OPTIMIZER(word) extern const lks_optimizer_class lks__optimizer_##word;
#include "optimizer_list.h"
#undef LKS_OPTIMIZER

#endif
