/* plan_fuse.c - instruction lists, with runs of elementwise nodes fused into one pass over memory.
 *
 * Units are kept in order of `position`. An elementwise node joins the groups of its producers if they have the same iteration
 * space. Either nobody outside has read a member yet (the group is open): then the whole group moves to the
 * node's position; or all the node's other inputs are ready where the group stands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan.h"

enum { MAX_MEMBERS = 48, MAX_GROUP_INPUTS = 24, MAX_SUMS = 4 };

typedef struct unit {
    int64_t position;
    int64_t *members;
    size_t n, capacity;
    int64_t sums[MAX_SUMS]; /* of a group: batch_sum nodes that it computes as it goes */
    size_t n_sums;
    bool group, open, dead;
} unit;

typedef struct fuser {
    lks_executable *exe;
    unit *units;
    size_t n, capacity;
    int64_t *unit_of; /* node -> unit number in the present list, -1 elsewhere */
    int64_t clock;
} fuser;

static const lks_graph_node *at(const fuser *f, int64_t id)
{
    return lks__graph_at(f->exe->graph, id);
}

static bool same_space(const lks_type *a, const lks_type *b)
{
    return a->batched == b->batched && a->local == b->local && lks_shape_equal(&a->shape, &b->shape);
}

/* The unit that computes input k of n in this list, or -1. */
static int64_t producer(const fuser *f, const lks_graph_node *n, int k)
{
    return f->unit_of[f->exe->values[n->in[k]].root];
}

static lks_status add_member(fuser *f, size_t u, int64_t id)
{
    unit *x = &f->units[u];

    LKS_TRY(lks__grow(&x->members, &x->capacity, x->n + 1, sizeof *x->members));
    x->members[x->n++] = id;
    f->unit_of[id] = (int64_t)u;
    return LKS_OK;
}

static lks_status add_unit(fuser *f, int64_t id, bool group)
{
    LKS_TRY(lks__grow(&f->units, &f->capacity, f->n + 1, sizeof *f->units));
    f->units[f->n] = (unit){ .position = f->clock++, .group = group, .open = true };
    f->n++;
    return add_member(f, f->n - 1, id);
}

/* Within a group element i reads element i: so whatever n reads of the group's members must be whole, not broadcast and
 * not another shape of the same bytes. */
static bool candidate(const fuser *f, int64_t u, const lks_graph_node *n)
{
    if (u < 0 || !f->units[u].group || !same_space(&at(f, f->units[u].members[0])->type, &n->type)) return false;
    for (int k = 0; k < n->n_in; k++)
        if (producer(f, n, k) == u && !same_space(n->in_type[k], &n->type)) return false;
    return true;
}

/* All open candidate groups merge into one that stands here; returns it, or -1. */
static lks_status merge_open(fuser *f, int64_t id, int64_t *out)
{
    const lks_graph_node *n = at(f, id);
    int64_t into = -1;

    for (int k = 0; k < n->n_in; k++) {
        int64_t u = producer(f, n, k);
        if (!candidate(f, u, n) || !f->units[u].open || u == into) continue;
        if (into < 0) {
            if (f->units[u].n < MAX_MEMBERS) into = u;
            continue;
        }
        if (f->units[into].n + f->units[u].n >= MAX_MEMBERS) continue;
        for (size_t m = 0; m < f->units[u].n; m++) LKS_TRY(add_member(f, (size_t)into, f->units[u].members[m]));
        f->units[u].n = 0;
        f->units[u].dead = true;
    }
    if (into >= 0) f->units[into].position = f->clock++;
    *out = into;
    return LKS_OK;
}

/* A closed group before which all other inputs of the node are ready. */
static int64_t standing_group(const fuser *f, const lks_graph_node *n)
{
    for (int k = 0; k < n->n_in; k++) {
        int64_t u = producer(f, n, k);
        bool ready = true;
        if (!candidate(f, u, n) || f->units[u].n >= MAX_MEMBERS) continue;
        for (int j = 0; j < n->n_in; j++) {
            int64_t v = producer(f, n, j);
            if (v >= 0 && v != u && f->units[v].position > f->units[u].position) ready = false;
        }
        if (ready) return u;
    }
    return -1;
}

static lks_status place(fuser *f, int64_t id)
{
    const lks_graph_node *n = at(f, id);
    bool fusible = lks__ew_fusible(f->exe->graph, id);
    int64_t u = -1;

    if (fusible) {
        LKS_TRY(merge_open(f, id, &u));
        if (u < 0) u = standing_group(f, n);
    }
    for (int k = 0; k < n->n_in; k++) { /* producers left outside have an outside reader now */
        int64_t v = producer(f, n, k);
        if (v >= 0 && v != u) f->units[v].open = false;
    }
    return u >= 0 ? add_member(f, (size_t)u, id) : add_unit(f, id, fusible);
}

