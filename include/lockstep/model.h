/* model.h - models: functional and sequential, nested, with shared layers; weights; summary; files. */
#ifndef LOCKSTEP_MODEL_H
#define LOCKSTEP_MODEL_H

#include "layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counted reference. Not safe to use from two threads at once. A model built from a failed node is a failed model: every
 * action on it reports the first cause. */
typedef struct lks_model lks_model;

typedef struct lks_model_options {
    size_t struct_size;
    const char *name; /* default: "functional", "functional_1", ... */
    int64_t seed;     /* of the initial weights; default 0 (or lks_set_seed) */
} lks_model_options;

/* The functional model from one input to one output; takes over the graph that both belong to. NULL: no memory. */
LKS_API lks_model *lks_model_create_with(lks_node input, lks_node output, const lks_model_options *options);
/* The same for several inputs and outputs, in this order. Borrows the arrays. */
LKS_API lks_model *lks_model_create_io_with(size_t n_inputs, const lks_node *inputs, size_t n_outputs,
                                            const lks_node *outputs, const lks_model_options *options);
#ifndef __cplusplus
#define lks_model_create(...) LKS_CALL2(lks_model_create_with, lks_model_options, __VA_ARGS__, )
#define LKS_MODEL_IO(n_in, in, n_out, out, ...)    \
    lks_model_create_io_with(n_in, in, n_out, out, \
                             &(const lks_model_options){ .struct_size = sizeof(lks_model_options), __VA_ARGS__ })
#define lks_model_create_io(...) LKS_MODEL_IO(__VA_ARGS__, )
#endif

typedef struct lks_sequential_options {
    size_t struct_size;
    const char *name; /* default: "sequential", "sequential_1", ... */
    int64_t seed;
    int64_t input_shape[LKS_MAX_RANK]; /* without the batch axis; ends at the first 0; all 0: given by the first call */
    const char *input_dtype;           /* default "float32" */
} lks_sequential_options;

/* An empty stack of layers; its input shape comes from the options or the first call. NULL: no memory. */
LKS_API lks_model *lks_sequential_with(const lks_sequential_options *options);
#ifndef __cplusplus
#define lks_sequential(...) \
    lks_sequential_with(&(const lks_sequential_options){ .struct_size = sizeof(lks_sequential_options), __VA_ARGS__ })
#endif
/* Appends a layer; steals it. A failed layer makes the model fail. */
LKS_API void lks_sequential_add(lks_model *model, lks_layer *layer);

/* The model as a layer on other nodes: nesting. Shares the model (its weights are one set, however often it is called). */
LKS_API lks_node lks_model_call(lks_model *model, lks_node input);
/* For a model of several inputs and outputs: borrows `inputs`, writes as many nodes as the model has outputs. */
LKS_API void lks_model_call_io(lks_model *model, size_t n_inputs, const lks_node *inputs, lks_node *outputs);

LKS_API lks_model *lks_model_retain(lks_model *model); /* NULL gives NULL */
LKS_API void lks_model_release(lks_model *model);      /* NULL is fine */
/* Frees a graph of layer calls that never became a model. */
LKS_API void lks_node_discard(lks_node node);

/* LKS_OK, or the first failure while the model was built. */
LKS_API lks_status lks_model_status(const lks_model *model);
LKS_API const char *lks_model_name(const lks_model *model);

/* Input or output i as a node, to go on from: a model made of such nodes shares this one's layers and weights. A failed node if
 * there is none so numbered, or the model failed or has no input shape yet. */
LKS_API lks_node lks_model_input(lks_model *model, size_t i);
LKS_API lks_node lks_model_output(lks_model *model, size_t i);

/* The shape of input or output i, -1 standing for the batch axis; rank -1 for a model that has none yet, or none so numbered. */
LKS_API lks_shape lks_model_input_shape(const lks_model *model, size_t i);
LKS_API lks_shape lks_model_output_shape(const lks_model *model, size_t i);
/* 1 if the model has a loss to train with: by lks_compile, or from the file that it was read from; else 0. */
LKS_API int lks_model_is_compiled(const lks_model *model);
/* 1 if the loss of output i compares with class numbers (sparse_categorical_crossentropy), else 0, also before compile. */
LKS_API int lks_model_takes_classes(const lks_model *model, size_t i);

/* Default root seed of this thread for models, fit and datasets that are given none; 0 at the start. */
LKS_API void lks_set_seed(uint64_t seed);

/* ---- weights ---- in the order of Keras' model.weights */
LKS_API size_t lks_model_n_weights(const lks_model *model);
LKS_API int64_t lks_model_count_params(const lks_model *model);
/* The i-th weight: shares memory with the model; release it. NULL if i is out of range. */
LKS_API lks_tensor *lks_model_weight(lks_model *model, size_t i);
LKS_API const char *lks_model_weight_path(const lks_model *model, size_t i); /* "conv2d/kernel"; NULL out of range */
LKS_API lks_status lks_model_set_weight(lks_model *model, size_t i,
                                        const lks_tensor *value); /* shape must match; numbers are converted; borrows */
/* SHA-256 over all weights' float32 bytes in order, as 64 hexadecimal digits and a zero. */
LKS_API lks_status lks_model_digest(const lks_model *model, char digest[65]);

/* Freezes or unfreezes a layer (or, with NULL, the model) by name, nested layers by "encoder/conv2d", and all layers in it.
 * A frozen layer's weights keep their values; batch normalisation then uses its moving statistics. Compile again. */
LKS_API lks_status lks_model_set_trainable(lks_model *model, const char *layer, int trainable);

/* What Keras' model.summary() prints, as a string freed with lks_free. line_length 0: 76, as in a pipe. */
LKS_API lks_status lks_summary_text(const lks_model *model, int64_t line_length, char **out);
/* The same to the output hook. */
LKS_API lks_status lks_summary(const lks_model *model);

/* ---- files ---- */

/* Writes a .keras archive: architecture, weights, compile settings, optimizer state. Written under a temporary name and
 * renamed, so an interrupted save loses nothing; the next save under that name removes what an interrupted one left. The date
 * in it is that of the save, or the environment's SOURCE_DATE_EPOCH (seconds since 1970): with it set, equal models are equal
 * files. */
LKS_API lks_status lks_save(const lks_model *model, const char *path);
/* Reads a .keras archive (or the folder of one unpacked). NULL on failure: lks_last_error says why. */
LKS_API lks_model *lks_load(const char *path);
/* The weights alone, from or to a ".weights.h5" file of Keras 3. Reading changes nothing unless every weight is there and
 * fits. */
LKS_API lks_status lks_load_weights(lks_model *model, const char *path);
LKS_API lks_status lks_save_weights(const lks_model *model, const char *path);
/* Keras' model.to_json() and model_from_json(); the text is freed with lks_free. compile_config is honoured. */
LKS_API lks_status lks_model_to_json(const lks_model *model, char **out);
LKS_API lks_model *lks_model_from_json(const char *json);

#ifdef __cplusplus
}
#endif
#endif
