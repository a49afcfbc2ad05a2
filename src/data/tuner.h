/* tuner.h - internal. The windows that pipelines of this process choose themselves, and who changes them.
 *
 * A window counts elements (or blocks of them) that a stage may have under way. Every so often, one at most is changed: the one that
 * was full while a consumer waited for it grows where threads of the pool have nothing to do; the one that holds the most shrinks where
 * memory is short. Elements and their order do not depend on windows.
 */
#ifndef LKS_DATA_TUNER_H
#define LKS_DATA_TUNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lks_window {
    struct lks_window *next, *prev;
    _Atomic int size, most;  /* as chosen now; at most */
    _Atomic int64_t bytes;   /* of what is in one of its places; 0: not known */
    _Atomic int64_t full_ns; /* a consumer waited while it was full; since the last look */
    bool fixed_growth;       /* it grows by a rule of its own (prefetch): the tuner only shrinks it */
} lks_window;

/* Joins the others, with its sizes set. */
void lks__window_begin(lks_window *w, int size, int most, bool fixed_growth);
void lks__window_end(lks_window *w);
/* A consumer waited so long for this window. `at_sink`: what reads the pipeline is what waited; `full`: it could not go on pulling. May
 * change a window. */
void lks__window_waited(lks_window *w, int64_t ns, bool at_sink, bool full);

/* What a period was like, in shares of 1. */
typedef struct lks_period {
    double stalled; /* of the time: a sink waited */
    double idle;    /* of the pool's threads */
    double memory;  /* of the budget is taken */
} lks_period;
/* The rule: which of n windows becomes how large; false: none changes. */
bool lks__tuner_rule(const lks_period *p, size_t n, lks_window *const *w, size_t *which, int *size);

#endif
