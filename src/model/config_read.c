/* config_read.c - see config_io.h: classes and names, Sequential models. The graph of Functional ones is in config_graph.c. */
#include <string.h>

#include "config_io.h"
#include "files/json.h"
#include "names.h"
#include "tensor/tensor.h"

bool lks__is_model_class(const char *class_name)
{
    return strcmp(class_name, "Functional") == 0 || strcmp(class_name, "Sequential") == 0 ||
           strcmp(class_name, "Model") == 0;
}

/* ---- shapes and inputs ---- */

lks_status lks__row_from_json(const json_t *shape, const char *where, lks_shape *row)
{
    size_t n = json_array_size(shape);

    if (!json_is_array(shape) || n == 0)
        return lks__fail(LKS_E_FORMAT, "%s: the shape must be a list with the batch first", where);
    if (n > LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "%s: a shape of %zu axes; %d is the limit", where, n, LKS_MAX_RANK);
    row->rank = (int64_t)n - 1;
    for (size_t i = 1; i < n; i++) {
        const json_t *size = json_array_get(shape, i);
        if (json_is_null(size)) {
            return lks__fail(LKS_E_UNSUPPORTED,
                             "%s: axis %zu has no fixed size; sizes must be known, but for the batch", where, i);
        }
        if (!json_is_integer(size))
            return lks__fail(LKS_E_FORMAT, "%s: axis %zu of the shape is not an integer", where, i);
        row->dim[i - 1] = json_integer_value(size);
        if (row->dim[i - 1] < 0) {
            return lks__fail(LKS_E_FORMAT, "%s: axis %zu has size %lld", where, i, (long long)row->dim[i - 1]);
        }
    }
    return lks__shape_check(row) == LKS_OK ? LKS_OK : lks__context(LKS_E_FORMAT, "%s", where);
}

lks_status lks__input_from_config(const json_t *config, const char *where, lks_type *row)
{
    const json_t *shape = json_object_get(config, "batch_shape");
    const char *dtype;

    if (shape == NULL) shape = json_object_get(config, "batch_input_shape");
    *row = (lks_type){ .batched = true };
    LKS_TRY(lks__json_opt_string(config, where, "dtype", "float32", &dtype));
    row->dtype = lks__dtype_from_name(dtype);
    if (row->dtype != LKS_FLOAT32 && row->dtype != LKS_INT32 && row->dtype != LKS_INT64 && row->dtype != LKS_UINT8 &&
        row->dtype != LKS_BOOL) {
        return lks__fail(LKS_E_UNSUPPORTED, "%s: dtype %.40s of an input is not available yet", where, dtype);
    }
    return lks__row_from_json(shape, where, &row->shape);
}

/* ---- layers ---- */

static const char *config_name(const json_t *object)
{
    const char *name = json_string_value(json_object_get(json_object_get(object, "config"), "name"));

    return name != NULL ? name : "?";
}

/* Classes of somebody else and bare operations may have the names of our layers. */
static lks_status check_origin(const json_t *object, const char *class_name)
{
    const char *module = json_string_value(json_object_get(object, "module"));
    const char *registered = json_string_value(json_object_get(object, "registered_name"));

    if (registered != NULL && strchr(registered, '>') != NULL) {
        return lks__fail(LKS_E_UNSUPPORTED,
                         "layer \"%.80s\" is of the custom class %.80s, whose code is not in the file",
                         config_name(object), registered);
    }
    if (module != NULL && strncmp(module, "keras.src.ops", 13) == 0) {
        return lks__fail(LKS_E_UNSUPPORTED, "the operation %.80s as a node of a model is not available yet",
                         class_name);
    }
    return LKS_OK;
}

lks_status lks__any_layer_from_config(const json_t *object, lks_layer **out)
{
    const char *class_name;
    const json_t *config;
    lks_model *model;

    LKS_TRY(lks__config_split("layer", object, &class_name, &config));
    LKS_TRY(check_origin(object, class_name));
    if (!lks__is_model_class(class_name)) return lks__layer_from_config(object, out);
    LKS_TRY(lks__model_from_config(object, false, &model));
    *out = lks__model_as_layer(model);
    lks_model_release(model);
    return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a nested model");
}

/* ---- sequential ---- */

static const json_t *row_of_first(const json_t *config, const json_t *layers)
{
    const json_t *shape = json_object_get(config, "build_input_shape");

    if (json_is_array(shape)) return shape;
    return json_object_get(json_object_get(json_array_get(layers, 0), "config"), "batch_input_shape");
}

