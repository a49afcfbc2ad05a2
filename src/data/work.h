/* work.h - internal. The process' pools for pieces of pipeline work, one for what computes and one for what waits for files: started
 * lazily, shared by every parallel stage.
 *
 * A piece is queued, then running, then done. Whoever needs it may take it back while it is still queued and run it itself:
 * so nothing ever waits for a thread that does not exist (one core, no more threads, a forked child).
 */
#ifndef LKS_DATA_WORK_H
#define LKS_DATA_WORK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct lks_work {
    void (*run)(struct lks_work *work); /* on a pool thread; must not wait for queued work without taking it back */
    struct lks_work *next, *prev;
    bool queued;
    bool io;  /* it mostly waits for a file: run by other, more threads than those that compute */
    int rank; /* nearness to the sink: higher runs first, so that a pipeline drains before it fills */
    const void *
        helper; /* NULL, or whoever runs such pieces while it waits (lks__work_take_one), and so stands for a thread of the pool */
} lks_work;

void lks__work_submit(lks_work *work);
/* True if the piece was still queued: now it is the caller's. False: it runs or has run. */
bool lks__work_take_back(lks_work *work);
/* Runs a piece that is the caller's now. */
void lks__work_run(lks_work *work);
/* Runs one of a helper's pieces that are still queued, on the caller's thread; false: there is none. */
bool lks__work_help(const void *helper);
/* How long threads that compute have waited for work so far, summed; of those that helpers stand for, only while these did not help. */
int64_t lks__work_idle_ns(void);
/* A thread read so many bytes of a file; how many were read so far, and how long threads that wait for files were at work, summed. */
void lks__work_read(size_t bytes);
void lks__work_io(int64_t *bytes, int64_t *busy_ns);
/* Threads that would help: the user's number, else usable cores; at least 1. */
int lks__work_threads(void);

/* How often this process came out of a fork(): objects remember it, and a child neither waits for the parent's threads
 * nor locks what they may have held. */
unsigned lks__fork_count(void);

/* A joinable thread of ours: own stack size, all signals blocked, default floating-point environment. False if the
 * system refuses. */
bool lks__thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
/* Called first in every thread of ours. */
void lks__thread_begin(void);

#endif
