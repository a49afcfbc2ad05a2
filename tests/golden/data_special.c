/* data_special.c - special.json: what the pipeline language cannot say, one function a value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

/* A pass over int64 scalars or vectors against a list. */
static bool pass_equals(lks_iter *it, const json_t *want, size_t limit)
{
    char why[160];
    lks_element *e;
    bool same = true;

    for (size_t i = 0; same && i < json_array_size(want) && i < limit; i++) {
        same = lks_iter_next(it, &e) == LKS_OK;
        if (!same) break;
        same = data_equal(e, json_array_get(want, i), why, sizeof why);
        lks_element_release(e);
    }
    return same &&
           (limit < json_array_size(want) || json_array_size(want) == limit || lks_iter_next(it, &e) == LKS_END);
}

static bool yields(lks_dataset *ds, const json_t *want)
{
    lks_iter *it = NULL;
    bool same = lks_iter_create(ds, &it) == LKS_OK && pass_equals(it, want, SIZE_MAX);

    lks_iter_release(it);
    lks_dataset_release(ds);
    return same;
}

static bool has_cardinality(lks_dataset *ds, int64_t want)
{
    int64_t got = lks_dataset_cardinality(ds);

    lks_dataset_release(ds);
    return got == want;
}

static bool len_infinite(const json_t *v)
{
    return json_object_get(v, "type") != NULL &&
           has_cardinality(lks_repeat(lks_range(0, 5, 1), -1), LKS_INFINITE_CARDINALITY);
}

static bool len(const json_t *v)
{
    return has_cardinality(lks_batch(lks_range(0, 5, 1), 2), json_integer_value(v));
}

/* The recorded generator: n = 3 elements (i, k = 2 times i), run twice. */
typedef struct calls {
    int opened, closed;
    int32_t at;
} calls;

static lks_status gen_open(void *user, void **state)
{
    calls *c = user;

    c->opened++;
    c->at = 0;
    *state = c;
    return LKS_OK;
}

static lks_status gen_next(void *state, lks_element *out, void *user)
{
    calls *c = state;
    lks_tensor *i, *x;

    (void)user;
    if (c->at == 3) return LKS_END;
    i = lks_element_output(out, 0);
    x = lks_element_output_shaped(out, 1, lks_shape(2));
    if (i == NULL || x == NULL) return LKS_E_NOMEM;
    *(int32_t *)lks_tensor_data(i) = c->at;
    ((float *)lks_tensor_data(x))[0] = ((float *)lks_tensor_data(x))[1] = (float)c->at;
    c->at++;
    return LKS_OK;
}

static void gen_close(void *state, void *user)
{
    (void)state;
    ((calls *)user)->closed++;
}

static lks_dataset *generator(calls *c)
{
    const lks_generator g = { sizeof g, "gen", gen_open, gen_next, gen_close, c, NULL };

    return lks_from_generator(lks_spec_tuple_of(lks_spec_tensor(LKS_INT32, (lks_shape){ .rank = 0 }),
                                                lks_spec_tensor(LKS_FLOAT32, lks_shape(-1))),
                              &g);
}

static bool generator_args(const json_t *v)
{
    calls c = { 0, 0, 0 };

    return yields(lks_repeat(generator(&c), 2), v);
}

static bool generator_calls(const json_t *v)
{
    calls c = { 0, 0, 0 };
    lks_iter *it = NULL;
    lks_element *e;
    lks_dataset *ds = lks_repeat(generator(&c), 2);

    if (lks_iter_create(ds, &it) != LKS_OK) return false;
    while (lks_iter_next(it, &e) == LKS_OK) lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    return c.opened == 2 && c.closed == 2 && json_array_size(v) == 4;
}

static bool generator_cardinality(const json_t *v)
{
    calls c = { 0, 0, 0 };

    (void)v;
    return has_cardinality(generator(&c), LKS_UNKNOWN_CARDINALITY);
}

/* A generator whose spec is a vector of two yields what it likes. */
static lks_status wrong_next(void *state, lks_element *out, void *user)
{
    lks_status status;
    lks_tensor *t = NULL;

    (void)state;
    switch (*(int *)user) {
    case 0: t = lks_tensor_create(LKS_INT32, lks_shape(3)); break;
    case 1: t = lks_tensor_create(LKS_STRING, lks_shape(2)); break;
    default: t = lks_tensor_create(LKS_INT32, lks_shape(2)); break;
    }
    status = lks_element_set(out, *(int *)user == 2 ? 1 : 0, t);
    lks_tensor_release(t);
    return status;
}

static bool wrong(int how)
{
    const lks_generator g = { sizeof g, "wrong", NULL, wrong_next, NULL, &how, NULL };
    lks_dataset *ds = lks_from_generator(lks_spec_tensor(LKS_INT32, lks_shape(2)), &g);
    lks_iter *it = NULL;
    lks_element *e = NULL;
    lks_status status = lks_iter_create(ds, &it) == LKS_OK ? lks_iter_next(it, &e) : LKS_OK;

    lks_iter_release(it);
    lks_dataset_release(ds);
    return (status == LKS_E_SHAPE || status == LKS_E_ARG) && strstr(lks_last_error(), "wrong") != NULL;
}

