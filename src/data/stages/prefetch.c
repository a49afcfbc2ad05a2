/* prefetch.c - one thread pulls ahead into a bounded queue, failures in their place.
 *
 * The queue's limit is the user's number or grows by tf.data's rule (spec 3.4): doubled each time it was full once and found
 * empty later, up to MAX_AUTO, and halved after a long time without need. A limit of our own choosing also bows to the memory budget:
 * the next element is pulled only where the ledger has room for it, or the queue is empty. Where the system gives no thread, elements pass through. The order is the input's in any case.
 */
#include "data/ledger.h"
#include "data/meter.h"
#include "data/stages.h"
#include "data/tuner.h"
#include "data/work.h"

enum { MAX_AUTO = 64, MAX_FIXED = 1 << 20, PATIENCE = 100 };

typedef struct prefetch_dataset {
    lks_dataset base;
    int64_t size;
} prefetch_dataset;

typedef struct prefetch_item {
    lks_element *element;
    lks_status status;
    lks_error *error;
} prefetch_item;

typedef struct prefetch_cursor {
    lks_cursor base;
    lks_cancel_scope scope; /* of what the thread pulls from */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_lock, running, stop, went_full, started;
    unsigned forks;
    prefetch_item *ring;
    size_t capacity, head, count;
    lks_window limit;
    int plenty;               /* calls in a row that found the queue half full or more */
    _Atomic int64_t expected; /* bytes of the next element; 0: not known */
} prefetch_cursor;

static bool is_auto(const prefetch_cursor *p)
{
    return ((const prefetch_dataset *)p->base.dataset)->size == LKS_AUTOTUNE;
}

static size_t limit_of(const prefetch_cursor *p)
{
    return (size_t)atomic_load_explicit(&((prefetch_cursor *)p)->limit.size, memory_order_relaxed);
}

/* Waits for room, then stores; false if the consumer has gone. */
static bool store(prefetch_cursor *p, prefetch_item item)
{
    bool going;
    int64_t begin = p->base.meter == NULL ? 0 : lks__wall_ns();

    pthread_mutex_lock(&p->lock);
    while (p->count >= limit_of(p) && !p->stop) pthread_cond_wait(&p->changed, &p->lock);
    if (p->base.meter != NULL) lks__meter_full(p->base.meter, lks__wall_ns() - begin);
    going = !p->stop;
    if (going) p->ring[(p->head + p->count++) % p->capacity] = item;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_signal(&p->changed); /* whom it wakes may run at once, and would find the lock taken */
    return going;
}

/* Waits until there is memory for one more element, or none is queued; returns what was reserved. */
static int64_t wait_for_memory(prefetch_cursor *p)
{
    int64_t bytes = p->expected;

    if (bytes == 0 || !is_auto(p)) return 0;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (lks__ledger_reserve(bytes)) break;
        if (p->count == 0) {
            bytes = 0;
            break;
        }
        pthread_cond_wait(&p->changed, &p->lock);
    }
    if (p->stop) bytes = 0;
    pthread_mutex_unlock(&p->lock);
    return bytes;
}

static void drop(prefetch_item *item)
{
    lks_element_release(item->element);
    lks__free(item->error);
}

static void *pull(void *arg)
{
    prefetch_cursor *p = arg;
    bool going = true;

    lks__thread_begin();
    while (going) {
        prefetch_item item = { NULL, LKS_OK, NULL };
        int64_t reserved = wait_for_memory(p);
        item.status = lks__cursor_next(p->base.input[0], &item.element);
        lks__ledger_unreserve(reserved);
        if (item.status == LKS_OK && is_auto(p))
            p->expected = lks__expected_bytes(p->expected, lks__element_bytes(item.element));
        if (item.status != LKS_OK && item.status != LKS_END) {
            item.error = lks__calloc(1, sizeof *item.error);
            if (item.error != NULL) lks__error_capture(item.error, item.status);
        }
        going = store(p, item);
        if (!going) drop(&item);
        if (item.status == LKS_END || item.status == LKS_E_CANCELED) going = false;
    }
    return NULL;
}

static void start(prefetch_cursor *p)
{
    p->started = true;
    p->running = lks__thread_start(&p->thread, pull, p);
}

static lks_status open(lks_cursor *n)
{
    prefetch_cursor *p = (prefetch_cursor *)n;
    int64_t size = ((const prefetch_dataset *)n->dataset)->size;
    lks_cursor_place below;

    p->forks = lks__fork_count();
    p->scope.parent = n->place.scope;
    n->place.scope = &p->scope;
    if (size == 0) p->started = true;
    p->capacity = is_auto(p) ? MAX_AUTO : (size_t)size;
    p->ring = lks__calloc(p->capacity, sizeof *p->ring);
    if (p->ring == NULL || pthread_mutex_init(&p->lock, NULL) != 0)
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for a queue of %zu elements", p->capacity);
    if (pthread_cond_init(&p->changed, NULL) != 0) {
        pthread_mutex_destroy(&p->lock);
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for a queue");
    }
    p->has_lock = true;
    if (is_auto(p)) lks__window_begin(&p->limit, 2, MAX_AUTO, true);
    else atomic_init(&p->limit.size, (int)size);
    p->expected = lks__spec_bytes(n->dataset->spec);
    below = lks__place_below(n->place, (int64_t)limit_of(p) + 1, false);
    below.has_thread = size != 0;
    return lks__cursor_open_inputs_at(n, below);
}

