/* join.c - one binary tree over the virtual shards.
 *
 * Node (level, index) is the sum of (level - 1, 2 index) and (level - 1, 2 index + 1); a right child beyond the last shard
 * does not exist. A lane merges its finished shards as far as its run allows; the join finishes the tree over all
 * lanes, range by range. Who computed what cannot show: every addition is one of the tree's.
 */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "plan.h"

enum { JOIN_BLOCK = 256, MAX_LEVELS = 24, JOIN_RANGE = 8192 };

static void maximum(float *acc, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) acc[i] = x[i] > acc[i] || x[i] != x[i] ? x[i] : acc[i];
}

static void combine(const lks_executable *exe, const cpu_phase *phase, float *acc, const float *x)
{
    exe->kernels->add(acc, x, phase->sum_floats);
    maximum(acc + phase->sum_floats, x + phase->sum_floats, phase->max_floats);
}

void lks__cpu_lane_start_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase)
{
    int b = __builtin_ctz(lane->free_buffers);
    float *acc = lane->buffers[b];

    (void)exe;
    lane->free_buffers &= ~(1u << b);
    lane->nodes[lane->n_nodes].buffer = b;
    memset(acc, 0, (size_t)phase->sum_floats * sizeof *acc);
    for (int64_t i = 0; i < phase->max_floats; i++) acc[phase->sum_floats + i] = -INFINITY;
}

/* The two uppermost nodes are sisters: the left one takes up the right one, whichever was finished first. */
static void merge_sisters(const lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, cpu_tree_node *pair)
{
    const int left = pair[0].index < pair[1].index ? 0 : 1, right = 1 - left;

    combine(exe, phase, lane->buffers[pair[left].buffer], lane->buffers[pair[right].buffer]);
    lane->free_buffers |= 1u << pair[right].buffer;
    pair[0] = (cpu_tree_node){ pair[left].level + 1, pair[left].index / 2, pair[left].buffer };
}

void lks__cpu_lane_finish_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, int shard)
{
    cpu_tree_node *nodes = lane->nodes;
    int top = lane->n_nodes;

    nodes[top].level = 0;
    nodes[top].index = shard;
    for (; top > 0 && lks__cpu_sisters(&nodes[top - 1], &nodes[top]); top--)
        merge_sisters(exe, lane, phase, &nodes[top - 1]);
    lane->n_nodes = top + 1;
}

typedef struct join_work {
    lks_executable *exe;
    int phase, replica; /* replica -1: all */
    int64_t total;
} join_work;

static const float *find_node(const join_work *w, int level, int index)
{
    for (int l = 0; l < w->exe->n_lanes; l++) {
        const cpu_lane *lane = &w->exe->lanes[l];
        if (w->replica >= 0 && lane->replica != w->replica) continue;
        for (int i = 0; i < lane->n_nodes; i++)
            if (lane->nodes[i].level == level && lane->nodes[i].index == index)
                return lane->buffers[lane->nodes[i].buffer];
    }
    return NULL;
}

/* Elements [begin, begin + n) of node (level, index) into `to`; false if no lane has any part of it. */
static bool eval(const join_work *w, int level, int index, int64_t begin, int64_t n, float *to)
{
    const float *node = find_node(w, level, index);
    const cpu_phase *phase = &w->exe->phases[w->phase];
    float right[JOIN_BLOCK];
    int64_t sums;
    bool left_there;

    if (node != NULL) {
        memcpy(to, node + begin, (size_t)n * sizeof *to);
        return true;
    }
    if (level == 0 || (index << level) >= w->exe->shards) return false;
    left_there = eval(w, level - 1, 2 * index, begin, n, to);
    if (!eval(w, level - 1, 2 * index + 1, begin, n, left_there ? right : to)) return left_there;
    if (!left_there) return true;
    sums = phase->sum_floats - begin;
    sums = sums < 0 ? 0 : sums > n ? n : sums;
    w->exe->kernels->add(to, right, sums);
    maximum(to + sums, right + sums, n - sums);
    return true;
}

static void join_range(void *user, int task)
{
    const join_work *w = user;
    const lks_executable *exe = w->exe;
    int64_t begin = (int64_t)task * JOIN_RANGE, end = begin + JOIN_RANGE < w->total ? begin + JOIN_RANGE : w->total;
    int level = 0, first = w->replica < 0 ? 0 : w->replica, last = w->replica < 0 ? exe->replicas - 1 : w->replica;
    float block[JOIN_BLOCK];

    while ((1 << level) < exe->shards) level++;
    for (; begin < end; begin += JOIN_BLOCK) {
        int64_t n = end - begin < JOIN_BLOCK ? end - begin : JOIN_BLOCK;
        eval(w, level, 0, begin, n, block);
        for (int r = first; r <= last; r++)
            memcpy(exe->results + (size_t)r * exe->result_floats + exe->phases[w->phase].result_offset + begin, block,
                   (size_t)n * sizeof *block);
    }
}

static void join_replicas(lks_executable *exe, int phase, const cpu_value *v)
{
    for (int r = 0; r < exe->replicas; r++) {
        join_work w = { exe, phase, r, 0 };
        float block[JOIN_BLOCK];
        int level = 0;
        while ((1 << level) < exe->shards) level++;
        for (int64_t at = 0, total = (int64_t)(v->bytes / sizeof(float)); at < total; at += JOIN_BLOCK) {
            int64_t n = total - at < JOIN_BLOCK ? total - at : JOIN_BLOCK;
            memset(block, 0, sizeof block);
            eval(&w, level, 0, v->index + at, n, block);
            memcpy(exe->results + (size_t)r * exe->result_floats + exe->phases[phase].result_offset + v->index + at,
                   block, (size_t)n * sizeof *block);
        }
    }
}

/* Values summed per replica are joined once more over the replica's own shards only. */
static void join_local(lks_executable *exe, int phase)
{
    for (size_t i = 0; i < exe->phases[phase].list.n; i++) {
        const cpu_instr *instr = &exe->phases[phase].list.instrs[i];
        for (int k = 0; k < instr->n_out; k++) {
            const lks_graph_node *n = lks__graph_at(exe->graph, instr->out[k]);
            if (lks__cpu_accumulates(n) && n->type.local) join_replicas(exe, phase, &exe->values[instr->out[k]]);
        }
    }
}

void lks__cpu_join(lks_executable *exe, int phase)
{
    const cpu_phase *p = &exe->phases[phase];
    join_work w = { exe, phase, -1, p->sum_floats + p->max_floats };

    if (w.total == 0) return;
    lks__pool_run(exe->threads, (int)((w.total + JOIN_RANGE - 1) / JOIN_RANGE), join_range, &w);
    if (exe->replicas > 1) join_local(exe, phase);
}
