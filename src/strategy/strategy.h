/* strategy.h - internal. A strategy says how many replicas there are, which run of shards each owns, and how sums meet. The CPU
 * executor carries out the in-process part; strategies over processes add a reduction of tree nodes.
 */
#ifndef LKS_STRATEGY_STRATEGY_H
#define LKS_STRATEGY_STRATEGY_H

#include <stdatomic.h>

#include "backend/backend.h"
#include "base/error.h"
#include "lockstep/strategy.h"

typedef struct lks_strategy_class {
    const char *name; /* "mirrored" */
} lks_strategy_class;

struct lks_strategy {
    atomic_int references;
    lks_error error;
    const lks_strategy_class *class_;
    int replicas;
    int virtual_shards; /* 0 = by batch and model */
    lks_reproducible reproducible;
};

/* "any_world", ... */
const char *lks__reproducible_name(lks_reproducible r);

/* The strategy of this thread's innermost scope, or NULL. */
lks_strategy *lks__scope_current(void);

#endif