static int by_position(const void *a, const void *b)
{
    int64_t x = ((const unit *)a)->position, y = ((const unit *)b)->position;
    return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Is the member read by a node outside its unit, fetched, checked or assigned? */
static bool escapes(const fuser *f, const bool *kept, int64_t id, size_t u)
{
    const lks_graph *g = f->exe->graph;

    if (kept[id]) return true;
    for (size_t c = (size_t)id + 1; c < g->n_nodes; c++) {
        const lks_graph_node *n = g->nodes[c];
        if (!f->exe->values[c].needed || (n->op->flags & LKS_OP_VIEW)) continue;
        for (int k = 0; k < n->n_in; k++)
            if (f->exe->values[n->in[k]].root == id && f->unit_of[c] != (int64_t)u) return true;
    }
    return false;
}

static lks_status single_instr(lks_executable *exe, int64_t id, cpu_instr *instr)
{
    const lks_graph_node *n = lks__graph_at(exe->graph, id);
    const lks_kernel *k = exe->kernels->kernels;

    instr->n_in = instr->n_args = n->n_in;
    instr->n_out = 1;
    instr->in = n->in;
    instr->out = lks__arena_calloc(&exe->arena, sizeof *instr->out);
    if (instr->out == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    instr->out[0] = id;
    instr->in_type = n->in_type;
    instr->out_type = &n->type;
    instr->attrs = n->attrs;
    instr->op = n->op;
    instr->name = n->op->name;
    instr->run = n->op->run;
    instr->replica_mean = n->op == &lks__op_replica_mean;
    if (n->op->scratch != NULL) instr->scratch = n->op->scratch(n->attrs, n->in_type, &n->type);
    for (; k != NULL && k->op != NULL; k++) {
        if (k->op != n->op) continue;
        if (k->applicable != NULL && !k->applicable(n->attrs, n->n_in, n->in_type, &n->type)) continue;
        instr->run = k->run;
        instr->name = k->name;
        instr->takes_after = k->after;
        instr->takes_sums = k->sums;
        instr->settle = k->settle;
        if (k->parts != NULL && k->parts->applicable(n->attrs, n->in_type)) instr->parts = k->parts;
        instr->scratch = k->scratch != NULL ? k->scratch(n->attrs, n->in_type, &n->type) : 0;
        break;
    }
    if (exe->values[id].wide) {
        instr->wide = lks__cpu_wide_kernel(exe, n);
        instr->takes_after = 0;
        instr->settle = NULL;
        instr->parts = NULL;
        instr->scratch = instr->wide->scratch(n->in_type, &n->type, exe->max_batch);
    }
    instr->flop = n->op->flop != NULL ? n->op->flop(n->attrs, n->in_type, &n->type) : (double)lks__type_size(&n->type);
    return LKS_OK;
}

static lks_status emit(fuser *f, size_t u, const bool *kept, cpu_list *list)
{
    unit *x = &f->units[u];
    cpu_instr instr = { 0 };
    int64_t outs[MAX_MEMBERS];
    size_t n_out = 0;
    const lks_graph_node *last;

    qsort(x->members, x->n, sizeof *x->members, by_id);
    last = at(f, x->members[x->n - 1]);
    if (x->group) {
        for (size_t m = 0; m < x->n; m++)
            if (escapes(f, kept, x->members[m], u)) outs[n_out++] = x->members[m];
        LKS_TRY(lks__ew_program_create(f->exe, x->n, x->members, n_out, outs, x->n_sums, x->sums, &instr));
    } else {
        LKS_TRY(single_instr(f->exe, x->members[0], &instr));
    }
    instr.scope = last->scope;
    instr.order = x->members[x->n - 1];
    instr.local = last->type.local && !last->type.batched && !(last->op->flags & (LKS_OP_BATCH_SUM | LKS_OP_BATCH_MAX));
    LKS_TRY(lks__grow(&list->instrs, &list->capacity, list->n + 1, sizeof *list->instrs));
    list->instrs[list->n++] = instr;
    return LKS_OK;
}

/* What a kernel may do behind its own work (plan_after.c) is worth more than a sum. */
static bool may_join_a_kernel(const fuser *f, const unit *x)
{
    const lks_op *first = at(f, x->members[0])->op, *last = at(f, x->members[x->n - 1])->op;

    if (x->n == 1) return first == &lks__op_add || first == &lks__op_relu || first == &lks__op_relu_grad;
    return x->n == 2 && last == &lks__op_relu;
}

/* Does the group hold the value, or read it whole? */
static bool meets(const fuser *f, const unit *x, int64_t root, const lks_type *type)
{
    if (!x->group || x->dead || x->n_sums == MAX_SUMS || may_join_a_kernel(f, x) ||
        !same_space(&at(f, x->members[0])->type, type))
        return false;
    for (size_t m = 0; m < x->n; m++) {
        const lks_graph_node *n = at(f, x->members[m]);
        if (x->members[m] == root) return true;
        for (int k = 0; k < n->n_in; k++)
            if (f->exe->values[n->in[k]].root == root && n->in_type[k]->dtype == LKS_FLOAT32 &&
                same_space(n->in_type[k], type))
                return true;
    }
    return false;
}

/* Sums over the batch go to the groups that have their terms in registers: nobody in this phase reads a sum. */
static void attach_sums(fuser *f)
{
    for (size_t u = 0; u < f->n; u++) {
        int64_t id = f->units[u].group ? -1 : f->units[u].members[0], root;
        if (id < 0 || !lks__ew_summable(f->exe->graph, id)) continue;
        root = f->exe->values[at(f, id)->in[0]].root;
        for (size_t g = 0; g < f->n; g++) {
            unit *x = &f->units[g];
            if (!meets(f, x, root, at(f, id)->in_type[0])) continue;
            x->sums[x->n_sums++] = id;
            f->unit_of[id] = (int64_t)g;
            f->units[u].dead = true;
            break;
        }
    }
}

/* One list: the needed nodes with a kernel whose time `when` is and that are batched work (or shared work). */
static lks_status build_list(fuser *f, int when, bool batched_work, const bool *kept, cpu_list *list)
{
    lks_executable *exe = f->exe;

    for (size_t id = 0; id < exe->n_nodes; id++) {
        const lks_graph_node *n = at(f, (int64_t)id);
        bool accumulator = (n->op->flags & (LKS_OP_BATCH_SUM | LKS_OP_BATCH_MAX)) && n->in_type[0]->batched;
        if (!exe->values[id].needed || exe->values[id].phase != when || (n->op->flags & (LKS_OP_SOURCE | LKS_OP_VIEW)))
            continue;
        if ((n->type.batched || accumulator) != batched_work) continue;
        LKS_TRY(place(f, (int64_t)id));
    }
    if (batched_work) attach_sums(f);
    /* numbers in unit_of stay valid for escapes(): sort an index instead of the units */
    unit *sorted = f->n ? lks__memdup(f->units, f->n * sizeof *sorted) : NULL;
    if (f->n > 0 && sorted == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    if (f->n > 0) qsort(sorted, f->n, sizeof *sorted, by_position);
    lks_status status = LKS_OK;
    for (size_t i = 0; i < f->n && status == LKS_OK; i++)
        if (!sorted[i].dead) status = emit(f, (size_t)f->unit_of[sorted[i].members[0]], kept, list);
    lks__free(sorted);
    return status;
}

static void clear(fuser *f)
{
    for (size_t u = 0; u < f->n; u++) {
        for (size_t m = 0; m < f->units[u].n; m++) f->unit_of[f->units[u].members[m]] = -1;
        lks__free(f->units[u].members);
    }
    f->n = 0;
    lks__free(f->units);
    f->units = NULL;
    f->capacity = 0;
}

static lks_status build_all(fuser *f, const bool *kept)
{
    lks_executable *exe = f->exe;

    for (int s = 0; s < exe->n_phases + 2; s++) {
        lks_status status = build_list(f, s, false, kept, &exe->stages[s]);
        clear(f);
        LKS_TRY(status);
        if (s >= exe->n_phases) continue;
        status = build_list(f, s, true, kept, &exe->phases[s].list);
        clear(f);
        LKS_TRY(status);
    }
    return LKS_OK;
}

lks_status lks__cpu_plan_fuse(lks_executable *exe)
{
    fuser f = { .exe = exe };
    bool *kept = lks__calloc(exe->n_nodes + 1, sizeof *kept);
    lks_status status = LKS_OK;

    f.unit_of = lks__malloc((exe->n_nodes + 1) * sizeof *f.unit_of);
    exe->phases = lks__calloc((size_t)exe->n_phases, sizeof *exe->phases);
    exe->stages = lks__calloc((size_t)exe->n_phases + 2, sizeof *exe->stages);
    if (kept == NULL || f.unit_of == NULL || exe->phases == NULL || exe->stages == NULL) {
        status = lks__fail(LKS_E_NOMEM, "no memory for a plan");
    } else {
        for (size_t i = 0; i < exe->n_nodes; i++) f.unit_of[i] = -1;
        for (size_t i = 0; i < exe->n_fetches; i++) kept[exe->values[exe->fetches[i]].root] = true;
        for (size_t i = 0; i < exe->n_checks; i++) kept[exe->values[exe->checks[i]].root] = true;
        for (size_t i = 0; i < exe->n_assignments; i++) kept[exe->values[exe->assignments[i].value.id].root] = true;
        status = build_all(&f, kept);
        clear(&f);
        if (status == LKS_OK) status = lks__cpu_plan_after(exe, kept);
    }
    lks__free(kept);
    lks__free(f.unit_of);
    return status;
}
