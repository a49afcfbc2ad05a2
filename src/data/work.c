/* work.c - one queue under one lock. Pieces are some microseconds or more (stages gather small elements into blocks), so the
 * lock is not what they wait for.
 *
 * What costs is to put a thread to sleep and to wake it: the system wakes it where it ran last, behind another one, while a core is idle.
 * So there are as few threads awake as keep the cores busy. A consumer that runs pieces itself while it waits is one of them: for its pieces
 * one thread fewer is woken, until a thread sees that nothing came from consumers while it ran a piece, and that pieces are left. */
#include "work.h"

#include <fenv.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/cpu.h"
#include "ledger.h"
#include "meter.h"

enum { MAX_THREADS = 64, STACK_BYTES = 1 << 20 };

typedef struct work_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    lks_work *first;                 /* sorted by rank, equal ranks in order of arrival */
    int n_threads, n_idle, n_called; /* called: idle ones that have been woken and have not come yet */
    unsigned moves;                  /* of consumers: pieces that they queued or took */
    bool refused;                    /* the system gave no thread: callers run everything */
    unsigned forks;
    int64_t idle_ns, idle_since; /* summed over threads up to then */
} work_pool;

/* For what computes, and for what waits for files. */
static work_pool pools[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER },
                              { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER } };

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

/* Under the lock, before the number of idle threads changes. */
static void count_idle(work_pool *p)
{
    int64_t now = lks__wall_ns();

    p->idle_ns += p->n_idle * (now - p->idle_since);
    p->idle_since = now;
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

static void unlink_work(work_pool *p, lks_work *work)
{
    if (work->prev != NULL) work->prev->next = work->next;
    else p->first = work->next;
    if (work->next != NULL) work->next->prev = work->prev;
    work->next = work->prev = NULL;
    work->queued = false;
}

static _Atomic int64_t io_bytes, io_busy_ns, helped_ns;

static void run_io(lks_work *work)
{
    int64_t begin = lks__wall_ns();

    work->run(work);
    atomic_fetch_add_explicit(&io_busy_ns, lks__wall_ns() - begin, memory_order_relaxed);
}

void lks__work_read(size_t bytes)
{
    atomic_fetch_add_explicit(&io_bytes, (int64_t)bytes, memory_order_relaxed);
}

void lks__work_io(int64_t *bytes, int64_t *busy_ns)
{
    *bytes = atomic_load_explicit(&io_bytes, memory_order_relaxed);
    *busy_ns = atomic_load_explicit(&io_busy_ns, memory_order_relaxed);
}

/* Under the lock: whether there is a thread to be woken; then the caller signals, best without the lock. */
static bool call_one(work_pool *p)
{
    if (p->n_called >= p->n_idle) return false;
    p->n_called++;
    return true;
}

static void wait_for_work(work_pool *p)
{
    count_idle(p);
    p->n_idle++;
    pthread_cond_wait(&p->wake, &p->lock);
    count_idle(p);
    p->n_idle--;
    if (p->n_called > 0) p->n_called--;
}

static void *worker(void *arg)
{
    work_pool *p = arg;
    unsigned moves = 0;

    lks__thread_begin();
    pthread_mutex_lock(&p->lock);
    for (;;) {
        lks_work *work = p->first;
        bool alone = moves == p->moves; /* consumers have done nothing since this thread's last piece */
        moves = p->moves;
        if (work == NULL) {
            wait_for_work(p);
            continue;
        }
        unlink_work(p, work);
        alone = alone && p->first != NULL && call_one(p);
        pthread_mutex_unlock(&p->lock);
        if (alone) pthread_cond_signal(&p->wake);
        if (p == &pools[1]) run_io(work);
        else work->run(work);
        pthread_mutex_lock(&p->lock);
    }
    return NULL;
}

/* A child of fork() has none of the parent's threads, and the lock may have been held: start anew. */
static void after_fork(work_pool *p)
{
    unsigned now = lks__fork_count();

    if (p->forks == now) return;
    p->forks = now;
    p->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    p->wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    p->first = NULL;
    p->n_threads = p->n_idle = p->n_called = 0;
    p->refused = false;
}

int64_t lks__work_idle_ns(void)
{
    int64_t ns;

    after_fork(&pools[0]);
    pthread_mutex_lock(&pools[0].lock);
    count_idle(&pools[0]);
    ns = pools[0].idle_ns;
    pthread_mutex_unlock(&pools[0].lock);
    return ns - atomic_load_explicit(&helped_ns, memory_order_relaxed);
}

static void insert(work_pool *p, lks_work *work)
{
    lks_work *after = NULL, *at = p->first;

    while (at != NULL && at->rank >= work->rank) {
        after = at;
        at = at->next;
    }
    work->prev = after;
    work->next = at;
    if (at != NULL) at->prev = work;
    if (after != NULL) after->next = work;
    else p->first = work;
    work->queued = true;
}

/* Under the lock. */
static void add_thread(work_pool *p)
{
    pthread_t thread;

    if (p->refused) return;
    if (lks__thread_start(&thread, worker, p)) {
        pthread_detach(thread);
        p->n_threads++;
    } else {
        p->refused = p->n_threads == 0;
    }
}

void lks__work_submit(lks_work *work)
{
    work_pool *p = &pools[work->io];
    int most = work->io ? lks__data_io_threads() : lks__work_threads(), awake;
    bool wake = false;

    if (work->helper != NULL && most > 1) most--;
    after_fork(p);
    pthread_mutex_lock(&p->lock);
    insert(p, work);
    p->moves++;
    awake = p->n_threads - p->n_idle + p->n_called;
    if (awake < most) {
        wake = call_one(p);
        if (!wake && p->n_threads < most) add_thread(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (wake) pthread_cond_signal(&p->wake); /* whom it wakes may run at once, and would find the lock taken */
}

bool lks__work_take_back(lks_work *work)
{
    work_pool *p = &pools[work->io];
    bool mine;

    pthread_mutex_lock(&p->lock);
    mine = work->queued;
    if (mine) unlink_work(p, work);
    p->moves += mine;
    pthread_mutex_unlock(&p->lock);
    return mine;
}

void lks__work_run(lks_work *work)
{
    int64_t begin = lks__wall_ns();

    work->run(work); /* it may be gone after this */
    atomic_fetch_add_explicit(&helped_ns, lks__wall_ns() - begin, memory_order_relaxed);
}

bool lks__work_help(const void *helper)
{
    work_pool *p = &pools[0];
    lks_work *work;

    pthread_mutex_lock(&p->lock);
    for (work = p->first; work != NULL && work->helper != helper;) work = work->next;
    if (work != NULL) unlink_work(p, work);
    p->moves += work != NULL;
    pthread_mutex_unlock(&p->lock);
    if (work != NULL) lks__work_run(work);
    return work != NULL;
}
