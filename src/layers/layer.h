/* layer.h - internal. What a layer is: a class (a table of functions, one file each) and an object with options and
 * weights. Layers build graph; they never touch numbers, but for the initial values of weights.
 */
#ifndef LKS_LAYERS_LAYER_H
#define LKS_LAYERS_LAYER_H

#include "config.h"
#include "graph/trace.h"
#include "lockstep/layers.h"

typedef struct lks_layer_class lks_layer_class;

/* What a layer knows of a weight besides the variable. Owned specs; NULL = none. */
typedef struct lks_weight_info {
    char *initializer, *regularizer, *constraint;
    bool initialized;
} lks_weight_info;

struct lks_layer {
    int references;
    const lks_layer_class *class_;
    lks_error error; /* a failed layer stays failed; reported by the first action */
    char *name;      /* given, or NULL until a model names it ("conv2d", "conv2d_1") */
    bool auto_named;
    bool trainable;
    bool built;
    void *options;          /* class_->options_size bytes, normalised by class_->fields; NULL in a failed layer */
    lks_variable **weights; /* Keras' order: trainable in creation order, then the others; paths "kernel", "bias"
                               until a model prefixes them with the layer's name */
    lks_weight_info *info;  /* of each weight */
    size_t n_weights, weights_capacity, info_capacity;
    struct lks_model *model; /* not NULL: this layer is a nested model (class "Functional" or "Sequential") */
    lks_type *input_types;   /* of the first call: build_config */
    int n_inputs;
    void *state; /* the class' own, freed by class_->release */
};

typedef enum lks_layer_traits {
    LKS_LAYER_BUILD_CONFIG = 1, /* Keras writes a build_config for it */
    LKS_LAYER_MERGES = 2,       /* takes any number of inputs, as a list */
    LKS_LAYER_UNSAVED = 4       /* holds code of the user: refuses to be saved */
} lks_layer_traits;

struct lks_layer_class {
    const char *name;   /* Keras class name: "Conv2D" */
    const char *snake;  /* prefix of automatic names: "conv2d" */
    const char *module; /* "keras.layers" */
    unsigned traits;
    size_t options_size;
    const lks_field *fields; /* config keys <-> options, Keras' order, after name, trainable and dtype; see config.h */
    lks_status (*check)(lks_layer *layer);                                             /* options alone; may be NULL */
    lks_status (*accept)(const lks_layer *layer, int n_in, const lks_type *const *in); /* every call; may be NULL */
    lks_status (*build)(lks_layer *layer, int n_in, const lks_type *const *in); /* creates weights; may be NULL */
    void (*call)(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out);
    int (*n_outputs)(const lks_layer *layer); /* NULL = 1 */
    void (*release)(lks_layer *layer);        /* frees state; may be NULL */
};

#define LKS_LAYER(word) extern const lks_layer_class lks__##word##_class;
#include "class_list.h"
#undef LKS_LAYER

/* All classes, ended by NULL; and one by Keras class name (NULL after lks__fail with a suggestion). */
extern const lks_layer_class *const lks__layer_classes[];
const lks_layer_class *lks__layer_class_find(const char *name);

/* A layer with a normalised copy of the user's options (struct_size bytes of them). NULL: no memory. A bad option gives a
 * failed layer. */
lks_layer *lks__layer_create(const lks_layer_class *class_, const void *options);
/* The same from options that are normalised already (takes them over, also when it fails). */
lks_layer *lks__layer_create_normalised(const lks_layer_class *class_, void *options);
void lks__layer_fail(lks_layer *layer, lks_status code);
lks_status lks__layer_status(const lks_layer *layer); /* raises the layer's failure again; NULL = no memory */

/* {"module", "class_name", "config", "registered_name"}, and build_config where Keras writes one. New reference. */
lks_status lks__layer_to_config(const lks_layer *layer, json_t **out);
/* From such an object, Keras' older spellings included. Not for Functional and Sequential. */
lks_status lks__layer_from_config(const json_t *object, lks_layer **out);

/* For build: appends a weight. Its specs are the options' values (copied; NULL = none). */
typedef struct lks_weight_options {
    const char *name; /* "kernel" */
    lks_shape shape;
    const char *initializer, *regularizer, *constraint;
    bool frozen; /* never trained: moving statistics */
} lks_weight_options;
lks_status lks__layer_add_weight(lks_layer *layer, const lks_weight_options *weight);

/* The i-th weight's value in the graph. */
lks_node lks__layer_weight(const lks_layer *layer, lks_trace *trace, size_t i);

/* Builds the layer at its first call, then calls it under the scope of its name; adds its regularizer losses. */
void lks__layer_apply(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out);

/* The loss of a value's activity regularizer (NULL = none): added once for each call. */
void lks__layer_activity_loss(lks_trace *trace, const char *regularizer, lks_node y);

/* Draws initial values of all weights that have none yet, keyed by (seed, weight path). */
lks_status lks__layer_initialize(lks_layer *layer, uint64_t seed);

/* Common parts of calls. */
lks_status lks__expect_rank(const lks_type *in, int rank, int at_least,
                            const char *shape);                    /* rank with the batch axis */
lks_node lks__channels_last(lks_node x, const char *data_format);  /* (C, H, W) rows to (H, W, C) */
lks_node lks__channels_first(lks_node x, const char *data_format); /* and back */
lks_node lks__layer_fail_node(lks_trace *trace, lks_status code);

/* The shape rule of spec/keras.md 1.1 along one axis; LKS_E_SHAPE if nothing is left. */
lks_status lks__window(bool same, int64_t n, int64_t kernel, int64_t stride, int64_t dilation, int64_t *out,
                       int64_t *before);

/* ---- implemented by src/model/symbolic.c ---- */

/* Records a call of the layer on nodes of a model under construction (infers shapes, builds the layer). Shares it. */
lks_node lks__layer_call_symbolic(lks_layer *layer, int n_in, const lks_node *in);
lks_node lks__input_symbolic(const lks_input_options *options, lks_shape shape);

/* The two public functions of a layer with one input, and of one that merges. */
#define LKS_DEFINE_LAYER(word, class_)                                          \
    lks_layer *lks_##word##_layer_with(const lks_##word##_options *options)     \
    {                                                                           \
        return lks__layer_create(&(class_), options);                           \
    }                                                                           \
    lks_node lks_##word##_with(lks_node x, const lks_##word##_options *options) \
    {                                                                           \
        return lks__layer_call_new(&(class_), options, 1, &x);                  \
    }
#define LKS_DEFINE_MERGE(word, class_)                                                                \
    lks_layer *lks_##word##_layer_with(const lks_##word##_options *options)                           \
    {                                                                                                 \
        return lks__layer_create(&(class_), options);                                                 \
    }                                                                                                 \
    lks_node lks_##word##_with(size_t n, const lks_node *inputs, const lks_##word##_options *options) \
    {                                                                                                 \
        return lks__layer_call_new(&(class_), options, n, inputs);                                    \
    }
lks_node lks__layer_call_new(const lks_layer_class *class_, const void *options, size_t n, const lks_node *inputs);

#endif
