/* execute.c - phases on lanes, stages between them. Nothing here allocates or fails. */
#include <string.h>

#include "base/pool.h"
#include "plan.h"
#include "program.h"

enum {
    SPLIT_ELEMENTS = 16384,       /* shared elementwise work below this is not worth waking threads for */
    SPLIT_RUN = 16 * LKS_EW_BLOCK /* of it that a thread takes at a time */
};

void *lks__cpu_shared_address(const lks_executable *exe, int64_t node, int replica)
{
    int64_t root = exe->values[node].root;
    const cpu_value *v = &exe->values[root];

    switch (v->where) {
    case AT_SHARED:
        if (!lks__graph_at(exe->graph, root)->type.local) replica = 0;
        return exe->shared + v->offset + (size_t)replica * ((v->bytes + 63) & ~(size_t)63);
    case AT_RESULT:
        return exe->results + (size_t)replica * exe->result_floats + exe->phases[v->phase].result_offset + v->index;
    case AT_FEED: return (void *)(uintptr_t)exe->args->feeds[v->index].data;
    default: return v->fixed;
    }
}

void *lks__cpu_address(const lks_executable *exe, const cpu_lane *lane, int64_t node, int64_t first)
{
    const cpu_value *v = &exe->values[exe->values[node].root];

    switch (v->where) {
    case AT_SLOT: return lane->arena + v->offset;
    case AT_FULL: return exe->full + v->offset + (size_t)first * v->bytes;
    case AT_FETCH: return (char *)exe->args->fetches[v->index] + (size_t)first * v->bytes;
    case AT_FEED:
        if (lane->feeds[v->index] != NULL) return (void *)(uintptr_t)lane->feeds[v->index];
        break;
    default: break;
    }
    return lks__cpu_shared_address(exe, node, lane->replica);
}

static void *output(const lks_executable *exe, const cpu_lane *lane, int64_t node, int64_t first)
{
    const cpu_value *v = &exe->values[node];

    if (v->where == AT_RESULT) return lane->buffers[lane->nodes[lane->n_nodes].buffer] + v->index;
    return lks__cpu_address(exe, lane, node, first);
}

/* ---- finding the first value that is not finite ---- */

static bool scan(const lks_executable *exe, const lks_type *type, const void *data, int64_t n)
{
    if (type->dtype != LKS_FLOAT32) return true;
    return exe->kernels->all_finite(data, n * lks__type_size(type));
}

void lks__cpu_trace_outputs(const lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t number,
                            int64_t n)
{
    if (lane->bad >= 0 && lane->bad <= number) return;
    for (int k = 0; k < instr->n_out; k++) {
        const lks_graph_node *node = lks__graph_at(exe->graph, instr->out[k]);
        if (node->op->flags & LKS_OP_BATCH_MAX) continue; /* starts at -inf */
        if (!scan(exe, &node->type, lane->out[k], node->type.batched ? n : 1)) lane->bad = number;
    }
}

/* ---- batched work ---- */

/* Where the instruction's values lie. */
static void find_values(const lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first)
{
    for (int k = 0; k < instr->n_in; k++) lane->in[k] = lks__cpu_address(exe, lane, instr->in[k], first);
    for (int k = 0; k < instr->n_out; k++) lane->out[k] = output(exe, lane, instr->out[k], first);
}

void lks__cpu_fill_call(const lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first, int64_t n,
                        cpu_call *out)
{
    const lks_run_args *a = exe->args;

    find_values(exe, lane, instr, first);
    out->after = (lks_after){ .mean = instr->mean > 0 ? lane->in[instr->mean] : NULL,
                              .factor = instr->factor > 0 ? lane->in[instr->factor] : NULL,
                              .bias = instr->bias > 0 ? lane->in[instr->bias] : NULL,
                              .add = instr->add > 0 ? lane->in[instr->add] : NULL,
                              .relu = instr->relu,
                              .cap = instr->cap,
                              .mask = instr->mask > 0 ? lane->in[instr->mask] : NULL };
    for (int i = 0; instr->takes_sums && i < lane->n_join; i++)
        out->join[i] = lane->join[i] + exe->values[instr->out[0]].index;
    out->call = (lks_op_call){
        instr->attrs,
        instr->n_args,
        instr->in_type,
        instr->out_type,
        lane->in,
        lane->out[0],
        n,
        first,
        a->n,
        a->seed,
        a->step,
        lane->scratch,
        instr->after ? &out->after : NULL,
        lane->fresh,
        instr->takes_sums ? lane->n_join : 0,
        out->join,
    };
}

