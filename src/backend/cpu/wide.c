/* wide.c - layers with many weights and one position an example run over the whole batch at once, in phases of their own.
 *
 * Slices would walk through the weights once a slice, and shards would keep a copy of the gradient each. Here a phase holds only
 * such nodes; its threads each make a part of the outputs (columns, or rows of a gradient), and shards are no more than
 * the order in which a kernel sums (kernels.h: lks_wide). Which nodes are wide follows memory traffic: it cannot change bits.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "ops/build.h"
#include "plan.h"

/* Below, the sums of a shard's slices stay in the caches anyway. */
enum { LEAST_WEIGHTS = 32768, LEAST_COLUMNS = 16, MOST_ACTIVATIONS = 8 };

bool lks__cpu_is_wide(const lks_executable *exe, const lks_graph_node *n)
{
    const lks_type *x, *w;
    double weights, kept;

    if (n->op != &lks__op_matmul && n->op != &lks__op_matmul_filter) return false;
    x = n->in_type[0];
    w = n->op == &lks__op_matmul ? n->in_type[1] : &n->type;
    if (!x->batched || x->shape.rank != 1 || w->batched || w->local) return false;
    weights = (double)w->shape.dim[0] * (double)w->shape.dim[1];
    kept = (double)(w->shape.dim[0] + w->shape.dim[1]) * (double)exe->max_batch;
    if (w->shape.dim[0] < LEAST_COLUMNS || w->shape.dim[1] < LEAST_COLUMNS) return false;
    return weights >= LEAST_WEIGHTS && kept <= MOST_ACTIVATIONS * weights;
}

const lks_wide *lks__cpu_wide_kernel(const lks_executable *exe, const lks_graph_node *n)
{
    if (!lks__cpu_is_wide(exe, n)) return NULL;
    return n->op == &lks__op_matmul ? exe->kernels->matmul_wide : exe->kernels->matmul_filter_wide;
}

bool lks__cpu_phase_is_wide(const lks_executable *exe, int phase)
{
    return exe->wide && phase % 2 == 1;
}

/* ---- planning ---- */

static bool phase_reads(const lks_executable *exe, const cpu_phase *phase, int64_t id)
{
    for (size_t i = 0; i < phase->list.n; i++)
        for (int k = 0; k < phase->list.instrs[i].n_in; k++)
            if (exe->values[phase->list.instrs[i].in[k]].root == id) return true;
    return false;
}

/* Rows of the caller's that a wide phase reads may have to be gathered: room for them behind the kept rows. */
static lks_status place_feed(lks_executable *exe, int64_t id)
{
    const size_t offset = exe->full_bytes;
    size_t bytes = 0;

    for (int p = 1; p < exe->n_phases; p += 2) {
        cpu_phase *phase = &exe->phases[p];

        if (!phase_reads(exe, phase, id)) continue;
        if (!lks__mul_size(exe->values[id].bytes, (size_t)exe->max_batch, &bytes))
            return lks__fail(LKS_E_LIMIT, "a batch of %lld examples is too large", (long long)exe->max_batch);
        phase->feeds[phase->n_feeds] = id;
        phase->feed_offsets[phase->n_feeds++] = offset;
    }
    exe->full_bytes += (bytes + 63) & ~(size_t)63;
    return LKS_OK;
}

