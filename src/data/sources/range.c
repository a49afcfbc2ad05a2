/* range.c - int64 scalars in equal steps. */
#include "data/stages.h"

typedef struct range_dataset {
    lks_dataset base;
    int64_t start, step;
} range_dataset;

typedef struct range_cursor {
    lks_cursor base;
    int64_t next;
} range_cursor;

static lks_status at(lks_cursor *n, int64_t index, lks_element **out)
{
    const range_dataset *d = (const range_dataset *)n->dataset;
    lks_element *e;
    lks_tensor *t;

    e = lks__cursor_element(n);
    t = e == NULL ? NULL : lks_element_output(e, 0);
    if (t == NULL) {
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    *(int64_t *)lks_tensor_data(t) = (int64_t)((uint64_t)d->start + (uint64_t)index * (uint64_t)d->step);
    *out = e;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    range_cursor *r = (range_cursor *)n;

    if (r->next >= n->dataset->cardinality) return LKS_END;
    LKS_TRY(at(n, r->next, out));
    r->next++;
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    range_cursor *r = (range_cursor *)n;

    return lks__cursor_skip_to(n, &r->next, count, done);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const range_dataset *d = (const range_dataset *)ds;

    lks__recipe_int(r, d->start);
    lks__recipe_int(r, d->step);
    lks__recipe_int(r, ds->cardinality);
}

const lks_stage lks__stage_range = { .name = "range",
                                     .dataset_size = sizeof(range_dataset),
                                     .cursor_size = sizeof(range_cursor),
                                     .next = next,
                                     .skip = skip,
                                     .at = at,
                                     .describe = describe };

/* ceil((stop - start) / step) without overflow. */
static uint64_t count(int64_t start, int64_t stop, int64_t step)
{
    uint64_t span, size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;

    if (step > 0 ? stop <= start : stop >= start) return 0;
    span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    return span / size + (span % size != 0);
}

lks_dataset *lks_range(int64_t start, int64_t stop, int64_t step)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_range, 0, NULL);
    range_dataset *d = (range_dataset *)ds;
    uint64_t n;

    if (ds == NULL) return NULL;
    if (step == 0) return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "the step must not be 0"));
    n = count(start, stop, step);
    if (n > INT64_MAX) return lks__dataset_fail(ds, lks__fail(LKS_E_LIMIT, "more than 2^63 - 1 elements"));
    d->start = start;
    d->step = step;
    ds->cardinality = (int64_t)n;
    return lks__dataset_spec_is(ds, lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }));
}
