/* tuner.c - see tuner.h. There is no thread for it: whoever waits for a window looks at the clock anyway, and the first after the end of a
 * period does the work. Periods are short after a pipeline has begun and grow to half a second, so that short passes profit too. */
#include "tuner.h"

#include <pthread.h>

#include "ledger.h"
#include "meter.h"
#include "work.h"

static const int64_t shortest = 8000000, longest = 500000000; /* nanoseconds */

static struct {
    pthread_mutex_t lock;
    lks_window *first;
    unsigned forks;
    int64_t begun, idle_ns; /* of the period: when, and the pool's account then */
    _Atomic int64_t end, period, stalled_ns;
} tuner = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A child of fork() has no windows of its own yet, and the lock may have been held. */
static void after_fork(void)
{
    unsigned now = lks__fork_count();

    if (tuner.forks == now) return;
    tuner.forks = now;
    tuner.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    tuner.first = NULL;
}

static void begin_period(int64_t now)
{
    tuner.begun = now;
    tuner.idle_ns = lks__work_idle_ns();
    atomic_store(&tuner.stalled_ns, 0);
    atomic_store(&tuner.end, now + atomic_load(&tuner.period));
    for (lks_window *w = tuner.first; w != NULL; w = w->next) atomic_store(&w->full_ns, 0);
}

void lks__window_begin(lks_window *w, int size, int most, bool fixed_growth)
{
    atomic_init(&w->size, size);
    atomic_init(&w->most, most);
    w->fixed_growth = fixed_growth;
    after_fork();
    pthread_mutex_lock(&tuner.lock);
    w->prev = NULL;
    w->next = tuner.first;
    if (w->next != NULL) w->next->prev = w;
    tuner.first = w;
    atomic_store(&tuner.period, shortest);
    begin_period(lks__wall_ns());
    pthread_mutex_unlock(&tuner.lock);
}

void lks__window_end(lks_window *w)
{
    if (tuner.forks != lks__fork_count() || atomic_load(&w->most) == 0) return; /* a parent's; never begun */
    pthread_mutex_lock(&tuner.lock);
    if (w->next != NULL) w->next->prev = w->prev;
    if (w->prev != NULL) w->prev->next = w->next;
    else tuner.first = w->next;
    pthread_mutex_unlock(&tuner.lock);
}

static int64_t held(const lks_window *w)
{
    return atomic_load(&((lks_window *)w)->size) * atomic_load(&((lks_window *)w)->bytes);
}

bool lks__tuner_rule(const lks_period *p, size_t n, lks_window *const *w, size_t *which, int *size)
{
    size_t at = n;

    if (p->memory > 0.9) {
        for (size_t i = 0; i < n; i++)
            if (atomic_load(&w[i]->size) > 1 && (at == n || held(w[i]) > held(w[at]))) at = i;
        if (at == n) return false;
        *size = atomic_load(&w[at]->size) * 2 / 3;
    } else {
        if (p->stalled <= 0.01 || p->idle <= 0.1) return false;
        for (size_t i = 0; i < n; i++)
            if (!w[i]->fixed_growth && atomic_load(&w[i]->full_ns) > 0 &&
                atomic_load(&w[i]->size) < atomic_load(&w[i]->most) &&
                (at == n || atomic_load(&w[i]->full_ns) > atomic_load(&w[at]->full_ns)))
                at = i;
        if (at == n) return false;
        *size = (atomic_load(&w[at]->size) * 3 + 1) / 2;
        if (*size > atomic_load(&w[at]->most)) *size = atomic_load(&w[at]->most);
    }
    *which = at;
    return true;
}

/* Under the lock. */
static void look(int64_t now)
{
    enum { MOST = 256 };
    lks_window *all[MOST];
    int64_t took = now - tuner.begun, threads = lks__work_threads();
    lks_period p = { .stalled = (double)atomic_load(&tuner.stalled_ns) / (double)took,
                     .idle = (double)(lks__work_idle_ns() - tuner.idle_ns) / (double)(took * threads),
                     .memory = lks__ledger_share() };
    size_t n = 0, which;
    int size;

    for (lks_window *w = tuner.first; w != NULL && n < MOST; w = w->next) all[n++] = w;
    if (lks__tuner_rule(&p, n, all, &which, &size)) atomic_store(&all[which]->size, size > 0 ? size : 1);
    if (atomic_load(&tuner.period) < longest) atomic_store(&tuner.period, 2 * atomic_load(&tuner.period));
    begin_period(now);
}

void lks__window_waited(lks_window *w, int64_t ns, bool at_sink, bool full)
{
    int64_t now = lks__wall_ns();

    if (full) atomic_fetch_add_explicit(&w->full_ns, ns, memory_order_relaxed);
    if (at_sink) atomic_fetch_add_explicit(&tuner.stalled_ns, ns, memory_order_relaxed);
    if (now < atomic_load_explicit(&tuner.end, memory_order_relaxed) || pthread_mutex_trylock(&tuner.lock) != 0) return;
    if (now >= atomic_load(&tuner.end) && now > tuner.begun) look(now);
    pthread_mutex_unlock(&tuner.lock);
}
