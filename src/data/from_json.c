/* from_json.c - a JSON list of stages becomes a dataset: each word has a builder here, each argument is looked up by tf.data's name. */
#include "lockstep/dataset_json.h"

#include <string.h>

#include "base/text.h"
#include "files/json.h"
#include "function.h"
#include "lockstep/dataset_distribute.h"
#include "lockstep/dataset_sampling.h"
#include "stages.h"

enum { MAX_FILES = 4096, MAX_INPUTS = 64 };

typedef struct reader {
    lks_dataset_json_options o;
    int depth;
} reader;

typedef struct args {
    reader *r;
    const json_t *json;
} args;

static lks_dataset *build(reader *r, const json_t *list);

/* A failed dataset with this thread's error. */
static lks_dataset *failed(lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_from_json, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

static int64_t whole(const args *a, const char *key, int64_t missing)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_integer(v) ? json_integer_value(v) : missing;
}

/* A number that may be given as 0, where 0 in our options means the default. */
static int64_t option(const args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    return !json_is_integer(v) ? 0 : json_integer_value(v) == 0 ? LKS_ZERO_INT : json_integer_value(v);
}

static lks_tristate truth(const args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_true(v) ? LKS_TRUE : json_is_false(v) ? LKS_FALSE : LKS_DEFAULT;
}

static const char *word(const args *a, const char *key)
{
    return json_string_value(json_object_get(a->json, key));
}

/* ---- functions ---- */

static lks_spec *lines_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }));
}

/* Elements are file names; our strings end with a zero byte. */
static lks_status lines_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context;
    return lks_element_set_dataset(out, 0,
                                   user != NULL ? lks_tfrecord(1, &name->data) : lks_text_lines(1, &name->data));
}

static int tfrecord_mark;

static bool own_function(const char *name, lks_map_fn *out)
{
    const lks_map_fn lines = { .struct_size = sizeof lines,
                               .name = "read_text_lines",
                               .output_spec = lines_spec,
                               .apply = lines_apply,
                               .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES };

    if (strcmp(name, "cast_rescale") == 0) *out = *lks_cast_rescale;
    else if (strcmp(name, "cast_rescale_onehot") == 0) *out = *lks_cast_rescale_onehot;
    else if (strcmp(name, "read_text_lines") == 0) *out = lines;
    else if (strcmp(name, "read_tfrecord") == 0) {
        *out = lines;
        out->name = "read_tfrecord";
        out->user = &tfrecord_mark;
    } else {
        return false;
    }
    return true;
}

static lks_dataset *with_function(const args *a, lks_dataset *ds, const char *op)
{
    const char *name = word(a, "f");
    lks_map_fn f;

    if (name == NULL ||
        !(own_function(name, &f) || (a->r->o.function != NULL && a->r->o.function(name, &f, a->r->o.user) != 0))) {
        lks_dataset_release(ds);
        return failed(lks__fail(LKS_E_NOTFOUND, "%s: there is no function \"%s\"", op, name == NULL ? "" : name));
    }
    if (strcmp(op, "map") == 0)
        return lks_map(ds, &f, .num_parallel_calls = whole(a, "num_parallel_calls", 0),
                       .deterministic = truth(a, "deterministic"), .depth = whole(a, "depth", 0),
                       .seed = option(a, "seed"));
    if (strcmp(op, "filter") == 0) return lks_filter(ds, &f);
    if (strcmp(op, "flat_map") == 0) return lks_flat_map(ds, &f);
    if (strcmp(op, "take_while") == 0) return lks_take_while(ds, &f);
    return lks_interleave(ds, &f, .cycle_length = option(a, "cycle_length"), .block_length = option(a, "block_length"),
                          .num_parallel_calls = whole(a, "num_parallel_calls", 0),
                          .deterministic = truth(a, "deterministic"));
}

/* ---- sources ---- */

typedef struct names {
    char *text[MAX_FILES];
    size_t n;
} names;

static void free_names(names *l)
{
    for (size_t i = 0; i < l->n; i++) lks__free(l->text[i]);
    lks__free(l);
}

/* "files" or "pattern": a string or a list of them, with the folder in front. NULL on failure. */
static names *read_names(const args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    names *l = lks__calloc(1, sizeof *l);

    if (l == NULL) lks__fail(LKS_E_NOMEM, "no memory for file names");
    for (size_t i = 0; l != NULL && i < n; i++) {
        const char *name = json_string_value(json_is_array(v) ? json_array_get(v, i) : v);
        lks_text t = { 0 };
        if (name != NULL && name[0] != '/' && a->r->o.folder != NULL) lks__text_printf(&t, "%s/", a->r->o.folder);
        lks__text_puts(&t, name == NULL ? "" : name);
        if (name == NULL || n > MAX_FILES)
            lks__fail(LKS_E_ARG, "\"%s\" must be a name or a list of at most %d", key, MAX_FILES);
        if (name != NULL && n <= MAX_FILES && lks__text_take(&t, &l->text[l->n]) == LKS_OK) {
            l->n++;
            continue;
        }
        lks__text_free(&t);
        free_names(l);
        l = NULL;
    }
    return l;
}

