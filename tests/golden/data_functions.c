/* data_functions.c - the functions that recorded pipelines name, each with the words of the language as its comment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "tensor/tensor.h"

/* The argument, which functions get as `user`. */
typedef struct data_arg {
    double value;
    int64_t integer;
} data_arg;

static int64_t arg_of(const void *user)
{
    return ((const data_arg *)user)->integer;
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t m = a % b;

    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static double get(const lks_element *e, size_t i)
{
    const lks_tensor *t = lks_element_tensor(e, i);

    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: return (double)*(const int64_t *)lks_tensor_cdata(t);
    case LKS_INT32: return (double)*(const int32_t *)lks_tensor_cdata(t);
    case LKS_FLOAT32: return (double)*(const float *)lks_tensor_cdata(t);
    case LKS_FLOAT64: return *(const double *)lks_tensor_cdata(t);
    default: return (double)*(const uint8_t *)lks_tensor_cdata(t);
    }
}

static int64_t geti(const lks_element *e, size_t i)
{
    return (int64_t)get(e, i);
}

/* A scalar of whatever number dtype component i has. */
static lks_status set(lks_element *e, size_t i, double v)
{
    lks_tensor *t = lks_element_output(e, i);
    void *p;

    if (t == NULL) return LKS_E_SHAPE;
    p = lks_tensor_data(t);
    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: *(int64_t *)p = (int64_t)v; break;
    case LKS_INT32: *(int32_t *)p = (int32_t)v; break;
    case LKS_FLOAT32: *(float *)p = (float)v; break;
    case LKS_FLOAT64: *(double *)p = v; break;
    default: *(uint8_t *)p = (uint8_t)v; break;
    }
    return LKS_OK;
}

static lks_shape scalar(void)
{
    return (lks_shape){ .rank = 0 };
}

static lks_spec *first(const lks_spec *in)
{
    return lks_spec_retain(lks_spec_leaf(in, 0));
}

#define SPEC(name) static lks_spec *name##_spec(const lks_map_context *context, const lks_spec *in, void *user)
#define APPLY(name) \
    static lks_status name(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
#define UNUSED (void)context, (void)in, (void)user

/* 2x, elementwise */
APPLY(fn_double)
{
    lks_tensor *x = lks_element_tensor(in, 0), *y = lks_element_output_shaped(out, 0, lks_tensor_shape(x));

    UNUSED;
    if (y == NULL) return LKS_E_SHAPE;
    for (int64_t i = 0; i < lks_tensor_size(x); i++) switch (lks_tensor_dtype(x)) {
        case LKS_INT64: ((int64_t *)lks_tensor_data(y))[i] = 2 * ((int64_t *)lks_tensor_data(x))[i]; break;
        case LKS_INT32: ((int32_t *)lks_tensor_data(y))[i] = 2 * ((int32_t *)lks_tensor_data(x))[i]; break;
        default: ((float *)lks_tensor_data(y))[i] = 2 * ((float *)lks_tensor_data(x))[i]; break;
        }
    return LKS_OK;
}
APPLY(fn_add)
{
    UNUSED;
    return set(out, 0, get(in, 0) + (double)arg_of(user));
} /* x + arg */
APPLY(fn_square)
{
    UNUSED;
    return set(out, 0, get(in, 0) * get(in, 0));
} /* x^2 */
SPEC(fn_sum_pair)
{
    UNUSED;
    return first(in);
}
APPLY(fn_sum_pair)
{
    UNUSED;
    return set(out, 0, get(in, 0) + get(in, 1));
} /* (a,b) -> a+b */
SPEC(fn_swap)
{
    UNUSED;
    return lks_spec_tuple_of(lks_spec_retain(lks_spec_child(in, 1)), lks_spec_retain(lks_spec_child(in, 0)));
}
APPLY(fn_swap) /* (a,b) -> (b,a) */
{
    UNUSED;
    if (lks_element_set(out, 0, lks_element_tensor(in, 1)) != LKS_OK) return LKS_E_SHAPE;
    return lks_element_set(out, 1, lks_element_tensor(in, 0));
}
SPEC(fn_to_dict)
{
    static const char *const names[] = { "a", "b" };
    lks_spec *child[2] = { first(in), first(in) };

    UNUSED;
    return lks_spec_dict(2, names, child);
}
APPLY(fn_to_dict) /* x -> {"a":10x, "b":x} */
{
    UNUSED;
    return set(out, 0, get(in, 0) * 10) != LKS_OK ? LKS_E_SHAPE : set(out, 1, get(in, 0));
}
SPEC(fn_cast_float)
{
    UNUSED;
    return lks_spec_tensor(LKS_FLOAT32, scalar());
}
APPLY(fn_cast_float)
{
    UNUSED;
    return set(out, 0, (double)((float)get(in, 0) / 4.0f));
} /* float32 x/4 */

static lks_status fill(lks_element *out, size_t i, lks_shape shape, int64_t value)
{
    lks_tensor *t = lks_element_output_shaped(out, i, shape);

    if (t == NULL) return LKS_E_SHAPE;
    for (int64_t k = 0; k < lks_tensor_size(t); k++) ((int64_t *)lks_tensor_data(t))[k] = value;
    return LKS_OK;
}
SPEC(fn_fill)
{
    UNUSED;
    return lks_spec_tensor(LKS_INT64, lks_shape(-1));
}
APPLY(fn_fill)
{
    UNUSED;
    return fill(out, 0, lks_shape(geti(in, 0)), geti(in, 0));
} /* x times x */
APPLY(fn_bad_fill)
{
    UNUSED;
    return fill(out, 0, lks_shape(geti(in, 0) % 3 + 1), geti(in, 0));
} /* lengths change */
SPEC(fn_fill2)
{
    UNUSED;
    return lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, lks_shape(-1)), lks_spec_tensor(LKS_INT64, lks_shape(-1, 2)));
}
APPLY(fn_fill2) /* (vector [x], matrix [x+1,2]) */
{
    int64_t x = geti(in, 0);

    UNUSED;
    return fill(out, 0, lks_shape(x), x) != LKS_OK ? LKS_E_SHAPE : fill(out, 1, lks_shape(x + 1, 2), x);
}
SPEC(fn_fill_text)
{
    UNUSED;
    return lks_spec_tensor(LKS_STRING, lks_shape(-1));
}
APPLY(fn_fill_text) /* x strings "ab" */
{
    lks_tensor *t = lks_element_output_shaped(out, 0, lks_shape(geti(in, 0)));

    UNUSED;
    if (t == NULL) return LKS_E_SHAPE;
    for (int64_t k = 0; k < lks_tensor_size(t); k++)
        if (lks_element_set_bytes(out, 0, k, "ab", 2) != LKS_OK) return LKS_E_NOMEM;
    return LKS_OK;
}
SPEC(fn_with_fill)
{
    UNUSED;
    return lks_spec_tuple_of(first(in), lks_spec_tensor(LKS_INT64, lks_shape(-1)));
}
APPLY(fn_with_fill) /* (x, vector [x]) */
{
    UNUSED;
    return set(out, 0, get(in, 0)) != LKS_OK ? LKS_E_SHAPE : fill(out, 1, lks_shape(geti(in, 0)), geti(in, 0));
}

