/* distribute_pipelines.c - pipelines.json: batch sizes of workers, rebatch, the reference's old cut, auto-sharding.
 *
 * Where the reference shards a zip twice, its record is no target: every element must come exactly once over the workers, and
 * the policy AUTO must do what DATA does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distribute.h"

enum { FILES = 5 };

static char folder[] = "/tmp/golden-distribute-XXXXXX";
static char path[FILES][128];

static lks_dataset *lines(size_t first, size_t n)
{
    const char *name[FILES];

    for (size_t i = 0; i < n; i++) name[i] = path[first + i];
    return lks_text_lines(n, name);
}

static lks_dataset *names(void)
{
    char pattern[160];
    const char *one = pattern;

    snprintf(pattern, sizeof pattern, "%s/shard-*.txt", folder);
    return lks_list_files(1, &one, .shuffle = LKS_FALSE);
}

static lks_spec *open_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }));
}

static lks_status open_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *b = lks_tensor_cdata(lks_element_tensor(in, 0));
    const char *name = b->data;

    (void)context, (void)user;
    return lks_element_set_dataset(out, 0, lks_text_lines(1, &name));
}

static const lks_map_fn open_lines = { .struct_size = sizeof open_lines,
                                       .name = "lines",
                                       .output_spec = open_spec,
                                       .apply = open_apply,
                                       .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES };

static lks_status numbers_next(void *state, lks_element *out, void *user)
{
    int64_t *at = state;
    lks_tensor *t = *at < 6 ? lks_element_output(out, 0) : NULL;

    (void)user;
    if (*at >= 6) return LKS_END;
    if (t == NULL) return LKS_E_NOMEM;
    *(int32_t *)lks_tensor_data(t) = (int32_t)(*at)++;
    return LKS_OK;
}

static lks_status numbers_open(void *user, void **state)
{
    (void)user;
    *state = calloc(1, sizeof(int64_t));
    return *state == NULL ? LKS_E_NOMEM : LKS_OK;
}

static void numbers_close(void *state, void *user)
{
    (void)user;
    free(state);
}

static lks_dataset *generator(void)
{
    const lks_generator g = { sizeof g, "numbers", numbers_open, numbers_next, numbers_close, NULL, NULL };

    return lks_from_generator(lks_spec_tensor(LKS_INT32, (lks_shape){ .rank = 0 }), &g);
}

static lks_dataset *slices(void)
{
    int64_t v[7] = { 0, 1, 2, 3, 4, 5, 6 };
    lks_tensor *t = lks_tensor_from(LKS_INT64, (lks_shape){ .rank = 1, .dim = { 7 } }, v);
    lks_dataset *ds = lks_from_tensor_slices(t);

    lks_tensor_release(t);
    return ds;
}

/* The dataset that the set calls so; NULL: unknown. */
static lks_dataset *source(const char *name)
{
#define IS(text) (strcmp(name, text) == 0)
    if (IS("range(10)")) return lks_range(0, 10, 1);
    if (IS("range(10).shuffle(10, seed=1)")) return lks_shuffle(lks_range(0, 10, 1), 10, .seed = 1);
    if (IS("from_tensor_slices(0..6)")) return slices();
    if (IS("TextLineDataset(5 files)")) return lines(0, 5);
    if (IS("TextLineDataset(1 file)")) return lines(0, 1);
    if (IS("from_tensor_slices(files).interleave(TextLine, cycle 2)"))
        return lks_interleave(names(), &open_lines, .cycle_length = 2);
    if (IS("from_tensor_slices(files).flat_map(TextLine)") || IS("list_files(sorted).flat_map(TextLine)"))
        return lks_flat_map(names(), &open_lines);
    if (IS("from_tensor_slices(files).shuffle(5, seed=3).flat_map(TextLine)"))
        return lks_flat_map(lks_shuffle(names(), 5, .seed = 3), &open_lines);
    if (IS("TextLine(5 files).batch(4)")) return lks_batch(lines(0, 5), 4);
    if (IS("range(10).batch(4)")) return lks_batch(lks_range(0, 10, 1), 4);
    if (IS("generator")) return generator();
    if (IS("TextLine(5 files).cache()")) return lks_cache(lines(0, 5));
    if (IS("zip(TextLine, range)")) return lks_zip(lines(0, 5), lks_range(0, 100, 1));
    if (IS("concatenate(TextLine(2 files), TextLine(3 files))"))
        return lks_dataset_concatenate(lines(0, 2), lines(2, 3));
    if (IS("range(10).repeat(2).prefetch(1)")) return lks_prefetch(lks_repeat(lks_range(0, 5, 1), 2), 1);
    if (IS("range(10).shard(SHARD_HINT)")) return lks_shard(lks_range(0, 10, 1), LKS_SHARD_HINT, 0);
    if (IS("range(2)")) return lks_range(0, 2, 1);
    if (IS("TextLine(5 files).assert_cardinality")) return lks_assert_cardinality(lines(0, 5), 14);
#undef IS
    return NULL;
}

