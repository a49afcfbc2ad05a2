/* data_functions.c - the functions that recorded pipelines name, each with the words of the language as its comment: those on
 * numbers and strings. */
#include "data_functions.h"

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

static const data_named functions[] = {
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
    { "is_even", lks_spec_fn_bool, fn_is_even },
    { "is_multiple", lks_spec_fn_bool, fn_is_multiple },
    { "less", lks_spec_fn_bool, fn_less },
    { "mod", NULL, fn_mod },
    { "mod_neg", NULL, fn_mod_neg },
    { "size_by_key", lks_spec_fn_int64, fn_size_by_key },
    { "length", fn_length_spec, fn_length },
    { "running_sum", fn_running_sum_spec, fn_running_sum },
    { "fibonacci", fn_fibonacci_spec, fn_fibonacci },
    { "fail_on", NULL, fn_fail_on },
    { "shape0", fn_shape0_spec, fn_shape0 },
    { NULL, NULL, NULL },
};

static const data_named *find(const char *name)
{
    const data_named *f = functions;

    if (name == NULL) return NULL;
    for (; f->name != NULL; f++)
        if (strcmp(f->name, name) == 0) return f;
    for (f = data_dataset_functions; f->name != NULL; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

bool data_function(const json_t *json, lks_map_fn *out)
{
    const char *name = json_is_string(json) ? json_string_value(json) : json_string_value(json_object_get(json, "fn"));
    const json_t *arg = json_object_get(json, "arg");
    data_arg *user;

    for (const data_named *f = find(name); f != NULL; f = NULL) {
        user = calloc(1, sizeof *user);
        if (user == NULL) return false;
        user->value = json_number_value(arg);
        user->integer = json_is_integer(arg) ? json_integer_value(arg) : (int64_t)user->value;
        *out = (lks_map_fn){ .struct_size = sizeof *out,
                             .name = f->name,
                             .output_spec = f->spec,
                             .apply = f->apply,
                             .flags = LKS_FN_PURE,
                             .user = user,
                             .release = free };
        return true;
    }
    return false;
}
