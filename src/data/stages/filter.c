/* filter.c - filter keeps the elements for which the predicate says true; take_while ends at the first false. */
#include "data/predicate.h"
#include "data/stages.h"

typedef struct filter_dataset {
    lks_dataset base;
    lks_data_fn f;
} filter_dataset;

typedef struct filter_cursor {
    lks_cursor base;
    lks_scalar_call predicate;
    bool ended;
} filter_cursor;

static lks_status open(lks_cursor *n)
{
    const filter_dataset *d = (const filter_dataset *)n->dataset;

    LKS_TRY(lks__scalar_open(&((filter_cursor *)n)->predicate, &d->f, d->base.input[0]->spec));
    return lks__cursor_open_inputs(n);
}

/* One element of the input and its verdict. */
static lks_status ask(lks_cursor *n, lks_element **out, int64_t *verdict)
{
    lks_element *e;
    lks_status status = lks__cursor_next(n->input[0], &e);

    if (status != LKS_OK) return status;
    status = lks__scalar_of(&((filter_cursor *)n)->predicate, n->place.lineage, e, verdict);
    if (status == LKS_OK && *verdict) *out = e;
    else lks_element_release(e);
    return status;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    int64_t verdict = 0;

    while (!verdict) LKS_TRY(ask(n, out, &verdict));
    return LKS_OK;
}

static lks_status next_while(lks_cursor *n, lks_element **out)
{
    filter_cursor *f = (filter_cursor *)n;
    int64_t verdict = 0;

    if (f->ended) return LKS_END;
    LKS_TRY(ask(n, out, &verdict));
    f->ended = !verdict;
    return verdict ? LKS_OK : LKS_END;
}

static void close(lks_cursor *n)
{
    lks__scalar_close(&((filter_cursor *)n)->predicate);
}

static void destroy(lks_dataset *ds)
{
    lks__data_fn_destroy(&((filter_dataset *)ds)->f);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__data_fn_describe(&((const filter_dataset *)ds)->f, r);
}

static const char *unsavable(const lks_dataset *ds)
{
    return lks__data_fn_unsavable(&((const filter_dataset *)ds)->f);
}

const lks_stage lks__stage_filter = { .name = "filter",
                                      .dataset_size = sizeof(filter_dataset),
                                      .cursor_size = sizeof(filter_cursor),
                                      .open = open,
                                      .next = next,
                                      .close = close,
                                      .destroy = destroy,
                                      .describe = describe,
                                      .unsavable = unsavable };
const lks_stage lks__stage_take_while = { .name = "take_while",
                                          .dataset_size = sizeof(filter_dataset),
                                          .cursor_size = sizeof(filter_cursor),
                                          .open = open,
                                          .next = next_while,
                                          .close = close,
                                          .destroy = destroy,
                                          .describe = describe,
                                          .unsavable = unsavable };

static lks_dataset *build(const lks_stage *stage, lks_dataset *dataset, const lks_map_fn *predicate)
{
    lks_dataset *ds = lks__dataset_begin1(stage, dataset);
    filter_dataset *d = (filter_dataset *)ds;
    lks_status status;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, predicate);
    status = lks__data_fn_init(&d->f, ds, predicate);
    if (status == LKS_OK) status = lks__data_fn_yields(&d->f, ds->spec, LKS_BOOL);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return ds;
}

lks_dataset *lks_filter(lks_dataset *dataset, const lks_map_fn *predicate)
{
    return build(&lks__stage_filter, dataset, predicate);
}

lks_dataset *lks_take_while(lks_dataset *dataset, const lks_map_fn *predicate)
{
    return build(&lks__stage_take_while, dataset, predicate);
}
