/* stage_words.c - the words of stages, one line each in the table at the end. */
#include <string.h>

#include "language.h"
#include "lockstep/dataset_distribute.h"
#include "lockstep/dataset_sampling.h"

enum { MOST_PARTS = 64 };

static lks_dataset *give_up(lks_dataset *ds)
{
    lks_dataset_release(ds);
    return lks__language_failed(lks__error_code());
}

/* ---- with functions ---- */

static lks_dataset *map(const lks_call *c, lks_dataset *ds)
{
    lks_map_fn f;

    if (!lks__call_function(c, "f", &f)) return give_up(ds);
    return lks_map(ds, &f, .num_parallel_calls = lks__call_option(c, "num_parallel_calls"),
                   .deterministic = lks__call_truth(c, "deterministic"), .depth = lks__call_int(c, "depth", 0),
                   .seed = lks__call_option(c, "seed"));
}

static lks_dataset *with_function(const lks_call *c, lks_dataset *ds)
{
    lks_map_fn f;

    if (!lks__call_function(c, "f", &f)) return give_up(ds);
    if (strcmp(c->word, "filter") == 0) return lks_filter(ds, &f);
    if (strcmp(c->word, "flat_map") == 0) return lks_flat_map(ds, &f);
    return lks_take_while(ds, &f);
}

static lks_dataset *interleave(const lks_call *c, lks_dataset *ds)
{
    lks_map_fn f;

    if (!lks__call_function(c, "f", &f)) return give_up(ds);
    return lks_interleave(ds, &f, .cycle_length = lks__call_option(c, "cycle_length"),
                          .block_length = lks__call_option(c, "block_length"),
                          .num_parallel_calls = lks__call_option(c, "num_parallel_calls"),
                          .deterministic = lks__call_truth(c, "deterministic"));
}

static lks_dataset *scan(const lks_call *c, lks_dataset *ds)
{
    const json_t *initial = lks__call_value(c, "initial");
    size_t n = json_is_array(initial) ? json_array_size(initial) : 1;
    lks_tensor *state[MOST_PARTS] = { NULL };
    bool ok = n <= MOST_PARTS;
    lks_map_fn f;

    if (!ok) lks__fail(LKS_E_ARG, "\"initial\" has more than %d parts", (int)MOST_PARTS);
    for (size_t i = 0; i < n && ok; i++) {
        state[i] = lks__read_value(json_is_array(initial) ? json_array_get(initial, i) : initial, (lks_dtype)0);
        ok = state[i] != NULL;
    }
    ok = ok && lks__call_function(c, "f", &f);
    ds = ok ? lks_scan(ds, n, state, &f) : give_up(ds);
    for (size_t i = 0; i < n && i < MOST_PARTS; i++) lks_tensor_release(state[i]);
    return ds;
}

static void drop(lks_map_fn *f)
{
    if (f->release != NULL) f->release(f->user);
}

static lks_dataset *group_by_window(const lks_call *c, lks_dataset *ds)
{
    bool has_size = lks__call_value(c, "window_size_func") != NULL;
    lks_map_fn key, reduce, size;

    if (!lks__call_function(c, "key_func", &key)) return give_up(ds);
    if (!lks__call_function(c, "reduce_func", &reduce)) {
        drop(&key);
        return give_up(ds);
    }
    if (has_size && !lks__call_function(c, "window_size_func", &size)) {
        drop(&key);
        drop(&reduce);
        return give_up(ds);
    }
    return lks_group_by_window(ds, &key, &reduce, .window_size = lks__call_option(c, "window_size"),
                               .window_size_func = has_size ? &size : NULL);
}

static lks_dataset *bucket(const lks_call *c, lks_dataset *ds)
{
    int64_t bounds[LKS_MOST_LIST], sizes[LKS_MOST_LIST];
    size_t n = lks__call_ints(c, "bucket_boundaries", bounds, LKS_MOST_LIST);
    size_t m = lks__call_ints(c, "bucket_batch_sizes", sizes, LKS_MOST_LIST);
    lks_map_fn f;

    if (!lks__call_function(c, "element_length_func", &f)) return give_up(ds);
    return lks_bucket_by_sequence_length(ds, &f, .n_boundaries = n, .boundaries = bounds, .batch_sizes = sizes,
                                         .n_batch_sizes = m,
                                         .padding.drop_remainder = lks__call_truth(c, "drop_remainder"),
                                         .pad_to_bucket_boundary = lks__call_truth(c, "pad_to_bucket_boundary"),
                                         .no_padding = lks__call_truth(c, "no_padding"));
}

