/* window.c - overlapping or spaced groups of elements; each component of a window is a nested dataset.
 *
 * The buffer is filled to T = (size - 1) * stride + 1 items, every stride-th of them is the window, then `shift` items go. A
 * failure keeps its place in the buffer and makes the windows that would show it fail.
 */
#include "data/elements.h"
#include "data/stages.h"

typedef struct window_dataset {
    lks_dataset base;
    int64_t size, shift, stride;
    bool drop_remainder;
} window_dataset;

typedef struct window_item {
    lks_element *element;
    lks_error *error; /* not NULL: a failure stands here */
} window_item;

typedef struct window_cursor {
    lks_cursor base;
    window_item *item;
    size_t n, capacity, room;
    lks_element **picked; /* room for them */
    bool input_ended;
} window_cursor;

static void drop_item(window_item *item)
{
    lks_element_release(item->element);
    lks__free(item->error);
    *item = (window_item){ NULL, NULL };
}

static lks_status fill(window_cursor *w, size_t target)
{
    while (w->n < target && !w->input_ended) {
        window_item *item;
        lks_status status;
        LKS_TRY(lks__grow(&w->item, &w->capacity, w->n + 1, sizeof *w->item));
        item = &w->item[w->n];
        *item = (window_item){ NULL, NULL };
        status = lks__cursor_next(w->base.input[0], &item->element);
        if (status == LKS_END) {
            w->input_ended = true;
            break;
        }
        if (status == LKS_E_CANCELED) return status;
        if (status != LKS_OK) {
            item->error = lks__calloc(1, sizeof *item->error);
            if (item->error == NULL) return status;
            lks__error_capture(item->error, status);
        }
        w->n++;
    }
    return LKS_OK;
}

/* Lets `shift` items go, also ones that are not in the buffer yet. */
static lks_status move_on(window_cursor *w, size_t shift)
{
    size_t gone = shift < w->n ? shift : w->n;

    for (size_t i = 0; i < gone; i++) drop_item(&w->item[i]);
    for (size_t i = gone; i < w->n; i++) w->item[i - gone] = w->item[i];
    w->n -= gone;
    for (; gone < shift && !w->input_ended; gone++) {
        lks_element *e;
        lks_status status = lks__cursor_next(w->base.input[0], &e);
        if (status == LKS_OK) lks_element_release(e);
        else if (status == LKS_E_CANCELED) return status;
        else if (status == LKS_END) w->input_ended = true;
    }
    return LKS_OK;
}

/* Every stride-th element of the buffer; the first failure among them is the result. */
static lks_status pick(window_cursor *w, size_t size, size_t stride, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < w->n && *n < size; i += stride) {
        if (w->item[i].error != NULL) return lks__error_raise(w->item[i].error);
        w->picked[(*n)++] = w->item[i].element;
    }
    return LKS_OK;
}

static lks_status make(window_cursor *w, size_t n, lks_element **out)
{
    lks_element *e = lks__cursor_element(&w->base);

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_spec *leaf = lks_spec_child(lks_spec_leaf(w->base.dataset->spec, i), 0);
        e->value[i].dataset = lks__from_elements(leaf, n, w->picked, (int64_t)i);
        if (!lks__dataset_ok(e->value[i].dataset)) {
            lks_element_release(e);
            return lks__cursor_fail(&w->base, LKS_E_NOMEM, "no memory for a window of %zu elements", n);
        }
    }
    *out = e;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    window_cursor *w = (window_cursor *)n;
    const window_dataset *d = (const window_dataset *)n->dataset;
    size_t target = (size_t)((d->size - 1) * d->stride + 1), count;
    lks_error error = { LKS_OK, "" };
    lks_status status;

    LKS_TRY(fill(w, target));
    if (w->n == 0 || (d->drop_remainder && w->n < target)) return LKS_END;
    LKS_TRY(lks__grow(&w->picked, &w->room, w->n, sizeof *w->picked));
    status = pick(w, (size_t)d->size, (size_t)d->stride, &count);
    if (status == LKS_OK) status = make(w, count, out);
    lks__error_capture(&error, status);
    status = move_on(w, (size_t)d->shift);
    if (status != LKS_OK && error.code == LKS_OK) lks_element_release(*out);
    return status != LKS_OK ? status : lks__error_raise(&error);
}

static void close(lks_cursor *n)
{
    window_cursor *w = (window_cursor *)n;

    for (size_t i = 0; i < w->n; i++) drop_item(&w->item[i]);
    lks__free(w->item);
    lks__free(w->picked);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const window_dataset *d = (const window_dataset *)ds;

    lks__recipe_int(r, d->size);
    lks__recipe_int(r, d->shift);
    lks__recipe_int(r, d->stride);
    lks__recipe_int(r, d->drop_remainder);
}

const lks_stage lks__stage_window = { .name = "window",
                                      .dataset_size = sizeof(window_dataset),
                                      .cursor_size = sizeof(window_cursor),
                                      .next = next,
                                      .close = close,
                                      .describe = describe };

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    (void)user, (void)i;
    return lks_spec_dataset(lks_spec_retain(leaf));
}

static int64_t cardinality(int64_t n, const window_dataset *d)
{
    int64_t target = (d->size - 1) * d->stride + 1;

    if (n < 0) return n;
    if (d->drop_remainder) return n < target ? 0 : (n - target) / d->shift + 1;
    return n / d->shift + (n % d->shift != 0);
}

lks_dataset *lks_window_with(lks_dataset *dataset, int64_t size, const lks_window_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_window, dataset);
    window_dataset *d = (window_dataset *)ds;
    lks_window_options o;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    d->size = size;
    d->shift = lks__option_int(o.shift, size);
    d->stride = lks__option_int(o.stride, 1);
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    if (size < 1 || d->shift < 1 || d->stride < 1)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG,
                                               "size, shift and stride must be at least 1, found %lld, %lld, %lld",
                                               (long long)size, (long long)d->shift, (long long)d->stride));
    if (size > 1 && d->stride > (INT64_MAX - 1) / (size - 1))
        return lks__dataset_fail(ds, lks__fail(LKS_E_LIMIT, "size times stride overflows"));
    ds->cardinality = cardinality(ds->cardinality, d);
    return lks__dataset_spec_is(ds, lks__spec_map(ds->spec, leaf_spec, NULL));
}