/* ---- datasets ---- */

SPEC(fn_range)
{
    UNUSED;
    return lks_spec_dataset(lks_spec_tensor(LKS_INT64, scalar()));
}
APPLY(fn_range_of)
{
    UNUSED;
    return lks_element_set_dataset(out, 0, lks_range(0, geti(in, 0), 1));
} /* 0..x-1 */
APPLY(fn_tens) /* 10x .. 10x+arg-1 */
{
    int64_t x = geti(in, 0) * 10;

    UNUSED;
    return lks_element_set_dataset(out, 0, lks_range(x, x + arg_of(user), 1));
}
SPEC(fn_repeated)
{
    UNUSED;
    return lks_spec_dataset(first(in));
}
APPLY(fn_repeated) /* x, arg times */
{
    UNUSED;
    return lks_element_set_dataset(out, 0, lks_repeat(lks_from_tensors(lks_element_tensor(in, 0)), arg_of(user)));
}
SPEC(fn_letters)
{
    UNUSED;
    return lks_spec_dataset(lks_spec_tensor(LKS_STRING, scalar()));
}
APPLY(fn_letters) /* (text,n) -> text0, text1, .. */
{
    const lks_bytes *text = lks_tensor_cdata(lks_element_tensor(in, 0));
    int64_t n = geti(in, 1);
    lks_tensor *all = lks_tensor_create(LKS_STRING, lks_shape(n));
    lks_dataset *ds;

    UNUSED;
    for (int64_t i = 0; i < n; i++) {
        char word[64];
        int size = snprintf(word, sizeof word, "%.*s%lld", (int)text->size, text->data, (long long)i);
        lks__tensor_set_bytes(all, i, word, (size_t)size);
    }
    ds = lks_from_tensor_slices(all);
    lks_tensor_release(all);
    return lks_element_set_dataset(out, 0, ds);
}

/* ---- predicates and keys ---- */

