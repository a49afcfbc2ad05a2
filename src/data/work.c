/* work.c - one queue under one lock. Pieces are some microseconds or more (stages gather small elements into blocks), so
 * the lock is not what they wait for. */
#include "work.h"

#include <fenv.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/cpu.h"
#include "ledger.h"

enum { MAX_THREADS = 64, STACK_BYTES = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    lks_work *first; /* sorted by rank, equal ranks in order of arrival */
    int n_threads, n_idle;
    bool refused; /* the system gave no thread: callers run everything */
    unsigned forks;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

unsigned lks__fork_count(void)
{
    pthread_once(&once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

void lks__thread_begin(void)
{
    fesetenv(FE_DFL_ENV);
}

bool lks__thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    int failed;

    if (pthread_attr_init(&attr) != 0) return false;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return failed == 0;
}

bool lks__work_idle(void)
{
    bool idle;

    pthread_mutex_lock(&pool.lock);
    idle = pool.n_idle > 0 && pool.first == NULL;
    pthread_mutex_unlock(&pool.lock);
    return idle;
}

int lks__work_threads(void)
{
    static atomic_int known;
    int given = lks__data_threads(), n = atomic_load_explicit(&known, memory_order_relaxed);

    if (given > 0) return given < MAX_THREADS ? given : MAX_THREADS;
    if (n == 0) {
        n = lks__usable_cores();
        if (n > MAX_THREADS) n = MAX_THREADS;
        atomic_store_explicit(&known, n, memory_order_relaxed);
    }
    return n;
}

static void unlink_work(lks_work *work)
{
    if (work->prev != NULL) work->prev->next = work->next;
    else pool.first = work->next;
    if (work->next != NULL) work->next->prev = work->prev;
    work->next = work->prev = NULL;
    work->queued = false;
}

static void *worker(void *arg)
{
    (void)arg;
    lks__thread_begin();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        lks_work *work = pool.first;
        if (work == NULL) {
            pool.n_idle++;
            pthread_cond_wait(&pool.wake, &pool.lock);
            pool.n_idle--;
            continue;
        }
        unlink_work(work);
        pthread_mutex_unlock(&pool.lock);
        work->run(work);
        pthread_mutex_lock(&pool.lock);
    }
    return NULL;
}

/* A child of fork() has none of the parent's threads, and the lock may have been held: start anew. */
static void after_fork(void)
{
    unsigned now = lks__fork_count();

    if (pool.forks == now) return;
    pool.forks = now;
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.first = NULL;
    pool.n_threads = pool.n_idle = 0;
    pool.refused = false;
}

static void insert(lks_work *work)
{
    lks_work *after = NULL, *at = pool.first;

    while (at != NULL && at->rank >= work->rank) {
        after = at;
        at = at->next;
    }
    work->prev = after;
    work->next = at;
    if (at != NULL) at->prev = work;
    if (after != NULL) after->next = work;
    else pool.first = work;
    work->queued = true;
}

void lks__work_submit(lks_work *work)
{
    pthread_t thread;

    after_fork();
    pthread_mutex_lock(&pool.lock);
    insert(work);
    if (pool.n_idle == 0 && pool.n_threads < lks__work_threads() && !pool.refused) {
        if (lks__thread_start(&thread, worker, NULL)) {
            pthread_detach(thread);
            pool.n_threads++;
        } else {
            pool.refused = pool.n_threads == 0;
        }
    } else {
        pthread_cond_signal(&pool.wake);
    }
    pthread_mutex_unlock(&pool.lock);
}

bool lks__work_take_back(lks_work *work)
{
    bool mine;

    pthread_mutex_lock(&pool.lock);
    mine = work->queued;
    if (mine) unlink_work(work);
    pthread_mutex_unlock(&pool.lock);
    return mine;
}
