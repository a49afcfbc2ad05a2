/* config_io.h - internal. Models from and to the JSON of Keras (spec/keras.md 7.2): what config.json of a .keras archive and
 * model.to_json() hold.
 */
#ifndef LKS_MODEL_CONFIG_IO_H
#define LKS_MODEL_CONFIG_IO_H

#include <jansson.h>

#include "model.h"

/* A model without training settings, or with those of its compile_config. *out is a new reference. */
lks_status lks__model_from_config(const json_t *config, bool with_compile, lks_model **out);
/* A new reference; with_compile: compile_config is filled, if the model is compiled. */
lks_status lks__model_to_config(const lks_model *model, bool with_compile, json_t **out);

/* compile_config: config_compile_read.c and config_compile_write.c. */
lks_status lks__compile_from_config(lks_model *model, const json_t *config);
lks_status lks__compile_to_config(const lks_model *model, json_t **out);

/* ---- pieces of the reader ---- */

/* A layer of any class, nested models included. */
lks_status lks__any_layer_from_config(const json_t *object, lks_layer **out);
bool lks__is_model_class(const char *class_name); /* Functional, Sequential or Model */
lks_status lks__functional_from_config(const json_t *config, lks_model **out);
lks_status lks__sequential_from_config(const json_t *config, lks_model **out);
/* The row type that an InputLayer's config declares. */
lks_status lks__input_from_config(const json_t *config, const char *where, lks_type *row);
/* [null, 28, 28, 1] without its first entry. */
lks_status lks__row_from_json(const json_t *shape, const char *where, lks_shape *row);

/* What the graph of a Functional config refers to: output `tensor` of call `node` of layer `layer`. */
typedef struct lks_config_ref {
    const char *layer;
    int64_t node, tensor;
} lks_config_ref;
typedef struct lks_config_refs {
    lks_config_ref *items;
    size_t n, capacity;
} lks_config_refs;
/* Collects the references of a call's arguments, or of input_layers and output_layers, in order, in all of Keras'
 * spellings. Appends; free items with lks__free. */
lks_status lks__config_refs(const json_t *value, const char *where, lks_config_refs *refs);
/* Refuses keyword arguments of a call that would change what it computes. */
lks_status lks__config_kwargs(const char *where, const json_t *kwargs);

#endif
