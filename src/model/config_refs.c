/* config_refs.c - see config_io.h: which outputs a call takes, in the spellings of Keras 3 (objects with a keras_history inside
 * args) and of Keras 2 (lists of [layer, call, output, arguments]). */
#include <string.h>

#include "base/alloc.h"
#include "config_io.h"

static lks_status add_ref(lks_config_refs *refs, const char *where, const json_t *triple)
{
    const json_t *layer = json_array_get(triple, 0), *node = json_array_get(triple, 1),
                 *tensor = json_array_get(triple, 2);

    if (!json_is_string(layer) || !json_is_integer(node) || !json_is_integer(tensor)) {
        return lks__fail(LKS_E_FORMAT, "%s: a reference must be [layer, call, output]", where);
    }
    LKS_TRY(lks__grow(&refs->items, &refs->capacity, refs->n + 1, sizeof *refs->items));
    refs->items[refs->n++] = (lks_config_ref){ json_string_value(layer), json_integer_value(node),
                                               json_integer_value(tensor) };
    return LKS_OK;
}

static bool is_triple(const json_t *value)
{
    size_t n = json_array_size(value);

    return (n == 3 || n == 4) && json_is_string(json_array_get(value, 0)) && json_is_integer(json_array_get(value, 1));
}

/* An argument that is not a tensor: only what changes nothing here. */
static lks_status check_kwarg(const char *where, const char *key, const json_t *value)
{
    if (json_is_null(value) || strcmp(key, "training") == 0) return LKS_OK;
    return lks__fail(LKS_E_UNSUPPORTED, "%s: the call argument %.40s is not available yet", where, key);
}

lks_status lks__config_kwargs(const char *where, const json_t *kwargs)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)kwargs, key, value) LKS_TRY(check_kwarg(where, key, value));
    return LKS_OK;
}

lks_status lks__config_refs(const json_t *value, const char *where, lks_config_refs *refs)
{
    const char *class_name = json_string_value(json_object_get(value, "class_name")), *key;
    json_t *item;
    size_t i;

    if (json_is_null(value)) return LKS_OK;
    if (is_triple(value)) {
        LKS_TRY(lks__config_kwargs(where, json_array_get(value, 3)));
        return add_ref(refs, where, value);
    }
    if (json_is_array(value)) {
        json_array_foreach((json_t *)value, i, item) LKS_TRY(lks__config_refs(item, where, refs));
        return LKS_OK;
    }
    if (!json_is_object(value)) {
        return lks__fail(LKS_E_UNSUPPORTED, "%s: a call argument that is not a tensor is not available yet", where);
    }
    if (class_name != NULL) {
        if (strcmp(class_name, "__keras_tensor__") != 0) {
            return lks__fail(LKS_E_UNSUPPORTED, "%s: a call argument of class %.80s is not available yet", where,
                             class_name);
        }
        return add_ref(refs, where, json_object_get(json_object_get(value, "config"), "keras_history"));
    }
    json_object_foreach((json_t *)value, key, item) LKS_TRY(lks__config_refs(item, where, refs));
    return LKS_OK;
}
