/* strategy.h - where replicas live and how their gradients meet. */
#ifndef LOCKSTEP_STRATEGY_H
#define LOCKSTEP_STRATEGY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counted reference; read-only after creation, safe to share between threads. */
typedef struct lks_strategy lks_strategy;

/* `reproducible` orders the sums over a batch (gradients, losses, metrics, batch statistics):
 *   any_world   in virtual shards, joined by one tree: the same bits for any number of threads, replicas and processes and
 *               with any instruction set. Costs a few percent of the time of the fastest (docs/performance.md).
 *   same_world  each thread sums one run of the batch: the same bits, run after run, with as many threads and replicas and
 *               the same instruction set.
 *   fastest     each thread sums whichever examples come next when it is free: the bits depend on the number of threads and
 *               on who was quicker, so two runs differ in the last digits, and a run resumed from a backup ends near an
 *               undisturbed one, not at its bits.
 * What is not summed over the batch is the same everywhere: initial weights, dropout, shuffling, and predictions of one set of
 * weights. The word belongs to a run: it is saved in no file. virtual_shards goes with any_world only. */
typedef struct lks_mirrored_options {
    size_t struct_size;
    int64_t replicas;         /* default 1 on CPUs, as TensorFlow; at most virtual_shards */
    int64_t virtual_shards;   /* V: decides the order of sums and so the bits; default by batch and model, at most 16 */
    const char *devices;      /* "cpu" (default) */
    const char *reproducible; /* who can have the same bits again: "any_world" (default), "same_world" or "fastest" */
} lks_mirrored_options;

/* Replicas that hold the same weights and share every global batch. A bad option gives a failed strategy, reported by the first
 * action; NULL: no memory. */
LKS_API lks_strategy *lks_mirrored_with(const lks_mirrored_options *options);
#ifndef __cplusplus
#define lks_mirrored(...) \
    lks_mirrored_with(&(const lks_mirrored_options){ .struct_size = sizeof(lks_mirrored_options), __VA_ARGS__ })
#endif

LKS_API int lks_num_replicas(const lks_strategy *strategy); /* 1 for a failed one or NULL */
LKS_API lks_strategy *lks_strategy_retain(lks_strategy *strategy);
LKS_API void lks_strategy_release(lks_strategy *strategy);

/* Models made by this thread between the two belong to the strategy (which they share). Scopes nest; entering the current one again
 * is counted. */
LKS_API void lks_scope_enter(lks_strategy *strategy);
LKS_API void lks_scope_exit(lks_strategy *strategy);

#ifdef __cplusplus
}
#endif
#endif
