/* plan_lanes.c - virtual shards and the lanes (a replica's compute threads) that own contiguous runs of them. */
#include "base/alloc.h"
#include "base/pool.h"
#include "plan.h"

enum { MAX_SHARDS = 16, MAX_BUFFERS = 24, CACHED_NUMBERS = 1 << 17 };

/* Joining one more shard costs some six operations an accumulated number, forty where a phase has more of them than stay in a
 * core's caches (measured on MobileNetV2); a shard should cost at least twenty times as
 * much. From the batch and the model alone, never the machine: V decides bits. */
int lks__cpu_default_shards(const lks_executable *exe)
{
    double work = exe->flop_per_example * (double)exe->max_batch, join = 6.0 * (double)exe->wide_floats;
    int shards = MAX_SHARDS, least;

    for (int p = 0; p < exe->n_phases; p++) {
        const cpu_phase *phase = &exe->phases[p];
        const double numbers = (double)(phase->sum_floats + phase->max_floats - phase->unwide_floats);

        join += (numbers > CACHED_NUMBERS ? 40.0 : 6.0) * numbers;
    }
    while (shards > 1 && (double)shards * join > 0.05 * work) shards /= 2;
    least = exe->max_batch >= 4 ? 4 : exe->max_batch >= 2 ? 2 : 1; /* work for a few threads, whatever it costs */
    if (shards < least) shards = least;
    while (shards > exe->max_batch && shards > 1) shards /= 2;
    return shards;
}

static int ceil_share(int part, int whole, int parts)
{
    return (int)(((int64_t)part * whole + parts - 1) / parts);
}

/* Tree nodes a lane can hold at once: those of its run, walked in either direction, plus one while merging. */
static int buffers_needed(int begin, int end)
{
    int most = 0;

    for (int back = 0; back < 2; back++) {
        cpu_tree_node stack[64];
        int n = 0;

        for (int s = begin; s < end; s++) {
            stack[n++] = (cpu_tree_node){ 0, back ? end - 1 - (s - begin) : s, 0 };
            if (n > most) most = n;
            for (; n > 1 && lks__cpu_sisters(&stack[n - 2], &stack[n - 1]); n--)
                stack[n - 2] = (cpu_tree_node){ stack[n - 2].level + 1, stack[n - 2].index / 2, 0 };
        }
    }
    return most;
}

static lks_status make_lane(lks_executable *exe, cpu_lane *lane, size_t arena_bytes)
{
    lane->n_buffers = buffers_needed(lane->shard_begin, lane->shard_end);
    if (lane->n_buffers > MAX_BUFFERS) return lks__fail(LKS_E_INTERNAL, "a lane needs %d tree nodes", lane->n_buffers);
    lane->arena = lks__aligned_calloc(arena_bytes);
    lane->scratch = lks__aligned_calloc(exe->scratch_bytes);
    lane->buffers = lks__calloc(MAX_BUFFERS, sizeof *lane->buffers);
    lane->nodes = lks__calloc(MAX_BUFFERS + 1, sizeof *lane->nodes);
    lane->in = lks__calloc((size_t)exe->max_in + 1, sizeof *lane->in);
    lane->out = lks__calloc((size_t)exe->max_out + 1, sizeof *lane->out);
    lane->feeds = lks__calloc((size_t)exe->graph->n_inputs + 1, sizeof *lane->feeds);
    if (!lane->arena || !lane->scratch || !lane->buffers || !lane->nodes || !lane->in || !lane->out || !lane->feeds)
        return lks__fail(LKS_E_NOMEM, "no memory for a compute thread's %zu bytes", arena_bytes + exe->scratch_bytes);
    for (int b = 0; b < lane->n_buffers; b++) {
        lane->buffers[b] = lks__aligned_calloc(exe->accumulator_floats * sizeof(float));
        if (lane->buffers[b] == NULL)
            return lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of gradients",
                             exe->accumulator_floats * sizeof(float));
    }
    return LKS_OK;
}

int lks__cpu_lanes_a_replica(const lks_executable *exe)
{
    return exe->threads > exe->replicas ? exe->threads / exe->replicas : 1;
}

lks_status lks__cpu_plan_lanes(lks_executable *exe)
{
    const int per_replica = lks__cpu_lanes_a_replica(exe);
    size_t arena_bytes = 0;

    for (int p = 0; p < exe->n_phases; p++)
        if (exe->phases[p].slot_bytes > arena_bytes) arena_bytes = exe->phases[p].slot_bytes;
    exe->lanes = lks__calloc((size_t)per_replica * (size_t)exe->replicas, sizeof *exe->lanes);
    if (exe->lanes == NULL) return lks__fail(LKS_E_NOMEM, "no memory for compute threads");
    for (int r = 0; r < exe->replicas; r++) {
        int begin = ceil_share(r, exe->shards, exe->replicas), end = ceil_share(r + 1, exe->shards, exe->replicas);
        for (int t = 0; t < per_replica; t++) {
            cpu_lane *lane = &exe->lanes[exe->n_lanes];
            lane->replica = r;
            lane->shard_begin = begin + ceil_share(t, end - begin, per_replica);
            lane->shard_end = begin + ceil_share(t + 1, end - begin, per_replica);
            exe->n_lanes++;
            LKS_TRY(make_lane(exe, lane, arena_bytes));
        }
    }
    return lks__pool_reserve(exe->threads);
}
