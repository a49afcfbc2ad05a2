/* value.c - arrays written out: {"array": [[1, 2], [3, 4]], "dtype": "int32"}, or a list, a number, a text. Numbers without a dtype
 * are int64, or float32 where one has a fraction. "shape" tells the sizes of an array that has no elements. A number that its
 * dtype can't hold is refused. */
#include <math.h>
#include <string.h>

#include "data/stages.h"
#include "language.h"
#include "tensor/tensor.h"

enum { MOST_PARTS = 64, DEEPEST = 16 };

static const lks_word of_a_value = { .name = "value", .arguments = "array:v dtype:s shape:v" };

/* The sizes along first elements; all others must agree when they are put. */
static void find_shape(const json_t *v, lks_shape *shape)
{
    for (shape->rank = 0; json_is_array(v) && shape->rank < LKS_MAX_RANK; v = json_array_get(v, 0))
        shape->dim[shape->rank++] = (int64_t)json_array_size(v);
}

/* What all scalars are: the widest of bool, int64, float32, or string. */
static lks_dtype find_dtype(const json_t *v)
{
    lks_dtype found = json_is_string(v)    ? LKS_STRING
                      : json_is_real(v)    ? LKS_FLOAT32
                      : json_is_boolean(v) ? LKS_BOOL
                                           : LKS_INT64;

    for (size_t i = 0; i < json_array_size(v); i++) {
        lks_dtype d = find_dtype(json_array_get(v, i));
        if (i == 0 || d == LKS_FLOAT32 || d == LKS_STRING) found = d;
    }
    return found;
}

static int64_t count_scalars(const json_t *v)
{
    int64_t n = 0;

    if (!json_is_array(v)) return 1;
    for (size_t i = 0; i < json_array_size(v); i++) n += count_scalars(json_array_get(v, i));
    return n;
}

/* How far whole numbers of a dtype reach; false: any number of ours will do. */
static bool bounds_of(lks_dtype dtype, double *low, double *high)
{
    switch (dtype) {
    case LKS_BOOL: *low = 0, *high = 1; return true;
    case LKS_INT8: *low = INT8_MIN, *high = INT8_MAX; return true;
    case LKS_UINT8: *low = 0, *high = UINT8_MAX; return true;
    case LKS_INT16: *low = INT16_MIN, *high = INT16_MAX; return true;
    case LKS_UINT16: *low = 0, *high = UINT16_MAX; return true;
    case LKS_INT32: *low = INT32_MIN, *high = INT32_MAX; return true;
    case LKS_UINT32: *low = 0, *high = UINT32_MAX; return true;
    case LKS_INT64: *low = -0x1p63, *high = 0x1.fffffffffffffp62; return true;
    case LKS_UINT64: *low = 0, *high = 0x1.fffffffffffffp63; return true;
    default: return false;
    }
}

static lks_status check_fits(const json_t *v, lks_dtype dtype)
{
    double low, high, x = json_number_value(v);

    if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) LKS_TRY(check_fits(json_array_get(v, i), dtype));
        return LKS_OK;
    }
    if (!json_is_number(v) || !bounds_of(dtype, &low, &high)) return LKS_OK;
    if (json_is_integer(v) && (dtype == LKS_INT64 || (dtype == LKS_UINT64 && json_integer_value(v) >= 0)))
        return LKS_OK;
    if (x >= low && x <= high && x == floor(x)) return LKS_OK;
    return lks__fail(LKS_E_ARG, "the number %.17g is no %s", x, lks_dtype_name(dtype));
}

static lks_status put_scalar(lks_tensor *t, int64_t i, const json_t *v)
{
    if (lks_tensor_dtype(t) == LKS_STRING)
        return json_is_string(v) ? lks__tensor_set_bytes(t, i, json_string_value(v), json_string_length(v))
                                 : lks__fail(LKS_E_ARG, "a value that is no text stands in an array of texts");
    if (!json_is_number(v) && !json_is_boolean(v))
        return lks__fail(LKS_E_ARG, "a value that is no number stands in an array of numbers");
    if (lks_tensor_dtype(t) == LKS_INT64)
        ((int64_t *)lks_tensor_data(t))[i] = json_is_integer(v) ? json_integer_value(v) : json_is_true(v);
    else ((double *)lks_tensor_data(t))[i] = json_is_number(v) ? json_number_value(v) : json_is_true(v);
    return LKS_OK;
}

static lks_status put(lks_tensor *t, const lks_shape *shape, int64_t axis, const json_t *v, int64_t *at)
{
    if (axis == shape->rank) return put_scalar(t, (*at)++, v);
    if (!json_is_array(v) || (int64_t)json_array_size(v) != shape->dim[axis])
        return lks__fail(LKS_E_SHAPE, "the rows of an array have different lengths along axis %lld", (long long)axis);
    for (size_t i = 0; i < json_array_size(v); i++) LKS_TRY(put(t, shape, axis + 1, json_array_get(v, i), at));
    return LKS_OK;
}

