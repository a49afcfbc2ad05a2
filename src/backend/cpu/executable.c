/* executable.c - compiling a function and running its steps. */
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "plan.h"
#include "program.h"

void lks__executable_release(lks_executable *exe)
{
    if (exe == NULL) return;
    for (int l = 0; exe->lanes != NULL && l < exe->n_lanes; l++) {
        cpu_lane *lane = &exe->lanes[l];
        for (int b = 0; lane->buffers != NULL && b < lane->n_buffers; b++) lks__aligned_free(lane->buffers[b]);
        lks__free(lane->buffers);
        lks__aligned_free(lane->arena);
        lks__aligned_free(lane->scratch);
        lks__free(lane->nodes);
        lks__free(lane->in);
        lks__free(lane->out);
        lks__free(lane->feeds);
    }
    for (int s = 0; exe->stages != NULL && s < exe->n_phases + 2; s++) lks__free(exe->stages[s].instrs);
    for (int p = 0; exe->phases != NULL && p < exe->n_phases; p++) lks__free(exe->phases[p].list.instrs);
    lks__free(exe->lanes);
    lks__free(exe->stages);
    lks__free(exe->phases);
    lks__free(exe->values);
    lks__free(exe->rewritten.nodes);
    lks__aligned_free(exe->shared);
    lks__aligned_free(exe->full);
    lks__aligned_free(exe->common);
    lks__aligned_free(exe->results);
    lks__aligned_free(exe->packed);
    lks__arena_free(&exe->arena);
    lks__free(exe);
}

static lks_status check_spec(const lks_compile_spec *spec)
{
    if (spec->max_batch < 1)
        return lks__fail(LKS_E_ARG, "a batch holds at least 1 example, got %lld", (long long)spec->max_batch);
    if (spec->threads < 0 || spec->threads > 256)
        return lks__fail(LKS_E_ARG, "threads must be 1 to 256 (or 0: one a usable core), got %d", spec->threads);
    if (spec->virtual_shards < 0 || spec->virtual_shards > 65536)
        return lks__fail(LKS_E_ARG, "virtual_shards must be 1 to 65536 (or 0: by batch and model), got %d",
                         spec->virtual_shards);
    if (spec->replicas < 0) return lks__fail(LKS_E_ARG, "replicas must be at least 1, got %d", spec->replicas);
    return LKS_OK;
}

