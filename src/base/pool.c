/* pool.c - fork-join on a lazily grown set of threads.
 *
 * One region at a time (`turn` serialises callers). A region is published under `lock` with a new
 * generation; helpers wake (they spin for a short while first, because the next region of a
 * training step follows within microseconds), take tasks and report when none is left. Each thread begins with the task
 * of its own number: from region to region it finds in its caches what it wrote there; a task whose thread is late is
 * taken by another, and a helper that comes when all are done finds the gate closed: nobody waits for it. After fork() the child has no helpers: `owner` differs and the caller
 * runs every task itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pool.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define CPU_RELAX() _mm_pause()
#else
#define CPU_RELAX() ((void)0)
#endif

static const unsigned OPEN = 1u << 31;
enum { MAX_THREADS = 256, SPINS = 4000, STACK_BYTES = 1 << 20 };

static struct {
    pthread_mutex_t turn, lock;
    pthread_cond_t wake;
    atomic_uint generation;
    atomic_int next_task; /* those from MAX_THREADS on */
    atomic_uint gate;     /* OPEN while a region has tasks, + the helpers inside */
    atomic_bool taken[MAX_THREADS];
    int n_tasks, n_helpers, limit;
    lks_task_fn fn;
    void *user;
    pid_t owner;
} pool = { .turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static int numbered_tasks(void)
{
    return pool.n_tasks < MAX_THREADS ? pool.n_tasks : MAX_THREADS;
}

static void take_tasks(int first)
{
    const int n = numbered_tasks();
    int task;

    for (int i = 0; i < n; i++) {
        task = (first + i) % n;
        if (!atomic_load_explicit(&pool.taken[task], memory_order_relaxed) && !atomic_exchange(&pool.taken[task], true))
            pool.fn(pool.user, task);
    }
    while (pool.n_tasks > n && (task = atomic_fetch_add(&pool.next_task, 1)) < pool.n_tasks) pool.fn(pool.user, task);
}

static unsigned wait_for_work(unsigned seen)
{
    unsigned now;

    for (int i = 0; i < SPINS; i++) {
        now = atomic_load_explicit(&pool.generation, memory_order_acquire);
        if (now != seen) return now;
        CPU_RELAX();
    }
    pthread_mutex_lock(&pool.lock);
    while ((now = atomic_load(&pool.generation)) == seen) pthread_cond_wait(&pool.wake, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    return now;
}

static bool enter(void)
{
    unsigned now = atomic_load(&pool.gate);

    while (now & OPEN)
        if (atomic_compare_exchange_weak(&pool.gate, &now, now + 1)) return true;
    return false;
}

typedef struct helper_start {
    int index;
    unsigned seen;
} helper_start;

static helper_start starts[MAX_THREADS];

static void *helper_main(void *arg)
{
    helper_start s = *(helper_start *)arg;

    fesetenv(FE_DFL_ENV);
    for (;;) {
        s.seen = wait_for_work(s.seen);
        if (!enter()) continue;
        if (s.index < pool.limit) take_tasks(s.index + 1);
        atomic_fetch_sub_explicit(&pool.gate, 1, memory_order_release);
    }
    return NULL;
}

static int start_helper(int index)
{
    pthread_attr_t attr;
    pthread_t thread;
    int failed;

    if (pthread_attr_init(&attr) != 0) return -1;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    starts[index] = (helper_start){ index, atomic_load(&pool.generation) };
    failed = pthread_create(&thread, &attr, helper_main, &starts[index]);
    pthread_attr_destroy(&attr);
    return failed ? -1 : 0;
}

static void after_fork(void)
{
    if (pool.owner == getpid()) return;
    pool.owner = getpid();
    pool.n_helpers = 0;
}

lks_status lks__pool_reserve(int n)
{
    lks_status status = LKS_OK;

    if (n > MAX_THREADS)
        return lks__fail(LKS_E_LIMIT, "%d threads asked for, at most %d are supported", n, MAX_THREADS);
    pthread_mutex_lock(&pool.turn);
    after_fork();
    while (pool.n_helpers < n - 1) {
        if (start_helper(pool.n_helpers) != 0) {
            status = lks__fail(LKS_E_NOMEM, "cannot start thread %d of %d", pool.n_helpers + 2, n);
            break;
        }
        pool.n_helpers++;
    }
    pthread_mutex_unlock(&pool.turn);
    return status;
}

static void publish(int threads, int n_tasks, lks_task_fn fn, void *user)
{
    pthread_mutex_lock(&pool.lock);
    pool.fn = fn;
    pool.user = user;
    pool.n_tasks = n_tasks;
    pool.limit = threads - 1;
    for (int i = 0; i < numbered_tasks(); i++) atomic_store_explicit(&pool.taken[i], false, memory_order_relaxed);
    atomic_store(&pool.next_task, numbered_tasks());
    atomic_store(&pool.gate, OPEN);
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
}

void lks__pool_run(int threads, int n_tasks, lks_task_fn fn, void *user)
{
    pthread_mutex_lock(&pool.turn);
    after_fork();
    if (threads <= 1 || n_tasks <= 1 || pool.n_helpers == 0) {
        for (int task = 0; task < n_tasks; task++) fn(user, task);
        pthread_mutex_unlock(&pool.turn);
        return;
    }
    publish(threads, n_tasks, fn, user);
    take_tasks(0);
    atomic_fetch_and(&pool.gate, ~OPEN);
    for (int i = 0; atomic_load_explicit(&pool.gate, memory_order_acquire) > 0; i++) {
        CPU_RELAX();
        if (i > SPINS) sched_yield();
    }
    pthread_mutex_unlock(&pool.turn);
}

void lks__fenv_enter(lks_fenv *saved)
{
    fenv_t now;

    _Static_assert(sizeof now <= sizeof saved->opaque, "lks_fenv is too small for fenv_t");
    fegetenv(&now);
    memcpy(saved->opaque, &now, sizeof now);
    fesetenv(FE_DFL_ENV);
}

void lks__fenv_leave(const lks_fenv *saved)
{
    fenv_t now;

    memcpy(&now, saved->opaque, sizeof now);
    fesetenv(&now);
}
