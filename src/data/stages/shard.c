/* shard.c - every num_shards-th element. */
#include "data/shard.h"
#include "data/stages.h"
#include "lockstep/dataset_distribute.h"

typedef struct shard_dataset {
    lks_dataset base;
    int64_t count, index; /* count LKS_SHARD_HINT: to be filled in by auto-sharding */
    const char *things;   /* not NULL: every shard must get one of these, or all fail at their first element */
} shard_dataset;

typedef struct shard_cursor {
    lks_cursor base;
    bool begun;
    int64_t passed; /* of the others before our next one */
} shard_cursor;

static lks_status too_few(lks_cursor *n, int64_t found)
{
    const shard_dataset *d = (const shard_dataset *)n->dataset;

    return lks__cursor_fail(n, LKS_E_ARG,
                            "%lld %s are not enough for %lld workers: choose the policy DATA or OFF, use fewer "
                            "workers, or split the data into more %s",
                            (long long)found, d->things, (long long)d->count, d->things);
}

/* The elements of other shards before the next of ours. */
static lks_status pass_others(lks_cursor *n)
{
    shard_cursor *s = (shard_cursor *)n;
    const shard_dataset *d = (const shard_dataset *)n->dataset;
    int64_t others = (s->begun ? d->count - 1 : d->index) - s->passed, passed = 0;

    LKS_TRY(lks__cursor_skip(n->input[0], others, &passed));
    if (!s->begun && passed < others && d->things != NULL) return too_few(n, passed);
    s->begun = true;
    s->passed = 0;
    return passed < others ? LKS_END : LKS_OK;
}

/* Looks on to the last shard's first element: where one worker has nothing, all say so. */
static lks_status first(lks_cursor *n, lks_element **out)
{
    shard_cursor *s = (shard_cursor *)n;
    const shard_dataset *d = (const shard_dataset *)n->dataset;
    int64_t others = d->count - 1 - d->index;
    lks_element *e;
    lks_status status = lks__cursor_next(n->input[0], &e);

    if (status == LKS_END) return too_few(n, d->index);
    if (status != LKS_OK) return status;
    status = lks__cursor_skip(n->input[0], others, &s->passed);
    if (status == LKS_OK && s->passed < others) status = too_few(n, d->index + 1 + s->passed);
    if (status == LKS_OK) *out = e;
    else lks_element_release(e);
    return status;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    const shard_dataset *d = (const shard_dataset *)n->dataset;
    bool begins = !((const shard_cursor *)n)->begun;

    if (d->count == LKS_SHARD_HINT)
        return lks__cursor_fail(n, LKS_E_STATE,
                                "num_shards is LKS_SHARD_HINT, which only lks_auto_shard or lks_distribute with the "
                                "policy LKS_SHARD_HINTED fills in");
    LKS_TRY(pass_others(n));
    return begins && d->things != NULL ? first(n, out) : lks__cursor_next(n->input[0], out);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const shard_dataset *)ds)->count);
    lks__recipe_int(r, ((const shard_dataset *)ds)->index);
}

const lks_stage lks__stage_shard = { .name = "shard",
                                     .dataset_size = sizeof(shard_dataset),
                                     .cursor_size = sizeof(shard_cursor),
                                     .next = next,
                                     .describe = describe };

lks_dataset *lks_shard(lks_dataset *dataset, int64_t num_shards, int64_t index)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_shard, dataset);
    shard_dataset *d = (shard_dataset *)ds;

    if (!lks__dataset_ok(ds)) return ds;
    if (num_shards == LKS_SHARD_HINT) {
        d->count = num_shards;
        return ds;
    }
    if (num_shards < 1)
        return lks__dataset_fail(
            ds, lks__fail(LKS_E_ARG, "num_shards must be at least 1, found %lld", (long long)num_shards));
    if (index < 0 || index >= num_shards)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "index must lie in [0, %lld), found %lld",
                                               (long long)num_shards, (long long)index));
    d->count = num_shards;
    d->index = index;
    if (ds->cardinality >= 0) ds->cardinality = ds->cardinality / num_shards + (index < ds->cardinality % num_shards);
    return ds;
}

bool lks__shard_is_hint(const lks_dataset *ds)
{
    return ds->stage == &lks__stage_shard && ((const shard_dataset *)ds)->count == LKS_SHARD_HINT;
}

lks_dataset *lks__shard_nonempty(lks_dataset *dataset, int64_t num_shards, int64_t index, const char *things)
{
    int64_t n = dataset == NULL ? 0 : dataset->cardinality;
    lks_dataset *ds = lks_shard(dataset, num_shards, index);

    if (!lks__dataset_ok(ds)) return ds;
    ((shard_dataset *)ds)->things = things;
    if (n < 0 || n >= num_shards) return ds;
    return lks__dataset_fail(ds, lks__fail(LKS_E_ARG,
                                           "%lld %s are not enough for %lld workers: choose the policy DATA or OFF, "
                                           "use fewer workers, or split the data into more %s",
                                           (long long)n, things, (long long)num_shards, things));
}
