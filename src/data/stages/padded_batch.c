/* padded_batch.c - batches of elements of different sizes. */
#include "data/pad.h"
#include "data/stack.h"
#include "data/stages.h"

typedef struct padded_dataset {
    lks_dataset base;
    int64_t size;
    bool drop_remainder;
    lks_padding padding;
} padded_dataset;

typedef struct padded_cursor {
    lks_cursor base;
    lks_element **row;
    size_t room;
} padded_cursor;

static lks_status next(lks_cursor *n, lks_element **out)
{
    padded_cursor *c = (padded_cursor *)n;
    const padded_dataset *d = (const padded_dataset *)n->dataset;
    lks_status status = LKS_OK;
    size_t rows = 0;

    while (rows < (size_t)d->size) {
        status = lks__grow(&c->row, &c->room, rows + 1, sizeof *c->row);
        if (status == LKS_OK) status = lks__cursor_next(n->input[0], &c->row[rows]);
        if (status != LKS_OK) break;
        rows++;
    }
    if (status == LKS_END && rows > 0 && !d->drop_remainder) status = LKS_OK;
    if (status == LKS_OK) status = lks__padding_stack(&d->padding, n, rows, c->row, out);
    while (rows > 0) lks_element_release(c->row[--rows]);
    return status;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    const padded_dataset *d = (const padded_dataset *)n->dataset;

    return lks__stack_skip(n, d->size, d->drop_remainder, count, done);
}

static void close(lks_cursor *n)
{
    lks__free(((padded_cursor *)n)->row);
}

static void destroy(lks_dataset *ds)
{
    lks__padding_free(&((padded_dataset *)ds)->padding);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const padded_dataset *)ds)->size);
    lks__recipe_int(r, ((const padded_dataset *)ds)->drop_remainder);
    lks__padding_describe(&((const padded_dataset *)ds)->padding, r);
}

const lks_stage lks__stage_padded_batch = { .name = "padded_batch",
                                            .dataset_size = sizeof(padded_dataset),
                                            .cursor_size = sizeof(padded_cursor),
                                            .next = next,
                                            .skip = skip,
                                            .close = close,
                                            .destroy = destroy,
                                            .describe = describe };

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    const padded_dataset *d = user;

    return lks_spec_tensor(lks_spec_dtype(leaf), lks__with_rows(d->drop_remainder ? d->size : -1, d->padding.shape[i]));
}

lks_dataset *lks_padded_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_padded_batch_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_padded_batch, dataset);
    padded_dataset *d = (padded_dataset *)ds;
    lks_padded_batch_options o;
    lks_status status = LKS_OK;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    if (batch_size < 1)
        status = lks__fail(LKS_E_ARG, "batch_size must be at least 1, found %lld", (long long)batch_size);
    if (status == LKS_OK) status = lks__padding_init(&d->padding, ds->spec, &o);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->size = batch_size;
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    ds->cardinality = lks__batch_cardinality(ds->cardinality, batch_size, d->drop_remainder);
    return lks__dataset_spec_is(ds, lks__spec_map(ds->spec, leaf_spec, d));
}
