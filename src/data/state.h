/* state.h - internal. The counters that dataset objects share between passes, written to and read from saved states. */
#ifndef LKS_DATA_STATE_H
#define LKS_DATA_STATE_H

#include "stage.h"

/* A growing or a given list of numbers. */
struct lks_counters {
    int64_t *value;
    size_t n, capacity, at;
    bool reading, failed; /* failed: no memory, or too few numbers */
};

/* All counters of the tree in one fixed order: reading = false collects, true sets. */
void lks__counters_walk(lks_dataset *ds, lks_counters *c);

#endif
