/* elements.c - elements that are in memory already. */
#include "data/elements.h"
#include "data/stages.h"

typedef struct elements_dataset {
    lks_dataset base;
    lks_element **element;
    size_t n;
    int64_t component;
} elements_dataset;

typedef struct elements_cursor {
    lks_cursor base;
    size_t at;
} elements_cursor;

static lks_status next(lks_cursor *n, lks_element **out)
{
    elements_cursor *c = (elements_cursor *)n;
    const elements_dataset *d = (const elements_dataset *)n->dataset;
    lks_element *e;

    if (c->at >= d->n) return LKS_END;
    if (d->component < 0) {
        *out = lks_element_retain(d->element[c->at++]);
        return LKS_OK;
    }
    e = lks__cursor_element(n);
    if (e == NULL) return LKS_E_NOMEM;
    lks__element_share(e, 0, d->element[c->at++], (size_t)d->component);
    *out = e;
    return LKS_OK;
}

static void destroy(lks_dataset *ds)
{
    elements_dataset *d = (elements_dataset *)ds;

    for (size_t i = 0; i < d->n; i++) lks_element_release(d->element[i]);
    lks__free(d->element);
}

const lks_stage lks__stage_elements = { .name = "elements",
                                        .dataset_size = sizeof(elements_dataset),
                                        .cursor_size = sizeof(elements_cursor),
                                        .next = next,
                                        .destroy = destroy };

lks_dataset *lks__from_elements(const lks_spec *spec, size_t n, lks_element *const *elements, int64_t component)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_elements, 0, NULL);
    elements_dataset *d = (elements_dataset *)ds;

    if (ds == NULL) return NULL;
    d->element = lks__calloc(n, sizeof *d->element);
    if (d->element == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for %zu elements", n));
    for (size_t i = 0; i < n; i++) d->element[i] = lks_element_retain(elements[i]);
    d->n = n;
    d->component = component;
    ds->cardinality = (int64_t)n;
    return lks__dataset_spec_is(ds, lks_spec_retain(spec));
}
