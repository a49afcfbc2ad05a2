/* map_pace.c - both ways are tried for some milliseconds each while elements flow, and the faster one stays until the next trial.
 *
 * What is compared is elements a second as the pulling thread gives them, since handing an element to another core also costs those
 * who use it afterwards. Where the consumer is what limits both, the pulling thread wins: it takes less processor time.
 */
#include "map_pace.h"

#include "data/meter.h"

enum { STRIDE = 32, STRIDE_NS = 20000 }; /* between two looks at the clock: elements, at most of this cost */
static const int64_t trial = 5000000, settle = 1000000, first_patience = 100000000, most_patience = 4000000000;
/* How many times as fast the pool must be: a tiny function that gains little is left where it is, for another the pool may even seem slower
 * in a short trial. */
static const double for_tiny = 1.05, for_others = 0.9;

void lks__pace_begin(lks_pace *p, lks_pace_learned *learned)
{
    int known = atomic_load_explicit(&learned->inline_wins, memory_order_relaxed);

    *p = (lks_pace){ .learned = learned, .inline_now = known == 2, .countdown = STRIDE, .patience = first_patience };
    p->next = atomic_load_explicit(&learned->next, memory_order_relaxed);
    if (known != 0) p->patience = atomic_load_explicit(&learned->patience, memory_order_relaxed);
}

static void enter(lks_pace *p, lks_pace_phase phase, int64_t now)
{
    p->phase = phase;
    p->since = now;
    p->from = p->given;
}

static double rate_of(const lks_pace *p, int64_t now)
{
    return (double)(p->given - p->from) / (double)(now - p->since);
}

/* The second way has been measured: it is the present one. */
static void decide(lks_pace *p, int64_t cost, int64_t now)
{
    double inline_rate = p->inline_now ? rate_of(p, now) : p->rate,
           pool_rate = p->inline_now ? p->rate : rate_of(p, now);
    int before;

    p->inline_now = pool_rate < (cost < LKS_PACE_TINY ? for_tiny : for_others) * inline_rate;
    before = atomic_exchange(&p->learned->inline_wins, p->inline_now ? 2 : 1);
    p->patience = before != (p->inline_now ? 2 : 1) ? first_patience
                  : p->patience < most_patience     ? 2 * p->patience
                                                    : p->patience;
    p->next = now + p->patience;
    atomic_store(&p->learned->next, p->next);
    atomic_store(&p->learned->patience, p->patience);
    enter(p, LKS_PACE_CALM, now);
}

void lks__pace_tick(lks_pace *p, int64_t cost, bool light, bool drained)
{
    int64_t now;

    p->countdown = cost <= STRIDE_NS / STRIDE ? STRIDE : (int)(STRIDE_NS / cost);
    if (p->phase == LKS_PACE_CALM && !light) {
        p->inline_now = false;
        return;
    }
    now = lks__wall_ns();
    switch (p->phase) {
    case LKS_PACE_CALM:
        if (now >= p->next) enter(p, LKS_PACE_THIS, now);
        break;
    case LKS_PACE_THIS:
        if (now - p->since < trial) break;
        p->rate = rate_of(p, now);
        p->inline_now = !p->inline_now;
        enter(p, LKS_PACE_SETTLE, now);
        break;
    case LKS_PACE_SETTLE:
        if (!drained) p->since = now;
        else if (now - p->since >= settle) enter(p, LKS_PACE_OTHER, now);
        break;
    case LKS_PACE_OTHER:
        if (now - p->since >= trial) decide(p, cost, now);
        break;
    }
}
