/* data_build.c - a pipeline written as a JSON list of stages becomes a dataset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

typedef struct stage_args {
    data_world *world;
    const json_t *json;
} stage_args;

static int64_t integer(const stage_args *a, const char *key, int64_t missing)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_integer(v) ? json_integer_value(v) : missing;
}

/* A number that may be given as 0, where 0 means the default in our options. */
static int64_t option(const stage_args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    if (!json_is_integer(v)) return 0;
    return json_integer_value(v) == 0 ? LKS_ZERO_INT : json_integer_value(v);
}

static lks_tristate truth(const stage_args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_true(v) ? LKS_TRUE : json_is_false(v) ? LKS_FALSE : LKS_DEFAULT;
}

static const char *word(const stage_args *a, const char *key)
{
    return json_string_value(json_object_get(a->json, key));
}

/* The seeds of a stage; under a global seed without one of its own, TensorFlow takes Python's next number. */
static int64_t seed(const stage_args *a)
{
    const data_world *w = a->world;
    int64_t drawn;

    if (json_object_get(a->json, "seed") != NULL || !w->has_global_seed) return option(a, "seed");
    drawn = data_python_seed(w->global_seed);
    return drawn == 0 ? LKS_ZERO_INT : drawn;
}

static int64_t global_seed(const stage_args *a)
{
    if (!a->world->has_global_seed) return 0;
    return a->world->global_seed == 0 ? LKS_ZERO_INT : a->world->global_seed;
}

static lks_dataset *missing(const stage_args *a, const char *what)
{
    if (a->world->not_yet == NULL) a->world->not_yet = what;
    return NULL;
}

static bool function(const stage_args *a, const char *key, lks_map_fn *out)
{
    if (data_function(json_object_get(a->json, key), out)) return true;
    missing(a, "a function of the language");
    return false;
}

/* ---- sources ---- */

static lks_status cast_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *t = lks_tensor_cast(lks_element_tensor(in, 0), *(const lks_dtype *)user);
    lks_status status = t == NULL ? LKS_E_NOMEM : lks_element_set(out, 0, t);

    (void)context;
    lks_tensor_release(t);
    return status;
}

static lks_spec *cast_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in;
    return lks_spec_tensor(*(const lks_dtype *)user, (lks_shape){ .rank = 0 });
}

static lks_dataset *make_range(const stage_args *a)
{
    const json_t *args = json_object_get(a->json, "args");
    int64_t v[3] = { 0, 0, 1 };
    size_t n = json_array_size(args);
    lks_dataset *ds;
    static lks_dtype dtypes[16];

    for (size_t i = 0; i < n && i < 3; i++) v[i] = json_integer_value(json_array_get(args, i));
    ds = n == 1 ? lks_range(0, v[0], 1) : lks_range(v[0], v[1], v[2]);
    if (word(a, "dtype") != NULL) {
        lks_dtype d = data_dtype(word(a, "dtype"));
        const lks_map_fn cast = { sizeof cast, "cast", cast_spec, cast_apply, LKS_FN_PURE, &dtypes[d], NULL, 0 };
        dtypes[d] = d;
        ds = lks_map(ds, &cast);
    }
    return ds;
}

/* Gives a source the structure of the JSON value. */
static lks_status same_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    (void)context, (void)user;
    for (size_t i = 0; i < lks_element_count(in); i++) {
        lks_status status = lks_element_set(out, i, lks_element_tensor(in, i));
        if (status != LKS_OK) return status;
    }
    return LKS_OK;
}

typedef struct reshaped {
    lks_spec *spec; /* whole arrays */
    bool slices;
} reshaped;

static lks_spec *restructure(const lks_spec *whole, bool slices)
{
    lks_spec *child[16];
    const char *name[16];
    size_t n = lks_spec_child_count(whole);
    lks_shape shape = lks_spec_shape(whole);

    if (lks_spec_kind_of(whole) == LKS_SPEC_TENSOR) {
        for (int64_t k = 1; slices && k < shape.rank; k++) shape.dim[k - 1] = shape.dim[k];
        if (slices) shape.rank--;
        return lks_spec_tensor(lks_spec_dtype(whole), shape);
    }
    for (size_t i = 0; i < n && i < 16; i++) {
        child[i] = restructure(lks_spec_child(whole, i), slices);
        name[i] = lks_spec_child_name(whole, i);
    }
    return lks_spec_kind_of(whole) == LKS_SPEC_DICT ? lks_spec_dict(n, name, child) : lks_spec_tuple(n, child);
}

