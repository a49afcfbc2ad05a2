/* plan_assign.c - new values of variables: written straight into the variable where nobody reads the old value later, by a
 * copy after the update elsewhere.
 */
#include <string.h>

#include "base/alloc.h"
#include "plan.h"
#include "program.h"

/* Position in the update of the instruction that writes node, or -1. */
static int64_t writer(const lks_executable *exe, int64_t node)
{
    const cpu_list *update = &exe->stages[exe->n_phases + 1];

    for (size_t i = 0; i < update->n; i++)
        for (int k = 0; k < update->instrs[i].n_out; k++)
            if (update->instrs[i].out[k] == node) return (int64_t)i;
    return -1;
}

static bool reads(const lks_executable *exe, const cpu_instr *instr, int64_t root)
{
    for (int k = 0; k < instr->n_in; k++)
        if (exe->values[instr->in[k]].root == root) return true;
    return false;
}

/* The group may read the old value only element by element where it writes the new one. */
static bool reads_in_place(const lks_executable *exe, const cpu_instr *instr, int64_t root)
{
    if (!reads(exe, instr, root)) return true;
    if (instr->program == NULL) return false;
    for (int i = 0; i < instr->program->n_loads; i++) {
        const ew_load *load = &instr->program->loads[i];
        if (exe->values[instr->in[load->input]].root == root && load->kind != EW_LOAD_DIRECT) return false;
    }
    return true;
}

static int64_t variable_node(const lks_executable *exe, const lks_variable *v)
{
    for (size_t id = 0; id < exe->n_nodes; id++)
        if (lks__graph_at(exe->graph, (int64_t)id)->variable == v) return (int64_t)id;
    return -1;
}

static bool can_write_in_place(const lks_executable *exe, const lks_assignment *a, int64_t root, int64_t at)
{
    const cpu_list *update = &exe->stages[exe->n_phases + 1];
    int64_t old = variable_node(exe, a->variable);

    if (at < 0 || exe->values[root].where != AT_SHARED || lks__graph_at(exe->graph, root)->type.local) return false;
    if (old < 0) return true;
    for (size_t i = (size_t)at + 1; i < update->n; i++)
        if (reads(exe, &update->instrs[i], old)) return false;
    for (size_t i = 0; i < exe->n_assignments; i++) /* another variable takes over this one's old value */
        if (exe->values[exe->assignments[i].value.id].root == old) return false;
    return reads_in_place(exe, &update->instrs[at], old);
}

static void write_in_place(lks_executable *exe, const lks_assignment *a, int64_t root, cpu_instr *instr)
{
    exe->values[root].where = AT_FIXED;
    exe->values[root].fixed = lks_tensor_data(a->variable->value);
    for (int k = 0; k < instr->n_out; k++)
        if (instr->program != NULL && instr->out[k] == root) {
            lks__ew_program_in_place(instr->program, k);
            instr->scratch += LKS_EW_BLOCK * 4;
        }
}

lks_status lks__cpu_plan_assign(lks_executable *exe)
{
    size_t n = exe->n_assignments;
    cpu_list *update = &exe->stages[exe->n_phases + 1];

    exe->copies = lks__arena_calloc(&exe->arena, (n + 1) * sizeof *exe->copies);
    exe->saves = lks__arena_calloc(&exe->arena, (n + 1) * sizeof *exe->saves);
    if (exe->copies == NULL || exe->saves == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (size_t i = 0; i < n; i++) {
        const lks_assignment *a = &exe->assignments[i];
        int64_t root = exe->values[a->value.id].root, at = writer(exe, root);
        cpu_copy *c = &exe->copies[exe->n_copies];
        if (can_write_in_place(exe, a, root, at)) {
            write_in_place(exe, a, root, &update->instrs[at]);
            continue;
        }
        *c = (cpu_copy){ lks_tensor_data(a->variable->value), a->value.id, 0, exe->values[root].bytes };
        exe->n_copies++;
        if (exe->values[root].where != AT_FIXED) continue;
        c->from = -1;
        c->offset = exe->shared_bytes;
        exe->saves[exe->n_saves++] = (cpu_save){ exe->values[root].fixed, exe->shared_bytes, c->bytes };
        exe->shared_bytes += (c->bytes + 63) & ~(size_t)63;
    }
    return LKS_OK;
}