static lks_shard_policy policy_of(const char *name)
{
    if (strcmp(name, "OFF") == 0) return LKS_SHARD_OFF;
    if (strcmp(name, "FILE") == 0) return LKS_SHARD_FILE;
    if (strcmp(name, "DATA") == 0) return LKS_SHARD_DATA;
    return strcmp(name, "HINT") == 0 ? LKS_SHARD_HINTED : LKS_SHARD_AUTO;
}

/* The reference's error against ours, which stands alone in the list. */
static bool same_error(const json_t *got, const json_t *want)
{
    const char *mine = json_string_value(json_object_get(json_array_get(got, 0), "error"));
    const char *theirs = json_string_value(json_object_get(json_object_get(want, "error"), "type"));

    if (mine == NULL || theirs == NULL) return false;
    if (strcmp(theirs, "NotFoundError") == 0) return strcmp(mine, "LKS_E_NOTFOUND") == 0;
    if (strcmp(theirs, "InvalidArgumentError") == 0) return strcmp(mine, "LKS_E_ARG") == 0;
    return strcmp(mine, "LKS_E_STATE") == 0;
}

/* What the row should hold: the record; for the zip that the reference loses, what it records for DATA; for a hint under FILE, the
 * refusal of the hint, which we look for first. */
static const json_t *target(const json_t *set, const json_t *row, const char *name, const char *policy)
{
    const json_t *list = json_object_get(set, "auto_shard"), *other;
    size_t i;
    bool zip = strcmp(name, "zip(TextLine, range)") == 0 && strcmp(policy, "AUTO") == 0;

    if (zip || (strstr(name, "SHARD_HINT") != NULL && strcmp(policy, "FILE") == 0))
        json_array_foreach((json_t *)list, i, other)
        {
            if (strcmp(golden_text(other, "source"), name) == 0 && strcmp(golden_text(other, "policy"), "DATA") == 0 &&
                golden_int(other, "workers", 0) == golden_int(row, "workers", 0))
                row = other;
        }
    return json_object_get(row, "per_worker");
}

/* Where the reference fails on one worker only, the others would wait for it: we fail on all. */
static const json_t *expected_of(const json_t *workers, size_t w)
{
    const json_t *one;
    size_t i;

    json_array_foreach((json_t *)workers, i, one)
    {
        if (json_is_object(one)) return one;
    }
    return json_array_get(workers, w);
}