static void run_instr(lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first, int64_t n)
{
    const bool split = lks__cpu_can_split(exe, instr, n);
    cpu_call c;

    if (instr->program != NULL) {
        find_values(exe, lane, instr, first);
        if (split) lks__cpu_run_parts(exe, lane, instr, NULL, n);
        else
            lks__ew_program_run(instr->program, exe->kernels, lane->in, lane->out, 0,
                                n * lks__type_size(instr->out_type), lane->scratch);
        return;
    }
    lks__cpu_fill_call(exe, lane, instr, first, n, &c);
    if (split) lks__cpu_run_parts(exe, lane, instr, &c.call, n);
    else if (instr->packed != NULL) instr->parts->run(&c.call, &(lks_part){ instr->packed, 0, 1 });
    else instr->run(&c.call);
}

static void set_feeds(const lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, int64_t first, int64_t n)
{
    for (size_t i = 0; i < phase->n_feeds; i++) {
        const cpu_value *v = &exe->values[phase->feeds[i]];
        const lks_feed *feed = &exe->args->feeds[v->index];
        char *to = lane->arena + phase->feed_offsets[i];
        lane->feeds[v->index] = (const char *)feed->data + (size_t)first * v->bytes;
        if (feed->rows == NULL) continue;
        for (int64_t e = 0; e < n; e++)
            memcpy(to + (size_t)e * v->bytes, (const char *)feed->data + (size_t)feed->rows[first + e] * v->bytes,
                   v->bytes);
        lane->feeds[v->index] = to;
    }
}

static void run_slice(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, int64_t first, int64_t n)
{
    double start = lane->seconds != NULL ? lks__now() : 0;

    set_feeds(exe, lane, phase, first, n);
    if (lane->seconds != NULL) lane->seconds[phase->list.n] += lks__now() - start;
    for (size_t i = 0; i < phase->list.n; i++) {
        const cpu_instr *instr = &phase->list.instrs[i];
        if (lane->seconds != NULL) start = lks__now();
        if (instr->sums && lane->fresh && !instr->takes_sums) lks__cpu_start_sums(exe, lane, instr);
        if (lks__cpu_can_band(exe, instr, n)) {
            lks__cpu_run_band(exe, lane, instr, first, n);
            i += LKS_CPU_BAND - 1;
        } else {
            run_instr(exe, lane, instr, first, n);
        }
        if (instr->sums && lane->n_join > 0 && !instr->takes_sums) lks__cpu_join_sums(exe, lane, instr);
        if (lane->seconds != NULL) lane->seconds[instr - phase->list.instrs] += lks__now() - start;
        if (exe->tracing) lks__cpu_trace_outputs(exe, lane, instr, (int64_t)i, n);
    }
}

/* LKS_FASTEST: one sum a lane, over the slices that it happens to get. */
static void run_slices(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, bool back)
{
    int64_t first = 0, n = 0;
    bool any = lks__cpu_take_slice(exe, lane, back, &first, &n);

    lks__cpu_lane_start_shard(exe, lane, phase, !any);
    for (; any; any = lks__cpu_take_slice(exe, lane, back, &first, &n), lane->fresh = false)
        run_slice(exe, lane, phase, first, n);
    lks__cpu_lane_finish_shard(exe, lane, phase, lane->shard_begin);
}

/* Every other phase goes through the shards backwards: what it needs of the last one's last shards is still in the caches, where
 * a whole batch is not. The tree makes the order of no account. */
static void run_lane(void *user, int task)
{
    lks_executable *exe = user;
    cpu_lane *lane = &exe->lanes[task];
    const cpu_phase *phase = &exe->phases[exe->phase];
    int64_t batch = exe->args->n, v = exe->shards;
    bool back = (exe->wide ? exe->phase / 2 : exe->phase) % 2 == 1;

    lane->n_nodes = 0;
    lane->free_buffers = (1u << lane->n_buffers) - 1;
    if (exe->reproducible == LKS_FASTEST) {
        run_slices(exe, lane, phase, back);
        return;
    }
    for (int shard; (shard = lks__cpu_take_shard(exe, lane, back)) >= 0;) {
        int64_t first = (shard * batch + v - 1) / v, end = ((shard + 1) * batch + v - 1) / v;
        lks__cpu_lane_start_shard(exe, lane, phase, first == end);
        for (; first < end; first += phase->slice, lane->fresh = false) {
            if (first + phase->slice >= end) lks__cpu_lane_last_slice(lane, shard);
            run_slice(exe, lane, phase, first, end - first < phase->slice ? end - first : phase->slice);
        }
        lks__cpu_lane_finish_shard(exe, lane, phase, shard);
    }
}