static lks_spec *structure_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const reshaped *r = user;

    (void)context, (void)in;
    return restructure(r->spec, r->slices);
}

static void structure_release(void *user)
{
    lks_spec_release(((reshaped *)user)->spec);
    free(user);
}

typedef struct ragged_rows {
    lks_ragged *all;
    int64_t next;
} ragged_rows;

static lks_status ragged_open(void *user, void **state)
{
    ((ragged_rows *)user)->next = 0;
    *state = user;
    return LKS_OK;
}

static lks_status ragged_next(void *state, lks_element *out, void *user)
{
    ragged_rows *r = state;
    lks_tensor *split = lks_ragged_split(r->all, 0), *row;
    const int64_t *at = lks_tensor_cdata(split);
    lks_ragged *one;
    lks_status status;

    (void)user;
    if (r->next + 1 >= lks_tensor_size(split)) return LKS_END;
    row = lks_tensor_rows(lks_ragged_values(r->all), at[r->next], at[r->next + 1]);
    one = lks_ragged_create(row, 0, NULL);
    lks_tensor_release(row);
    r->next++;
    status = lks_element_set_ragged(out, 0, one);
    lks_ragged_release(one);
    return status;
}

static void ragged_release(void *user)
{
    lks_ragged_release(((ragged_rows *)user)->all);
    free(user);
}

static lks_dataset *make_ragged(data_value *v)
{
    ragged_rows *rows = calloc(1, sizeof *rows);
    const lks_generator g = { sizeof g, "ragged rows", ragged_open, ragged_next, NULL, rows, ragged_release };
    lks_spec *spec = lks_spec_ragged(lks_tensor_dtype(lks_ragged_values(v->ragged)), lks_shape(-1), 0);
    int64_t n = lks_tensor_size(lks_ragged_split(v->ragged, 0)) - 1;

    rows->all = lks_ragged_retain(v->ragged);
    return lks_assert_cardinality(lks_from_generator(spec, &g), n);
}

static lks_dataset *make_tensors(const stage_args *a, bool slices)
{
    data_value v;
    lks_dataset *ds;

    if (!data_value_read(json_object_get(a->json, "value"), &v)) {
        data_value_free(&v);
        return missing(a, "a value of the language");
    }
    if (v.ragged != NULL) {
        ds = make_ragged(&v);
        data_value_free(&v);
        return ds;
    }
    ds = slices ? lks_from_tensor_slices_n(v.n, v.tensor) : lks_from_tensors_n(v.n, v.tensor);
    if (lks_spec_kind_of(v.spec) != LKS_SPEC_TENSOR && lks_dataset_status(ds) == LKS_OK) {
        reshaped *r = calloc(1, sizeof *r);
        const lks_map_fn f = {
            sizeof f, "structure", structure_spec, same_apply, LKS_FN_PURE, r, structure_release, 0
        };
        r->spec = lks_spec_retain(v.spec);
        r->slices = slices;
        ds = lks_map(ds, &f);
    }
    data_value_free(&v);
    return ds;
}

/* ---- files ---- */

enum { MAX_FILES = 16 };

/* "files": a name or a list of names, below the folder of the sources. */
static size_t file_names(const stage_args *a, const char *key, const char *out[MAX_FILES], char space[MAX_FILES][1024])
{
    const json_t *v = json_object_get(a->json, key);
    size_t n = json_is_array(v) ? json_array_size(v) : 1;

    for (size_t i = 0; i < n && i < MAX_FILES; i++) {
        const char *name = json_string_value(json_is_array(v) ? json_array_get(v, i) : v);
        snprintf(space[i], 1024, "%s/%s", a->world->folder, name);
        out[i] = space[i];
    }
    return n < MAX_FILES ? n : MAX_FILES;
}

static lks_files_options files_options(const stage_args *a)
{
    return (lks_files_options){ .struct_size = sizeof(lks_files_options),
                                .compression_type = word(a, "compression_type"),
                                .buffer_size = option(a, "buffer_size"),
                                .num_parallel_reads = integer(a, "num_parallel_reads", 0) };
}

