/* group_by_window.c - elements gather by key; a full group is given to reduce_func, whose dataset is drained before anything else
 * is pulled. At the end the unfinished groups follow in rising order of their keys. */
#include "data/elements.h"
#include "data/predicate.h"
#include "data/stages.h"

typedef struct group_dataset {
    lks_dataset base;
    lks_data_fn key, reduce, size; /* size.fn.apply == NULL: window_size holds for all */
    int64_t window_size;
    lks_spec *arguments; /* (int64 key, dataset of elements) */
} group_dataset;

typedef struct group {
    int64_t key, limit;
    lks_element **element;
    size_t n, capacity;
} group;

typedef struct group_cursor {
    lks_cursor base;
    lks_scalar_call key, size;
    lks_buffers *arguments, *made;
    group *group; /* sorted by key */
    size_t n, capacity;
    lks_cursor *inner; /* being drained */
    int64_t flushed;   /* windows given to reduce_func */
    bool input_ended;
} group_cursor;

static const group_dataset *recipe(const group_cursor *g)
{
    return (const group_dataset *)g->base.dataset;
}

static lks_status open(lks_cursor *n)
{
    group_cursor *g = (group_cursor *)n;
    const group_dataset *d = recipe(g);
    lks_spec *made = lks__data_fn_spec(&d->reduce, d->arguments);

    if (made == NULL) return lks__error_code();
    g->made = lks__buffers_create(made, 0);
    lks_spec_release(made);
    g->arguments = lks__buffers_create(d->arguments, 0);
    if (g->made == NULL || g->arguments == NULL) return LKS_E_NOMEM;
    LKS_TRY(lks__scalar_open(&g->key, &d->key, d->base.input[0]->spec));
    if (d->size.fn.apply != NULL) LKS_TRY(lks__scalar_open(&g->size, &d->size, lks_spec_child(d->arguments, 0)));
    return lks__cursor_open_inputs(n);
}

/* (key, dataset of the elements) for the functions. */
static lks_status argument(group_cursor *g, int64_t key, lks_dataset *elements, lks_buffers *buffers, lks_element **out)
{
    lks_element *e = lks__buffers_element(buffers);
    lks_tensor *t = e == NULL ? NULL : lks_element_output(e, 0);

    if (t == NULL) {
        lks_element_release(e);
        lks_dataset_release(elements);
        return lks__cursor_fail(&g->base, LKS_E_NOMEM, "no memory for a key");
    }
    *(int64_t *)lks_tensor_data(t) = key;
    if (elements != NULL) e->value[1].dataset = elements;
    *out = e;
    return LKS_OK;
}

static lks_status window_size(group_cursor *g, int64_t key, int64_t *out)
{
    const group_dataset *d = recipe(g);
    lks_buffers *keys;
    lks_element *e = NULL;
    lks_status status;

    *out = d->window_size;
    if (d->size.fn.apply != NULL) {
        keys = lks__buffers_create(lks_spec_child(d->arguments, 0), 0);
        if (keys == NULL) return LKS_E_NOMEM;
        status = argument(g, key, NULL, keys, &e);
        if (status == LKS_OK) {
            status = lks__scalar_of(&g->size, g->base.place.lineage, e, out);
            lks_element_release(e);
        }
        lks__buffers_release(keys);
        if (status != LKS_OK) return status;
    }
    if (*out >= 1) return LKS_OK;
    return lks__cursor_fail(&g->base, LKS_E_ARG, "the window size must be at least 1, found %lld", (long long)*out);
}

/* The group of `key`, made at its first element. */
static lks_status find(group_cursor *g, int64_t key, group **out)
{
    size_t at = 0;
    int64_t limit;

    while (at < g->n && g->group[at].key < key) at++;
    if (at == g->n || g->group[at].key != key) {
        LKS_TRY(window_size(g, key, &limit));
        LKS_TRY(lks__grow(&g->group, &g->capacity, g->n + 1, sizeof *g->group));
        for (size_t i = g->n; i > at; i--) g->group[i] = g->group[i - 1];
        g->group[at] = (group){ key, limit, NULL, 0, 0 };
        g->n++;
    }
    *out = &g->group[at];
    return LKS_OK;
}

static void drop_group(group_cursor *g, group *p)
{
    size_t at = (size_t)(p - g->group);

    for (size_t i = 0; i < p->n; i++) lks_element_release(p->element[i]);
    lks__free(p->element);
    for (size_t i = at + 1; i < g->n; i++) g->group[i - 1] = g->group[i];
    g->n--;
}

/* Gives a group to reduce_func. It is gone afterwards; but if that fails in the middle of the data, it stays and is tried
 * again at the end, as in tf.data. */
static lks_status flush(group_cursor *g, group *p)
{
    const group_dataset *d = recipe(g);
    const lks_spec *spec = d->base.input[0]->spec;
    lks_dataset *elements = lks__from_elements(spec, p->n, p->element, -1);
    lks_element *e = NULL;
    lks_status status = lks_dataset_status(elements);

    if (status != LKS_OK) lks_dataset_release(elements);
    else status = argument(g, p->key, elements, g->arguments, &e);
    if (status == LKS_OK) {
        status = lks__data_fn_open(&d->reduce, g->base.place, g->flushed++, e, g->made, 0, &g->inner);
        lks_element_release(e);
    }
    if (status == LKS_OK || g->input_ended) drop_group(g, p);
    return status;
}

