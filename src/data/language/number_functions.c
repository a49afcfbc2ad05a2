/* number_functions.c - small functions on int64 scalars and on windows, for trying out stages that need one: the names are those of
 * recorded tf.data pipelines. `arg` is the number that a function takes. */
#include <string.h>

#include "base/alloc.h"
#include "language.h"

typedef struct number_fn {
    lks_map_fn fn;
    int64_t arg;
} number_fn;

#define APPLY(name) \
    static lks_status name(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
#define SPEC(name) static lks_spec *name(const lks_map_context *context, const lks_spec *in, void *user)

static int64_t arg_of(const void *user)
{
    return ((const number_fn *)user)->arg;
}

static lks_status put(lks_element *out, size_t i, int64_t value)
{
    lks_tensor *t = lks_element_output(out, i);

    if (t == NULL) return LKS_E_NOMEM;
    if (lks_tensor_dtype(t) == LKS_BOOL) *(uint8_t *)lks_tensor_data(t) = value != 0;
    else *(int64_t *)lks_tensor_data(t) = value;
    return LKS_OK;
}

/* That component i is an int64 scalar is known before the first call. */
static int64_t get(const lks_element *in, size_t i)
{
    return *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, i));
}

static bool is_number(const lks_spec *in, size_t i)
{
    const lks_spec *leaf = lks_spec_leaf(in, i);

    if (leaf != NULL && lks_spec_kind_of(leaf) == LKS_SPEC_TENSOR && lks_spec_dtype(leaf) == LKS_INT64 &&
        lks_spec_shape(leaf).rank == 0)
        return true;
    lks__fail(LKS_E_SHAPE, "component %zu must be an int64 scalar", i);
    return false;
}

/* The element is n int64 scalars and nothing more. */
static bool are_numbers(const lks_spec *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_number(in, i)) return false;
    if (lks_spec_leaf_count(in) == n) return true;
    lks__fail(LKS_E_SHAPE, "it takes %zu int64 scalar%s, the elements have %zu components", n, n == 1 ? "" : "s",
              lks_spec_leaf_count(in));
    return false;
}

static lks_spec *scalar(void)
{
    return lks_spec_tensor(LKS_INT64, lks_shape_of(0, NULL));
}

/* ---- numbers ---- */

SPEC(number_spec)
{
    (void)context, (void)user;
    return are_numbers(in, 1) ? scalar() : NULL;
}

SPEC(truth_spec)
{
    (void)context, (void)user;
    return are_numbers(in, 1) ? lks_spec_tensor(LKS_BOOL, lks_shape_of(0, NULL)) : NULL;
}

APPLY(add)
{
    (void)context;
    return put(out, 0, (int64_t)((uint64_t)get(in, 0) + (uint64_t)arg_of(user)));
}

APPLY(twice)
{
    (void)context, (void)user;
    return put(out, 0, (int64_t)(2 * (uint64_t)get(in, 0)));
}

APPLY(square)
{
    uint64_t x = (uint64_t)get(in, 0);

    (void)context, (void)user;
    return put(out, 0, (int64_t)(x * x));
}

/* The remainder of a division is that of Python: it has the divisor's sign. */
APPLY(mod)
{
    int64_t n = arg_of(user), x = get(in, 0), rest;

    (void)context;
    if (n == 0) return lks__fail(LKS_E_ARG, "division by zero");
    rest = n == -1 ? 0 : x % n;
    return put(out, 0, rest != 0 && (rest < 0) != (n < 0) ? rest + n : rest);
}

APPLY(is_even)
{
    (void)context, (void)user;
    return put(out, 0, get(in, 0) % 2 == 0);
}

APPLY(less)
{
    (void)context;
    return put(out, 0, get(in, 0) < arg_of(user));
}

APPLY(fail_on)
{
    (void)context;
    if (get(in, 0) == arg_of(user)) return lks__fail(LKS_E_ARG, "planned failure at %lld", (long long)get(in, 0));
    return put(out, 0, get(in, 0));
}

SPEC(pair_spec)
{
    (void)context, (void)user;
    return are_numbers(in, 2) ? lks_spec_tuple_of(scalar(), scalar()) : NULL;
}

APPLY(running_sum)
{
    int64_t sum = (int64_t)((uint64_t)get(in, 0) + (uint64_t)get(in, 1));

    (void)context, (void)user;
    LKS_TRY(put(out, 0, sum));
    return put(out, 1, sum);
}

/* ---- the length of component 0 ---- */

