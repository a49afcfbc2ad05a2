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

enum { JOIN_BLOCK = 256, JOIN_RANGE = 8192 };

static void maximum(float *acc, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) acc[i] = x[i] > acc[i] || x[i] != x[i] ? x[i] : acc[i];
}

static void fill(float *acc, int64_t sums, int64_t maxima)
{
    memset(acc, 0, (size_t)sums * sizeof *acc);
    for (int64_t i = 0; i < maxima; i++) acc[sums + i] = -INFINITY;
}

/* The accumulator of output k: elements from where on, and how many; false if it is none of the lane's. */
static bool accumulator(const lks_executable *exe, const cpu_instr *instr, int k, int64_t *at, int64_t *n, bool *max)
{
    const cpu_value *v = &exe->values[instr->out[k]];
    const lks_graph_node *node = lks__graph_at(exe->graph, instr->out[k]);

    if (v->where != AT_RESULT) return false;
    *at = v->index;
    *n = lks__type_size(&node->type);
    *max = (node->op->flags & LKS_OP_BATCH_MAX) != 0;
    return true;
}

void lks__cpu_start_sums(const lks_executable *exe, const cpu_lane *lane, const cpu_instr *instr)
{
    float *acc = lane->buffers[lane->nodes[lane->n_nodes].buffer];
    int64_t at, n;
    bool max;

    for (int k = 0; k < instr->n_out; k++)
        if (accumulator(exe, instr, k, &at, &n, &max)) fill(acc + at, max ? 0 : n, max ? n : 0);
}

void lks__cpu_join_sums(const lks_executable *exe, const cpu_lane *lane, const cpu_instr *instr)
{
    float *acc = lane->buffers[lane->nodes[lane->n_nodes].buffer];
    int64_t at, n;
    bool max;

    for (int k = 0; k < instr->n_out; k++) {
        if (!accumulator(exe, instr, k, &at, &n, &max)) continue;
        for (int i = 0; i < lane->n_join; i++) {
            if (max) maximum(acc + at, lane->join[i] + at, n);
            else exe->kernels->add(acc + at, lane->join[i] + at, n);
        }
    }
}

void lks__cpu_lane_start_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, bool empty)
{
    int b = __builtin_ctz(lane->free_buffers);

    (void)exe;
    lane->free_buffers &= ~(1u << b);
    lane->nodes[lane->n_nodes].buffer = b;
    lane->fresh = true;
    lane->n_join = 0;
    if (empty) fill(lane->buffers[b], phase->sum_floats, phase->max_floats);
}

/* The nodes that the shard's own one meets, lowest first: uppermost on the stack while they are its sisters. */
static int sisters_of(const cpu_lane *lane, int shard)
{
    cpu_tree_node node = { 0, shard, 0 };
    int n = 0;

    while (n < lane->n_nodes && lks__cpu_sisters(&lane->nodes[lane->n_nodes - 1 - n], &node)) {
        node = (cpu_tree_node){ node.level + 1, node.index / 2, 0 };
        n++;
    }
    return n;
}

void lks__cpu_lane_last_slice(cpu_lane *lane, int shard)
{
    lane->n_join = sisters_of(lane, shard);
    for (int i = 0; i < lane->n_join; i++) lane->join[i] = lane->buffers[lane->nodes[lane->n_nodes - 1 - i].buffer];
}

/* Its last slice has joined the sums already, unless there was none. Which of two sisters is added to the other does not
 * matter: the shard's own node takes up the rest. */
