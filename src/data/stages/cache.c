/* cache.c - keeps what the first complete pass yielded. The contents belong to the dataset object: later passes over it read
 * them and never touch the input. Passes that run at the same time each read the input; the first to finish wins. */
#include <pthread.h>

#include "data/cache_file.h"
#include "data/stages.h"
#include "data/state.h"
#include "data/work.h"

typedef struct cache_contents {
    atomic_int references;
    size_t n, capacity;
    lks_element **element;
} cache_contents;

typedef struct cache_dataset {
    lks_dataset base;
    pthread_mutex_t lock;
    bool has_lock;
    cache_contents *contents; /* complete; NULL before the first pass has ended */
    lks_counters fill;        /* the inputs' counters when that pass began, also after a restore */
    bool refill;              /* restored: the next pass fills the cache from there */
} cache_dataset;

typedef struct cache_cursor {
    lks_cursor base;
    cache_contents *reading, *writing;
    lks_counters fill; /* as in the dataset, for the pass that fills it */
    size_t at;
    bool ended;
} cache_cursor;

static void release_contents(cache_contents *c)
{
    if (c == NULL || atomic_fetch_sub(&c->references, 1) != 1) return;
    for (size_t i = 0; i < c->n; i++) lks_element_release(c->element[i]);
    lks__free(c->element);
    lks__free(c);
}

/* What the cache was filled with before the restore comes again: the inputs' counters go back to where they stood then. */
static void rewind_inputs(cache_dataset *d)
{
    lks_counters c = d->fill;

    c.reading = true;
    c.at = 0;
    lks__counters_walk(d->base.input[0], &c);
}

static lks_status open(lks_cursor *n)
{
    cache_cursor *c = (cache_cursor *)n;
    cache_dataset *d = (cache_dataset *)n->dataset;

    pthread_mutex_lock(&d->lock);
    c->reading = d->contents;
    if (c->reading != NULL) {
        atomic_fetch_add(&c->reading->references, 1);
    } else {
        if (d->refill) rewind_inputs(d);
        lks__counters_walk(n->dataset->input[0], &c->fill);
    }
    pthread_mutex_unlock(&d->lock);
    if (c->fill.failed) return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for the cache");
    if (c->reading != NULL) return LKS_OK;
    c->writing = lks__calloc(1, sizeof *c->writing);
    if (c->writing == NULL) return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for the cache");
    atomic_init(&c->writing->references, 1);
    return lks__cursor_open_inputs(n);
}

static void publish(cache_cursor *c)
{
    cache_dataset *d = (cache_dataset *)c->base.dataset;

    pthread_mutex_lock(&d->lock);
    if (d->contents == NULL) {
        d->contents = c->writing;
        c->writing = NULL;
        lks__counters_free(&d->fill);
        d->fill = c->fill;
        c->fill = (lks_counters){ 0 };
        d->refill = false;
    }
    pthread_mutex_unlock(&d->lock);
    release_contents(c->writing);
    c->writing = NULL;
    c->ended = true;
}

static lks_status keep(cache_cursor *c, lks_element *e)
{
    cache_contents *w = c->writing;

    LKS_TRY(lks__grow(&w->element, &w->capacity, w->n + 1, sizeof *w->element));
    w->element[w->n++] = lks_element_retain(e);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    cache_cursor *c = (cache_cursor *)n;
    lks_element *e;
    lks_status status;

    if (c->reading != NULL) {
        if (c->at >= c->reading->n) return LKS_END;
        *out = lks_element_retain(c->reading->element[c->at++]);
        return LKS_OK;
    }
    if (c->ended) return LKS_END;
    status = lks__cursor_next(n->input[0], &e);
    if (status == LKS_END) publish(c);
    if (status != LKS_OK) return status;
    status = keep(c, e);
    if (status != LKS_OK) {
        lks_element_release(e);
        return lks__context(status, "cache (stage %d)", n->dataset->number);
    }
    *out = e;
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    cache_cursor *c = (cache_cursor *)n;

    if (c->writing != NULL && c->writing->n > 0 && n->place.meters == NULL) /* a measuring pass ends when it likes */
        lks__warn(
            "cache (stage %d): the pass ended before the end of the data, so its %zu elements are not kept; put take "
            "below the cache: take(k), then cache",
            n->dataset->number, c->writing->n);
    release_contents(c->reading);
    release_contents(c->writing);
    lks__counters_free(&c->fill);
}

static void destroy(lks_dataset *ds)
{
    cache_dataset *d = (cache_dataset *)ds;

    release_contents(d->contents);
    lks__counters_free(&d->fill);
    if (d->has_lock) pthread_mutex_destroy(&d->lock);
}

/* Whether the cache is full, and from which pass of its inputs. */
static void counters(lks_dataset *ds, lks_counters *c)
{
    cache_dataset *d = (cache_dataset *)ds;
    int64_t full, n;

    pthread_mutex_lock(&d->lock);
    full = d->contents != NULL || d->refill;
    n = (int64_t)d->fill.n;
    lks__counter(c, &full);
    if (full) lks__counter(c, &n);
    if (c->reading) {
        release_contents(d->contents);
        d->contents = NULL;
        lks__counters_free(&d->fill);
        d->refill = full != 0;
        for (int64_t i = 0, v = 0; full && i < n && !c->failed; i++) {
            lks__counter(c, &v);
            lks__counter(&d->fill, &v);
        }
        if (d->fill.failed) c->failed = true;
    } else if (full) {
        for (size_t i = 0; i < d->fill.n; i++) lks__counter(c, &d->fill.value[i]);
    }
    pthread_mutex_unlock(&d->lock);
}

const lks_stage lks__stage_cache = { .name = "cache",
                                     .dataset_size = sizeof(cache_dataset),
                                     .cursor_size = sizeof(cache_cursor),
                                     .open = open,
                                     .next = next,
                                     .close = close,
                                     .counters = counters,
                                     .destroy = destroy };

static lks_dataset *in_memory(lks_dataset *dataset)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_cache, dataset);
    cache_dataset *d = (cache_dataset *)ds;

    if (!lks__dataset_ok(ds)) return ds;
    if (pthread_mutex_init(&d->lock, NULL) != 0)
        return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for a lock"));
    d->has_lock = true;
    return ds;
}

lks_dataset *lks_cache_with(lks_dataset *dataset, const lks_cache_options *options)
{
    lks_cache_options o;

    lks__options(&o, sizeof o, options);
    return o.filename != NULL && o.filename[0] != '\0' ? lks__cache_in_file(dataset, o.filename) : in_memory(dataset);
}