static lks_dataset *from_files(const args *a, const char *op)
{
    names *l = read_names(a, strcmp(op, "list_files") == 0 ? "pattern" : "files");
    lks_files_options o = { .struct_size = sizeof o,
                            .compression_type = word(a, "compression_type"),
                            .buffer_size = option(a, "buffer_size"),
                            .num_parallel_reads = whole(a, "num_parallel_reads", 0) };
    const char *const *name;
    lks_dataset *ds;

    if (l == NULL) return failed(lks__error_code());
    name = (const char *const *)l->text;
    if (strcmp(op, "list_files") == 0)
        ds = lks_list_files(l->n, name, .shuffle = truth(a, "shuffle"), .seed = option(a, "seed"));
    else if (strcmp(op, "text_lines") == 0) ds = lks_text_lines_with(l->n, name, &o);
    else if (strcmp(op, "tfrecord") == 0) ds = lks_tfrecord_with(l->n, name, &o);
    else
        ds = lks_fixed_length(l->n, name, whole(a, "record_bytes", 0), .header_bytes = whole(a, "header_bytes", 0),
                              .footer_bytes = whole(a, "footer_bytes", 0), .files = o);
    free_names(l);
    return ds;
}

static lks_dataset *range(const args *a)
{
    const json_t *list = json_object_get(a->json, "args");
    int64_t v[3] = { 0, 0, 1 };
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < 3; i++) v[i] = json_integer_value(json_array_get(list, i));
    return n == 1 ? lks_range(0, v[0], 1) : lks_range(v[0], v[1], v[2]);
}

static lks_dataset *from_inputs(const args *a, const char *op, lks_dataset *first)
{
    const json_t *list = json_object_get(a->json, "inputs");
    lks_dataset *in[MAX_INPUTS];
    size_t n = json_array_size(list);

    if (n == 0 || n > MAX_INPUTS) {
        lks_dataset_release(first);
        return failed(lks__fail(LKS_E_ARG, "%s: \"inputs\" must be a list of 1 to %d pipelines", op, MAX_INPUTS));
    }
    for (size_t i = 0; i < n; i++) in[i] = build(a->r, json_array_get(list, i));
    if (strcmp(op, "concatenate") == 0) {
        for (size_t i = 0; i < n; i++) first = lks_dataset_concatenate(first, in[i]);
        return first;
    }
    if (strcmp(op, "zip") == 0) return lks_zip_n(n, in);
    if (strcmp(op, "choose_from_datasets") == 0)
        return lks_choose_from_datasets(in[0], n - 1, in + 1,
                                        .stop_on_empty_dataset = truth(a, "stop_on_empty_dataset"));
    return lks_sample_from_datasets(n, in, .seed = option(a, "seed"),
                                    .stop_on_empty_dataset = truth(a, "stop_on_empty_dataset"));
}

static lks_dataset *source(const args *a, const char *op)
{
    static const char *const files[] = { "list_files", "text_lines", "tfrecord", "fixed_length" };
    static const char *const several[] = { "zip", "choose_from_datasets", "sample_from_datasets" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(op, files[i]) == 0) return from_files(a, op);
    for (size_t i = 0; i < sizeof several / sizeof *several; i++)
        if (strcmp(op, several[i]) == 0) return from_inputs(a, op, NULL);
    if (strcmp(op, "range") == 0) return range(a);
    if (strcmp(op, "random") == 0) return lks_random(.seed = option(a, "seed"));
    if (strcmp(op, "mnist") == 0) return lks_mnist(word(a, "split") != NULL ? word(a, "split") : "train");
    if (strcmp(op, "fashion_mnist") == 0)
        return lks_fashion_mnist(word(a, "split") != NULL ? word(a, "split") : "train");
    return failed(lks__fail(LKS_E_NOTFOUND, "there is no source \"%s\"", op));
}

/* ---- stages ---- */