static size_t integers(const json_t *list, int64_t *out, size_t max)
{
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < max; i++) out[i] = json_integer_value(json_array_get(list, i));
    return n < max ? n : max;
}

static lks_dataset *make_csv(const stage_args *a, size_t n, const char *const *files)
{
    const json_t *columns = json_object_get(a->json, "record_defaults");
    size_t width = json_array_size(columns);
    lks_dtype dtype[MAX_FILES];
    lks_tensor *fallback[MAX_FILES] = { NULL };
    int64_t select[MAX_FILES], exclude[MAX_FILES];
    const char *delimiter = word(a, "field_delim");
    lks_dataset *ds;

    for (size_t i = 0; i < width && i < MAX_FILES; i++) {
        const json_t *c = json_array_get(columns, i), *value = json_object_get(c, "default");
        const char *required = json_string_value(json_object_get(c, "required"));
        dtype[i] = data_dtype(required != NULL ? required : json_string_value(json_object_get(c, "dtype")));
        if (required != NULL) continue;
        fallback[i] = lks_tensor_create(dtype[i], (lks_shape){ .rank = 0 });
        data_put(fallback[i], 0, value);
    }
    ds = lks_csv(n, files, .n_columns = width, .dtypes = dtype, .defaults = fallback,
                 .n_select_cols = integers(json_object_get(a->json, "select_cols"), select, MAX_FILES),
                 .select_cols = select,
                 .n_exclude_cols = integers(json_object_get(a->json, "exclude_cols"), exclude, MAX_FILES),
                 .exclude_cols = exclude, .header = truth(a, "header"), .use_quote_delim = truth(a, "use_quote_delim"),
                 .field_delim = delimiter == NULL ? '\0' : delimiter[0], .na_value = word(a, "na_value"),
                 .files = files_options(a));
    for (size_t i = 0; i < width && i < MAX_FILES; i++) lks_tensor_release(fallback[i]);
    return ds;
}

/* Recorded names are without their folder. */
static lks_status last_part(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *path = lks_tensor_cdata(lks_element_tensor(in, 0));
    size_t from = path->size;

    (void)context, (void)user;
    while (from > 0 && path->data[from - 1] != '/') from--;
    if (lks_element_output(out, 0) == NULL) return LKS_E_NOMEM;
    return lks_element_set_bytes(out, 0, 0, path->data + from, path->size - from);
}

static lks_dataset *make_files(const stage_args *a, const char *op)
{
    char space[MAX_FILES][1024];
    const char *name[MAX_FILES];
    const lks_map_fn last = {
        .struct_size = sizeof last, .name = "last part", .apply = last_part, .flags = LKS_FN_PURE
    };
    const lks_files_options o = files_options(a);
    size_t n = file_names(a, strcmp(op, "list_files") == 0 ? "pattern" : "files", name, space);

    if (strcmp(op, "text_lines") == 0) return lks_text_lines_with(n, name, &o);
    if (strcmp(op, "tfrecord") == 0) return lks_tfrecord_with(n, name, &o);
    if (strcmp(op, "csv") == 0) return make_csv(a, n, name);
    if (strcmp(op, "fixed_length") == 0)
        return lks_fixed_length(n, name, integer(a, "record_bytes", 0), .header_bytes = integer(a, "header_bytes", 0),
                                .footer_bytes = integer(a, "footer_bytes", 0), .files = o);
    return lks_map(
        lks_list_files(n, name, .shuffle = truth(a, "shuffle"), .seed = seed(a), .global_seed = global_seed(a)), &last);
}

/* ---- several inputs ---- */

enum { MAX_INPUTS = 16 };

static size_t inputs(const stage_args *a, lks_dataset *out[MAX_INPUTS])
{
    const json_t *list = json_object_get(a->json, "inputs");
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < MAX_INPUTS; i++) out[i] = data_build(a->world, json_array_get(list, i));
    return n < MAX_INPUTS ? n : MAX_INPUTS;
}

