/* program.h - a small graph built for one case, run once: feeds are tensors, results are tensors. */
#ifndef LKS_TESTS_GOLDEN_PROGRAM_H
#define LKS_TESTS_GOLDEN_PROGRAM_H

#include "backend/backend.h"
#include "golden.h"

enum { GOLDEN_IO = 64 };

typedef struct golden_program {
    golden_case *c;
    lks_trace trace;
    int n_feeds, n_fetches;
    lks_tensor *feeds[GOLDEN_IO]; /* in dtypes that graphs know */
    bool batched[GOLDEN_IO];
    lks_node fetches[GOLDEN_IO];
    lks_shape shapes[GOLDEN_IO]; /* of what is fetched, the batch included */
    lks_tensor *results[GOLDEN_IO];
    bool made;
    int64_t batch;
} golden_program;

/* Both report to the case. golden_program_free is always to be called. */
bool golden_program_init(golden_program *p, golden_case *c, bool training);
void golden_program_free(golden_program *p);

/* An input that is fed with `value`; int64 as int32, float64 as float32. Borrows it. */
lks_node golden_feed(golden_program *p, lks_tensor *value, bool batched);
/* Result number of `node`, or -1 for an absent one (no gradient): its result is zeros like feed or shape `like`. */
int golden_fetch(golden_program *p, lks_node node);
/* Runs `times` + 1 times; what the last run gave is in `results`. */
bool golden_program_run(golden_program *p, int warmups);
/* Result i, or NULL. Owned by the program's case. */
lks_tensor *golden_result(golden_program *p, int i);

/* Fills a graph variable. False after a fault. */
bool golden_set_variable(golden_case *c, lks_variable *v, const lks_tensor *value, const char *what);

#endif
