/* fixed.c - what follows from variables that no assignment of the function writes (predictions, frozen layers) is made once for many
 * steps: weights in the order in which a kernel reads them, and shared values such as a normalisation's factors. Some kernels
 * gain so much from their own order that weights in training are packed too, once a step.
 *
 * It is made again when the version of such a variable has moved; while somebody outside holds the tensor, who may write it
 * at any time, shared values are made in each step and kernels read the weights as they lie. Either way gives the same bits.
 */
#include "base/alloc.h"
#include "base/pool.h"
#include "plan.h"

static bool is_assigned(const lks_executable *exe, const lks_variable *v)
{
    for (size_t i = 0; i < exe->n_assignments; i++)
        if (exe->assignments[i].variable == v) return true;
    return false;
}

static size_t aligned(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* ---- planning ---- */

/* Nodes that follow from unwritten variables and constants alone. */
static void find_fixed(const lks_executable *exe, bool *fixed)
{
    for (size_t id = 0; id < exe->n_nodes; id++) {
        const lks_graph_node *n = lks__graph_at(exe->graph, (int64_t)id);

        if (n->type.batched || n->type.local || (n->op->flags & LKS_OP_RANDOM) || lks__cpu_accumulates(n)) continue;
        if (n->op->flags & LKS_OP_SOURCE) {
            fixed[id] = n->constant != NULL || (n->variable != NULL && !is_assigned(exe, n->variable));
            continue;
        }
        fixed[id] = n->n_in > 0 && n->op != &lks__op_replica_mean;
        for (int k = 0; k < n->n_in; k++) fixed[id] = fixed[id] && fixed[n->in[k]];
    }
}

/* The variable's number among the watched ones; it becomes one. */
static size_t watch(lks_executable *exe, lks_variable *v)
{
    size_t i = 0;

    while (i < exe->n_watched && exe->watched[i].variable != v) i++;
    if (i == exe->n_watched)
        exe->watched[exe->n_watched++] = (cpu_watched){ .variable = v, .written = is_assigned(exe, v) };
    return i;
}

static void plan_stage(lks_executable *exe, cpu_list *stage, const bool *fixed)
{
    for (size_t i = 0; i < stage->n; i++) {
        cpu_instr *instr = &stage->instrs[i];

        instr->fixed = !instr->local && !instr->replica_mean && instr->n_out > 0;
        for (int k = 0; k < instr->n_in; k++) instr->fixed = instr->fixed && fixed[instr->in[k]];
        for (int k = 0; k < instr->n_out; k++) {
            const int64_t root = exe->values[instr->out[k]].root;
            instr->fixed = instr->fixed && fixed[instr->out[k]] && exe->values[root].where == AT_SHARED;
        }
    }
}

/* Takes the instruction's kernel for parts away where it cannot be used. Returns the bytes its weights need. */
static size_t plan_instr(lks_executable *exe, cpu_instr *instr, const bool *fixed)
{
    const int64_t weights = instr->n_args > 1 ? instr->in[1] : 0;
    bool suits;
    size_t bytes;

    if (instr->parts == NULL) return 0;
    bytes = instr->parts->packed_bytes(instr->attrs, instr->in_type);
    instr->packs = bytes > 0;
    if (instr->mask == 0 && bytes == 0) return 0;
    suits = instr->parts->each_step || (instr->mask == 0 && fixed[weights]);
    if (suits && lks__graph_at(exe->graph, weights)->variable != NULL) return aligned(bytes);
    instr->parts = NULL;
    return 0;
}

/* Both directions of a layer may read one packed copy. */
static const cpu_pack *same_pack(const lks_executable *exe, const cpu_instr *instr, size_t variable)
{
    for (size_t i = 0; instr->parts->each_step && i < exe->n_packs; i++)
        if (exe->packs[i].variable == variable && exe->packs[i].instr->parts == instr->parts) return &exe->packs[i];
    return NULL;
}

static void add_packs(lks_executable *exe, cpu_list *list, size_t *at)
{
    for (size_t i = 0; i < list->n; i++) {
        cpu_instr *instr = &list->instrs[i];
        const cpu_pack *same;
        size_t variable;

        if (instr->parts == NULL || !instr->packs) continue;
        variable = watch(exe, lks__graph_at(exe->graph, instr->in[1])->variable);
        same = same_pack(exe, instr, variable);
        exe->packs[exe->n_packs++] = (cpu_pack){ instr, variable, same != NULL ? same->memory : exe->packed + *at,
                                                 same != NULL };
        if (same == NULL) *at += aligned(instr->parts->packed_bytes(instr->attrs, instr->in_type));
    }
}

static lks_status plan(lks_executable *exe, bool *fixed)
{
    size_t n = 0, at = 0;

    find_fixed(exe, fixed);
    for (int p = 0; p < exe->n_phases; p++)
        for (size_t i = 0; i < exe->phases[p].list.n; i++) {
            const size_t bytes = plan_instr(exe, &exe->phases[p].list.instrs[i], fixed);
            exe->packed_bytes += bytes;
            n += bytes > 0;
        }
    exe->packs = lks__arena_calloc(&exe->arena, (n + 1) * sizeof *exe->packs);
    exe->watched = lks__arena_calloc(&exe->arena, (exe->n_nodes + 1) * sizeof *exe->watched);
    exe->packed = lks__aligned_calloc(exe->packed_bytes);
    if (exe->packs == NULL || exe->watched == NULL || exe->packed == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of reordered weights", exe->packed_bytes);
    for (int p = 0; p < exe->n_phases; p++) add_packs(exe, &exe->phases[p].list, &at);
    for (int s = 0; s <= exe->n_phases; s++) plan_stage(exe, &exe->stages[s], fixed);
    for (size_t id = 0; id < exe->n_nodes; id++) {
        lks_variable *v = lks__graph_at(exe->graph, (int64_t)id)->variable;
        if (fixed[id] && v != NULL) watch(exe, v);
    }
    return LKS_OK;
}

lks_status lks__cpu_plan_fixed(lks_executable *exe)
{
    bool *fixed = lks__calloc(exe->n_nodes + 1, sizeof *fixed);
    lks_status status;

    if (fixed == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    status = plan(exe, fixed);
    lks__free(fixed);
    return status;
}

/* ---- running ---- */

/* Weights from here on are worth waking threads for. */
enum { SHARED_NUMBERS = 16384 };

typedef struct pack_work {
    const cpu_pack *pack;
    const void *from;
    int parts;
} pack_work;

static void pack_part(void *user, int task)
{
    const pack_work *w = user;
    const cpu_instr *instr = w->pack->instr;

    instr->parts->pack(instr->attrs, instr->in_type, w->from, w->pack->memory, task, w->parts);
}

static void pack(const lks_executable *exe, const cpu_pack *p)
{
    const lks_tensor *value = exe->watched[p->variable].variable->value;
    pack_work w = { p, lks_tensor_cdata(value), lks_tensor_size(value) >= SHARED_NUMBERS ? exe->n_lanes : 1 };

    lks__pool_run(exe->threads, w.parts, pack_part, &w);
}

void lks__cpu_refresh_fixed(lks_executable *exe)
{
    for (size_t i = 0; i < exe->n_watched; i++) {
        cpu_watched *w = &exe->watched[i];
        const unsigned version = atomic_load_explicit(&w->variable->version, memory_order_relaxed);
        const bool shared = lks__variable_is_shared(w->variable);

        w->changed = shared || !w->known || version != w->version;
        w->version = version;
        w->known = !shared;
        if (w->changed && !w->written) exe->fixed_known = false;
    }
    for (size_t i = 0; i < exe->n_packs; i++) {
        const cpu_pack *p = &exe->packs[i];
        const cpu_watched *w = &exe->watched[p->variable];

        p->instr->packed = w->known ? p->memory : NULL;
        if (w->known && w->changed && !p->again) pack(exe, p);
    }
}