static lks_dataset *make_zip(const stage_args *a)
{
    lks_dataset *in[MAX_INPUTS];
    const char *name[MAX_INPUTS];
    const json_t *names = json_object_get(a->json, "dict");
    size_t n = inputs(a, in);

    for (size_t i = 0; i < n; i++) name[i] = json_string_value(json_array_get(names, i));
    return names != NULL ? lks_zip_named(n, name, in) : lks_zip_n(n, in);
}

static lks_dataset *make_choose(const stage_args *a)
{
    lks_dataset *in[MAX_INPUTS];
    size_t n = inputs(a, in);

    return lks_choose_from_datasets(in[0], n - 1, in + 1, .stop_on_empty_dataset = truth(a, "stop_on_empty_dataset"));
}

static lks_dataset *make_sample(const stage_args *a)
{
    lks_dataset *in[MAX_INPUTS];
    size_t n = inputs(a, in), n_weights;
    const json_t *list = json_object_get(a->json, "weights");
    double weights[MAX_INPUTS];

    n_weights = json_array_size(list);
    for (size_t i = 0; i < n_weights && i < MAX_INPUTS; i++) weights[i] = json_number_value(json_array_get(list, i));
    return lks_sample_from_datasets(n, in, .weights = list == NULL ? NULL : weights, .n_weights = n_weights,
                                    .seed = seed(a), .global_seed = global_seed(a),
                                    .stop_on_empty_dataset = truth(a, "stop_on_empty_dataset"),
                                    .rerandomize_each_iteration = truth(a, "rerandomize_each_iteration"));
}

static lks_dataset *make_concatenate(const stage_args *a, lks_dataset *ds)
{
    lks_dataset *in[MAX_INPUTS] = { NULL };

    inputs(a, in);
    return lks_dataset_concatenate(ds, in[0]);
}

/* ---- stages with functions ---- */

static lks_dataset *with_function(const stage_args *a, lks_dataset *ds, const char *op)
{
    lks_map_fn f;

    if (!function(a, "f", &f)) {
        lks_dataset_release(ds);
        return NULL;
    }
    if (strcmp(op, "map") == 0)
        return lks_map(ds, &f, .num_parallel_calls = integer(a, "num_parallel_calls", 0),
                       .deterministic = truth(a, "deterministic"));
    if (strcmp(op, "filter") == 0) return lks_filter(ds, &f);
    if (strcmp(op, "flat_map") == 0) return lks_flat_map(ds, &f);
    if (strcmp(op, "take_while") == 0) return lks_take_while(ds, &f);
    return lks_interleave(ds, &f, .cycle_length = option(a, "cycle_length"), .block_length = option(a, "block_length"),
                          .num_parallel_calls = integer(a, "num_parallel_calls", 0),
                          .deterministic = truth(a, "deterministic"));
}

