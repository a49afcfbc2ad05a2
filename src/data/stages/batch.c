/* batch.c - batch and ragged_batch: consecutive elements on a new first axis. The two differ in the spec alone: where that says
 * ragged, the rows may have different lengths. */
#include "data/stack.h"
#include "data/stages.h"

typedef struct batch_dataset {
    lks_dataset base;
    int64_t size;
    bool drop_remainder;
} batch_dataset;

typedef struct batch_cursor {
    lks_cursor base;
    lks_fused fused; /* the function of a map below that is applied here */
} batch_cursor;

static lks_status open(lks_cursor *n)
{
    lks_cursor_place place = lks__place_below(n->place, 1, true); /* elements are copied */
    lks_fused kind = LKS_FUSED_NONE;

    place.bypass = lks__fusable_map(n->dataset, &kind);
    if (place.bypass != NULL) ((batch_cursor *)n)->fused = kind;
    return lks__cursor_open_inputs_at(n, place);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;

    return lks__stack_next(n, d->size, d->drop_remainder, ((const batch_cursor *)n)->fused, out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;

    return lks__stack_skip(n, d->size, d->drop_remainder, count, done);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const batch_dataset *)ds)->size);
    lks__recipe_int(r, ((const batch_dataset *)ds)->drop_remainder);
}

const lks_stage lks__stage_batch = { .name = "batch",
                                     .dataset_size = sizeof(batch_dataset),
                                     .cursor_size = sizeof(batch_cursor),
                                     .open = open,
                                     .next = next,
                                     .skip = skip,
                                     .describe = describe };
const lks_stage lks__stage_ragged_batch = { .name = "ragged_batch",
                                            .dataset_size = sizeof(batch_dataset),
                                            .cursor_size = sizeof(batch_cursor),
                                            .open = open,
                                            .next = next,
                                            .skip = skip,
                                            .describe = describe };

static lks_dataset *build(const lks_stage *stage, lks_dataset *input, int64_t size, const lks_batch_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(stage, input);
    batch_dataset *d = (batch_dataset *)ds;
    lks_batch_options o;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    if (size < 1)
        return lks__dataset_fail(ds,
                                 lks__fail(LKS_E_ARG, "batch_size must be at least 1, found %lld", (long long)size));
    d->size = size;
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    ds->cardinality = lks__batch_cardinality(ds->cardinality, size, d->drop_remainder);
    return lks__dataset_spec_is(
        ds, lks__stack_spec(ds->spec, d->drop_remainder ? size : -1, stage == &lks__stage_ragged_batch));
}

lks_dataset *lks_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options)
{
    return build(&lks__stage_batch, dataset, batch_size, options);
}

lks_dataset *lks_ragged_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options)
{
    return build(&lks__stage_ragged_batch, dataset, batch_size, options);
}

int64_t lks__batch_size(const lks_dataset *ds)
{
    bool batched = ds->stage == &lks__stage_batch || ds->stage == &lks__stage_ragged_batch ||
                   ds->stage == &lks__stage_padded_batch;

    return batched ? ((const lks_batched *)ds)->size : 0;
}