SPEC(length_spec)
{
    const lks_spec *leaf = lks_spec_leaf(in, 0);

    (void)context, (void)user;
    if (leaf != NULL && lks_spec_kind_of(leaf) == LKS_SPEC_TENSOR && lks_spec_shape(leaf).rank > 0) return scalar();
    lks__fail(LKS_E_SHAPE, "component 0 must be an array with a first axis");
    return NULL;
}

APPLY(length)
{
    (void)context, (void)user;
    return put(out, 0, lks_tensor_shape(lks_element_tensor(in, 0)).dim[0]);
}

/* ---- datasets ---- */

SPEC(range_spec)
{
    (void)context, (void)user;
    return are_numbers(in, 1) ? lks_spec_dataset(scalar()) : NULL;
}

APPLY(range_of)
{
    (void)context, (void)user;
    return lks_element_set_dataset(out, 0, lks_range(0, get(in, 0), 1));
}

SPEC(repeated_spec)
{
    (void)context, (void)user;
    if (lks_spec_kind_of(in) == LKS_SPEC_TENSOR) return lks_spec_dataset(lks_spec_retain(in));
    lks__fail(LKS_E_SHAPE, "the element must be one tensor");
    return NULL;
}

APPLY(repeated)
{
    lks_tensor *t = lks_element_tensor(in, 0);

    (void)context;
    return lks_element_set_dataset(out, 0, lks_repeat(lks_from_tensors_n(1, &t), arg_of(user)));
}

static lks_status no_element(void *state, lks_element *out, void *user)
{
    (void)state, (void)out, (void)user;
    return LKS_END;
}

/* What batches of the dataset in component i are. */
static lks_spec *batches_of(const lks_spec *in, size_t i, int64_t size)
{
    const lks_generator none = { .struct_size = sizeof none, .name = "none", .next = no_element };
    const lks_spec *leaf = lks_spec_leaf(in, i);
    lks_spec *spec = NULL;
    lks_dataset *ds;

    if (leaf == NULL || lks_spec_kind_of(leaf) != LKS_SPEC_DATASET) {
        lks__fail(LKS_E_SHAPE, "component %zu must be a dataset (a window)", i);
        return NULL;
    }
    ds = lks_batch_with(lks_from_generator(lks_spec_retain(lks_spec_child(leaf, 0)), &none), size, NULL);
    if (lks_dataset_status(ds) == LKS_OK) spec = lks_spec_dataset(lks_spec_retain(lks_dataset_spec(ds)));
    lks_dataset_release(ds);
    return spec;
}

static lks_status put_batches(lks_element *in, size_t i, lks_element *out, int64_t size)
{
    return lks_element_set_dataset(out, 0, lks_batch_with(lks_dataset_retain(lks_element_dataset(in, i)), size, NULL));
}

SPEC(window_spec)
{
    (void)context;
    return batches_of(in, 0, arg_of(user));
}

APPLY(batch_window)
{
    (void)context;
    return put_batches(in, 0, out, arg_of(user));
}

SPEC(group_spec)
{
    (void)context;
    return batches_of(in, 1, arg_of(user));
}

APPLY(batch_all)
{
    (void)context;
    return put_batches(in, 1, out, arg_of(user));
}

/* ---- by their words ---- */

static const struct {
    const char *word;
    lks_spec *(*spec)(const lks_map_context *context, const lks_spec *in, void *user);
    lks_status (*apply)(const lks_map_context *context, lks_element *in, lks_element *out, void *user);
} functions[] = {
    { "add", number_spec, add },
    { "batch_all", group_spec, batch_all },
    { "batch_window", window_spec, batch_window },
    { "double", number_spec, twice },
    { "fail_on", number_spec, fail_on },
    { "is_even", truth_spec, is_even },
    { "length", length_spec, length },
    { "less", truth_spec, less },
    { "mod", number_spec, mod },
    { "range_of", range_spec, range_of },
    { "repeated", repeated_spec, repeated },
    { "running_sum", pair_spec, running_sum },
    { "square", number_spec, square },
};

const lks_map_fn *lks__number_function(const lks_call *c)
{
    number_fn *f = lks__calloc(1, sizeof *f);
    size_t i = 0;

    if (f == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a function");
        return NULL;
    }
    while (strcmp(functions[i].word, c->word) != 0) i++;
    f->arg = lks__call_int(c, "arg", 1);
    f->fn = (lks_map_fn){ .struct_size = sizeof f->fn,
                          .name = functions[i].word,
                          .output_spec = functions[i].spec,
                          .apply = functions[i].apply,
                          .flags = LKS_FN_PURE,
                          .user = f,
                          .release = lks__free };
    return &f->fn;
}