static lks_status plan_phase(lks_executable *exe, cpu_phase *phase)
{
    phase->feeds = lks__arena_calloc(&exe->arena, (2 * phase->list.n + 1) * sizeof *phase->feeds);
    phase->feed_offsets = lks__arena_calloc(&exe->arena, (2 * phase->list.n + 1) * sizeof *phase->feed_offsets);
    if (phase->feeds == NULL || phase->feed_offsets == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (size_t i = 0; i < phase->list.n; i++) {
        const cpu_instr *instr = &phase->list.instrs[i];
        const size_t bytes = instr->wide->common(instr->in_type, instr->out_type, exe->max_batch);

        if (bytes > exe->common_bytes) exe->common_bytes = bytes;
    }
    return LKS_OK;
}

lks_status lks__cpu_plan_wide(lks_executable *exe)
{
    if (!exe->wide) return LKS_OK;
    exe->shard_ends = lks__arena_calloc(&exe->arena, (size_t)exe->wide_shards * sizeof *exe->shard_ends);
    if (exe->shard_ends == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (int p = 1; p < exe->n_phases; p += 2) LKS_TRY(plan_phase(exe, &exe->phases[p]));
    for (size_t id = 0; id < exe->n_nodes; id++)
        if (exe->values[id].where == AT_FEED && lks__graph_at(exe->graph, (int64_t)id)->type.batched)
            LKS_TRY(place_feed(exe, (int64_t)id));
    return LKS_OK;
}

/* ---- running ---- */

typedef struct wide_work {
    lks_executable *exe;
    const cpu_phase *phase;
    const lks_op_call *call;
    const cpu_instr *instr;
    size_t number; /* of the instruction */
    bool prepare;
} wide_work;

/* Shuffled rows of the phase's inputs, side by side. */
static void gather_rows(void *user, int task)
{
    const wide_work *w = user;
    const lks_executable *exe = w->exe;
    const int64_t begin = exe->args->n * task / exe->n_lanes, end = exe->args->n * (task + 1) / exe->n_lanes;

    for (size_t i = 0; i < w->phase->n_feeds; i++) {
        const cpu_value *v = &exe->values[w->phase->feeds[i]];
        const lks_feed *feed = &exe->args->feeds[v->index];
        char *to = exe->full + w->phase->feed_offsets[i];

        for (int64_t e = begin; feed->rows != NULL && e < end; e++)
            memcpy(to + (size_t)e * v->bytes, (const char *)feed->data + (size_t)feed->rows[e] * v->bytes, v->bytes);
    }
}

static void set_feeds(lks_executable *exe, const cpu_phase *phase)
{
    wide_work w = { .exe = exe, .phase = phase };
    bool any = false;

    for (size_t i = 0; i < phase->n_feeds; i++) {
        const cpu_value *v = &exe->values[phase->feeds[i]];
        const lks_feed *feed = &exe->args->feeds[v->index];

        exe->lanes[0].feeds[v->index] = feed->rows != NULL ? exe->full + phase->feed_offsets[i] : feed->data;
        any = any || feed->rows != NULL;
    }
    if (any) lks__pool_run(exe->threads, exe->n_lanes, gather_rows, &w);
}

static void run_part(void *user, int task)
{
    const wide_work *w = user;
    const lks_executable *exe = w->exe;
    lks_op_call call = *w->call;
    lks_wide_call wide = { .call = &call,
                           .common = exe->common,
                           .part = task,
                           .parts = exe->n_lanes,
                           .shards = exe->wide_shards,
                           .ends = exe->shard_ends };
    cpu_lane *lane = &exe->lanes[task];
    const double start = lane->seconds != NULL ? lks__now() : 0;

    call.scratch = lane->scratch;
    if (w->prepare) w->instr->wide->prepare(&wide);
    else lane->finite = w->instr->wide->run(&wide);
    if (lane->seconds != NULL) lane->seconds[w->number] += lks__now() - start;
}

static void run_instr(lks_executable *exe, const cpu_instr *instr, size_t number)
{
    const lks_run_args *a = exe->args;
    cpu_lane *lane = &exe->lanes[0];
    const lks_op_call call = { .attrs = instr->attrs,
                               .n_in = instr->n_in,
                               .in_type = instr->in_type,
                               .out_type = instr->out_type,
                               .in = lane->in,
                               .out = lks__cpu_address(exe, lane, instr->out[0], 0),
                               .n = a->n,
                               .batch = a->n };
    wide_work w = { .exe = exe, .call = &call, .instr = instr, .number = number, .prepare = true };
    bool finite = true;

    for (int k = 0; k < instr->n_in; k++) lane->in[k] = lks__cpu_address(exe, lane, instr->in[k], 0);
    lane->out[0] = call.out;
    lks__pool_run(exe->threads, exe->n_lanes, run_part, &w);
    w.prepare = false;
    lks__pool_run(exe->threads, exe->n_lanes, run_part, &w);
    for (int l = 0; l < exe->n_lanes; l++) finite = finite && exe->lanes[l].finite;
    exe->values[instr->out[0]].finite = finite;
}

void lks__cpu_run_wide(lks_executable *exe, int phase)
{
    const cpu_phase *p = &exe->phases[phase];
    const int64_t batch = exe->args->n, v = exe->wide_shards;

    for (int s = 0; s < v; s++) exe->shard_ends[s] = ((s + 1) * batch + v - 1) / v;
    set_feeds(exe, p);
    for (size_t i = 0; i < p->list.n; i++) {
        const cpu_instr *instr = &p->list.instrs[i];

        run_instr(exe, instr, i);
        if (exe->tracing) lks__cpu_trace_outputs(exe, &exe->lanes[0], instr, (int64_t)i, batch);
    }
}