static lks_dataset *plain(const args *a, lks_dataset *ds, const char *op)
{
    const json_t *list = json_object_get(a->json, "batch_size");
    int64_t size = whole(a, "batch_size", 0), sizes[MAX_INPUTS] = { size };
    size_t n = json_is_array(list) && json_array_size(list) <= MAX_INPUTS ? json_array_size(list) : 1;

    for (size_t i = 0; json_is_array(list) && i < n; i++) sizes[i] = json_integer_value(json_array_get(list, i));
    if (strcmp(op, "batch") == 0) return lks_batch(ds, size, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "ragged_batch") == 0)
        return lks_ragged_batch(ds, size, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "padded_batch") == 0)
        return lks_padded_batch(ds, size, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "rebatch") == 0) return lks_rebatch(ds, n, sizes, .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "window") == 0)
        return lks_window(ds, whole(a, "size", 0), .shift = option(a, "shift"), .stride = option(a, "stride"),
                          .drop_remainder = truth(a, "drop_remainder"));
    if (strcmp(op, "shuffle") == 0)
        return lks_shuffle(ds, whole(a, "buffer_size", 0), .seed = option(a, "seed"),
                           .reshuffle_each_iteration = truth(a, "reshuffle_each_iteration"));
    if (strcmp(op, "shuffle_indexed") == 0)
        return lks_shuffle_indexed(ds, .seed = option(a, "seed"),
                                   .reshuffle_each_iteration = truth(a, "reshuffle_each_iteration"));
    if (strcmp(op, "cache") == 0) return lks_cache(ds, .filename = word(a, "filename"));
    if (strcmp(op, "snapshot") == 0) return lks_snapshot(ds, word(a, "path"));
    if (strcmp(op, "shard") == 0) return lks_shard(ds, whole(a, "num_shards", 0), whole(a, "index", 0));
    if (strcmp(op, "repeat") == 0) return lks_repeat(ds, whole(a, "count", -1));
    if (strcmp(op, "take") == 0) return lks_take(ds, whole(a, "count", 0));
    if (strcmp(op, "skip") == 0) return lks_skip(ds, whole(a, "count", 0));
    if (strcmp(op, "enumerate") == 0) return lks_enumerate(ds, whole(a, "start", 0));
    if (strcmp(op, "prefetch") == 0) return lks_prefetch(ds, whole(a, "buffer_size", LKS_AUTOTUNE));
    if (strcmp(op, "unbatch") == 0) return lks_unbatch(ds);
    if (strcmp(op, "unique") == 0) return lks_unique(ds);
    if (strcmp(op, "ignore_errors") == 0) return lks_ignore_errors(ds);
    if (strcmp(op, "assert_cardinality") == 0) return lks_assert_cardinality(ds, whole(a, "n", 0));
    if (strcmp(op, "concatenate") == 0) return from_inputs(a, op, ds);
    lks_dataset_release(ds);
    return failed(lks__fail(LKS_E_NOTFOUND, "there is no stage \"%s\"", op));
}

static lks_dataset *stage(const args *a, lks_dataset *ds, const char *op)
{
    static const char *const with[] = { "map", "filter", "flat_map", "interleave", "take_while" };

    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (strcmp(op, with[i]) == 0) return with_function(a, ds, op);
    return plain(a, ds, op);
}

static lks_dataset *build(reader *r, const json_t *list)
{
    lks_dataset *ds = NULL;

    if (!json_is_array(list) || json_array_size(list) == 0 || r->depth >= LKS_JSON_DEPTH / 4)
        return failed(lks__fail(LKS_E_FORMAT, "a pipeline is a list of stages, the first of them a source"));
    r->depth++;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const args a = { r, json_array_get(list, i) };
        const char *op = word(&a, "op");
        if (op == NULL) {
            lks_dataset_release(ds);
            ds = failed(lks__fail(LKS_E_FORMAT, "stage %zu of the pipeline has no \"op\"", i));
            break;
        }
        ds = i == 0 ? source(&a, op) : stage(&a, ds, op);
        if (!lks__dataset_ok(ds)) break;
    }
    r->depth--;
    return ds;
}

/* Stands for what could not be built. */
const lks_stage lks__stage_from_json = { .name = "from_json", .dataset_size = sizeof(lks_dataset) };

lks_dataset *lks_dataset_from_json_with(const char *text, const lks_dataset_json_options *options)
{
    reader r = { .depth = 0 };
    json_t *json = NULL;
    lks_dataset *ds;
    lks_status status;

    lks__options(&r.o, sizeof r.o, options);
    if (text == NULL) return failed(lks__fail(LKS_E_ARG, "the text is NULL"));
    status = lks__json_parse(text, strlen(text), "the pipeline", &json);
    ds = status == LKS_OK ? build(&r, json) : failed(status);
    json_decref(json);
    return ds;
}