static int lanes_with_examples(const lks_executable *exe)
{
    const int64_t batch = exe->args->n, v = exe->shards;
    int lanes = 0;

    for (int l = 0; l < exe->n_lanes; l++)
        lanes += (exe->lanes[l].shard_begin * batch + v - 1) / v < (exe->lanes[l].shard_end * batch + v - 1) / v;
    return lanes;
}

void lks__cpu_run_phase(lks_executable *exe, int phase)
{
    exe->phase = phase;
    if (exe->phases[phase].list.n == 0) return;
    if (lks__cpu_phase_is_wide(exe, phase)) {
        lks__cpu_run_wide(exe, phase);
        return;
    }
    exe->alone = lanes_with_examples(exe) < 2;
    lks__cpu_deal_shards(exe);
    if (!exe->alone) lks__pool_run(exe->threads, exe->n_lanes, run_lane, exe);
    for (int l = 0; exe->alone && l < exe->n_lanes; l++) run_lane(exe, l); /* nobody to wake */
    lks__cpu_join(exe, phase);
}

/* ---- shared work ---- */

typedef struct split_work {
    lks_executable *exe;
    const cpu_instr *instr;
    atomic_llong taken; /* elements that some task has or had */
} split_work;

/* Who is free takes the next run of elements. Pointers go to the lane's own lists: tasks run at the same time. */
static void run_split(void *user, int task)
{
    split_work *w = user;
    lks_executable *exe = w->exe;
    cpu_lane *lane = &exe->lanes[task];
    const int64_t n = w->instr->elements;

    for (int k = 0; k < w->instr->n_in; k++) lane->in[k] = lks__cpu_shared_address(exe, w->instr->in[k], 0);
    for (int k = 0; k < w->instr->n_out; k++) lane->out[k] = lks__cpu_shared_address(exe, w->instr->out[k], 0);
    for (int64_t begin; (begin = atomic_fetch_add(&w->taken, SPLIT_RUN)) < n;)
        lks__ew_program_run(w->instr->program, exe->kernels, lane->in, lane->out, begin,
                            begin + SPLIT_RUN < n ? begin + SPLIT_RUN : n, lane->scratch);
}

static void run_replica_mean(lks_executable *exe, const cpu_instr *instr)
{
    float *to = lks__cpu_shared_address(exe, instr->out[0], 0);
    int64_t n = lks__type_size(instr->out_type);

    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int r = 0; r < exe->replicas; r++)
            sum += (double)((float *)lks__cpu_shared_address(exe, instr->in[0], r))[i];
        to[i] = (float)(*(const bool *)instr->attrs ? sum : sum / exe->replicas);
    }
}

static void run_shared(lks_executable *exe, const cpu_instr *instr, int replica)
{
    cpu_lane *lane = &exe->lanes[0];
    const lks_run_args *a = exe->args;

    for (int k = 0; k < instr->n_in; k++) lane->in[k] = lks__cpu_shared_address(exe, instr->in[k], replica);
    for (int k = 0; k < instr->n_out; k++) lane->out[k] = lks__cpu_shared_address(exe, instr->out[k], replica);
    if (instr->program != NULL) {
        lks__ew_program_run(instr->program, exe->kernels, lane->in, lane->out, 0, instr->elements, lane->scratch);
        return;
    }
    const lks_op_call call = {
        .attrs = instr->attrs,
        .n_in = instr->n_args,
        .in_type = instr->in_type,
        .out_type = instr->out_type,
        .in = lane->in,
        .out = lane->out[0],
        .n = 1,
        .batch = a->n,
        .seed = a->seed,
        .step = a->step,
        .scratch = lane->scratch,
    };
    instr->run(&call);
}

void lks__cpu_run_stage(lks_executable *exe, int stage)
{
    const cpu_list *list = &exe->stages[stage];
    double *seconds = exe->lanes[0].seconds;

    for (size_t i = 0; i < list->n; i++) {
        const cpu_instr *instr = &list->instrs[i];
        double start = seconds != NULL ? lks__now() : 0;
        if (instr->fixed && exe->fixed_known && !exe->tracing) continue;
        if (instr->replica_mean) {
            run_replica_mean(exe, instr);
        } else if (instr->program != NULL && instr->elements >= SPLIT_ELEMENTS && exe->n_lanes > 1 && !instr->local) {
            split_work w = { .exe = exe, .instr = instr };
            lks__pool_run(exe->threads, exe->n_lanes, run_split, &w);
        } else {
            for (int r = 0; r < (instr->local ? exe->replicas : 1); r++) run_shared(exe, instr, r);
        }
        if (seconds != NULL) seconds[i] += lks__now() - start;
        if (exe->tracing) lks__cpu_trace_outputs(exe, &exe->lanes[0], instr, (int64_t)i, 1);
    }
}
