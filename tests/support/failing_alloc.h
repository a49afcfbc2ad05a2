/* failing_alloc.h - for tests: an allocator whose n-th allocation fails, and a loop that lets every one fail in turn.
 *
 *     EVERY_ALLOCATION_FAILS(status = lks_read_npy(path, &t), { lks_tensor_release(t); t = NULL; });
 *
 * runs the call with the 1st, 2nd, ... allocation failing until it succeeds; each failure must be LKS_E_NOMEM, and
 * afterwards everything allocated must have been given back. The second argument undoes a success.
 */
#ifndef LKS_TESTS_FAILING_ALLOC_H
#define LKS_TESTS_FAILING_ALLOC_H

#include <pthread.h>
#include <stdlib.h>

#include "lockstep/status.h"

static struct {
    pthread_mutex_t lock;
    long count, fail_at; /* fail_at 0: never */
    long live;           /* blocks not given back */
} failing = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline int failing_now(void)
{
    int fails;

    pthread_mutex_lock(&failing.lock);
    fails = ++failing.count == failing.fail_at;
    pthread_mutex_unlock(&failing.lock);
    return fails;
}

static inline void failing_live(long change)
{
    pthread_mutex_lock(&failing.lock);
    failing.live += change;
    pthread_mutex_unlock(&failing.lock);
}

static inline void *failing_alloc(void *user, size_t bytes)
{
    void *p;

    (void)user;
    if (failing_now() || (p = malloc(bytes)) == NULL) return NULL;
    failing_live(1);
    return p;
}

static inline void *failing_resize(void *user, void *old, size_t bytes)
{
    void *p;

    (void)user;
    if (failing_now() || (p = realloc(old, bytes)) == NULL) return NULL;
    if (old == NULL) failing_live(1);
    return p;
}

static inline void failing_release(void *user, void *old)
{
    (void)user;
    if (old != NULL) failing_live(-1);
    free(old);
}

/* From here on the n-th allocation fails (0: none); counts from zero again. */
static inline void failing_start(long n)
{
    static const lks_allocator allocator = { failing_alloc, failing_resize, failing_release, NULL };

    failing.count = failing.live = 0;
    failing.fail_at = n;
    lks_set_allocator(&allocator);
}

static inline void failing_stop(void)
{
    lks_set_allocator(NULL);
}

#define EVERY_ALLOCATION_FAILS(call, undo)                                                                    \
    do {                                                                                                      \
        for (long fa_n = 1;; fa_n++) {                                                                        \
            long fa_used;                                                                                     \
            failing_start(fa_n);                                                                              \
            call;                                                                                             \
            fa_used = failing.count;                                                                          \
            failing.fail_at = 0;                                                                              \
            if (status == LKS_OK) undo;                                                                       \
            failing_stop();                                                                                   \
            if (failing.live != 0) fail_msg("%ld blocks leak when allocation %ld fails", failing.live, fa_n); \
            if (fa_used < fa_n) {                                                                             \
                if (status != LKS_OK) fail_msg("no allocation failed, yet: %s", lks_last_error());            \
                break;                                                                                        \
            }                                                                                                 \
            if (status != LKS_OK && status != LKS_E_NOMEM)                                                    \
                fail_msg("allocation %ld: %s: %s", fa_n, lks_status_name(status), lks_last_error());          \
        }                                                                                                     \
    } while (0)

#endif
