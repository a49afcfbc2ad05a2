/* traps.c - what users of tf.data trip over again and again, recognised in the recipe; one sentence each. */
#include "data/stack.h"

#include "function.h"
#include "ledger.h"
#include "lockstep/dataset_diagnose.h"
#include "stages.h"

static bool is(const lks_dataset *ds, const lks_stage *stage)
{
    return ds->stage == stage;
}

static const lks_dataset *below_prefetch(const lks_dataset *ds)
{
    while (is(ds, &lks__stage_prefetch)) ds = ds->input[0];
    return ds;
}

/* Picking from an order that changes picks other elements in each pass. */
static void split_after_reshuffle(const lks_dataset *ds)
{
    const lks_dataset *in = ds->n_inputs == 1 ? below_prefetch(ds->input[0]) : ds;

    if (!is(in, &lks__stage_shuffle) || !lks__shuffle_is_new_each_pass(in)) return;
    if (is(ds, &lks__stage_take) || is(ds, &lks__stage_skip))
        lks__warn("%s (stage %d) stands on a shuffle that draws a new order in every pass: two parts split so mix, and "
                  "validation data get into training; use lks_dataset_split, or shuffle with "
                  "reshuffle_each_iteration off",
                  ds->stage->name, ds->number);
    if (is(ds, &lks__stage_shard))
        lks__warn(
            "shard (stage %d) stands on a shuffle that draws a new order in every pass: workers overlap as soon as "
            "their passes differ; shard first (file names, sorted), then shuffle",
            ds->number);
}

static const lks_dataset *random_below(const lks_dataset *ds)
{
    const lks_dataset *found = NULL;

    if (is(ds, &lks__stage_map) && (((const lks_fn_dataset *)ds)->f.fn.flags & LKS_FN_RANDOM)) return ds;
    for (size_t i = 0; i < ds->n_inputs && found == NULL; i++) found = random_below(ds->input[i]);
    return found;
}

static void random_under_cache(const lks_dataset *ds)
{
    const lks_dataset *found;

    if (!is(ds, &lks__stage_cache) && !is(ds, &lks__stage_cache_file)) return;
    found = random_below(ds);
    if (found != NULL)
        lks__warn(
            "cache (stage %d) keeps one draw of the random function '%s' (stage %d) for ever: put the cache below "
            "the augmentation",
            ds->number, ((const lks_fn_dataset *)found)->f.fn.name, found->number);
}

static void partial_cache(const lks_dataset *ds)
{
    const lks_dataset *in = ds->n_inputs == 1 ? below_prefetch(ds->input[0]) : ds;

    if (!is(ds, &lks__stage_take) || !(is(in, &lks__stage_cache) || is(in, &lks__stage_cache_file))) return;
    if (ds->cardinality >= 0 && ds->cardinality == in->cardinality) return;
    lks__warn(
        "take (stage %d) stands on a cache, which is kept only when a pass reads all of it: take first, then cache",
        ds->number);
}

/* Too much for the budget; all: also where so many batches are hardly what was meant. */
static void deep_prefetch(const lks_dataset *ds, bool all)
{
    enum { MANY = 16 };
    int64_t n, bytes, rows;

    if (!is(ds, &lks__stage_prefetch) || (n = lks__prefetch_size(ds)) < 2) return;
    bytes = lks__spec_bytes(ds->spec);
    rows = lks__batch_size(below_prefetch(ds->input[0]));
    if (bytes <= 1 && rows > 0) {
        bytes = lks__spec_bytes(below_prefetch(ds->input[0])->input[0]->spec);
        bytes = bytes > INT64_MAX / rows ? INT64_MAX : bytes * rows;
    }
    if (bytes > 1 && n > lks__ledger_budget() / bytes)
        lks__warn("prefetch (stage %d) counts elements%s: %lld of them take about %lld MB, the budget is %lld MB; use "
                  "LKS_AUTOTUNE or a small number",
                  ds->number, rows > 0 ? ", here whole batches" : "", (long long)n,
                  (long long)(n * (bytes >> 10) >> 10), (long long)(lks__ledger_budget() >> 20));
    else if (all && rows > 0 && n >= MANY)
        lks__warn(
            "prefetch (stage %d) counts elements, here whole batches: %lld of them hold %lld rows, about %.1f MB; "
            "two are enough where batches come evenly",
            ds->number, (long long)n, (long long)(n > INT64_MAX / rows ? INT64_MAX : n * rows),
            bytes > 1 ? (double)n * (double)bytes / 1e6 : 0.0);
}

static void small_shuffle(const lks_dataset *ds)
{
    int64_t n = ds->cardinality, buffer;

    if (!is(ds, &lks__stage_shuffle) || n < 0) return;
    buffer = lks__shuffle_buffer(ds);
    if (buffer >= n || buffer > n / 10) return;
    lks__warn(
        "shuffle (stage %d) has a buffer of %lld for %lld elements (%.1f %%): sorted data stay nearly sorted; use "
        "lks_shuffle_indexed on data that can be asked for by number, or shuffle the file names as well",
        ds->number, (long long)buffer, (long long)n, 100.0 * (double)buffer / (double)n);
}

static void look(const lks_dataset *ds, bool all)
{
    split_after_reshuffle(ds);
    random_under_cache(ds);
    partial_cache(ds);
    deep_prefetch(ds, all);
    if (all) small_shuffle(ds);
    for (size_t i = 0; i < ds->n_inputs; i++) look(ds->input[i], all);
}

void lks__warn_traps(lks_dataset *ds, bool all)
{
    if (lks__dataset_ok(ds) && !atomic_exchange(&ds->warned, true)) look(ds, all);
}

void lks_dataset_warn_traps(lks_dataset *dataset)
{
    lks__warn_traps(dataset, true);
}
