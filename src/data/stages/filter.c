/* filter.c - keeps the elements for which the predicate says true. */
#include "data/function.h"
#include "data/stages.h"

typedef struct filter_dataset {
    lks_dataset base;
    lks_data_fn f;
} filter_dataset;

typedef struct filter_cursor {
    lks_cursor base;
    lks_buffers *verdicts;
    int64_t index;
} filter_cursor;

static lks_status open(lks_cursor *n)
{
    const filter_dataset *d = (const filter_dataset *)n->dataset;
    lks_spec *verdict = lks__data_fn_spec(&d->f, d->base.input[0]->spec);

    if (verdict == NULL) return lks__error_code();
    ((filter_cursor *)n)->verdicts = lks__buffers_create(verdict, 0);
    lks_spec_release(verdict);
    if (((filter_cursor *)n)->verdicts == NULL) return LKS_E_NOMEM;
    return lks__cursor_open_inputs(n);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    filter_cursor *f = (filter_cursor *)n;
    const lks_data_fn *fn = &((const filter_dataset *)n->dataset)->f;

    for (;;) {
        lks_call_place place = { 0, f->index, n->place.lineage };
        lks_element *e, *verdict;
        lks_status status = lks__cursor_next(n->input[0], &e);
        bool keep;
        if (status == LKS_END) return status;
        f->index++;
        if (status != LKS_OK) return status;
        status = lks__data_fn_apply(fn, place, e, f->verdicts, &verdict);
        if (status != LKS_OK) {
            lks_element_release(e);
            return status;
        }
        keep = *(const char *)lks_tensor_cdata(lks_element_tensor(verdict, 0)) != 0;
        lks_element_release(verdict);
        if (keep) {
            *out = e;
            return LKS_OK;
        }
        lks_element_release(e);
    }
}

static void close(lks_cursor *n)
{
    lks__buffers_release(((filter_cursor *)n)->verdicts);
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

lks_dataset *lks_filter(lks_dataset *dataset, const lks_map_fn *predicate)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_filter, dataset);
    filter_dataset *d = (filter_dataset *)ds;
    lks_status status;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, predicate);
    status = lks__data_fn_init(&d->f, ds, predicate);
    if (status == LKS_OK) status = lks__data_fn_yields(&d->f, ds->spec, LKS_BOOL);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return ds;
}