void lks__cpu_lane_finish_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, int shard)
{
    const int own = lane->nodes[lane->n_nodes].buffer, n = sisters_of(lane, shard);
    float *acc = lane->buffers[own];

    for (int i = 0; i < n; i++) {
        const int other = lane->nodes[lane->n_nodes - 1 - i].buffer;
        const float *x = lane->buffers[other];

        if (lane->n_join == 0) {
            exe->kernels->add(acc, x, phase->sum_floats);
            maximum(acc + phase->sum_floats, x + phase->sum_floats, phase->max_floats);
        }
        lane->free_buffers |= 1u << other;
    }
    lane->n_nodes -= n;
    lane->nodes[lane->n_nodes++] = (cpu_tree_node){ n, shard >> n, own };
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
    const float *add;
    float right[JOIN_BLOCK];
    int64_t sums;
    bool left_there;

    if (node != NULL) {
        memcpy(to, node + begin, (size_t)n * sizeof *to);
        return true;
    }
    if (level == 0 || (index << level) >= w->exe->shards) return false;
    left_there = eval(w, level - 1, 2 * index, begin, n, to);
    add = left_there ? find_node(w, level - 1, 2 * index + 1) : NULL;
    if (add != NULL) {
        add += begin;
    } else {
        if (!eval(w, level - 1, 2 * index + 1, begin, n, left_there ? right : to)) return left_there;
        if (!left_there) return true;
        add = right;
    }
    sums = phase->sum_floats - begin;
    sums = sums < 0 ? 0 : sums > n ? n : sums;
    w->exe->kernels->add(to, add, sums);
    maximum(to + sums, add + sums, n - sums);
    return true;
}

/* The sums are looked at while they are in the L1 cache: is every one finite? */
static void join_range(void *user, int task)
{
    const join_work *w = user;
    lks_executable *exe = w->exe;
    float *results = exe->results + exe->phases[w->phase].result_offset;
    int64_t begin = (int64_t)task * JOIN_RANGE, end = begin + JOIN_RANGE < w->total ? begin + JOIN_RANGE : w->total;
    bool finite = true;
    int level = 0;

    while ((1 << level) < exe->shards) level++;
    for (; begin < end; begin += JOIN_BLOCK) {
        int64_t n = end - begin < JOIN_BLOCK ? end - begin : JOIN_BLOCK;
        eval(w, level, 0, begin, n, results + begin);
        finite = finite && exe->kernels->all_finite(results + begin, n);
        for (int r = 1; r < exe->replicas; r++)
            memcpy(results + (size_t)r * exe->result_floats + begin, results + begin, (size_t)n * sizeof *results);
    }
    if (!finite) atomic_store(&exe->joined_finite, false);
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

typedef struct settle_work {
    const lks_executable *exe;
    const cpu_instr *instr;
    int parts;
} settle_work;

static void settle_part(void *user, int task)
{
    const settle_work *w = user;

    for (int r = 0; r < w->exe->replicas; r++) {
        const lks_op_call call = { .attrs = w->instr->attrs,
                                   .n_in = w->instr->n_args,
                                   .in_type = w->instr->in_type,
                                   .out_type = w->instr->out_type,
                                   .out = lks__cpu_shared_address(w->exe, w->instr->out[0], r) };

        w->instr->settle(&call, task, w->parts);
    }
}

/* Joined sums that a kernel kept in an order of its own. */
static void settle(const lks_executable *exe, const cpu_phase *phase)
{
    for (size_t i = 0; i < phase->list.n; i++) {
        const cpu_instr *instr = &phase->list.instrs[i];
        settle_work w = { exe, instr, 1 };

        if (!instr->sums || instr->settle == NULL) continue;
        if (lks__type_size(instr->out_type) >= JOIN_RANGE) w.parts = exe->n_lanes;
        lks__pool_run(exe->threads, w.parts, settle_part, &w);
    }
}

static void note_finite(lks_executable *exe, const cpu_phase *phase)
{
    for (size_t i = 0; i < phase->list.n; i++)
        for (int k = 0; phase->list.instrs[i].sums && k < phase->list.instrs[i].n_out; k++) {
            cpu_value *v = &exe->values[phase->list.instrs[i].out[k]];
            if (v->where == AT_RESULT) v->finite = exe->joined_finite;
        }
}

void lks__cpu_join(lks_executable *exe, int phase)
{
    const cpu_phase *p = &exe->phases[phase];
    join_work w = { exe, phase, -1, p->sum_floats + p->max_floats };

    if (w.total == 0) return;
    atomic_store(&exe->joined_finite, true);
    lks__pool_run(exe->threads, (int)((w.total + JOIN_RANGE - 1) / JOIN_RANGE), join_range, &w);
    if (exe->n_checks > 0) note_finite(exe, p);
    if (exe->replicas > 1) join_local(exe, phase);
    settle(exe, p);
}
