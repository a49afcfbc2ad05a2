/* strategy.h - where replicas live and how their gradients meet. */
#ifndef LOCKSTEP_STRATEGY_H
#define LOCKSTEP_STRATEGY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counted reference; read-only after creation, safe to share between threads. */
typedef struct lks_strategy lks_strategy;

typedef struct lks_mirrored_options {
    size_t struct_size;
    int64_t replicas;         /* default 1 on CPUs, as TensorFlow; at most virtual_shards */
    int64_t virtual_shards;   /* V: decides the order of sums and so the bits; default by batch and model, at most 16 */
    const char *devices;      /* "cpu" (default) */
    const char *reproducible; /* "any_world" (default) */
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
