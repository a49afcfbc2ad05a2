/* pool.h - internal. The process' compute threads: fork-join regions with a fixed number of tasks.
 *
 * A region runs fn(user, task) once for every task in [0, n_tasks), on the caller and on pool threads, and returns
 * when all are done. Tasks must not wait for each other (there may be fewer threads than tasks). The
 * result of a correct task set cannot depend on which thread runs what.
 */
#ifndef LKS_BASE_POOL_H
#define LKS_BASE_POOL_H

#include "error.h"

typedef void (*lks_task_fn)(void *user, int task);

/* Makes sure that n threads (the caller included) exist. Called outside hot paths. */
lks_status lks__pool_reserve(int n);

/* Runs the region with at most `threads` threads (caller included). Concurrent callers take turns. Allocates
 * nothing. The floating-point environment of every task is the default one. A task must not call this. */
void lks__pool_run(int threads, int n_tasks, lks_task_fn fn, void *user);

/* Saves the caller's floating-point environment and sets the default; and back. Used at every entry point
 * that computes, so that a host's rounding mode or flush-to-zero cannot change bits. */
typedef struct lks_fenv {
    unsigned long long opaque[8];
} lks_fenv;
void lks__fenv_enter(lks_fenv *saved);
void lks__fenv_leave(const lks_fenv *saved);

#endif