static lks_status compile(lks_executable *exe, const lks_compile_spec *spec)
{
    exe->n_nodes = exe->graph->n_nodes;
    exe->values = lks__calloc(exe->n_nodes + 1, sizeof *exe->values);
    if (exe->values == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    LKS_TRY(lks__cpu_plan_order(exe, spec));
    LKS_TRY(lks__cpu_plan_recompute(exe));
    LKS_TRY(lks__cpu_plan_fuse(exe));
    LKS_TRY(lks__cpu_plan_memory(exe, spec));
    LKS_TRY(lks__cpu_plan_fixed(exe));
    return lks__cpu_plan_lanes(exe);
}

lks_status lks__executable_create(lks_trace *trace, const lks_compile_spec *spec, lks_executable **out)
{
    lks_executable *exe;
    lks_status status;

    LKS_TRY(lks__graph_status(trace->graph));
    LKS_TRY(check_spec(spec));
    exe = lks__calloc(1, sizeof *exe);
    if (exe == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a compiled function");
    exe->trace = trace;
    exe->graph = trace->graph;
    exe->kernels = lks__kernels_for(spec->isa);
    exe->max_batch = spec->max_batch;
    exe->threads = spec->threads > 0 ? spec->threads : lks__usable_cores();
    exe->replicas = spec->replicas > 0 ? spec->replicas : 1;
    exe->reproducible = spec->reproducible;
    exe->batch_size_node = -1;
    status = compile(exe, spec);
    if (status != LKS_OK) {
        lks__executable_release(exe);
        return status;
    }
    *out = exe;
    return LKS_OK;
}

/* ---- running ---- */

static const char *scope_of(const cpu_list *list, int64_t number)
{
    const char *scope = list->instrs[number].scope;
    return scope[0] != '\0' ? scope : "the loss";
}

/* Runs the unchanged step again with checks on: the scope of the first value that is not finite. */
static const char *find_culprit(lks_executable *exe)
{
    const char *scope = NULL;

    exe->tracing = true;
    for (int s = 0; s <= exe->n_phases && scope == NULL; s++) {
        int64_t bad = -1;
        for (int l = 0; l < exe->n_lanes; l++) exe->lanes[l].bad = -1;
        lks__cpu_run_stage(exe, s);
        if (exe->lanes[0].bad >= 0) scope = scope_of(&exe->stages[s], exe->lanes[0].bad);
        if (scope != NULL || s == exe->n_phases) break;
        exe->lanes[0].bad = -1;
        lks__cpu_run_phase(exe, s);
        for (int l = 0; l < exe->n_lanes; l++)
            if (exe->lanes[l].bad >= 0 && (bad < 0 || exe->lanes[l].bad < bad)) bad = exe->lanes[l].bad;
        if (bad >= 0) scope = scope_of(&exe->phases[s].list, bad);
    }
    exe->tracing = false;
    return scope;
}

static lks_status check_finite(lks_executable *exe)
{
    for (size_t i = 0; i < exe->n_checks; i++) {
        const lks_type *t = &lks__graph_at(exe->graph, exe->checks[i])->type;
        const char *scope;
        if (exe->values[exe->values[exe->checks[i]].root].finite) continue;
        if (exe->kernels->all_finite(lks__cpu_shared_address(exe, exe->checks[i], 0), lks__type_size(t))) continue;
        scope = find_culprit(exe);
        return lks__fail(LKS_E_NONFINITE,
                         "%s is not finite; the first such value comes from %s; no weight was changed "
                         "(a smaller learning rate, clipping, or a look at the data helps)",
                         i == 0 ? "the loss" : "a gradient", scope != NULL ? scope : "the join of the shards");
    }
    return LKS_OK;
}

static void update(lks_executable *exe)
{
    for (size_t i = 0; i < exe->n_saves; i++)
        memcpy(exe->shared + exe->saves[i].offset, exe->saves[i].from, exe->saves[i].bytes);
    lks__cpu_run_stage(exe, exe->n_phases + 1);
    for (size_t i = 0; i < exe->n_copies; i++) {
        const cpu_copy *c = &exe->copies[i];
        memcpy(c->to, c->from >= 0 ? lks__cpu_shared_address(exe, c->from, 0) : exe->shared + c->offset, c->bytes);
    }
    for (size_t i = 0; i < exe->n_assignments; i++) lks__variable_changed(exe->assignments[i].variable);
}

lks_status lks__cpu_end_step(lks_executable *exe, bool dry)
{
    lks_status status = check_finite(exe);

    if (status == LKS_OK && !dry) update(exe);
    return status;
}

/* A fetch of an input itself: its rows, copied. */
static void copy_fed_fetches(const lks_executable *exe)
{
    const lks_run_args *a = exe->args;

    for (size_t i = 0; i < exe->n_fetches; i++) {
        const lks_graph_node *n = lks__graph_at(exe->graph, exe->fetches[i]);
        const cpu_value *v = &exe->values[exe->values[exe->fetches[i]].root];
        if (!n->type.batched || (v->where == AT_FETCH && v->index == (int64_t)i)) continue;
        for (int64_t e = 0; e < a->n; e++) {
            const char *from;
            if (v->where == AT_FETCH) from = (const char *)a->fetches[v->index] + (size_t)e * v->bytes;
            else
                from = (const char *)a->feeds[v->index].data +
                       (size_t)(a->feeds[v->index].rows != NULL ? a->feeds[v->index].rows[e] : e) * v->bytes;
            memcpy((char *)a->fetches[i] + (size_t)e * v->bytes, from, v->bytes);
        }
    }
}

lks_status lks__executable_run(lks_executable *exe, const lks_run_args *args)
{
    lks_status status;
    lks_fenv host;

    if (args->n < 0 || args->n > exe->max_batch)
        return lks__fail(LKS_E_ARG, "a batch of %lld examples, but the function was compiled for at most %lld",
                         (long long)args->n, (long long)exe->max_batch);
    lks__fenv_enter(&host);
    exe->args = args;
    lks__cpu_refresh_fixed(exe);
    if (exe->batch_size_node >= 0 && exe->values[exe->batch_size_node].where == AT_SHARED)
        *(float *)lks__cpu_shared_address(exe, exe->batch_size_node, 0) = (float)args->n;
    for (int p = 0; p < exe->n_phases; p++) {
        lks__cpu_run_stage(exe, p);
        lks__cpu_run_phase(exe, p);
    }
    lks__cpu_run_stage(exe, exe->n_phases);
    exe->fixed_known = true;
    copy_fed_fetches(exe);
    status = lks__cpu_end_step(exe, args->dry);
    lks__fenv_leave(&host);
    return status;
}

const void *lks__executable_value(const lks_executable *exe, size_t fetch)
{
    return lks__cpu_shared_address(exe, exe->fetches[fetch], 0);
}

void lks__executable_report(const lks_executable *exe, lks_plan_report *out)
{
    memset(out, 0, sizeof *out);
    out->threads = exe->threads;
    out->replicas = exe->replicas;
    out->shards = exe->shards;
    out->reproducible = exe->reproducible;
    out->phases = exe->n_phases;
    out->slice = exe->phases[0].slice;
    out->isa = exe->kernels->isa;
    out->flop_per_example = exe->flop_per_example;
    out->full_bytes = exe->full_bytes + exe->common_bytes;
    out->packed_bytes = exe->packed_bytes;
    out->shared_bytes = exe->shared_bytes + exe->result_floats * (size_t)exe->replicas * sizeof(float);
    for (int p = 0; p < exe->n_phases; p++) {
        size_t bytes = exe->phases[p].slot_bytes;
        if (bytes > out->slice_bytes) out->slice_bytes = bytes;
        out->instructions += (int)exe->phases[p].list.n;
    }
    for (int s = 0; s < exe->n_phases + 2; s++) out->instructions += (int)exe->stages[s].n;
    out->slice_bytes *= (size_t)exe->n_lanes;
    out->scratch_bytes = exe->scratch_bytes * (size_t)exe->n_lanes;
    for (int l = 0; l < exe->n_lanes; l++)
        out->accumulator_bytes += exe->accumulator_floats * sizeof(float) * (size_t)exe->lanes[l].n_buffers;
}
