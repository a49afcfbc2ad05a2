/* map_pace.h - internal. Whether a parallel map's cheap function is better run by the thread that pulls: measured, not guessed. */
#ifndef LKS_DATA_STAGES_MAP_PACE_H
#define LKS_DATA_STAGES_MAP_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What passes over one dataset have found out: the next pass begins with it. */
typedef struct lks_pace_learned {
    _Atomic int inline_wins;        /* 0: not known, 1: the pool is faster, 2: the pulling thread is */
    _Atomic int64_t next, patience; /* when to try again, how long after the last time; 0: not tried yet */
} lks_pace_learned;

enum { LKS_PACE_TINY = 30000 }; /* nanoseconds: functions that cost less hardly pay for a trip to another core */

typedef enum lks_pace_phase { LKS_PACE_CALM, LKS_PACE_THIS, LKS_PACE_SETTLE, LKS_PACE_OTHER } lks_pace_phase;

typedef struct lks_pace {
    lks_pace_learned *learned;
    bool inline_now; /* what the map should do: it stops filling its window when this turns true */
    lks_pace_phase phase;
    int countdown;          /* elements until the clock is read again */
    int64_t since, from;    /* when the phase began; elements given then */
    int64_t given;          /* elements in all */
    int64_t next, patience; /* when to try again; how long to wait after that */
    double rate;            /* elements a nanosecond before the switch */
} lks_pace;

void lks__pace_begin(lks_pace *p, lks_pace_learned *learned);
void lks__pace_tick(lks_pace *p, int64_t cost, bool light, bool drained);

/* Notes one more element. `cost`: nanoseconds that its function takes, 0 where not known; `light`: a trial is worth
 * while; `drained`: the window shows nothing of the other way any more: it is empty,
 * or has been filled anew. */
static inline void lks__pace_step(lks_pace *p, int64_t cost, bool light, bool drained)
{
    p->given++;
    if (--p->countdown <= 0) lks__pace_tick(p, cost, light, drained);
}

#endif