static lks_dataset *rejection(const lks_call *c, lks_dataset *ds)
{
    double target[LKS_MOST_LIST], initial[LKS_MOST_LIST];
    size_t n = lks__call_numbers(c, "target_dist", target, LKS_MOST_LIST);
    size_t m = lks__call_numbers(c, "initial_dist", initial, LKS_MOST_LIST);
    lks_map_fn f;

    if (m != 0 && m != n) {
        lks__fail(LKS_E_ARG, "\"initial_dist\" has %zu shares, \"target_dist\" %zu", m, n);
        return give_up(ds);
    }
    if (!lks__call_function(c, "class_func", &f)) return give_up(ds);
    return lks_rejection_resample(ds, &f, n, target, .initial_dist = m > 0 ? initial : NULL,
                                  .seed = lks__call_option(c, "seed"));
}

/* ---- batches ---- */

static lks_dataset *batch(const lks_call *c, lks_dataset *ds)
{
    const lks_batch_options o = { .struct_size = sizeof o,
                                  .drop_remainder = lks__call_truth(c, "drop_remainder"),
                                  .num_parallel_calls = lks__call_option(c, "num_parallel_calls") };
    int64_t size = lks__call_int(c, "batch_size", 0);

    return strcmp(c->word, "batch") == 0 ? lks_batch_with(ds, size, &o) : lks_ragged_batch_with(ds, size, &o);
}

static lks_dataset *rebatch(const lks_call *c, lks_dataset *ds)
{
    int64_t sizes[LKS_MOST_LIST];
    size_t n = lks__call_ints(c, "batch_size", sizes, LKS_MOST_LIST);

    return lks_rebatch(ds, n, sizes, .drop_remainder = lks__call_truth(c, "drop_remainder"));
}

/* Shapes of the components in flat order: [[2, -1], []], null for an unknown size. */
static bool read_shapes(const json_t *v, lks_shape *out, size_t leaves)
{
    for (size_t i = 0; i < leaves; i++) {
        const json_t *one = leaves == 1 && !json_is_array(json_array_get(v, 0)) ? v : json_array_get(v, i);
        out[i].rank = (int64_t)json_array_size(one);
        if (!json_is_array(one) || out[i].rank > LKS_MAX_RANK) {
            lks__fail(LKS_E_ARG, "\"padded_shapes\" must have a list of sizes for each of %zu components", leaves);
            return false;
        }
        for (int64_t k = 0; k < out[i].rank; k++) {
            const json_t *d = json_array_get(one, (size_t)k);
            if (!json_is_integer(d) && !json_is_null(d)) {
                lks__fail(LKS_E_ARG, "a size of \"padded_shapes\" is a whole number or null (the largest)");
                return false;
            }
            out[i].dim[k] = json_is_integer(d) ? json_integer_value(d) : -1;
        }
    }
    return true;
}

static lks_dataset *padded_batch(const lks_call *c, lks_dataset *ds)
{
    const json_t *shapes = lks__call_value(c, "padded_shapes"), *values = lks__call_value(c, "padding_values");
    size_t leaves = lks_spec_leaf_count(lks_dataset_spec(ds));
    lks_padded_batch_options o = { .struct_size = sizeof o, .drop_remainder = lks__call_truth(c, "drop_remainder") };
    lks_shape shape[MOST_PARTS];
    lks_tensor *value[MOST_PARTS] = { NULL };
    bool ok = leaves <= MOST_PARTS;

    if (!ok) lks__fail(LKS_E_LIMIT, "at most %d components can be padded", (int)MOST_PARTS);
    ok = ok && (shapes == NULL || read_shapes(shapes, shape, leaves));
    for (size_t i = 0; i < leaves && ok && values != NULL; i++) {
        lks_dtype dtype = lks_spec_dtype(lks_spec_leaf(lks_dataset_spec(ds), i));
        value[i] = lks__read_value(json_is_array(values) ? json_array_get(values, i) : values, dtype);
        ok = value[i] != NULL;
    }
    o.padded_shapes = shapes != NULL ? shape : NULL;
    o.padding_values = values != NULL ? value : NULL;
    ds = ok ? lks_padded_batch_with(ds, lks__call_int(c, "batch_size", 0), &o) : give_up(ds);
    for (size_t i = 0; i < leaves && i < MOST_PARTS; i++) lks_tensor_release(value[i]);
    return ds;
}

