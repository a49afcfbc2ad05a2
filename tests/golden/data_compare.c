/* data_compare.c - elements against what was recorded. Everything must be equal; float32 values were written with all their digits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

static bool say(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

static bool equal_bytes(const lks_bytes *got, const json_t *want)
{
    const char *hex = json_string_value(json_object_get(want, "hex"));

    if (json_is_string(want))
        return got->size == json_string_length(want) &&
               (got->size == 0 || memcmp(got->data, json_string_value(want), got->size) == 0);
    if (hex == NULL || strlen(hex) != 2 * got->size) return false;
    for (size_t i = 0; i < got->size; i++) {
        char pair[3] = { hex[2 * i], hex[2 * i + 1], 0 };
        if ((unsigned char)got->data[i] != strtoul(pair, NULL, 16)) return false;
    }
    return true;
}

static bool equal_double(double got, const json_t *want, bool single)
{
    const char *text = json_string_value(want);
    double w = json_is_boolean(want) ? json_is_true(want) : json_number_value(want);

    if (text != NULL) w = strcmp(text, "inf") == 0 ? INFINITY : strcmp(text, "-inf") == 0 ? -INFINITY : NAN;
    if (isnan(w)) return isnan(got);
    return got == w || (single && (float)got == (float)w);
}

static bool equal_scalar(const lks_tensor *t, int64_t i, const json_t *want)
{
    const void *p = lks_tensor_cdata(t);

    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: return json_is_integer(want) && ((const int64_t *)p)[i] == json_integer_value(want);
    case LKS_INT32: return json_is_integer(want) && ((const int32_t *)p)[i] == json_integer_value(want);
    case LKS_FLOAT32: return equal_double((double)((const float *)p)[i], want, true);
    case LKS_FLOAT64: return equal_double(((const double *)p)[i], want, false);
    case LKS_STRING: return equal_bytes((const lks_bytes *)p + i, want);
    case LKS_BOOL: return json_is_boolean(want) && ((const uint8_t *)p)[i] == json_is_true(want);
    default: return json_is_integer(want) && ((const uint8_t *)p)[i] == json_integer_value(want);
    }
}

/* The part of t from axis k on at element *at against nested lists. */
static bool equal_lists(const lks_tensor *t, const lks_shape *shape, int64_t k, int64_t *at, const json_t *want)
{
    if (k == shape->rank) return equal_scalar(t, (*at)++, want);
    if (!json_is_array(want) || (int64_t)json_array_size(want) != shape->dim[k]) return false;
    for (int64_t i = 0; i < shape->dim[k]; i++)
        if (!equal_lists(t, shape, k + 1, at, json_array_get(want, (size_t)i))) return false;
    return true;
}

static bool equal_tensor(const lks_tensor *t, const json_t *want)
{
    const json_t *sizes = json_object_get(want, "shape");
    lks_shape shape = lks_tensor_shape(t);
    int64_t at = 0;

    if (lks_tensor_size(t) > 0) return equal_lists(t, &shape, 0, &at, want);
    if ((int64_t)json_array_size(sizes) != shape.rank) return false;
    for (int64_t k = 0; k < shape.rank; k++)
        if (json_integer_value(json_array_get(sizes, (size_t)k)) != shape.dim[k]) return false;
    return true;
}

/* Rows [begin, end) of level k. */
static bool equal_rows(const lks_ragged *r, size_t k, int64_t begin, int64_t end, const json_t *want)
{
    const int64_t *split = k < lks_ragged_rank(r) ? lks_tensor_cdata(lks_ragged_split(r, k)) : NULL;
    lks_tensor *values = lks_ragged_values(r);
    lks_shape shape = lks_tensor_shape(values);

    if ((int64_t)json_array_size(want) != end - begin) return false;
    for (int64_t i = begin; i < end; i++) {
        const json_t *row = json_array_get(want, (size_t)(i - begin));
        int64_t at = shape.dim[0] > 0 ? i * (lks_tensor_size(values) / shape.dim[0]) : 0;
        if (split != NULL ? !equal_rows(r, k + 1, split[i], split[i + 1], row)
                          : !equal_lists(values, &shape, 1, &at, row))
            return false;
    }
    return true;
}

static bool equal_ragged(const lks_ragged *r, const json_t *want)
{
    const json_t *rows = json_object_get(want, "ragged");

    if (lks_ragged_rank(r) == 0) return equal_tensor(lks_ragged_values(r), want);
    return rows != NULL && equal_rows(r, 0, 0, lks_tensor_size(lks_ragged_split(r, 0)) - 1, rows);
}

static bool equal_dataset(lks_dataset *ds, const json_t *want, char *why, size_t size)
{
    const json_t *list = json_object_get(want, "dataset");
    lks_iter *it = NULL;
    lks_element *e;
    bool same = list != NULL && lks_iter_create(ds, &it) == LKS_OK;

    for (size_t i = 0; same && i < json_array_size(list); i++) {
        if (lks_iter_next(it, &e) != LKS_OK) same = say(why, size, "a nested dataset ends too soon");
        else {
            same = data_equal(e, json_array_get(list, i), why, size);
            lks_element_release(e);
        }
    }
    if (same && lks_iter_next(it, &e) != LKS_END) same = say(why, size, "a nested dataset does not end");
    lks_iter_release(it);
    return same;
}

