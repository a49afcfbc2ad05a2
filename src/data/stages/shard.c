/* shard.c - every num_shards-th element. */
#include "data/stages.h"

typedef struct shard_dataset {
    lks_dataset base;
    int64_t count, index;
} shard_dataset;

typedef struct shard_cursor {
    lks_cursor base;
    bool begun;
} shard_cursor;

/* The elements of other shards before the next of ours. */
static lks_status pass_others(lks_cursor *n)
{
    shard_cursor *s = (shard_cursor *)n;
    const shard_dataset *d = (const shard_dataset *)n->dataset;
    int64_t others = s->begun ? d->count - 1 : d->index, passed = 0;

    LKS_TRY(lks__cursor_skip(n->input[0], others, &passed));
    s->begun = true;
    return passed < others ? LKS_END : LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    LKS_TRY(pass_others(n));
    return lks__cursor_next(n->input[0], out);
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
