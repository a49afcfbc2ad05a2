/* state.h - internal. Saved iterators: the counters that dataset objects share between passes, and the form of a state. */
#ifndef LKS_DATA_STATE_H
#define LKS_DATA_STATE_H

#include "stage.h"

/* A growing or a given list of numbers. Start from { 0 }. */
struct lks_counters {
    int64_t *value;
    size_t n, capacity, at;
    bool reading, failed; /* failed: no memory, or too few numbers */
};

/* All counters of the tree in one fixed order: reading = false collects, true sets. */
void lks__counters_walk(lks_dataset *ds, lks_counters *c);
void lks__counters_free(lks_counters *c);

/* Why a pass over ds can't be replayed, and the stage; NULL if it can. */
const char *lks__unsavable(const lks_dataset *ds, const char **stage);

/* What an iterator is but for the dataset. */
typedef struct lks_state {
    uint64_t fingerprint;
    int64_t results;   /* elements and failures so far */
    bool had_failures; /* then only a step-by-step replay is exact */
    bool ended;
    lks_counters counters; /* as they were when the iterator was made */
} lks_state;

lks_status lks__state_write(const lks_state *s, void **bytes, size_t *size);
lks_status lks__state_read(const void *bytes, size_t size, lks_state *out); /* free the counters */

#endif
