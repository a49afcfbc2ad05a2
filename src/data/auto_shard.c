/* auto_shard.c - one worker's part of a dataset, by rewriting the recipe.
 *
 * Each rewrite makes new nodes and leaves the given recipe as it is, so the fallback of AUTO starts from the untouched one (the
 * reference shards again what it has half sharded, and loses elements).
 */
#include "lockstep/dataset_distribute.h"

#include "clone.h"
#include "file_source.h"
#include "function.h"
#include "shard.h"
#include "stages.h"

typedef struct worker {
    int64_t n, index;
    bool found; /* HINTED: a hint was seen */
} worker;

enum { MAX_SHUFFLES = 16 };

/* Every input rewritten, then the node above them. `what` is borrowed; the result is one reference, failed or NULL on failure. */
static lks_dataset *above(lks_dataset *what, worker *w, lks_dataset *(*rewrite)(lks_dataset *ds, worker *w))
{
    int64_t n = what->cardinality == LKS_INFINITE_CARDINALITY ? LKS_INFINITE_CARDINALITY : LKS_UNKNOWN_CARDINALITY;
    lks_dataset **input = lks__calloc(what->n_inputs, sizeof *input), *out;
    bool same = true;

    if (input == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for the inputs of '%s'", what->stage->name);
        return NULL;
    }
    for (size_t i = 0; i < what->n_inputs; i++) {
        input[i] = rewrite(what->input[i], w);
        same &= input[i] == what->input[i];
    }
    if (same) {
        for (size_t i = 0; i < what->n_inputs; i++) lks_dataset_release(input[i]);
        out = lks_dataset_retain(what);
    } else if (what->stage == &lks__stage_cache) {
        out = lks_cache_with(input[0], NULL);
    } else {
        out = lks__dataset_clone(what, input, n);
    }
    lks__free(input);
    return out;
}

/* ---- FILE ---- */

/* A failed dataset that says why this one's files can't be dealt out. */
static lks_dataset *no_files(const lks_dataset *ds, const char *why)
{
    lks_dataset *failed = lks__dataset_begin(ds->stage, 0, NULL);

    if (failed == NULL) return NULL;
    failed->number = ds->number;
    failed->original = lks_dataset_retain((lks_dataset *)ds); /* its fields are zero: no destroy of the stage's */
    return lks__dataset_fail(failed, lks__fail(LKS_E_NOTFOUND,
                                               "%s, so files can't be dealt out to workers: choose the policy "
                                               "DATA (or AUTO, which does it) or OFF",
                                               why));
}

static bool is_function_stage(const lks_dataset *ds)
{
    return ds->stage == &lks__stage_map || ds->stage == &lks__stage_flat_map || ds->stage == &lks__stage_interleave;
}

/* The recipe without its shuffles, which go to the list, the topmost first. */
static lks_dataset *without_shuffles(lks_dataset *ds, lks_dataset **shuffle, size_t *n)
{
    lks_dataset *input, *out;

    if (ds->n_inputs != 1 || ds->stage == &lks__stage_cache) return lks_dataset_retain(ds);
    if (ds->stage == &lks__stage_shuffle && *n < MAX_SHUFFLES) {
        shuffle[(*n)++] = ds;
        return without_shuffles(ds->input[0], shuffle, n);
    }
    input = without_shuffles(ds->input[0], shuffle, n);
    if (input != ds->input[0]) return lks__dataset_clone(ds, &input, ds->cardinality);
    out = lks_dataset_retain(ds);
    lks_dataset_release(input);
    return out;
}

/* The names of files, dealt out in one order that all workers know; shuffles come after that. */
static lks_dataset *shard_names(lks_dataset *names, const worker *w)
{
    lks_dataset *shuffle[MAX_SHUFFLES], *ds;
    size_t n = 0;

    ds = without_shuffles(names, shuffle, &n);
    ds = lks__shard_nonempty(ds, w->n, w->index, "files");
    for (size_t i = n; i-- > 0 && lks__dataset_ok(ds);) ds = lks__dataset_clone(shuffle[i], &ds, ds->cardinality);
    return ds;
}

static lks_dataset *shard_source(lks_dataset *ds, const worker *w)
{
    const lks_file_list *list = (const lks_file_list *)ds;
    lks_dataset *out;

    if (!ds->stage->is_files) return no_files(ds, "the elements do not come from files");
    out = lks__file_list_shard(ds, w->n, w->index);
    if (!lks__dataset_ok(out) || (int64_t)list->n >= w->n) return out;
    return lks__dataset_fail(out, lks__fail(LKS_E_ARG,
                                            "%zu files are not enough for %lld workers: choose the policy DATA or "
                                            "OFF, use fewer workers, or split the data into more files",
                                            list->n, (long long)w->n));
}

