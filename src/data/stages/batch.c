/* batch.c - stacks consecutive elements on a new first axis, copying each as it comes. */
#include <string.h>

#include "data/stack.h"
#include "data/stages.h"

typedef struct batch_dataset {
    lks_dataset base;
    int64_t size;
    bool drop_remainder;
} batch_dataset;

static lks_status open(lks_cursor *n)
{
    return lks__cursor_open_inputs_at(n, lks__place_below(n->place, 1, true)); /* elements are copied */
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;
    lks_stack stack = { .cursor = n, .limit = d->size };
    lks_status status = LKS_OK;

    while (status == LKS_OK && stack.rows < d->size) {
        lks_element *e;
        status = lks__cursor_next(n->input[0], &e);
        if (status != LKS_OK) break;
        status = lks__stack_add(&stack, e);
        lks_element_release(e);
    }
    if (status == LKS_END && (stack.rows == 0 || d->drop_remainder)) {
        lks__stack_drop(&stack);
        return LKS_END;
    }
    if (status != LKS_OK && status != LKS_END) { /* what was gathered for this batch is lost, as in tf.data */
        lks__stack_drop(&stack);
        return status;
    }
    return lks__stack_take(&stack, out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;

    for (; *done < count; (*done)++) {
        int64_t passed = 0;
        LKS_TRY(lks__cursor_skip(n->input[0], d->size, &passed));
        if (passed < d->size && (passed == 0 || d->drop_remainder)) return LKS_OK;
    }
    return LKS_OK;
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const batch_dataset *)ds)->size);
    lks__recipe_int(r, ((const batch_dataset *)ds)->drop_remainder);
}

const lks_stage lks__stage_batch = { .name = "batch",
                                     .dataset_size = sizeof(batch_dataset),
                                     .cursor_size = sizeof(lks_cursor),
                                     .open = open,
                                     .next = next,
                                     .skip = skip,
                                     .describe = describe };

lks_dataset *lks_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_batch, dataset);
    batch_dataset *d = (batch_dataset *)ds;
    lks_batch_options o;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    if (batch_size < 1)
        return lks__dataset_fail(
            ds, lks__fail(LKS_E_ARG, "batch_size must be at least 1, found %lld", (long long)batch_size));
    d->size = batch_size;
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    ds->cardinality = lks__batch_cardinality(ds->cardinality, batch_size, d->drop_remainder);
    return lks__dataset_spec_is(ds, lks__stack_spec(ds->spec, d->drop_remainder ? batch_size : -1));
}