APPLY(fn_is_even)
{
    UNUSED;
    return set(out, 0, floor_mod(geti(in, 0), 2) == 0);
}
APPLY(fn_is_multiple)
{
    UNUSED;
    return set(out, 0, floor_mod(geti(in, 0), arg_of(user)) == 0);
}
APPLY(fn_less)
{
    UNUSED;
    return set(out, 0, get(in, 0) < ((const data_arg *)user)->value);
}
APPLY(fn_mod)
{
    UNUSED;
    return set(out, 0, (double)floor_mod(geti(in, 0), arg_of(user)));
}
APPLY(fn_mod_neg)
{
    UNUSED;
    return set(out, 0, -(double)floor_mod(geti(in, 0), arg_of(user)));
}
APPLY(fn_size_by_key)
{
    UNUSED;
    return set(out, 0, get(in, 0) + 1);
}
SPEC(fn_length)
{
    UNUSED;
    return lks_spec_tensor(LKS_INT32, scalar());
}
APPLY(fn_length)
{
    UNUSED;
    return set(out, 0, (double)lks_tensor_shape(lks_element_tensor(in, 0)).dim[0]);
}

/* ---- windows ---- */

/* The spec of a built dataset, which goes. */
static lks_spec *spec_of(lks_dataset *ds)
{
    lks_spec *s = lks_dataset_status(ds) == LKS_OK ? lks_spec_dataset(lks_spec_retain(lks_dataset_spec(ds))) : NULL;

    lks_dataset_release(ds);
    return s;
}

static lks_status no_element(void *state, lks_element *out, void *user)
{
    (void)state, (void)out, (void)user;
    return LKS_END;
}

static lks_dataset *empty_of(const lks_spec *element)
{
    const lks_generator g = { .struct_size = sizeof g, .name = "empty", .next = no_element };

    return lks_from_generator(lks_spec_retain(element), &g);
}

SPEC(fn_batch_all)
{
    UNUSED;
    return spec_of(lks_batch(empty_of(lks_spec_child(lks_spec_leaf(in, 1), 0)), arg_of(user)));
}
APPLY(fn_batch_all) /* (key, window) -> the window in batches of arg */
{
    UNUSED;
    return lks_element_set_dataset(out, 0, lks_batch(lks_dataset_retain(lks_element_dataset(in, 1)), arg_of(user)));
}
SPEC(fn_batch_window)
{
    UNUSED;
    return spec_of(lks_batch(empty_of(lks_spec_child(lks_spec_leaf(in, 0), 0)), arg_of(user)));
}
APPLY(fn_batch_window)
{
    UNUSED;
    return lks_element_set_dataset(out, 0, lks_batch(lks_dataset_retain(lks_element_dataset(in, 0)), arg_of(user)));
}
static lks_dataset *zipped(lks_dataset *a, lks_dataset *b, int64_t n)
{
    return lks_zip(lks_batch(a, n), lks_batch(b, n));
}
SPEC(fn_zip_window)
{
    UNUSED;
    return spec_of(zipped(empty_of(lks_spec_child(lks_spec_leaf(in, 0), 0)),
                          empty_of(lks_spec_child(lks_spec_leaf(in, 1), 0)), arg_of(user)));
}
APPLY(fn_zip_window)
{
    UNUSED;
    return lks_element_set_dataset(out, 0,
                                   zipped(lks_dataset_retain(lks_element_dataset(in, 0)),
                                          lks_dataset_retain(lks_element_dataset(in, 1)), arg_of(user)));
}
SPEC(fn_key_and_sum)
{
    UNUSED;
    return lks_spec_dataset(
        lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, scalar()), lks_spec_tensor(LKS_INT64, scalar())));
}
APPLY(fn_key_and_sum) /* one element (key, sum of the window) */
{
    lks_iter *it = NULL;
    lks_element *e;
    int64_t sum = 0;
    lks_status status = lks_iter_create(lks_element_dataset(in, 1), &it);
    lks_tensor *t;
    lks_dataset *ds;

    UNUSED;
    if (status != LKS_OK) return status;
    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        sum += geti(e, 0);
        lks_element_release(e);
    }
    lks_iter_release(it);
    if (status != LKS_END) return status;
    t = data_scalar(LKS_INT64, (double)sum);
    ds = lks_from_tensors(lks_element_tensor(in, 0), t);
    lks_tensor_release(t);
    return lks_element_set_dataset(out, 0, ds);
}

/* ---- scans: (state, x) -> (state, y) ---- */