static lks_dataset *by_file(lks_dataset *ds, worker *w)
{
    const lks_data_fn *f = is_function_stage(ds) ? &((const lks_fn_dataset *)ds)->f : NULL;
    lks_dataset *names;

    if (ds->n_inputs == 0) return shard_source(ds, w);
    if (f != NULL && (f->fn.flags & LKS_FN_OPENS_FILES)) {
        names = shard_names(ds->input[0], w);
        return lks__dataset_clone(
            ds, &names, names != NULL && ds->stage == &lks__stage_map ? names->cardinality : LKS_UNKNOWN_CARDINALITY);
    }
    if (ds->stage == &lks__stage_cache_file) return no_files(ds, "all workers would share one cache file");
    if (ds->stage == &lks__stage_assert_cardinality) {
        lks__warn("auto-sharding by file leaves out assert_cardinality: each worker gets a part of the elements");
        return by_file(ds->input[0], w);
    }
    return above(ds, w, by_file);
}

/* ---- DATA and HINTED ---- */

static bool has_hint(const lks_dataset *ds)
{
    bool found = lks__shard_is_hint(ds);

    for (size_t i = 0; i < ds->n_inputs && !found; i++) found = has_hint(ds->input[i]);
    return found;
}

/* Every num-th element, below trailing prefetches so that they hold only what is wanted. */
static lks_dataset *by_element(lks_dataset *ds, worker *w)
{
    lks_dataset *input;

    if (ds->stage != &lks__stage_prefetch)
        return lks__shard_nonempty(lks_dataset_retain(ds), w->n, w->index, "elements");
    input = by_element(ds->input[0], w);
    return lks__dataset_clone(ds, &input, input == NULL ? 0 : input->cardinality);
}

static lks_dataset *by_hint(lks_dataset *ds, worker *w)
{
    if (ds->n_inputs == 0) return lks_dataset_retain(ds);
    if (!lks__shard_is_hint(ds)) return above(ds, w, by_hint);
    w->found = true;
    return lks__shard_nonempty(lks_dataset_retain(ds->input[0]), w->n, w->index, "elements");
}

static lks_dataset *apply(lks_dataset *ds, worker *w, lks_shard_policy policy)
{
    lks_dataset *out;

    switch (policy) {
    case LKS_SHARD_FILE: return by_file(ds, w);
    case LKS_SHARD_DATA: return by_element(ds, w);
    case LKS_SHARD_HINTED: return by_hint(ds, w);
    case LKS_SHARD_OFF: return lks_dataset_retain(ds);
    case LKS_SHARD_AUTO: break;
    }
    out = by_file(ds, w);
    if (lks__dataset_ok(out) || lks_dataset_status(out) != LKS_E_NOTFOUND) return out;
    lks_dataset_release(out);
    return by_element(ds, w);
}

static lks_dataset *refused(lks_dataset *ds, lks_status status)
{
    lks_dataset *failed = lks__dataset_begin1(&lks__stage_shard, ds);

    return lks__dataset_ok(failed) ? lks__dataset_fail(failed, status) : failed;
}

lks_dataset *lks_auto_shard(lks_dataset *dataset, int64_t num_workers, int64_t worker_index, lks_shard_policy policy)
{
    worker w = { num_workers, worker_index, false };
    lks_dataset *out;

    if (!lks__dataset_ok(dataset)) return dataset;
    if (num_workers < 1 || worker_index < 0 || worker_index >= num_workers)
        return refused(dataset, lks__fail(LKS_E_ARG, "worker %lld of %lld: the number must lie in [0, workers)",
                                          (long long)worker_index, (long long)num_workers));
    if (policy < LKS_SHARD_OFF || policy > LKS_SHARD_HINTED)
        return refused(dataset, lks__fail(LKS_E_ARG, "there is no auto-shard policy %d", (int)policy));
    if (policy != LKS_SHARD_HINTED && has_hint(dataset))
        return refused(dataset, lks__fail(LKS_E_STATE, "the dataset has a shard(LKS_SHARD_HINT), which only the "
                                                       "policy LKS_SHARD_HINTED fills in"));
    if (num_workers == 1 && policy != LKS_SHARD_HINTED) return dataset;
    out = apply(dataset, &w, policy);
    lks_dataset_release(dataset);
    return out;
}