static bool equal(const lks_element *e, const lks_spec *spec, size_t *leaf, const json_t *want, char *why, size_t size)
{
    const json_t *parts = json_object_get(want, lks_spec_kind_of(spec) == LKS_SPEC_TUPLE ? "tuple" : "dict");
    size_t i;

    switch (lks_spec_kind_of(spec)) {
    case LKS_SPEC_TENSOR:
        if (equal_tensor(lks_element_tensor(e, (*leaf)++), want)) return true;
        return say(why, size, "a component differs");
    case LKS_SPEC_RAGGED:
        if (equal_ragged(lks_element_ragged(e, (*leaf)++), want)) return true;
        return say(why, size, "a ragged component differs");
    case LKS_SPEC_DATASET: return equal_dataset(lks_element_dataset(e, (*leaf)++), want, why, size);
    default: break;
    }
    if (parts == NULL) return say(why, size, "the structure differs");
    for (i = 0; i < lks_spec_child_count(spec); i++) {
        const char *name = lks_spec_child_name(spec, i);
        const json_t *part = name != NULL ? json_object_get(parts, name) : json_array_get(parts, i);
        if (part == NULL || !equal(e, lks_spec_child(spec, i), leaf, part, why, size)) return false;
    }
    return i == (json_is_array(parts) ? json_array_size(parts) : json_object_size(parts));
}

bool data_equal(const lks_element *e, const json_t *want, char *why, size_t size)
{
    size_t leaf = 0;

    if (json_object_get(want, "error") != NULL) return say(why, size, "an error is expected, an element came");
    return equal(e, lks_element_spec(e), &leaf, want, why, size);
}

static bool leaf_equal(const lks_spec *spec, const json_t *want)
{
    const json_t *sizes = json_object_get(want, "shape");
    const char *dtype = json_string_value(json_object_get(want, "dtype"));
    lks_shape shape = lks_spec_shape(spec);

    if ((json_object_get(want, "kind") != NULL) != (lks_spec_kind_of(spec) == LKS_SPEC_RAGGED)) return false;
    if (dtype == NULL || data_dtype(dtype) != lks_spec_dtype(spec)) return false;
    if (!json_is_array(sizes)) return shape.rank < 0;
    if ((int64_t)json_array_size(sizes) != shape.rank) return false;
    for (int64_t k = 0; k < shape.rank; k++) {
        const json_t *n = json_array_get(sizes, (size_t)k);
        if (shape.dim[k] != (json_is_integer(n) ? json_integer_value(n) : -1)) return false;
    }
    return true;
}

bool data_spec_equal(const lks_spec *spec, const json_t *want)
{
    const json_t *parts = json_object_get(want, "tuple");

    if (parts == NULL) parts = json_object_get(want, "dict");
    if (json_object_get(want, "dataset") != NULL)
        return lks_spec_kind_of(spec) == LKS_SPEC_DATASET &&
               data_spec_equal(lks_spec_child(spec, 0), json_object_get(want, "dataset"));
    if (parts == NULL)
        return (lks_spec_kind_of(spec) == LKS_SPEC_TENSOR || lks_spec_kind_of(spec) == LKS_SPEC_RAGGED) &&
               leaf_equal(spec, want);
    if (lks_spec_kind_of(spec) != (json_is_array(parts) ? LKS_SPEC_TUPLE : LKS_SPEC_DICT)) return false;
    if (lks_spec_child_count(spec) != (json_is_array(parts) ? json_array_size(parts) : json_object_size(parts)))
        return false;
    for (size_t i = 0; i < lks_spec_child_count(spec); i++) {
        const char *name = lks_spec_child_name(spec, i);
        const json_t *part = name != NULL ? json_object_get(parts, name) : json_array_get(parts, i);
        if (part == NULL || !data_spec_equal(lks_spec_child(spec, i), part)) return false;
    }
    return true;
}

/* Where the class is the reference's own affair (an assertion that became an internal error, padding too long as data
 * loss), any refusal of ours is right; words are free. */
bool data_error_equal(lks_status status, const json_t *error)
{
    const char *type = json_string_value(json_object_get(error, "type"));

    if (status == LKS_OK || status == LKS_END || type == NULL) return false;
    if (strcmp(type, "NotFoundError") == 0) return status == LKS_E_NOTFOUND;
    if (strcmp(type, "FailedPreconditionError") == 0) return status == LKS_E_STATE;
    if (strcmp(type, "DataLossError") == 0) return status == LKS_E_FORMAT || status == LKS_E_SHAPE;
    if (strcmp(type, "InternalError") == 0) return true;
    return status == LKS_E_ARG || status == LKS_E_SHAPE || status == LKS_E_FORMAT || status == LKS_E_LIMIT;
}