static lks_status add(group_cursor *g, lks_element *e)
{
    int64_t key;
    group *p;

    LKS_TRY(lks__scalar_of(&g->key, g->base.place.lineage, e, &key));
    LKS_TRY(find(g, key, &p));
    LKS_TRY(lks__grow(&p->element, &p->capacity, p->n + 1, sizeof *p->element));
    p->element[p->n++] = lks_element_retain(e);
    return (int64_t)p->n == p->limit ? flush(g, p) : LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    group_cursor *g = (group_cursor *)n;

    for (;;) {
        lks_status status;
        lks_element *e = NULL;
        if (g->inner != NULL) {
            status = lks__cursor_next(g->inner, out);
            if (status != LKS_END) return status;
            lks__cursor_close(g->inner);
            g->inner = NULL;
            continue;
        }
        if (g->input_ended && g->n == 0) return LKS_END;
        if (g->input_ended) {
            LKS_TRY(flush(g, &g->group[0]));
            continue;
        }
        status = lks__cursor_next(n->input[0], &e);
        if (status == LKS_END) {
            g->input_ended = true;
            continue;
        }
        if (status != LKS_OK) return status;
        status = add(g, e);
        lks_element_release(e);
        if (status != LKS_OK) return status;
    }
}

static void close(lks_cursor *n)
{
    group_cursor *g = (group_cursor *)n;

    while (g->n > 0) drop_group(g, &g->group[g->n - 1]);
    lks__free(g->group);
    lks__cursor_close(g->inner);
    lks__scalar_close(&g->key);
    lks__scalar_close(&g->size);
    lks__buffers_release(g->arguments);
    lks__buffers_release(g->made);
}

static void destroy(lks_dataset *ds)
{
    group_dataset *d = (group_dataset *)ds;

    lks__data_fn_destroy(&d->key);
    lks__data_fn_destroy(&d->reduce);
    lks__data_fn_destroy(&d->size);
    lks_spec_release(d->arguments);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const group_dataset *d = (const group_dataset *)ds;

    lks__data_fn_describe(&d->key, r);
    lks__data_fn_describe(&d->reduce, r);
    if (d->size.fn.apply != NULL) lks__data_fn_describe(&d->size, r);
    lks__recipe_int(r, d->window_size);
}

static const char *unsavable(const lks_dataset *ds)
{
    const group_dataset *d = (const group_dataset *)ds;
    const char *why = lks__data_fn_unsavable(&d->key);

    return why != NULL ? why : lks__data_fn_unsavable(&d->reduce);
}

const lks_stage lks__stage_group_by_window = { .name = "group_by_window",
                                               .dataset_size = sizeof(group_dataset),
                                               .cursor_size = sizeof(group_cursor),
                                               .open = open,
                                               .next = next,
                                               .close = close,
                                               .destroy = destroy,
                                               .describe = describe,
                                               .unsavable = unsavable };

/* All three functions are taken over first, so that each is released whatever fails. */
static lks_status take_functions(group_dataset *d, const lks_map_fn *key, const lks_map_fn *reduce,
                                 const lks_map_fn *size)
{
    lks_status status = lks__data_fn_init(&d->key, &d->base, key);
    lks_status second = lks__data_fn_init(&d->reduce, &d->base, reduce);
    lks_status third = size == NULL ? LKS_OK : lks__data_fn_init(&d->size, &d->base, size);

    if (status == LKS_OK) status = second;
    return status == LKS_OK ? third : status;
}

lks_dataset *lks_group_by_window_with(lks_dataset *dataset, const lks_map_fn *key_func, const lks_map_fn *reduce_func,
                                      const lks_group_by_window_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_group_by_window, dataset);
    group_dataset *d = (group_dataset *)ds;
    lks_group_by_window_options o;
    lks_status status;

    lks__options(&o, sizeof o, options);
    if (!lks__dataset_ok(ds)) {
        lks__data_fn_unused(NULL, key_func);
        lks__data_fn_unused(NULL, o.window_size_func);
        return lks__data_fn_unused(ds, reduce_func);
    }
    status = take_functions(d, key_func, reduce_func, o.window_size_func);
    if (status == LKS_OK && (o.window_size != 0) == (o.window_size_func != NULL))
        status = lks__fail(LKS_E_ARG, "exactly one of window_size and window_size_func must be given");
    if (status == LKS_OK) status = lks__data_fn_yields(&d->key, ds->spec, LKS_INT64);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->window_size = lks__option_int(o.window_size, 0);
    d->arguments = lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }),
                                     lks_spec_dataset(lks_spec_retain(ds->spec)));
    if (d->arguments == NULL) return lks__dataset_fail(ds, LKS_E_NOMEM);
    if (o.window_size_func != NULL) {
        status = lks__data_fn_yields(&d->size, lks_spec_child(d->arguments, 0), LKS_INT64);
        if (status != LKS_OK) return lks__dataset_fail(ds, status);
    }
    if (ds->cardinality != LKS_INFINITE_CARDINALITY) ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return lks__dataset_spec_is(ds, lks__data_fn_dataset(&d->reduce, d->arguments));
}