static lks_dataset *make_scan(const stage_args *a, lks_dataset *ds)
{
    const json_t *initial = json_object_get(a->json, "initial");
    size_t n = json_is_array(initial) ? json_array_size(initial) : 1;
    lks_tensor *state[MAX_INPUTS];
    lks_map_fn f;

    if (!function(a, "f", &f)) {
        lks_dataset_release(ds);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        state[i] = data_scalar(LKS_INT64,
                               json_number_value(json_is_array(initial) ? json_array_get(initial, i) : initial));
    ds = lks_scan(ds, n, state, &f);
    for (size_t i = 0; i < n; i++) lks_tensor_release(state[i]);
    return ds;
}

static lks_dataset *make_group(const stage_args *a, lks_dataset *ds)
{
    lks_map_fn key, reduce, size;
    bool has_size = json_object_get(a->json, "window_size_func") != NULL;

    if (!function(a, "key_func", &key) || !function(a, "reduce_func", &reduce) ||
        (has_size && !function(a, "window_size_func", &size))) {
        lks_dataset_release(ds);
        return NULL;
    }
    return lks_group_by_window(ds, &key, &reduce, .window_size = option(a, "window_size"),
                               .window_size_func = has_size ? &size : NULL);
}

static lks_dataset *make_bucket(const stage_args *a, lks_dataset *ds)
{
    int64_t bounds[MAX_INPUTS], sizes[MAX_INPUTS];
    size_t n = integers(json_object_get(a->json, "bucket_boundaries"), bounds, MAX_INPUTS);
    size_t m = integers(json_object_get(a->json, "bucket_batch_sizes"), sizes, MAX_INPUTS);
    lks_map_fn f;

    if (!function(a, "element_length_func", &f)) {
        lks_dataset_release(ds);
        return NULL;
    }
    return lks_bucket_by_sequence_length(ds, &f, .n_boundaries = n, .boundaries = bounds, .batch_sizes = sizes,
                                         .n_batch_sizes = m, .padding.drop_remainder = truth(a, "drop_remainder"),
                                         .pad_to_bucket_boundary = truth(a, "pad_to_bucket_boundary"),
                                         .no_padding = truth(a, "no_padding"));
}

/* ---- batches ---- */

/* Shapes of components from nested JSON: lists of numbers in tuples or dicts. */
static void shapes(const json_t *v, lks_shape *out, size_t *n)
{
    const json_t *parts = json_object_get(v, "tuple"), *part;
    const char *key;

    if (parts != NULL) {
        for (size_t i = 0; i < json_array_size(parts); i++) shapes(json_array_get(parts, i), out, n);
        return;
    }
    if ((parts = json_object_get(v, "dict")) != NULL) {
        json_object_foreach((json_t *)parts, key, part) shapes(part, out, n); /* recorded in order */
        return;
    }
    out[*n].rank = (int64_t)json_array_size(v);
    for (int64_t k = 0; k < out[*n].rank; k++) {
        const json_t *d = json_array_get(v, (size_t)k);
        out[*n].dim[k] = json_is_integer(d) ? json_integer_value(d) : -1;
    }
    ++*n;
}

static lks_dataset *make_padded(const stage_args *a, lks_dataset *ds)
{
    const json_t *given = json_object_get(a->json, "padded_shapes"),
                 *values = json_object_get(a->json, "padding_values");
    lks_shape shape[MAX_INPUTS];
    lks_padded_batch_options o = { .struct_size = sizeof o, .drop_remainder = truth(a, "drop_remainder") };
    const lks_spec *spec = lks_dataset_spec(ds);
    lks_tensor *plain = NULL;
    data_value v = { 0 };
    size_t n = 0;

    if (given != NULL) {
        shapes(given, shape, &n);
        o.padded_shapes = shape;
    }
    if (json_is_number(values) && spec != NULL) { /* a plain number takes the component's dtype */
        plain = data_scalar(lks_spec_dtype(lks_spec_leaf(spec, 0)), json_number_value(values));
        o.padding_value = plain;
    } else if (values != NULL && data_value_read(values, &v)) {
        if (v.n == 1) o.padding_value = v.tensor[0];
        else o.padding_values = v.tensor;
        for (size_t i = 0; v.n > 1 && spec != NULL && i < v.n; i++) {
            lks_tensor *cast = lks_tensor_dtype(v.tensor[i]) == LKS_STRING
                                   ? NULL
                                   : lks_tensor_cast(v.tensor[i], lks_spec_dtype(lks_spec_leaf(spec, i)));
            if (cast == NULL) continue;
            lks_tensor_release(v.tensor[i]);
            v.tensor[i] = cast;
        }
    }
    ds = lks_padded_batch_with(ds, integer(a, "batch_size", 0), &o);
    lks_tensor_release(plain);
    data_value_free(&v);
    return ds;
}

static lks_dataset *make_rebatch(const stage_args *a, lks_dataset *ds)
{
    const json_t *size = json_object_get(a->json, "batch_size");
    int64_t sizes[MAX_INPUTS] = { json_integer_value(size) };
    size_t n = json_is_array(size) ? integers(size, sizes, MAX_INPUTS) : 1;

    return lks_rebatch(ds, n, sizes, .drop_remainder = truth(a, "drop_remainder"));
}

/* Files of caches go to a folder of their own: the set may be read-only. */
static lks_dataset *make_cache(const stage_args *a, lks_dataset *ds)
{
    char path[1024];
    const char *name = word(a, "filename");

    if (name == NULL) return lks_cache(ds);
    snprintf(path, sizeof path, "%s/%s", a->world->scratch, name);
    return lks_cache(ds, .filename = path);
}

/* ---- all of them ---- */

static lks_dataset *source(const stage_args *a, const char *op)
{
    static const char *const files[] = { "text_lines", "tfrecord", "csv", "fixed_length", "list_files" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(op, files[i]) == 0) return make_files(a, op);
    if (strcmp(op, "range") == 0) return make_range(a);
    if (strcmp(op, "from_tensor_slices") == 0) return make_tensors(a, true);
    if (strcmp(op, "from_tensors") == 0) return make_tensors(a, false);
    if (strcmp(op, "zip") == 0) return make_zip(a);
    if (strcmp(op, "choose_from_datasets") == 0) return make_choose(a);
    if (strcmp(op, "sample_from_datasets") == 0) return make_sample(a);
    if (strcmp(op, "random") == 0)
        return lks_random(.seed = seed(a), .global_seed = global_seed(a),
                          .rerandomize_each_iteration = truth(a, "rerandomize_each_iteration"));
    return missing(a, op);
}

static lks_dataset *plain_stage(const stage_args *a, lks_dataset *ds, const char *op)
{
    int64_t size = integer(a, "batch_size", 0);

    if (strcmp(op, "batch") == 0) return lks_batch(ds, size, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "ragged_batch") == 0)
        return lks_ragged_batch(ds, size, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "repeat") == 0) return lks_repeat(ds, integer(a, "count", -1));
    if (strcmp(op, "take") == 0) return lks_take(ds, integer(a, "count", 0));
    if (strcmp(op, "skip") == 0) return lks_skip(ds, integer(a, "count", 0));
    if (strcmp(op, "shard") == 0) return lks_shard(ds, integer(a, "num_shards", 0), integer(a, "index", 0));
    if (strcmp(op, "enumerate") == 0) return lks_enumerate(ds, integer(a, "start", 0));
    if (strcmp(op, "prefetch") == 0) return lks_prefetch(ds, integer(a, "buffer_size", 0));
    if (strcmp(op, "unique") == 0) return lks_unique(ds);
    if (strcmp(op, "unbatch") == 0) return lks_unbatch(ds);
    if (strcmp(op, "ignore_errors") == 0) return lks_ignore_errors(ds);
    if (strcmp(op, "cache") == 0) return make_cache(a, ds);
    if (strcmp(op, "assert_cardinality") == 0) return lks_assert_cardinality(ds, integer(a, "n", 0));
    if (strcmp(op, "options") == 0) return ds;
    if (strcmp(op, "window") == 0)
        return lks_window(ds, integer(a, "size", 0), .shift = option(a, "shift"), .stride = option(a, "stride"),
                          .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "shuffle") == 0)
        return lks_shuffle(ds, integer(a, "buffer_size", 0), .seed = seed(a), .global_seed = global_seed(a),
                           .reshuffle_each_iteration = truth(a, "reshuffle_each_iteration"));
    lks_dataset_release(ds);
    return missing(a, op);
}

