/* ahead.c - reads a dataset that a function opened (interleave) some elements ahead, by pieces of work on the pool for files. No thread
 * belongs to it: a piece pulls until the queue is full, memory short or the data at an end, and whoever finds the queue empty and no piece
 * begun pulls by itself. The order is the input's in any case, and failures stay in their place.
 */
#include "data/ledger.h"
#include "data/meter.h"
#include "data/stages.h"
#include "data/work.h"

typedef struct ahead_dataset {
    lks_dataset base;
    size_t size;
} ahead_dataset;

typedef struct ahead_item {
    lks_element *element;
    lks_status status;
    lks_error *error;
} ahead_item;

typedef struct ahead_cursor {
    lks_cursor base;
    lks_work work;
    lks_cancel_scope scope; /* of what the pieces pull from */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned forks;
    bool has_lock, active, ended, stop; /* active: a piece is queued or runs, and it alone pulls */
    ahead_item *ring;
    size_t capacity, head, count;
    int64_t expected; /* bytes of an element; of who pulls */
} ahead_cursor;

/* Room in the memory budget for one more; the first is allowed in any case. */
static bool afford(ahead_cursor *a, size_t count, int64_t *reserved)
{
    *reserved = 0;
    if (a->expected > 0 && lks__ledger_reserve(a->expected)) *reserved = a->expected;
    return *reserved > 0 || count == 0 || a->expected == 0;
}

static ahead_item pull_one(ahead_cursor *a, int64_t reserved)
{
    ahead_item item = { NULL, LKS_OK, NULL };

    item.status = lks__cursor_next(a->base.input[0], &item.element);
    lks__ledger_unreserve(reserved);
    if (item.status == LKS_OK) a->expected = lks__expected_bytes(a->expected, lks__element_bytes(item.element));
    return item;
}

static void keep_reason(ahead_item *item)
{
    if (item->status == LKS_OK || item->status == LKS_END) return;
    item->error = lks__calloc(1, sizeof *item->error);
    if (item->error != NULL) lks__error_capture(item->error, item->status);
}

static bool is_last(const ahead_item *item)
{
    return item->status == LKS_END || item->status == LKS_E_CANCELED;
}

/* The piece of work. */
static void run(lks_work *work)
{
    ahead_cursor *a = (ahead_cursor *)((char *)work - offsetof(ahead_cursor, work));
    ahead_item item;
    int64_t reserved;

    pthread_mutex_lock(&a->lock);
    while (!a->stop && !a->ended && a->count < a->capacity && afford(a, a->count, &reserved)) {
        pthread_mutex_unlock(&a->lock);
        item = pull_one(a, reserved);
        keep_reason(&item);
        pthread_mutex_lock(&a->lock);
        a->ring[(a->head + a->count++) % a->capacity] = item;
        a->ended = is_last(&item);
        pthread_cond_signal(&a->changed);
    }
    a->active = false;
    pthread_cond_signal(&a->changed); /* the last that is done here: a closing cursor may be gone after it */
    pthread_mutex_unlock(&a->lock);
}

static lks_status open(lks_cursor *n)
{
    ahead_cursor *a = (ahead_cursor *)n;
    lks_cursor_place below;

    a->forks = lks__fork_count();
    a->scope.parent = n->place.scope;
    n->place.scope = &a->scope;
    a->capacity = ((const ahead_dataset *)n->dataset)->size;
    a->ring = lks__calloc(a->capacity, sizeof *a->ring);
    a->work = (lks_work){ .run = run, .io = true, .rank = n->dataset->number };
    if (a->ring == NULL || pthread_mutex_init(&a->lock, NULL) != 0)
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for a queue of %zu elements", a->capacity);
    if (pthread_cond_init(&a->changed, NULL) != 0) {
        pthread_mutex_destroy(&a->lock);
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for a queue");
    }
    a->has_lock = true;
    a->expected = lks__spec_bytes(n->dataset->spec);
    below = lks__place_below(n->place, (int64_t)a->capacity + 1, false);
    below.has_thread = true;
    LKS_TRY(lks__cursor_open_inputs_at(n, below));
    a->active = true;
    lks__work_submit(&a->work);
    return LKS_OK;
}

/* Takes the oldest item, or, where there is none and nobody pulls, pulls one. */
static ahead_item take(ahead_cursor *a)
{
    ahead_item item;
    int64_t begin = 0;

    pthread_mutex_lock(&a->lock);
    while (a->count == 0 && a->active) {
        if (begin == 0) begin = lks__wall_ns();
        pthread_mutex_unlock(&a->lock);
        if (lks__work_take_back(&a->work)) a->active = false; /* nobody else looks at it now */
        pthread_mutex_lock(&a->lock);
        if (a->count == 0 && a->active) pthread_cond_wait(&a->changed, &a->lock);
    }
    if (begin != 0) lks__meter_waited(a->base.meter, lks__wall_ns() - begin);
    if (a->count == 0) {
        pthread_mutex_unlock(&a->lock);
        return pull_one(a, 0);
    }
    item = a->ring[a->head];
    if (!is_last(&item)) { /* an end stays and is found again */
        a->head = (a->head + 1) % a->capacity;
        a->count--;
    }
    pthread_mutex_unlock(&a->lock);
    return item;
}

/* Sees to it that a piece of work fills the queue again. */
static void go_on(ahead_cursor *a)
{
    bool submit;

    pthread_mutex_lock(&a->lock);
    submit = !a->active && !a->ended && a->count <= a->capacity / 2;
    if (submit) a->active = true;
    pthread_mutex_unlock(&a->lock);
    if (submit) lks__work_submit(&a->work);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    ahead_cursor *a = (ahead_cursor *)n;
    ahead_item item = take(a);

    if (!is_last(&item)) go_on(a);
    if (a->base.meter != NULL) lks__meter_window(a->base.meter, (int64_t)a->capacity, 0);
    if (item.status == LKS_OK) *out = item.element;
    if (item.error == NULL) return item.status; /* said on this thread just now, or an end */
    lks__error_raise(item.error);
    if (item.status != LKS_E_CANCELED) lks__free(item.error);
    return item.status;
}

static void close(lks_cursor *n)
{
    ahead_cursor *a = (ahead_cursor *)n;

    atomic_store(&a->scope.cancelled, 1);
    if (a->forks != lks__fork_count()) { /* what the parent's threads held may be half done: it is left alone */
        n->input = NULL;
        return;
    }
    if (a->has_lock) {
        if (lks__work_take_back(&a->work)) a->active = false;
        pthread_mutex_lock(&a->lock);
        a->stop = true;
        while (a->active) pthread_cond_wait(&a->changed, &a->lock);
        pthread_mutex_unlock(&a->lock);
    }
    for (size_t k = 0; k < a->count; k++) {
        lks_element_release(a->ring[(a->head + k) % a->capacity].element);
        lks__free(a->ring[(a->head + k) % a->capacity].error);
    }
    lks__free(a->ring);
    if (!a->has_lock) return;
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
}

const lks_stage lks__stage_ahead = { .name = "prefetch",
                                     .dataset_size = sizeof(ahead_dataset),
                                     .cursor_size = sizeof(ahead_cursor),
                                     .open = open,
                                     .next = next,
                                     .close = close };

lks_dataset *lks__read_ahead(lks_dataset *dataset, size_t size)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_ahead, dataset);

    if (lks__dataset_ok(ds)) ((ahead_dataset *)ds)->size = size;
    return ds;
}