static bool wrong_shape(const json_t *v)
{
    return v != NULL && wrong(0);
}
static bool wrong_dtype(const json_t *v)
{
    return v != NULL && wrong(1);
}
static bool wrong_structure(const json_t *v)
{
    return v != NULL && wrong(2);
}

static lks_dataset *checkpointed(void)
{
    return lks_batch(lks_shuffle(lks_range(0, 10, 1), 4, .seed = 6), 3);
}

/* Saved after two batches; the rest must come from the same iterator and from a restored one. */
static bool checkpoint(const json_t *v)
{
    const json_t *c = json_object_get(v, "range(10).shuffle(4, seed=6).batch(3)");
    const json_t *before = json_object_get(c, "before"), *rest = json_object_get(c, "rest");
    lks_dataset *ds = checkpointed(), *again = checkpointed();
    lks_iter *it = NULL, *restored = NULL;
    void *bytes = NULL;
    size_t n = 0;
    bool same = lks_iter_create(ds, &it) == LKS_OK && pass_equals(it, before, json_array_size(before)) &&
                lks_iter_save(it, &bytes, &n) == LKS_OK && pass_equals(it, rest, SIZE_MAX) &&
                lks_iter_restore(again, bytes, n, &restored) == LKS_OK &&
                pass_equals(restored, json_object_get(c, "rest after restore into a new iterator"), SIZE_MAX);

    lks_free(bytes);
    lks_iter_release(it);
    lks_iter_release(restored);
    lks_dataset_release(ds);
    lks_dataset_release(again);
    return same;
}

static bool single_of(int64_t n)
{
    lks_dataset *ds = lks_take(lks_range(0, 4, 1), n);
    lks_element *e = NULL;
    lks_status status = lks_dataset_get_single_element(ds, &e);

    lks_element_release(e);
    lks_dataset_release(ds);
    return status == LKS_E_ARG;
}

static bool single_of_two(const json_t *v)
{
    return v != NULL && single_of(2);
}
static bool single_of_none(const json_t *v)
{
    return v != NULL && single_of(0);
}

static bool reduce_sum(const json_t *v)
{
    lks_dataset *ds = lks_range(0, 4, 1);
    lks_iter *it = NULL;
    lks_element *e;
    int64_t sum = 0;

    if (lks_iter_create(ds, &it) != LKS_OK) return false;
    for (; lks_iter_next(it, &e) == LKS_OK; lks_element_release(e))
        sum += *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0));
    lks_iter_release(it);
    lks_dataset_release(ds);
    return sum == json_integer_value(v);
}

static bool zip_nothing(const json_t *v)
{
    lks_dataset *ds = lks_zip_n(0, NULL);
    lks_status status = lks_dataset_status(ds);

    lks_dataset_release(ds);
    return data_error_equal(status, v);
}

static bool counter(const json_t *v)
{
    return yields(lks_take(lks_range(5, INT64_MAX, 3), 4), v);
}

static bool after_end(const json_t *v)
{
    lks_dataset *ds = lks_range(0, 1, 1);
    lks_iter *it = NULL;
    lks_element *e;
    bool same = lks_iter_create(ds, &it) == LKS_OK && lks_iter_next(it, &e) == LKS_OK;

    if (same) lks_element_release(e);
    for (size_t i = 0; same && i < json_array_size(v); i++) same = lks_iter_next(it, &e) == LKS_END;
    lks_iter_release(it);
    lks_dataset_release(ds);
    return same;
}

/* A folder for files; the dataset that `make` builds on it must yield the list, twice. */
static bool twice_on_disk(lks_dataset *(*make)(const char *folder), const json_t *first, const json_t *second)
{
    char folder[] = "/tmp/golden-special-XXXXXX", command[64];
    bool same = mkdtemp(folder) != NULL && yields(make(folder), first) && yields(make(folder), second);

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 && same;
}

static lks_status triple_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(y) = 3 * *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    return LKS_OK;
}

static int64_t snapshot_length;

static lks_dataset *snapshot_in(const char *folder)
{
    const lks_map_fn triple = { .struct_size = sizeof triple, .name = "triple", .apply = triple_apply, .flags = 1 };

    return lks_snapshot(lks_map(lks_range(0, snapshot_length, 1), &triple), folder);
}

static bool snapshot(const json_t *v)
{
    snapshot_length = (int64_t)json_array_size(json_object_get(v, "first"));
    return twice_on_disk(snapshot_in, json_object_get(v, "first"), json_object_get(v, "second"));
}

static lks_dataset *saved_in(const char *folder)
{
    char path[128];
    lks_dataset *ds = lks_range(0, 5, 1);
    lks_status status;

    snprintf(path, sizeof path, "%s/saved", folder);
    status = lks_dataset_save(ds, path);
    lks_dataset_release(ds);
    return status == LKS_OK ? lks_dataset_load(path, lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 })) : NULL;
}