static lks_status add_layers(lks_model *model, const json_t *layers, const char *name, lks_type *row, bool *known)
{
    size_t n = json_array_size(layers);

    for (size_t i = 0; i < n; i++) {
        const json_t *object = json_array_get(layers, i), *config;
        const char *class_name;
        lks_layer *layer = NULL;

        LKS_TRY(lks__config_split("layer", object, &class_name, &config));
        if (strcmp(class_name, "InputLayer") == 0) {
            if (i > 0)
                return lks__fail(LKS_E_FORMAT, "model \"%.80s\": layer %zu is an InputLayer; it must be the first",
                                 name, i);
            LKS_TRY(lks__input_from_config(config, config_name(object), row));
            *known = true;
            continue;
        }
        LKS_TRY(lks__any_layer_from_config(object, &layer));
        lks_sequential_add(model, layer);
        LKS_TRY(lks_model_status(model));
    }
    return LKS_OK;
}

static lks_status fill_sequential(lks_model *model, const json_t *config, const json_t *layers, const char *name)
{
    lks_type row = { .dtype = LKS_FLOAT32, .batched = true };
    bool known = false;
    const json_t *shape;

    LKS_TRY(add_layers(model, layers, name, &row, &known));
    shape = row_of_first(config, layers);
    if (!known && json_is_array(shape)) {
        LKS_TRY(lks__row_from_json(shape, name, &row.shape));
        known = true;
    }
    return known ? lks__sequential_build(model, row) : LKS_OK;
}

lks_status lks__sequential_from_config(const json_t *config, lks_model **out)
{
    lks_sequential_options options = { .struct_size = sizeof options };
    const json_t *layers = config;
    const char *name = "sequential";
    lks_model *model;
    lks_status status;

    if (!json_is_array(config)) { /* before Keras 2.2.3 the config was the bare list */
        LKS_TRY(lks__json_opt_string(config, "Sequential", "name", "sequential", &name));
        layers = json_object_get(config, "layers");
        if (layers == NULL) return lks__fail(LKS_E_FORMAT, "model \"%.80s\": layers is missing", name);
        if (!json_is_array(layers)) return lks__fail(LKS_E_FORMAT, "model \"%.80s\": layers must be a list", name);
    }
    options.name = name;
    model = lks_sequential_with(&options);
    status = lks_model_status(model);
    if (status == LKS_OK) status = fill_sequential(model, config, layers, name);
    if (status == LKS_OK) *out = model;
    else lks_model_release(model);
    return status;
}

/* ---- any model ---- */

lks_status lks__model_from_config(const json_t *object, bool with_compile, lks_model **out)
{
    const json_t *config, *compile_config = json_object_get(object, "compile_config");
    const char *class_name;
    bool trainable = true;
    lks_model *model = NULL;
    lks_status status;

    LKS_TRY(lks__config_split("model", object, &class_name, &config));
    if (!lks__is_model_class(class_name)) {
        return lks__fail(
            LKS_E_UNSUPPORTED,
            "the model is of class %.80s: only Functional and Sequential models can be rebuilt from a file",
            class_name);
    }
    LKS_TRY(check_origin(object, class_name));
    if (json_is_object(config)) LKS_TRY(lks__json_opt_bool(config, config_name(object), "trainable", true, &trainable));
    if (strcmp(class_name, "Sequential") == 0) status = lks__sequential_from_config(config, &model);
    else status = lks__functional_from_config(config, &model);
    if (status == LKS_OK && !trainable) model->trainable = false;
    if (status == LKS_OK && with_compile && json_object_size(compile_config) > 0) {
        status = lks__compile_from_config(model, compile_config);
    }
    if (status == LKS_OK) *out = model;
    else lks_model_release(model);
    return status;
}

lks_model *lks_model_from_json(const char *json)
{
    json_t *object = NULL;
    lks_model *model = NULL;

    if (json == NULL) {
        lks__fail(LKS_E_ARG, "lks_model_from_json: the text is NULL");
        return NULL;
    }
    if (lks__json_parse(json, strlen(json), "the model's JSON", &object) != LKS_OK) return NULL;
    if (lks__model_from_config(object, true, &model) != LKS_OK) model = NULL;
    json_decref(object);
    return model;
}
