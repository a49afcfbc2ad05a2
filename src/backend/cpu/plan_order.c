/* plan_order.c - what is needed, and when: the phase of every batched value and the stage of every shared one.
 *
 * A consumer of a batch-reduced value runs after the join that completes it: that is all a phase is. Shared work that only
 * assignments need goes to the update, behind the finite check, so that a step that is not applied changes nothing.
 */
#include <string.h>

#include "base/alloc.h"
#include "plan.h"

static const lks_graph_node *at(const lks_executable *exe, int64_t id)
{
    return lks__graph_at(exe->graph, id);
}

/* Marks node and all it depends on; ids are topological, so one sweep downwards does it. */
static void close_downwards(const lks_executable *exe, bool *mark)
{
    for (int64_t id = (int64_t)exe->n_nodes - 1; id >= 0; id--) {
        const lks_graph_node *n = at(exe, id);
        if (!mark[id]) continue;
        for (int k = 0; k < n->n_in; k++) mark[n->in[k]] = true;
    }
}

static void set_phase(lks_executable *exe, int64_t id)
{
    const lks_graph_node *n = at(exe, id);
    int when = 0;

    for (int k = 0; k < n->n_in; k++) {
        const cpu_value *v = &exe->values[n->in[k]];
        int p = v->phase + (v->wide || lks__cpu_accumulates(at(exe, n->in[k])) ? 1 : 0);
        if (p > when) when = p;
    }
    exe->values[id].phase = when;
}

static void set_root(lks_executable *exe, int64_t id)
{
    const lks_graph_node *n = at(exe, id);

    exe->values[id].root = (n->op->flags & LKS_OP_VIEW) ? exe->values[n->in[0]].root : id;
    exe->values[id].bytes = lks__type_bytes(&n->type);
    exe->values[id].index = -1;
    exe->values[id].first = exe->values[id].last = -1;
}

static lks_status copy_lists(lks_executable *exe, const lks_compile_spec *spec)
{
    size_t total = spec->n_fetches + spec->n_checks + 1;
    int64_t *ids = lks__arena_calloc(&exe->arena, total * sizeof *ids);

    if (ids == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    exe->fetches = ids;
    exe->checks = ids + spec->n_fetches;
    for (size_t i = 0; i < spec->n_fetches + spec->n_checks; i++) {
        lks_node node = i < spec->n_fetches ? spec->fetches[i] : spec->checks[i - spec->n_fetches];
        if (node.graph != exe->graph || node.id < 0)
            return lks__fail(LKS_E_ARG, "value %zu to fetch or check is not a node of this graph", i);
        ids[i] = node.id;
    }
    exe->n_fetches = spec->n_fetches;
    exe->n_checks = spec->n_checks;
    exe->n_assignments = exe->trace->n_assignments;
    exe->assignments = lks__arena_calloc(&exe->arena, (exe->n_assignments + 1) * sizeof *exe->assignments);
    if (exe->assignments == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (size_t i = 0; i < exe->n_assignments; i++) exe->assignments[i] = exe->trace->assignments[i];
    return LKS_OK;
}

/* needed: by anything. core: by batched work, fetches and checks; the rest is update. */
static void mark_needed(lks_executable *exe, bool *needed, bool *core)
{
    for (size_t i = 0; i < exe->n_fetches; i++) core[exe->fetches[i]] = true;
    for (size_t i = 0; i < exe->n_checks; i++) core[exe->checks[i]] = true;
    memcpy(needed, core, exe->n_nodes);
    for (size_t i = 0; i < exe->n_assignments; i++) needed[exe->assignments[i].value.id] = true;
    close_downwards(exe, needed);
    for (size_t id = 0; id < exe->n_nodes; id++) {
        const lks_graph_node *n = at(exe, (int64_t)id);
        if (needed[id] && (n->type.batched || lks__cpu_accumulates(n))) core[id] = true;
        exe->values[id].needed = needed[id];
    }
    close_downwards(exe, core);
}

/* What a wide node reads, and what that is a view of. */
static void mark_whole(lks_executable *exe, int64_t id)
{
    for (exe->values[id].whole = true; at(exe, id)->op->flags & LKS_OP_VIEW;) {
        id = at(exe, id)->in[0];
        exe->values[id].whole = true;
    }
}

/* Sliced work of a level comes first, then what is wide. */
static void number_phases(lks_executable *exe, const bool *needed)
{
    for (size_t id = 0; id < exe->n_nodes; id++) exe->wide = exe->wide || (needed[id] && exe->values[id].wide);
    exe->n_phases = 1;
    for (size_t id = 0; id < exe->n_nodes; id++) {
        const lks_graph_node *n = at(exe, (int64_t)id);
        cpu_value *v = &exe->values[id];
        if (exe->wide) v->phase = 2 * v->phase + (v->wide ? 1 : 0);
        for (int k = 0; v->wide && k < n->n_in; k++) mark_whole(exe, n->in[k]);
        if (needed[id] && (n->type.batched || lks__cpu_accumulates(n)) && v->phase + 1 > exe->n_phases)
            exe->n_phases = v->phase + 1;
    }
}

lks_status lks__cpu_plan_order(lks_executable *exe, const lks_compile_spec *spec)
{
    bool *marks = lks__calloc(2 * exe->n_nodes + 1, sizeof *marks), *core;
    lks_status status;

    if (marks == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    core = marks + exe->n_nodes;
    status = copy_lists(exe, spec);
    if (status != LKS_OK) {
        lks__free(marks);
        return status;
    }
    for (size_t id = 0; id < exe->n_nodes; id++) set_root(exe, (int64_t)id);
    mark_needed(exe, marks, core);
    for (size_t id = 0; id < exe->n_nodes; id++) {
        exe->values[id].wide = lks__cpu_wide_kernel(exe, at(exe, (int64_t)id)) != NULL;
        set_phase(exe, (int64_t)id);
    }
    number_phases(exe, marks);
    for (size_t id = 0; id < exe->n_nodes; id++) {
        const lks_graph_node *n = at(exe, (int64_t)id);
        bool shared = !n->type.batched && !lks__cpu_accumulates(n) && !(n->op->flags & LKS_OP_SOURCE);
        if (marks[id] && shared && !core[id]) exe->values[id].phase = exe->n_phases + 1;
        if (n->op == &lks__op_batch_size) exe->batch_size_node = (int64_t)id;
    }
    lks__free(marks);
    return LKS_OK;
}
