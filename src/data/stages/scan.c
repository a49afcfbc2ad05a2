/* scan.c - a map that hands a state from element to element. */
#include "data/function.h"
#include "data/stages.h"

typedef struct scan_dataset {
    lks_dataset base;
    lks_data_fn f;
    size_t n; /* components of the state */
    lks_tensor **initial;
    lks_spec *in, *out; /* (state, element) and (state, output) */
} scan_dataset;

typedef struct scan_cursor {
    lks_cursor base;
    lks_buffers *arguments, *results;
    lks_element *state; /* a result whose first components are the state; NULL = the initial one */
    int64_t index;
} scan_cursor;

static const scan_dataset *recipe(const scan_cursor *s)
{
    return (const scan_dataset *)s->base.dataset;
}

static lks_status open(lks_cursor *n)
{
    scan_cursor *s = (scan_cursor *)n;

    s->arguments = lks__buffers_create(recipe(s)->in, 0);
    s->results = lks__buffers_create(recipe(s)->out, 1);
    if (s->arguments == NULL || s->results == NULL) return LKS_E_NOMEM;
    return lks__cursor_open_inputs(n);
}

/* (state, element) as one element. */
static lks_status argument(scan_cursor *s, const lks_element *e, lks_element **out)
{
    lks_element *a = lks__buffers_element(s->arguments);
    size_t n = recipe(s)->n;

    if (a == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (s->state != NULL) lks__element_share(a, i, s->state, i);
        else a->value[i].tensor = lks_tensor_retain(recipe(s)->initial[i]);
    }
    for (size_t i = 0; i < lks_element_count(e); i++) lks__element_share(a, n + i, e, i);
    *out = a;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    scan_cursor *s = (scan_cursor *)n;
    lks_call_place place = { .index = s->index, .lineage = n->place.lineage };
    lks_element *e, *a, *result;
    lks_status status;

    LKS_TRY(lks__cursor_next(n->input[0], &e));
    s->index++;
    status = argument(s, e, &a);
    lks_element_release(e);
    if (status != LKS_OK) return status;
    status = lks__data_fn_apply(&recipe(s)->f, place, a, s->results, &result);
    lks_element_release(a);
    if (status != LKS_OK) return status;
    e = lks__cursor_element(n);
    if (e == NULL) {
        lks_element_release(result);
        return LKS_E_NOMEM;
    }
    for (size_t i = 0; i < lks_element_count(e); i++) lks__element_share(e, i, result, recipe(s)->n + i);
    lks_element_release(s->state);
    s->state = result;
    *out = e;
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    scan_cursor *s = (scan_cursor *)n;

    lks_element_release(s->state);
    lks__buffers_release(s->arguments);
    lks__buffers_release(s->results);
}

static void destroy(lks_dataset *ds)
{
    scan_dataset *d = (scan_dataset *)ds;

    lks__data_fn_destroy(&d->f);
    for (size_t i = 0; d->initial != NULL && i < d->n; i++) lks_tensor_release(d->initial[i]);
    lks__free(d->initial);
    lks_spec_release(d->in);
    lks_spec_release(d->out);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const scan_dataset *d = (const scan_dataset *)ds;

    lks__data_fn_describe(&d->f, r);
    for (size_t i = 0; i < d->n; i++) lks__recipe_tensor(r, d->initial[i]);
}

static const char *unsavable(const lks_dataset *ds)
{
    return lks__data_fn_unsavable(&((const scan_dataset *)ds)->f);
}

const lks_stage lks__stage_scan = { .name = "scan",
                                    .dataset_size = sizeof(scan_dataset),
                                    .cursor_size = sizeof(scan_cursor),
                                    .open = open,
                                    .next = next,
                                    .close = close,
                                    .destroy = destroy,
                                    .describe = describe,
                                    .unsavable = unsavable };

static lks_spec *state_spec(size_t n, lks_tensor *const *initial)
{
    lks_spec *child[LKS_MAX_RANK * 8];

    for (size_t i = 0; i < n; i++)
        child[i] = lks_spec_tensor(lks_tensor_dtype(initial[i]), lks_tensor_shape(initial[i]));
    return n == 1 ? child[0] : lks_spec_tuple(n, child);
}

/* The function's output must be (the same state, output). */
static lks_status check_output(scan_dataset *d, const lks_spec *state)
{
    const lks_spec *first;
    char expected[LKS_SPEC_TEXT], found[LKS_SPEC_TEXT];

    d->out = lks__data_fn_spec(&d->f, d->in);
    if (d->out == NULL) return lks__error_code();
    first = lks_spec_child(d->out, 0);
    if (lks_spec_kind_of(d->out) == LKS_SPEC_TUPLE && lks_spec_child_count(d->out) == 2 && lks_spec_equal(first, state))
        return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "function '%s' must return (state %s, output), returns %s", d->f.fn.name,
                     lks__spec_text(state, expected), lks__spec_text(d->out, found));
}

lks_dataset *lks_scan(lks_dataset *dataset, size_t n, lks_tensor *const *initial, const lks_map_fn *fn)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_scan, dataset);
    scan_dataset *d = (scan_dataset *)ds;
    lks_status status;
    lks_spec *state;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, fn);
    status = lks__data_fn_init(&d->f, ds, fn);
    if (status == LKS_OK && (n == 0 || n > LKS_MAX_RANK * 8))
        status = lks__fail(LKS_E_ARG, "a state has 1 to %d tensors, found %zu", LKS_MAX_RANK * 8, n);
    for (size_t i = 0; status == LKS_OK && i < n; i++)
        if (initial[i] == NULL) status = lks__context(LKS_E_ARG, "initial tensor %zu is NULL", i);
    if (status == LKS_OK && (d->initial = lks__calloc(n, sizeof *d->initial)) == NULL)
        status = lks__fail(LKS_E_NOMEM, "no memory for a state");
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->n = n;
    for (size_t i = 0; i < n; i++) d->initial[i] = lks_tensor_retain(initial[i]);
    state = state_spec(n, initial);
    d->in = state == NULL ? NULL : lks_spec_tuple_of(lks_spec_retain(state), lks_spec_retain(ds->spec));
    status = d->in == NULL ? lks__error_code() : check_output(d, state);
    lks_spec_release(state);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    return lks__dataset_spec_is(ds, lks_spec_retain(lks_spec_child(d->out, 1)));
}