static void run_sharding(golden_report *r, const json_t *set, const json_t *row)
{
    const char *name = golden_text(row, "source"), *policy = golden_text(row, "policy");
    const json_t *want = target(set, row, name, policy);
    int64_t workers = golden_int(row, "workers", 1);

    for (int64_t w = 0; w < workers; w++) {
        const json_t *expected = expected_of(want, (size_t)w);
        lks_dataset *ds = source(name);
        json_t *got;
        char *text;
        if (ds == NULL) {
            golden_not_yet(r, "source '%s'", name);
            return;
        }
        ds = lks_auto_shard(ds, workers, w, policy_of(policy));
        got = distribute_elements(ds, 1000);
        text = json_dumps(got, JSON_COMPACT);
        if (!(json_is_object(expected) ? same_error(got, expected) : json_equal(got, expected)))
            golden_fault(r, "worker %lld: %.200s", (long long)w, text);
        free(text);
        json_decref(got);
        lks_dataset_release(ds);
    }
}

static void run_sizes(golden_report *r, const json_t *c)
{
    int64_t w = golden_int(c, "workers", 1), n = golden_int(c, "replicas_per_worker", 1), sizes[64];
    const json_t *want = json_object_get(c, "sizes");

    for (int64_t i = 0; i < w; i++) {
        if (!golden_ok(r, lks_batch_sizes_for_worker(golden_int(c, "global_batch", 1), w, n, i, sizes), "sizes"))
            return;
        for (int64_t k = 0; k < w * n; k++)
            if (json_integer_value(json_array_get(json_array_get(want, (size_t)i), (size_t)k)) != sizes[k])
                golden_fault(r, "worker %lld: size %lld is %lld", (long long)i, (long long)k, (long long)sizes[k]);
    }
}

static void run_rebatch(golden_report *r, const json_t *c, bool legacy)
{
    lks_dataset *ds = lks_batch(lks_range(0, golden_int(c, "elements", 0), 1), golden_int(c, "batch", 1));
    const json_t *list = json_object_get(c, "sizes");
    int64_t sizes[16], n = golden_int(c, "num_replicas", 1);
    json_t *got;

    for (size_t i = 0; i < json_array_size(list); i++) sizes[i] = json_integer_value(json_array_get(list, i));
    ds = legacy ? lks_split_batches(ds, n, 0, n, 1)
                : lks_rebatch(ds, json_array_size(list), sizes,
                              .drop_remainder = golden_true(c, "drop_remainder") ? LKS_TRUE : LKS_FALSE);
    got = distribute_elements(ds, 100);
    if (!json_equal(got, json_object_get(c, "result"))) golden_fault(r, "other batches: %s", lks_last_error());
    json_decref(got);
    lks_dataset_release(ds);
}

static void write_files(void)
{
    for (int i = 0; i < FILES; i++) {
        FILE *f;
        snprintf(path[i], sizeof path[i], "%s/shard-%d.txt", folder, i);
        f = fopen(path[i], "w");
        for (int k = 0; f != NULL && k < 2 + i % 3; k++) fprintf(f, "f%dl%d\n", i, k);
        if (f != NULL) fclose(f);
    }
}

void distribute_pipelines(golden_report *r, const json_t *set)
{
    static const char *const lists[] = { "batch_sizes_for_worker", "rebatch", "legacy_rebatch", "auto_shard" };
    char title[GOLDEN_NAME];

    if (mkdtemp(folder) == NULL) return;
    write_files();
    for (size_t k = 0; k < 4; k++) {
        const json_t *list = json_object_get(set, lists[k]), *c;
        size_t i;
        json_array_foreach((json_t *)list, i, c)
        {
            if (k < 3) snprintf(title, sizeof title, "%s %zu", lists[k], i);
            else
                snprintf(title, sizeof title, "%s, %lld workers, %s", golden_text(c, "source"),
                         (long long)golden_int(c, "workers", 0), golden_text(c, "policy"));
            if (!golden_begin(r, title)) continue;
            if (k == 0) run_sizes(r, c);
            else if (k == 3) run_sharding(r, set, c);
            else run_rebatch(r, c, k == 2);
            golden_end(r);
        }
    }
    for (int i = 0; i < FILES; i++) unlink(path[i]);
    rmdir(folder);
}