/* The dtype of the value: the wanted one, the one that it names (which must be that), or what its scalars are. */
static lks_status settle_dtype(const json_t *json, const json_t *array, lks_dtype found, lks_dtype *dtype)
{
    const json_t *given = json_is_object(json) ? json_object_get(json, "dtype") : NULL;
    lks_dtype named = given != NULL ? lks__call_dtype(given) : (lks_dtype)0;

    if (given != NULL && named == 0) return LKS_E_ARG;
    if (named != 0 && *dtype != 0 && named != *dtype)
        return lks__fail(LKS_E_SHAPE, "a value of dtype %s is needed, found %s", lks_dtype_name(*dtype),
                         lks_dtype_name(named));
    if (*dtype == 0) *dtype = named != 0 ? named : found;
    if ((*dtype == LKS_STRING) != (found == LKS_STRING) && (!json_is_array(array) || json_array_size(array) > 0))
        return lks__fail(LKS_E_ARG, "a value of dtype %s can't be %s", lks_dtype_name(*dtype), lks_dtype_name(found));
    return check_fits(array, *dtype);
}

/* The sizes that "shape" gives, or those of the lists. */
static lks_status settle_shape(const json_t *json, const json_t *array, lks_shape *shape)
{
    const json_t *given = json_is_object(json) ? json_object_get(json, "shape") : NULL;

    find_shape(array, shape);
    if (lks_shape_size(shape) != count_scalars(array))
        return lks__fail(LKS_E_SHAPE, "the rows of an array have different lengths");
    if (given == NULL) return LKS_OK;
    if (!json_is_array(given) || json_array_size(given) > LKS_MAX_RANK || lks_shape_size(shape) != 0)
        return lks__fail(LKS_E_SHAPE, "\"shape\" is a list of sizes of an array that has no elements");
    shape->rank = (int64_t)json_array_size(given);
    for (int64_t k = 0; k < shape->rank; k++) shape->dim[k] = json_integer_value(json_array_get(given, (size_t)k));
    if (lks_shape_size(shape) != 0) return lks__fail(LKS_E_SHAPE, "no size of \"shape\" is 0, the array is empty");
    return LKS_OK;
}

/* Written as int64, float64 or strings, then cast. */
lks_tensor *lks__read_value(const json_t *json, lks_dtype dtype)
{
    const json_t *array = json_is_object(json) ? json_object_get(json, "array") : json;
    lks_dtype found = find_dtype(array), wide;
    lks_shape shape;
    lks_tensor *t, *cast = NULL;
    int64_t at = 0;

    if (array == NULL || json_is_object(array)) {
        lks__fail(LKS_E_ARG, "a value is a number, a text, a list of them or {\"array\": ..., \"dtype\": ...}");
        return NULL;
    }
    if (json_is_object(json) &&
        lks__call_check(&(lks_call){ .json = json, .word = "value" }, &of_a_value, "") != LKS_OK)
        return NULL;
    if (settle_dtype(json, array, found, &dtype) != LKS_OK || settle_shape(json, array, &shape) != LKS_OK) return NULL;
    wide = dtype == LKS_STRING ? LKS_STRING : found == LKS_FLOAT32 ? LKS_FLOAT64 : LKS_INT64;
    t = lks_tensor_create(wide, shape);
    if (t != NULL && (lks_shape_size(&shape) == 0 || put(t, &shape, 0, array, &at) == LKS_OK))
        cast = wide == dtype ? lks_tensor_retain(t) : lks_tensor_cast(t, dtype);
    lks_tensor_release(t);
    return cast;
}

/* ---- as datasets ---- */

static lks_dataset *leaf(const json_t *json, bool slices)
{
    lks_tensor *t = lks__read_value(json, (lks_dtype)0);
    lks_dataset *ds = t == NULL ? lks__language_failed(lks__error_code())
                      : slices  ? lks_from_tensor_slices_n(1, &t)
                                : lks_from_tensors_n(1, &t);

    lks_tensor_release(t);
    return ds;
}

/* A zip would end with the shortest. */
static lks_status check_rows(size_t n, lks_dataset *const *part)
{
    for (size_t i = 1; i < n; i++)
        if (part[i]->cardinality != part[0]->cardinality)
            return lks__fail(LKS_E_ARG, "component 0 has %lld rows, component %zu has %lld: they must be equal",
                             (long long)part[0]->cardinality, i, (long long)part[i]->cardinality);
    return LKS_OK;
}

lks_dataset *lks__value_dataset(const lks_call *c, const json_t *json, bool slices, int depth)
{
    const json_t *tuple = json_object_get(json, "tuple"), *dict = json_object_get(json, "dict"), *v;
    const char *name[MOST_PARTS], *key;
    lks_dataset *part[MOST_PARTS];
    size_t n = tuple != NULL ? json_array_size(tuple) : json_object_size(dict), i = 0;

    if (tuple == NULL && dict == NULL) return leaf(json, slices);
    if (n == 0 || n > MOST_PARTS || depth == DEEPEST)
        return lks__language_failed(
            lks__fail(LKS_E_ARG, "a tuple or dict has 1 to %d parts, at most %d deep", (int)MOST_PARTS, (int)DEEPEST));
    for (; tuple != NULL && i < n; i++) part[i] = lks__value_dataset(c, json_array_get(tuple, i), slices, depth + 1);
    if (tuple == NULL) json_object_foreach((json_t *)dict, key, v)
        {
            name[i] = key;
            part[i++] = lks__value_dataset(c, v, slices, depth + 1);
        }
    for (i = 0; i < n && lks__dataset_ok(part[i]); i++) continue;
    if (i < n || check_rows(n, part) != LKS_OK) {
        lks_dataset *failed = i < n ? lks_dataset_retain(part[i]) : lks__language_failed(LKS_E_ARG);
        for (i = 0; i < n; i++) lks_dataset_release(part[i]);
        return failed;
    }
    return tuple != NULL ? lks_zip_n(n, part) : lks_zip_named(n, name, part);
}
