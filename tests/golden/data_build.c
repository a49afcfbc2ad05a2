/* data_build.c - a pipeline written as a JSON list of stages becomes a dataset. */
#include "data_build.h"

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
    if (strcmp(op, "zip") == 0) return make_zip(a);
    if (strcmp(op, "choose_from_datasets") == 0) return make_choose(a);
    if (strcmp(op, "sample_from_datasets") == 0) return make_sample(a);
    return data_source(a, op);
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