SPEC(fn_running_sum)
{
    UNUSED;
    return lks_spec_tuple_of(first(in), first(in));
}
APPLY(fn_running_sum)
{
    double s = get(in, 0) + get(in, 1);

    UNUSED;
    return set(out, 0, s) != LKS_OK ? LKS_E_SHAPE : set(out, 1, s);
}
SPEC(fn_fibonacci)
{
    UNUSED;
    return lks_spec_tuple_of(lks_spec_tuple_of(first(in), first(in)), first(in));
}
APPLY(fn_fibonacci) /* ((b, a+b), a) */
{
    double a = get(in, 0), b = get(in, 1);

    UNUSED;
    if (set(out, 0, b) != LKS_OK || set(out, 1, a + b) != LKS_OK) return LKS_E_SHAPE;
    return set(out, 2, a);
}

APPLY(fn_fail_on) /* INVALID when x == arg, else x */
{
    UNUSED;
    if (get(in, 0) == ((const data_arg *)user)->value) return lks_fail(LKS_E_ARG, "planned failure");
    return lks_element_set(out, 0, lks_element_tensor(in, 0));
}
SPEC(fn_shape0)
{
    UNUSED;
    return lks_spec_tensor(lks_spec_dtype(lks_spec_leaf(in, 0)), lks_shape(-1, arg_of(user)));
}
APPLY(fn_shape0) /* reshape to (-1, arg) */
{
    lks_tensor *x = lks_element_tensor(in, 0), *y;
    lks_status status;

    UNUSED;
    y = lks_tensor_reshape(x, lks_shape(lks_tensor_size(x) / arg_of(user), arg_of(user)));
    status = y == NULL ? LKS_E_SHAPE : lks_element_set(out, 0, y);
    lks_tensor_release(y);
    return status;
}

static const struct {
    const char *name;
    lks_spec *(*spec)(const lks_map_context *context, const lks_spec *in, void *user);
    lks_status (*apply)(const lks_map_context *context, lks_element *in, lks_element *out, void *user);
} functions[] = {
    { "double", NULL, fn_double },
    { "add", NULL, fn_add },
    { "square", NULL, fn_square },
    { "sum_pair", fn_sum_pair_spec, fn_sum_pair },
    { "swap", fn_swap_spec, fn_swap },
    { "to_dict", fn_to_dict_spec, fn_to_dict },
    { "cast_float", fn_cast_float_spec, fn_cast_float },
    { "fill", fn_fill_spec, fn_fill },
    { "bad_fill", fn_fill_spec, fn_bad_fill },
    { "fill2", fn_fill2_spec, fn_fill2 },
    { "fill_text", fn_fill_text_spec, fn_fill_text },
    { "with_fill", fn_with_fill_spec, fn_with_fill },
    { "range_of", fn_range_spec, fn_range_of },
    { "tens", fn_range_spec, fn_tens },
    { "repeated", fn_repeated_spec, fn_repeated },
    { "letters", fn_letters_spec, fn_letters },
    { "is_even", lks_spec_fn_bool, fn_is_even },
    { "is_multiple", lks_spec_fn_bool, fn_is_multiple },
    { "less", lks_spec_fn_bool, fn_less },
    { "mod", NULL, fn_mod },
    { "mod_neg", NULL, fn_mod_neg },
    { "size_by_key", lks_spec_fn_int64, fn_size_by_key },
    { "length", fn_length_spec, fn_length },
    { "batch_all", fn_batch_all_spec, fn_batch_all },
    { "batch_window", fn_batch_window_spec, fn_batch_window },
    { "zip_window", fn_zip_window_spec, fn_zip_window },
    { "key_and_sum", fn_key_and_sum_spec, fn_key_and_sum },
    { "running_sum", fn_running_sum_spec, fn_running_sum },
    { "fibonacci", fn_fibonacci_spec, fn_fibonacci },
    { "fail_on", NULL, fn_fail_on },
    { "shape0", fn_shape0_spec, fn_shape0 },
};

bool data_function(const json_t *json, lks_map_fn *out)
{
    const char *name = json_is_string(json) ? json_string_value(json) : json_string_value(json_object_get(json, "fn"));
    const json_t *arg = json_object_get(json, "arg");
    data_arg *user;

    for (size_t i = 0; name != NULL && i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        user = calloc(1, sizeof *user);
        if (user == NULL) return false;
        user->value = json_number_value(arg);
        user->integer = json_is_integer(arg) ? json_integer_value(arg) : (int64_t)user->value;
        *out = (lks_map_fn){ .struct_size = sizeof *out,
                             .name = functions[i].name,
                             .output_spec = functions[i].spec,
                             .apply = functions[i].apply,
                             .flags = LKS_FN_PURE,
                             .user = user,
                             .release = free };
        return true;
    }
    return false;
}