static lks_dataset *stage(const stage_args *a, lks_dataset *ds, const char *op)
{
    static const char *const with_f[] = { "map", "filter", "flat_map", "interleave", "take_while" };

    for (size_t i = 0; i < sizeof with_f / sizeof *with_f; i++)
        if (strcmp(op, with_f[i]) == 0) return with_function(a, ds, op);
    if (strcmp(op, "scan") == 0) return make_scan(a, ds);
    if (strcmp(op, "group_by_window") == 0) return make_group(a, ds);
    if (strcmp(op, "bucket_by_sequence_length") == 0) return make_bucket(a, ds);
    if (strcmp(op, "padded_batch") == 0) return make_padded(a, ds);
    if (strcmp(op, "rebatch") == 0) return make_rebatch(a, ds);
    if (strcmp(op, "concatenate") == 0) return make_concatenate(a, ds);
    return plain_stage(a, ds, op);
}

lks_dataset *data_build(data_world *world, const json_t *pipeline)
{
    lks_dataset *ds = NULL;

    for (size_t i = 0; i < json_array_size(pipeline); i++) {
        const stage_args a = { world, json_array_get(pipeline, i) };
        const char *op = word(&a, "op");
        if (op == NULL) return missing(&a, "a stage without op");
        ds = i == 0 ? source(&a, op) : stage(&a, ds, op);
        if (world->not_yet != NULL) {
            lks_dataset_release(ds);
            return NULL;
        }
    }
    return ds;
}
