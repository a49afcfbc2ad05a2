/* layer_config.c - see layer.h: layers from and to Keras' JSON (spec of Keras 3: class_name, config, build_config).
 *
 * Readers are tolerant: of the dtype as a plain string or a policy, of keys that this version does not know, and of the
 * older names of options.
 */
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "layer.h"

const lks_layer_class *lks__layer_class_find(const char *name)
{
    const char *names[256];
    size_t n = 0;

    for (const lks_layer_class *const *c = lks__layer_classes; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0) return *c;
        if (n < 255) names[n++] = (*c)->name;
    }
    names[n] = NULL;
    lks__no_such(LKS_E_UNSUPPORTED, "layer", name, names);
    return NULL;
}

/* Names that older files use: {old, new}; the new one wins where both are there. */
static const char *const renamed[][2] = { { "batch_input_shape", "batch_shape" },
                                          { "alpha", "negative_slope" },
                                          { "dilation", "dilation_rate" } };

static lks_status modern(const lks_layer_class *class_, const json_t *config, json_t **out)
{
    json_t *copy = json_copy((json_t *)config);

    if (copy == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        json_t *value = json_object_get(copy, renamed[i][0]);
        bool known_old = false, known_new = false;
        for (const lks_field *f = class_->fields; f->key != NULL; f++) {
            known_old = known_old || strcmp(f->key, renamed[i][0]) == 0;
            known_new = known_new || strcmp(f->key, renamed[i][1]) == 0;
        }
        if (value == NULL || known_old || !known_new || json_object_get(copy, renamed[i][1]) != NULL) continue;
        json_object_set(copy, renamed[i][1], value);
    }
    /* Keras 2 wrote the axis of a batch normalisation as a list of one. */
    if (strcmp(class_->name, "BatchNormalization") == 0 && json_array_size(json_object_get(copy, "axis")) == 1) {
        json_object_set(copy, "axis", json_array_get(json_object_get(copy, "axis"), 0));
    }
    *out = copy;
    return LKS_OK;
}

static lks_status read_name(lks_layer *layer, const json_t *name)
{
    if (name == NULL || json_is_null(name)) return LKS_OK;
    if (!json_is_string(name)) return lks__fail(LKS_E_FORMAT, "name: expected a string");
    if (strlen(json_string_value(name)) != json_string_length(name)) {
        return lks__fail(LKS_E_FORMAT, "name: a NUL byte inside the string");
    }
    layer->name = lks__strdup(json_string_value(name));
    return layer->name != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
}

static lks_status check_dtype(const json_t *dtype)
{
    const json_t *policy = json_object_get(dtype, "config");
    const char *name;

    if (dtype == NULL || json_is_null(dtype)) return LKS_OK;
    if (json_is_object(policy)) dtype = json_object_get(policy, "name");
    name = json_string_value(dtype);
    if (name == NULL) return lks__fail(LKS_E_FORMAT, "dtype: expected a name or a policy");
    if (strcmp(name, "float32") != 0) {
        return lks__fail(LKS_E_UNSUPPORTED, "dtype \"%.40s\" is not available yet", name);
    }
    return LKS_OK;
}

static lks_status read_head(lks_layer *layer, const json_t *config)
{
    const json_t *trainable = json_object_get(config, "trainable");

    LKS_TRY(read_name(layer, json_object_get(config, "name")));
    LKS_TRY(check_dtype(json_object_get(config, "dtype")));
    if (trainable == NULL) return LKS_OK;
    if (!json_is_boolean(trainable)) return lks__fail(LKS_E_FORMAT, "trainable: expected true or false");
    layer->trainable = json_is_true(trainable);
    return LKS_OK;
}

static lks_status from_config(const lks_layer_class *class_, const json_t *config, lks_layer **out)
{
    json_t *modern_config;
    void *options = NULL;
    lks_layer *layer;
    lks_status status;

    if ((class_->traits & LKS_LAYER_UNSAVED) != 0) {
        return lks__fail(LKS_E_UNSUPPORTED, "holds code that cannot be read from a file; nothing of it is run");
    }
    LKS_TRY(modern(class_, config, &modern_config));
    status = lks__options_from_json(class_->fields, class_->options_size, modern_config, false, &options);
    json_decref(modern_config);
    LKS_TRY(status);
    layer = lks__layer_create_normalised(class_, options);
    if (layer == NULL) return LKS_E_NOMEM;
    status = lks__layer_status(layer);
    if (status == LKS_OK) status = read_head(layer, config);
    if (status != LKS_OK) {
        lks_layer_release(layer);
        return status;
    }
    *out = layer;
    return LKS_OK;
}

lks_status lks__layer_from_config(const json_t *object, lks_layer **out)
{
    const char *class_name, *name;
    const json_t *config;
    const lks_layer_class *class_;
    lks_status status;

    LKS_TRY(lks__config_split("layer", object, &class_name, &config));
    if (!json_is_object(config)) return lks__fail(LKS_E_FORMAT, "layer %.80s: config must be an object", class_name);
    name = json_string_value(json_object_get(config, "name"));
    class_ = lks__layer_class_find(class_name);
    status = class_ == NULL ? LKS_E_UNSUPPORTED : from_config(class_, config, out);
    if (status == LKS_OK) return LKS_OK;
    return lks__context(status, "layer \"%.80s\" (%.80s)", name != NULL ? name : "?", class_name);
}

/* ---- writing ---- */

static json_t *policy(void)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:n}", "module", "keras", "class_name", "DTypePolicy", "config", "name",
                     "float32", "registered_name");
}

static json_t *shape_json(const lks_type *type)
{
    json_t *list = json_array();

    if (list == NULL || (type->batched && json_array_append_new(list, json_null()) != 0)) return list;
    for (int64_t i = 0; i < type->shape.rank; i++) json_array_append_new(list, json_integer(type->shape.dim[i]));
    return list;
}

static json_t *build_config(const lks_layer *layer)
{
    json_t *shapes;

    if ((layer->class_->traits & LKS_LAYER_MERGES) == 0)
        return json_pack("{s:o}", "input_shape", shape_json(layer->input_types));
    shapes = json_array();
    for (int i = 0; shapes != NULL && i < layer->n_inputs; i++) {
        json_array_append_new(shapes, shape_json(layer->input_types + i));
    }
    return json_pack("{s:o}", "input_shape", shapes);
}

lks_status lks__layer_to_config(const lks_layer *layer, json_t **out)
{
    json_t *config, *object;
    const lks_layer_class *class_;
    lks_status status;

    LKS_TRY(lks__layer_status(layer));
    class_ = layer->class_;
    if ((class_->traits & LKS_LAYER_UNSAVED) != 0) {
        return lks__fail(LKS_E_UNSUPPORTED,
                         "layer \"%s\" (%s) holds a function of yours: a model with it cannot be saved",
                         layer->name != NULL ? layer->name : class_->snake, class_->name);
    }
    config = json_pack("{s:s, s:b, s:o}", "name", layer->name != NULL ? layer->name : class_->snake, "trainable",
                       layer->trainable, "dtype", policy());
    if (config == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    status = lks__options_to_json(class_->fields, layer->options, config);
    if (status != LKS_OK) {
        json_decref(config);
        return status;
    }
    LKS_TRY(lks__config_object(class_->module, class_->name, config, &object));
    if (layer->built && (class_->traits & LKS_LAYER_BUILD_CONFIG) != 0 &&
        json_object_set_new(object, "build_config", build_config(layer)) != 0) {
        json_decref(object);
        return lks__fail(LKS_E_NOMEM, "out of memory");
    }
    *out = object;
    return LKS_OK;
}
