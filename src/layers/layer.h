/* layer.h - internal. What a layer is: a class (a table of functions, one file each) and an object with options and
 * weights. Layers build graph; they never touch numbers, but for the initial values of weights.
 */
#ifndef LKS_LAYERS_LAYER_H
#define LKS_LAYERS_LAYER_H

#include "graph/trace.h"
#include "lockstep/layers.h"

typedef struct lks_layer_class lks_layer_class;

struct lks_layer {
    int references;
    const lks_layer_class *class_;
    lks_error error;       /* a failed layer stays failed; reported by the first action */
    char *name;            /* given, or NULL until a model names it ("conv2d", "conv2d_1") */
    bool auto_named;
    bool trainable;
    bool built;
    void *options;         /* class_->options_size bytes, normalised: defaults filled in, strings owned */
    lks_variable **weights; /* Keras' order: trainable in creation order, then the others; paths "kernel", "bias"
                               until a model prefixes them with the layer's name */
    size_t n_weights, weights_capacity;
    struct lks_model *model; /* not NULL: this layer is a nested model (class "Functional" or "Sequential") */
    lks_type *input_types;   /* of the first call: build_config */
    int n_inputs;
    void *state;             /* the class' own, freed by class_->release */
};

struct lks_layer_class {
    const char *name;      /* Keras class name: "Conv2D" */
    const char *snake;     /* prefix of automatic names: "conv2d" */
    const char *module;    /* "keras.layers" */
    size_t options_size;
    const struct lks_field *fields; /* config keys <-> options, Keras' order; see config/field.h */
    lks_status (*check)(lks_layer *layer);                                        /* options alone; may be NULL */
    lks_status (*build)(lks_layer *layer, int n_in, const lks_type *const *in);   /* creates weights; may be NULL */
    void (*call)(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out);
    int (*n_outputs)(const lks_layer *layer); /* NULL = 1 */
    void (*release)(lks_layer *layer);        /* frees state; may be NULL */
};

/* All classes, ended by NULL; and one by Keras class name. */
extern const lks_layer_class *const lks__layer_classes[];
const lks_layer_class *lks__layer_class_find(const char *name);

/* A layer with a copy of options (struct_size bytes of them; the rest and zeros get defaults). NULL: no memory. A bad
 * option gives a failed layer. */
lks_layer *lks__layer_create(const lks_layer_class *class_, const void *options);
void lks__layer_fail(lks_layer *layer, lks_status code);

/* For build: appends a weight. `initializer` is the option's value ("glorot_uniform", NULL = the default given). */
lks_status lks__layer_add_weight(lks_layer *layer, const char *name, lks_shape shape, const char *initializer,
                                 bool trainable, lks_variable **out);

/* Builds the layer at its first call, then calls it under the scope of its name; adds its regularizer losses. */
void lks__layer_apply(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out);

/* Draws initial values of all weights that have none yet, keyed by (seed, weight path). */
lks_status lks__layer_initialize(lks_layer *layer, uint64_t seed);

#endif