/* The growth rule, with the number of elements that the consumer finds. */
static void adapt(prefetch_cursor *p)
{
    size_t limit = limit_of(p);

    if (!is_auto(p)) return;
    p->plenty = p->count >= (limit + 1) / 2 ? p->plenty + 1 : 0;
    if (p->plenty == PATIENCE) {
        if (limit > 2) atomic_store(&p->limit.size, (int)limit / 2);
        p->plenty = 0;
    }
    if (!p->went_full) {
        p->went_full = p->count >= limit;
    } else if (p->count == 0) {
        limit *= 2;
        if (limit <= MAX_AUTO && !lks__ledger_tight()) atomic_store(&p->limit.size, (int)limit);
        p->went_full = false;
    }
}

static void wait_for_item(prefetch_cursor *p)
{
    int64_t begin, waited = 0;

    if (p->count == 0) {
        begin = lks__wall_ns();
        while (p->count == 0) pthread_cond_wait(&p->changed, &p->lock);
        waited = lks__wall_ns() - begin;
        atomic_store_explicit(&p->limit.bytes, p->expected, memory_order_relaxed);
        if (is_auto(p)) lks__window_waited(&p->limit, waited, !p->base.place.has_thread, false);
    }
    if (p->base.meter == NULL) return;
    if (waited > 0) lks__meter_waited(p->base.meter, waited);
    lks__meter_window(p->base.meter, (int64_t)limit_of(p), p->expected);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    prefetch_cursor *p = (prefetch_cursor *)n;
    prefetch_item item;

    if (!p->started) start(p);
    if (!p->running) return lks__cursor_next(n->input[0], out);
    pthread_mutex_lock(&p->lock);
    adapt(p);
    wait_for_item(p);
    item = p->ring[p->head];
    if (item.status != LKS_END && item.status != LKS_E_CANCELED) { /* an end stays and is found again */
        p->head = (p->head + 1) % p->capacity;
        p->count--;
    }
    pthread_mutex_unlock(&p->lock);
    pthread_cond_signal(&p->changed);
    if (item.status == LKS_OK) *out = item.element;
    else if (item.error != NULL) lks__error_raise(item.error);
    else if (item.status != LKS_END)
        lks__fail(item.status, "an element failed, and there was no memory to keep the reason");
    if (item.status != LKS_E_CANCELED) lks__free(item.error);
    return item.status;
}

/* Before the thread has started, the input can pass over what nobody sees. */
static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    prefetch_cursor *p = (prefetch_cursor *)n;

    if (!p->started || !p->running) return lks__cursor_skip(n->input[0], count, done);
    for (; *done < count; (*done)++) {
        lks_element *e;
        lks_status status = next(n, &e);
        if (status == LKS_END) return LKS_OK;
        if (status == LKS_OK) lks_element_release(e);
        else if (status == LKS_E_CANCELED) return status;
    }
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    prefetch_cursor *p = (prefetch_cursor *)n;
    bool child = p->forks != lks__fork_count();

    atomic_store(&p->scope.cancelled, 1);
    if (child && p->running) { /* the thread is the parent's: what it held may be half done, so it is left alone */
        n->input = NULL;
        return;
    }
    if (p->running) {
        pthread_mutex_lock(&p->lock);
        p->stop = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    for (size_t k = 0; k < p->count; k++) drop(&p->ring[(p->head + k) % p->capacity]);
    lks__free(p->ring);
    if (!p->has_lock) return;
    if (is_auto(p) && !child) lks__window_end(&p->limit);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

const lks_stage lks__stage_prefetch = { .name = "prefetch",
                                        .dataset_size = sizeof(prefetch_dataset),
                                        .cursor_size = sizeof(prefetch_cursor),
                                        .open = open,
                                        .next = next,
                                        .skip = skip,
                                        .close = close };

lks_dataset *lks_prefetch(lks_dataset *dataset, int64_t buffer_size)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_prefetch, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    if (buffer_size < LKS_AUTOTUNE || buffer_size > MAX_FIXED)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "buffer_size must be 0 to %d or LKS_AUTOTUNE, found %lld",
                                               MAX_FIXED, (long long)buffer_size));
    ((prefetch_dataset *)ds)->size = buffer_size;
    return ds;
}

int64_t lks__prefetch_size(const lks_dataset *ds)
{
    return ((const prefetch_dataset *)ds)->size;
}
