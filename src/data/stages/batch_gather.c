/* batch_gather.c - see batch_gather.h. The consumer alone asks for row numbers and takes batches in order; workers gather. A batch that no
 * thread has begun is gathered by the consumer itself.
 */
#include "batch_gather.h"

#include "data/ledger.h"
#include "data/meter.h"
#include "data/work.h"

enum { WINDOW = 4 };

typedef struct gathering {
    lks_work work;
    lks_gather_window *window;
    int64_t *rows, n;
    lks_element *element;
    lks_status status;
    lks_error *error;
    int64_t reserved;
    bool done; /* under the window's lock */
} gathering;

struct lks_gather_window {
    lks_gather_batch gather;
    void *user;
    lks_cursor *cursor;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    unsigned forks;
    int64_t limit, bytes; /* rows and bytes of a batch */
    bool drop, ended;
    int head, count;
    const gathering *awaited; /* under the lock: that the consumer sleeps for */
    gathering ring[WINDOW];
};

static void keep_error(gathering *g, lks_status status)
{
    g->status = status;
    if (status == LKS_OK || status == LKS_END) return;
    g->error = lks__calloc(1, sizeof *g->error);
    if (g->error != NULL) lks__error_capture(g->error, status);
}

static void run(lks_work *work)
{
    gathering *g = (gathering *)work;
    lks_gather_window *w = g->window;
    int64_t cpu = w->cursor->meter == NULL ? 0 : lks__cpu_ns();

    keep_error(g, w->gather(w->user, g->rows, g->n, &g->element));
    lks__ledger_unreserve(g->reserved);
    g->reserved = 0;
    if (w->cursor->meter != NULL) lks__meter_work(w->cursor->meter, lks__cpu_ns() - cpu);
    pthread_mutex_lock(&w->lock);
    g->done = true;
    if (w->awaited == g) pthread_cond_signal(&w->finished);
    pthread_mutex_unlock(&w->lock);
}

static lks_status ask_rows(lks_gather_window *w, gathering *g)
{
    int64_t got = 1;

    for (g->n = 0; g->n < w->limit && got > 0; g->n += got)
        LKS_TRY(lks__cursor_next_rows(w->cursor->input[0], g->rows + g->n, w->limit - g->n, &got));
    w->ended = got == 0;
    return g->n == 0 || (w->drop && g->n < w->limit) ? LKS_END : LKS_OK;
}

/* Asks for the rows of one more batch and queues it; what fails is its result. */
static lks_status add(lks_gather_window *w, int64_t reserved)
{
    gathering *g = &w->ring[(w->head + w->count) % WINDOW];
    lks_status status;

    if (g->rows == NULL) g->rows = lks__calloc((size_t)w->limit, sizeof *g->rows);
    if (g->rows == NULL) {
        lks__ledger_unreserve(reserved);
        return lks__cursor_fail(w->cursor, LKS_E_NOMEM, "no memory for the numbers of %lld rows", (long long)w->limit);
    }
    g->work = (lks_work){ .run = run, .rank = w->cursor->dataset->number, .helper = w };
    g->window = w;
    g->element = NULL;
    g->error = NULL;
    g->reserved = reserved;
    g->done = false;
    status = ask_rows(w, g);
    if (status == LKS_OK) {
        w->count++;
        lks__work_submit(&g->work);
        return LKS_OK;
    }
    lks__ledger_unreserve(reserved);
    if (status == LKS_END) return LKS_OK; /* `ended` says it */
    keep_error(g, status);
    g->done = w->ended = true; /* row numbers fail for want of memory or by cancelling alone */
    w->count++;
    return LKS_OK;
}

static void sleep_for(lks_gather_window *w, gathering *g)
{
    pthread_mutex_lock(&w->lock);
    w->awaited = g;
    while (!g->done) pthread_cond_wait(&w->finished, &w->lock);
    w->awaited = NULL;
    pthread_mutex_unlock(&w->lock);
}

static bool is_done(lks_gather_window *w, const gathering *g)
{
    bool done;

    pthread_mutex_lock(&w->lock);
    done = g->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* Gathers later batches meanwhile. */
static void wait_for(lks_gather_window *w, gathering *g)
{
    int64_t begin = lks__wall_ns();

    if (lks__work_take_back(&g->work)) lks__work_run(&g->work);
    while (!is_done(w, g))
        if (!lks__work_help(w)) sleep_for(w, g);
    if (w->cursor->meter == NULL) return;
    lks__meter_waited(w->cursor->meter, lks__wall_ns() - begin);
    lks__meter_window(w->cursor->meter, WINDOW, w->bytes);
}

lks_status lks__gather_next(lks_gather_window *w, lks_element **out)
{
    gathering *g;
    lks_status status;

    while (w->count < WINDOW && !w->ended) {
        int64_t reserved = lks__ledger_reserve(w->bytes) ? w->bytes : 0;
        if (reserved == 0 && w->count > 0) break;
        LKS_TRY(add(w, reserved));
    }
    if (w->count == 0) return LKS_END;
    g = &w->ring[w->head];
    wait_for(w, g);
    w->head = (w->head + 1) % WINDOW;
    w->count--;
    status = g->status;
    if (status == LKS_OK) *out = g->element;
    else if (g->error != NULL) lks__error_raise(g->error);
    else lks__fail(status, "a batch failed, and there was no memory to keep the reason");
    lks__free(g->error);
    g->error = NULL;
    g->element = NULL;
    return status;
}

lks_status lks__gather_open(lks_cursor *n, int64_t limit, int64_t bytes, bool drop, lks_gather_batch gather, void *user,
                            lks_gather_window **out)
{
    lks_gather_window *w = lks__calloc(1, sizeof *w);

    if (w == NULL || pthread_mutex_init(&w->lock, NULL) != 0) {
        lks__free(w);
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for the window");
    }
    if (pthread_cond_init(&w->finished, NULL) != 0) {
        pthread_mutex_destroy(&w->lock);
        lks__free(w);
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for the window");
    }
    w->gather = gather;
    w->user = user;
    w->cursor = n;
    w->forks = lks__fork_count();
    w->limit = limit;
    w->bytes = bytes;
    w->drop = drop;
    *out = w;
    return LKS_OK;
}

bool lks__gather_is_empty(const lks_gather_window *w)
{
    return w->count == 0;
}

int lks__gather_window_size(void)
{
    return WINDOW;
}

void lks__gather_close(lks_gather_window *w)
{
    if (w == NULL || w->forks != lks__fork_count()) return; /* the threads that gather here are the parent's */
    for (int k = 0; k < w->count; k++) {
        gathering *g = &w->ring[(w->head + k) % WINDOW];
        if (lks__work_take_back(&g->work)) g->done = true;
    }
    for (; w->count > 0; w->count--, w->head = (w->head + 1) % WINDOW) {
        gathering *g = &w->ring[w->head];
        sleep_for(w, g);
        lks__ledger_unreserve(g->reserved);
        lks_element_release(g->element);
        lks__free(g->error);
    }
    for (int i = 0; i < WINDOW; i++) lks__free(w->ring[i].rows);
    pthread_cond_destroy(&w->finished);
    pthread_mutex_destroy(&w->lock);
    lks__free(w);
}