static lks_dataset *window(const lks_call *c, lks_dataset *ds)
{
    return lks_window(ds, lks__call_int(c, "size", 0), .shift = lks__call_option(c, "shift"),
                      .stride = lks__call_option(c, "stride"), .drop_remainder = lks__call_truth(c, "drop_remainder"));
}

/* ---- the others ---- */

static lks_dataset *shuffle(const lks_call *c, lks_dataset *ds)
{
    return lks_shuffle(ds, lks__call_int(c, "buffer_size", 0), .seed = lks__call_option(c, "seed"),
                       .reshuffle_each_iteration = lks__call_truth(c, "reshuffle_each_iteration"));
}

static lks_dataset *shuffle_indexed(const lks_call *c, lks_dataset *ds)
{
    return lks_shuffle_indexed(ds, .seed = lks__call_option(c, "seed"),
                               .reshuffle_each_iteration = lks__call_truth(c, "reshuffle_each_iteration"));
}

/* A file beside the others. */
static lks_dataset *kept(const lks_call *c, lks_dataset *ds)
{
    bool cache = strcmp(c->word, "cache") == 0;
    const char *key = cache ? "filename" : "path";
    lks_names l;

    if (cache && lks__call_text(c, "filename") == NULL) return lks_cache(ds);
    if (lks__call_names(c, key, &l) != LKS_OK) return give_up(ds);
    ds = cache ? lks_cache(ds, .filename = l.text[0]) : lks_snapshot(ds, l.text[0]);
    lks__names_release(&l);
    return ds;
}

static lks_dataset *concatenate(const lks_call *c, lks_dataset *ds)
{
    lks_dataset *in[LKS_MOST_INPUTS];
    size_t n;

    if (!lks__call_inputs(c, in, &n)) return give_up(ds);
    for (size_t i = 0; i < n; i++) ds = lks_dataset_concatenate(ds, in[i]);
    return ds;
}

static lks_dataset *counted(const lks_call *c, lks_dataset *ds)
{
    if (strcmp(c->word, "repeat") == 0) return lks_repeat(ds, lks__call_int(c, "count", -1));
    if (strcmp(c->word, "take") == 0) return lks_take(ds, lks__call_int(c, "count", 0));
    return lks_skip(ds, lks__call_int(c, "count", 0));
}

static lks_dataset *shard(const lks_call *c, lks_dataset *ds)
{
    return lks_shard(ds, lks__call_int(c, "num_shards", 0), lks__call_int(c, "index", 0));
}

static lks_dataset *enumerate(const lks_call *c, lks_dataset *ds)
{
    return lks_enumerate(ds, lks__call_int(c, "start", 0));
}

static lks_dataset *prefetch(const lks_call *c, lks_dataset *ds)
{
    return lks_prefetch(ds, lks__call_int(c, "buffer_size", LKS_AUTOTUNE));
}

static lks_dataset *unbatch(const lks_call *c, lks_dataset *ds)
{
    (void)c;
    return lks_unbatch(ds);
}

static lks_dataset *unique(const lks_call *c, lks_dataset *ds)
{
    (void)c;
    return lks_unique(ds);
}

static lks_dataset *ignore_errors(const lks_call *c, lks_dataset *ds)
{
    (void)c;
    return lks_ignore_errors(ds);
}

