/* data_values.c - JSON values to tensors, and elements against recorded values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "tensor/tensor.h"

static const struct {
    const char *name;
    lks_dtype dtype;
} dtypes[] = {
    { "int64", LKS_INT64 },   { "int32", LKS_INT32 },   { "float32", LKS_FLOAT32 }, { "float64", LKS_FLOAT64 },
    { "string", LKS_STRING }, { "bool", LKS_BOOL },     { "uint8", LKS_UINT8 },     { "int8", LKS_INT8 },
    { "int16", LKS_INT16 },   { "uint16", LKS_UINT16 }, { "uint32", LKS_UINT32 },   { "uint64", LKS_UINT64 },
};

lks_dtype data_dtype(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0) return dtypes[i].dtype;
    return (lks_dtype)0;
}

static double number(const json_t *v)
{
    const char *text = json_string_value(v);

    if (json_is_boolean(v)) return json_is_true(v);
    if (json_is_number(v)) return json_number_value(v);
    if (text != NULL && strcmp(text, "inf") == 0) return INFINITY;
    if (text != NULL && strcmp(text, "-inf") == 0) return -INFINITY;
    return NAN;
}

/* Writes a JSON scalar as element i; strings through an element of the right spec are not needed: tensors own theirs. */
void data_put(lks_tensor *t, int64_t i, const json_t *v)
{
    void *p = lks_tensor_data(t);
    int64_t n = json_is_integer(v) ? json_integer_value(v) : (int64_t)number(v);

    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: ((int64_t *)p)[i] = n; break;
    case LKS_INT32: ((int32_t *)p)[i] = (int32_t)n; break;
    case LKS_FLOAT32: ((float *)p)[i] = (float)number(v); break;
    case LKS_FLOAT64: ((double *)p)[i] = number(v); break;
    case LKS_STRING: lks__tensor_set_bytes(t, i, json_string_value(v), json_string_length(v)); break;
    default: ((uint8_t *)p)[i] = (uint8_t)n; break;
    }
}

lks_tensor *data_scalar(lks_dtype dtype, double value)
{
    lks_tensor *t = lks_tensor_create(dtype, (lks_shape){ .rank = 0 });
    json_t *v = json_real(value);

    if (t != NULL) data_put(t, 0, v);
    json_decref(v);
    return t;
}

static void find_shape(const json_t *v, lks_shape *shape)
{
    for (shape->rank = 0; json_is_array(v) && shape->rank < LKS_MAX_RANK; v = json_array_get(v, 0))
        shape->dim[shape->rank++] = (int64_t)json_array_size(v);
}

static void fill(lks_tensor *t, const json_t *v, int64_t *at)
{
    if (!json_is_array(v)) {
        data_put(t, (*at)++, v);
        return;
    }
    for (size_t i = 0; i < json_array_size(v); i++) fill(t, json_array_get(v, i), at);
}

static lks_tensor *read_array(const json_t *json)
{
    const json_t *array = json_object_get(json, "array"), *given = json_object_get(json, "shape");
    lks_dtype dtype = data_dtype(json_string_value(json_object_get(json, "dtype")));
    lks_shape shape = { .rank = 0 };
    lks_tensor *t;
    int64_t at = 0;

    find_shape(array, &shape);
    if (given != NULL) {
        shape.rank = (int64_t)json_array_size(given);
        for (int64_t k = 0; k < shape.rank; k++) shape.dim[k] = json_integer_value(json_array_get(given, (size_t)k));
    }
    t = dtype == 0 ? NULL : lks_tensor_create(dtype, shape);
    if (t != NULL) fill(t, array, &at);
    return t;
}

/* Two-level lists of numbers. */
static lks_ragged *read_ragged(const json_t *json)
{
    const json_t *rows = json_object_get(json, "ragged");
    const char *name = json_string_value(json_object_get(json, "dtype"));
    int64_t n = (int64_t)json_array_size(rows), total = 0, at = 0;
    lks_tensor *split = lks_tensor_create(LKS_INT64, lks_shape(n + 1)), *values;
    lks_ragged *r;

    for (int64_t i = 0; i < n; i++) {
        total += (int64_t)json_array_size(json_array_get(rows, (size_t)i));
        ((int64_t *)lks_tensor_data(split))[i + 1] = total;
    }
    values = lks_tensor_create(name != NULL ? data_dtype(name) : LKS_INT32, lks_shape(total));
    fill(values, rows, &at);
    r = lks_ragged_create(values, 1, &split);
    lks_tensor_release(values);
    lks_tensor_release(split);
    return r;
}

static lks_spec *read(const json_t *json, data_value *out)
{
    const json_t *parts;
    lks_spec *child[16];
    const char *name[16], *key;
    json_t *v;
    size_t n = 0;

    if ((parts = json_object_get(json, "tuple")) != NULL) {
        for (; n < json_array_size(parts) && n < 16; n++) child[n] = read(json_array_get(parts, n), out);
        return lks_spec_tuple(n, child);
    }
    if ((parts = json_object_get(json, "dict")) != NULL) {
        /* Keys in bytewise order, as components stand. */
        json_object_foreach((json_t *)parts, key, v) name[n < 16 ? n++ : 15] = key;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (strcmp(name[i], name[j]) > 0) {
                    const char *swap = name[i];
                    name[i] = name[j];
                    name[j] = swap;
                }
        for (size_t i = 0; i < n; i++) child[i] = read(json_object_get(parts, name[i]), out);
        return lks_spec_dict(n, name, child);
    }
    if (out->n == 16) return NULL;
    if (json_object_get(json, "ragged") != NULL) {
        out->ragged = read_ragged(json);
        return out->ragged == NULL
                   ? NULL
                   : lks_spec_ragged(lks_tensor_dtype(lks_ragged_values(out->ragged)), lks_shape(-1, -1), 1);
    }
    if (json_is_object(json)) out->tensor[out->n] = read_array(json);
    else if (json_is_real(json)) out->tensor[out->n] = data_scalar(LKS_FLOAT32, json_real_value(json));
    else if (json_is_integer(json)) out->tensor[out->n] = data_scalar(LKS_INT32, (double)json_integer_value(json));
    if (out->tensor[out->n] == NULL) return NULL;
    out->n++;
    return lks_spec_tensor(lks_tensor_dtype(out->tensor[out->n - 1]), lks_tensor_shape(out->tensor[out->n - 1]));
}

bool data_value_read(const json_t *json, data_value *out)
{
    memset(out, 0, sizeof *out);
    out->spec = read(json, out);
    return out->spec != NULL;
}

void data_value_free(data_value *v)
{
    for (size_t i = 0; i < v->n; i++) lks_tensor_release(v->tensor[i]);
    lks_ragged_release(v->ragged);
    lks_spec_release(v->spec);
}