static bool save_load(const json_t *v)
{
    return twice_on_disk(saved_in, json_object_get(v, "elements"), json_object_get(v, "elements"));
}

/* The element is its class. */
static lks_status class_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    (void)context, (void)user;
    return lks_element_set(out, 0, lks_element_tensor(in, 0));
}

static lks_status parity_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *t = lks_element_output(out, 0);

    (void)context, (void)user;
    if (t == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(t) = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0)) % 10 == 0;
    return LKS_OK;
}

/* Pairs whose sides are equal here, both classes among them. */
static bool resample(const json_t *v)
{
    static const double half[2] = { 0.5, 0.5 };
    const lks_map_fn class_of = { .struct_size = sizeof class_of, .name = "class", .apply = class_apply, .flags = 1 };
    const lks_map_fn parity = { .struct_size = sizeof parity, .name = "parity", .apply = parity_apply, .flags = 1 };
    lks_dataset *ds = lks_rejection_resample(lks_map(lks_range(0, 400, 1), &parity), &class_of, 2, half);
    lks_iter *it = NULL;
    lks_element *e;
    int n[2] = { 0, 0 };
    bool good = lks_iter_create(ds, &it) == LKS_OK && json_array_size(v) > 0;

    while (good && lks_iter_next(it, &e) == LKS_OK) {
        int64_t c = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0));
        good = lks_element_count(e) == 2 && *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 1)) == c;
        n[c != 0]++;
        lks_element_release(e);
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    return good && n[0] > 0 && n[1] > 0;
}

static lks_status draw_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *t = lks_element_output(out, 0);
    uint32_t words[4];

    (void)in, (void)user;
    if (t == NULL) return LKS_E_NOMEM;
    lks_map_random(context, 0, 0, words);
    *(int64_t *)lks_tensor_data(t) = words[0];
    return LKS_OK;
}

/* Not the reference's numbers, and not its repeating of them in every pass: new ones in each pass, the same for equal datasets. */
static bool random_in_map(const json_t *v)
{
    const lks_map_fn draw = { .struct_size = sizeof draw, .name = "draw", .apply = draw_apply, .flags = 3 };
    int64_t x[3][4] = { { 0 } };

    (void)v;
    for (int k = 0; k < 2; k++) {
        lks_dataset *ds = lks_map(lks_range(0, 4, 1), &draw, .seed = 3, .num_parallel_calls = k ? LKS_AUTOTUNE : 0);
        for (int pass = 0; pass < 2 - k; pass++) {
            lks_iter *it = NULL;
            lks_element *e;
            if (lks_iter_create(ds, &it) != LKS_OK) return false;
            for (int i = 0; i < 4 && lks_iter_next(it, &e) == LKS_OK; i++) {
                x[2 * k + pass][i] = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0));
                lks_element_release(e);
            }
            lks_iter_release(it);
        }
        lks_dataset_release(ds);
    }
    return memcmp(x[0], x[2], sizeof x[0]) == 0 && memcmp(x[0], x[1], sizeof x[0]) != 0 && x[0][0] != x[0][1];
}

static const struct {
    const char *name;
    bool (*check)(const json_t *value); /* NULL: words, or true in Python alone: nothing to compare */
} values[] = {
    { "len of infinite", len_infinite },
    { "len of unknown", generator_cardinality },
    { "len", len },
    { "bool of a dataset", NULL },
    { "from_generator args", generator_args },
    { "from_generator calls", generator_calls },
    { "from_generator cardinality", generator_cardinality },
    { "from_generator wrong shape", wrong_shape },
    { "from_generator wrong dtype", wrong_dtype },
    { "from_generator wrong structure", wrong_structure },
    { "iterator checkpoint", checkpoint },
    { "reduce sum", reduce_sum },
    { "bucket boundaries text", NULL },
    { "snapshot", snapshot },
    { "save load", save_load },
    { "get_single_element of 2", single_of_two },
    { "get_single_element of 0", single_of_none },
    { "zip nothing", zip_nothing },
    { "counter", counter },
    { "iterate after end", after_end },
    { "random in map", random_in_map },
    { "rejection_resample yields (class, element)", resample },
};

void data_special(golden_report *r, const json_t *set)
{
    const char *name;
    json_t *v;

    json_object_foreach(json_object_get(set, "values"), name, v)
    {
        size_t i = 0;
        while (i < sizeof values / sizeof *values && strcmp(values[i].name, name) != 0) i++;
        if (i < sizeof values / sizeof *values && values[i].check == NULL) continue;
        if (!golden_begin(r, name)) continue;
        if (i == sizeof values / sizeof *values) golden_not_yet(r, "%s", name);
        else if (!values[i].check(v)) golden_fault(r, "differs (%s)", lks_last_error());
        golden_end(r);
    }
}
