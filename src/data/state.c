/* state.c - the counters of a tree of dataset objects as one list of numbers. */
#include "state.h"

void lks__counter(lks_counters *c, int64_t *value)
{
    if (c->failed) return;
    if (c->reading) {
        if (c->at < c->n) *value = c->value[c->at++];
        else c->failed = true;
        return;
    }
    if (lks__grow(&c->value, &c->capacity, c->n + 1, sizeof *c->value) != LKS_OK) c->failed = true;
    else c->value[c->n++] = *value;
}

void lks__counter_u64(lks_counters *c, uint64_t *value)
{
    int64_t v = (int64_t)*value;

    lks__counter(c, &v);
    *value = (uint64_t)v;
}

void lks__counters_walk(lks_dataset *ds, lks_counters *c)
{
    if (ds->stage->counters != NULL) ds->stage->counters(ds, c);
    for (size_t i = 0; i < ds->n_inputs; i++) lks__counters_walk(ds->input[i], c);
}
