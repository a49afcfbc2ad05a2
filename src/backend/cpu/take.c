/* take.c - what a lane does next.
 *
 * Shards: Each begins with a contiguous run of its own, whose sums meet early in the tree. A lane that has
 * nothing left takes what is left at the other end of the longest run of its replica: so a thread that the machine slows down
 * holds up the step by one shard at most. Who does a shard cannot show: its place in the tree is its number's.
 *
 * Parts of one instruction are taken likewise: a lane's own run from the front, another's from its end.
 *
 * Under LKS_FASTEST a lane sums what it takes into one accumulator, and takes whichever slice comes next: who did what shows.
 */
#include "plan.h"

enum {
    UNITS = 4,         /* parts of an instruction for a lane, */
    LEAST_UNIT = 60000 /* of at least so many operations */
};

static unsigned long long run_of(int begin, int end)
{
    return (unsigned long long)(unsigned)begin << 32 | (unsigned)end;
}

static int begin_of(unsigned long long run)
{
    return (int)(run >> 32);
}

static int end_of(unsigned long long run)
{
    return (int)(run & 0xffffffffu);
}

void lks__cpu_deal_shards(lks_executable *exe)
{
    for (int l = 0; l < exe->n_lanes; l++)
        atomic_store(&exe->lanes[l].run,
                     exe->reproducible == LKS_FASTEST ? 0 : run_of(exe->lanes[l].shard_begin, exe->lanes[l].shard_end));
}

/* The first or last one of the run; -1: none is left. */
static int take_from(atomic_ullong *from, bool last)
{
    unsigned long long run = atomic_load(from);

    for (;;) {
        const int begin = begin_of(run), end = end_of(run);
        const unsigned long long rest = last ? run_of(begin, end - 1) : run_of(begin + 1, end);

        if (begin >= end) return -1;
        if (atomic_compare_exchange_weak(from, &run, rest)) return last ? end - 1 : begin;
    }
}

static cpu_lane *longest_run(lks_executable *exe, int replica)
{
    cpu_lane *best = NULL;
    int most = 0;

    for (int l = 0; l < exe->n_lanes; l++) {
        cpu_lane *lane = &exe->lanes[l];
        const unsigned long long run = atomic_load(&lane->run);

        if (lane->replica != replica || end_of(run) - begin_of(run) <= most) continue;
        most = end_of(run) - begin_of(run);
        best = lane;
    }
    return best;
}

int lks__cpu_take_shard(lks_executable *exe, cpu_lane *lane, bool back)
{
    int shard = take_from(&lane->run, back);

    while (shard < 0 && lane->free_buffers != 0) { /* another's shard takes a buffer that its own would not have */
        cpu_lane *other = longest_run(exe, lane->replica);

        if (other == NULL) break;
        shard = take_from(&other->run, !back);
    }
    return shard;
}

/* The replica's first lane counts the examples that are taken. */
bool lks__cpu_take_slice(lks_executable *exe, const cpu_lane *lane, bool back, int64_t *first, int64_t *n)
{
    const int lanes = exe->n_lanes / exe->replicas;
    cpu_lane *own = &exe->lanes[lane->replica * lanes];
    const int64_t batch = exe->args->n, v = exe->shards, slice = exe->phases[exe->phase].slice;
    const int64_t begin = (own->shard_begin * batch + v - 1) / v, end = (own[lanes - 1].shard_end * batch + v - 1) / v;
    const int64_t taken = (int64_t)atomic_fetch_add(&own->run, (unsigned long long)slice);

    if (taken >= end - begin) return false;
    *n = end - begin - taken < slice ? end - begin - taken : slice;
    *first = back ? end - taken - *n : begin + taken;
    return true;
}

void lks__cpu_deal_units(lks_executable *exe, int64_t units)
{
    for (int l = 0; l < exe->n_lanes; l++)
        atomic_store(&exe->lanes[l].units,
                     run_of((int)(units * l / exe->n_lanes), (int)(units * (l + 1) / exe->n_lanes)));
}

int lks__cpu_take_unit(lks_executable *exe, int lane)
{
    int unit = take_from(&exe->lanes[lane].units, false);

    while (unit < 0) {
        int longest = -1, most = 0;

        for (int l = 0; l < exe->n_lanes; l++) {
            const unsigned long long run = atomic_load(&exe->lanes[l].units);

            if (end_of(run) - begin_of(run) <= most) continue;
            most = end_of(run) - begin_of(run);
            longest = l;
        }
        if (longest < 0) break;
        unit = take_from(&exe->lanes[longest].units, true);
    }
    return unit;
}

/* Some a lane, so that a slow one leaves the others at most a small part to wait for; but none too small to be worth taking. */
int64_t lks__cpu_units(const lks_executable *exe, double flop, int64_t most)
{
    int64_t units = (int64_t)exe->n_lanes * UNITS;

    if (units > most) units = most;
    if ((double)units > flop / LEAST_UNIT) units = (int64_t)(flop / LEAST_UNIT);
    return units > exe->n_lanes ? units : exe->n_lanes;
}