static lks_dataset *assert_cardinality(const lks_call *c, lks_dataset *ds)
{
    return lks_assert_cardinality(ds, lks__call_int(c, "n", 0));
}

static lks_dataset *auto_shard(const lks_call *c, lks_dataset *ds)
{
    static const char *const word[] = { "AUTO", "FILE", "DATA", "HINT", "OFF" };
    static const lks_shard_policy policy[] = { LKS_SHARD_AUTO, LKS_SHARD_FILE, LKS_SHARD_DATA, LKS_SHARD_HINTED,
                                               LKS_SHARD_OFF };
    const char *given = lks__call_text(c, "policy");

    for (size_t i = 0; i < 5; i++)
        if (given == NULL || strcmp(given, word[i]) == 0)
            return lks_auto_shard(ds, lks__call_int(c, "num_workers", 1), lks__call_int(c, "worker", 0), policy[i]);
    lks__fail(LKS_E_ARG, "\"policy\" must be AUTO, FILE, DATA, HINT or OFF, found \"%.40s\"", given);
    return give_up(ds);
}

/* Recorded pipelines have them; nothing here depends on them. */
static lks_dataset *options(const lks_call *c, lks_dataset *ds)
{
    (void)c;
    return ds;
}

const lks_word lks__stage_words[] = {
    { "assert_cardinality", "n:i", assert_cardinality, NULL, 0 },
    { "auto_shard", "num_workers:i worker:i policy:s", auto_shard, NULL, 0 },
    { "batch", "batch_size:i! drop_remainder:b num_parallel_calls:i deterministic:b", batch, NULL, 0 },
    { "bucket_by_sequence_length",
      "element_length_func:f bucket_boundaries:l bucket_batch_sizes:l drop_remainder:b pad_to_bucket_boundary:b "
      "no_padding:b",
      bucket, NULL, 0 },
    { "cache", "filename:s", kept, NULL, 0 },
    { "concatenate", "inputs:p", concatenate, NULL, 0 },
    { "enumerate", "start:i", enumerate, NULL, 0 },
    { "filter", "f:f", with_function, NULL, 0 },
    { "flat_map", "f:f", with_function, NULL, 0 },
    { "group_by_window", "key_func:f reduce_func:f window_size:i window_size_func:f", group_by_window, NULL, 0 },
    { "ignore_errors", "", ignore_errors, NULL, 0 },
    { "interleave", "f:f cycle_length:i block_length:i num_parallel_calls:i deterministic:b", interleave, NULL, 0 },
    { "map", "f:f num_parallel_calls:i deterministic:b depth:i seed:i", map, NULL, 0 },
    { "options", "deterministic:b", options, NULL, 0 },
    { "padded_batch", "batch_size:i! padded_shapes:v padding_values:v drop_remainder:b", padded_batch, NULL, 0 },
    { "prefetch", "buffer_size:i", prefetch, NULL, 0 },
    { "ragged_batch", "batch_size:i! drop_remainder:b", batch, NULL, 0 },
    { "rebatch", "batch_size:l! drop_remainder:b", rebatch, NULL, 0 },
    { "rejection_resample", "class_func:f target_dist:m initial_dist:m seed:i", rejection, NULL, 0 },
    { "repeat", "count:i", counted, NULL, 0 },
    { "scan", "initial:v f:f", scan, NULL, 0 },
    { "shard", "num_shards:i! index:i!", shard, NULL, 0 },
    { "shuffle", "buffer_size:i! seed:i reshuffle_each_iteration:b", shuffle, NULL, 0 },
    { "shuffle_indexed", "seed:i reshuffle_each_iteration:b", shuffle_indexed, NULL, 0 },
    { "skip", "count:i!", counted, NULL, 0 },
    { "snapshot", "path:s", kept, NULL, 0 },
    { "take", "count:i!", counted, NULL, 0 },
    { "take_while", "f:f", with_function, NULL, 0 },
    { "unbatch", "", unbatch, NULL, 0 },
    { "unique", "", unique, NULL, 0 },
    { "window", "size:i! shift:i stride:i drop_remainder:b", window, NULL, 0 },
    { NULL, NULL, NULL, NULL, 0 },
};
