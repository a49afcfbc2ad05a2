/* data_functions_datasets.c - functions of the language that make datasets or take them. */
#include "data_functions.h"

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

const data_named data_dataset_functions[] = {
    { "range_of", fn_range_spec, fn_range_of },
    { "tens", fn_range_spec, fn_tens },
    { "repeated", fn_repeated_spec, fn_repeated },
    { "letters", fn_letters_spec, fn_letters },
    { "batch_all", fn_batch_all_spec, fn_batch_all },
    { "batch_window", fn_batch_window_spec, fn_batch_window },
    { "zip_window", fn_zip_window_spec, fn_zip_window },
    { "key_and_sum", fn_key_and_sum_spec, fn_key_and_sum },
    { NULL, NULL, NULL },
};
