/* plan_after.c - elementwise groups that the kernel in front of them does while its results are in registers: a bias and
 * relu behind a layer's sums, relu's gradient behind a gradient for an input.
 *
 * The group goes, the kernel writes its result. The bits are those of the ops one after the other (lks_after, ops/op.h), and the
 * counted work stays where it was.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "plan.h"
#include "program.h"

typedef struct finder {
    lks_executable *exe;
    int *readers; /* of each root: instructions that read it, and fetches, checks and assignments */
} finder;

static void count_readers(finder *f, const cpu_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (int k = 0; k < list->instrs[i].n_in; k++) f->readers[f->exe->values[list->instrs[i].in[k]].root]++;
}

/* The instruction of the list that writes what `node` shares its memory with, or -1. */
static int64_t writer(const finder *f, const cpu_list *list, int64_t node)
{
    for (size_t i = 0; i < list->n; i++)
        for (int k = 0; k < list->instrs[i].n_out; k++)
            if (list->instrs[i].out[k] == f->exe->values[node].root) return (int64_t)i;
    return -1;
}

/* The load that fills a register, or NULL if a step does. */
static const ew_load *load_of(const ew_program *p, int reg)
{
    for (int i = 0; i < p->n_loads; i++)
        if (p->loads[i].reg == reg) return &p->loads[i];
    return NULL;
}

/* What a group does to one of its inputs, if a kernel can do it. */
typedef struct action {
    int input;      /* the kernel's result */
    int bias, mask; /* inputs, or -1 */
    bool relu;
} action;

static bool is_direct(const ew_load *load)
{
    return load != NULL && load->kind == EW_LOAD_DIRECT;
}

static bool find_action(const ew_program *p, action *a)
{
    const ew_step *s = p->steps, *last = &p->steps[p->n_steps - 1];
    const ew_load *x = load_of(p, s->a), *y = load_of(p, s->b);

    if (p->n_steps > 2 || p->n_outputs != 1 || p->n_sums > 0 || p->registers[last->dst].place != EW_OUTPUT || x == NULL)
        return false;
    *a = (action){ x->input, -1, -1, false };
    if (p->n_steps == 2) {
        if (last->code != LKS_EW_RELU || last->a != s->dst || s->code != LKS_EW_ADD) return false;
        a->relu = true;
    }
    switch (s->code) {
    case LKS_EW_RELU: a->relu = true; return is_direct(x);
    case LKS_EW_ADD:
        if (!is_direct(x) || y == NULL || y->kind != EW_LOAD_CONSTANT || y->bytes) return false;
        a->bias = y->input;
        return true;
    case LKS_EW_RELU_GRAD:
        if (!is_direct(x) || !is_direct(y) || x == y) return false;
        a->mask = x->input;
        a->input = y->input;
        return true;
    default: return false;
    }
}

/* One number for each place on the last axis of what the kernel writes. */
static bool is_bias(const lks_executable *exe, int64_t node, const lks_type *out)
{
    const lks_type *t = &lks__graph_at(exe->graph, node)->type;

    return !t->batched && t->shape.rank >= 1 && out->shape.rank >= 1 &&
           lks__type_size(t) == out->shape.dim[out->shape.rank - 1] &&
           t->shape.dim[t->shape.rank - 1] == lks__type_size(t);
}

static lks_status join(lks_executable *exe, cpu_instr *kernel, const cpu_instr *group, const action *a)
{
    size_t room = strlen(kernel->name) + 16;
    int64_t *in = lks__arena_calloc(&exe->arena, ((size_t)kernel->n_in + 2) * sizeof *in);
    char *name = lks__arena_calloc(&exe->arena, room);

    if (in == NULL || name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    snprintf(name, room, "%s%s%s%s", kernel->name, a->bias >= 0 ? "+bias" : "", a->relu ? "+relu" : "",
             a->mask >= 0 ? "+relu'" : "");
    memcpy(in, kernel->in, (size_t)kernel->n_in * sizeof *in);
    if (a->bias >= 0) in[kernel->bias = kernel->n_in++] = group->in[a->bias];
    if (a->mask >= 0) in[kernel->mask = kernel->n_in++] = group->in[a->mask];
    kernel->in = in;
    kernel->out = group->out;
    kernel->relu = a->relu;
    kernel->after = true;
    kernel->takes_after = false;
    kernel->name = name;
    kernel->order = group->order;
    kernel->flop += group->flop;
    return LKS_OK;
}

/* Is there a kernel in front of group g that can do it? Gives the kernel, or -1. */
static int64_t find_kernel(const finder *f, const cpu_list *list, size_t g, action *a)
{
    const cpu_instr *group = &list->instrs[g], *kernel;
    int64_t k;

    if (group->program == NULL || !find_action(group->program, a)) return -1;
    k = writer(f, list, group->in[a->input]);
    if (k < 0 || (size_t)k > g) return -1;
    kernel = &list->instrs[k];
    if (!kernel->takes_after || f->readers[kernel->out[0]] != 1) return -1;
    if (a->bias >= 0 && !(is_bias(f->exe, group->in[a->bias], kernel->out_type) &&
                          is_bias(f->exe, group->in[a->bias], group->out_type)))
        return -1;
    return a->mask >= 0 && writer(f, list, group->in[a->mask]) >= k ? -1 : k;
}

static lks_status work_through(finder *f, cpu_list *list)
{
    size_t kept = 0;

    for (size_t g = 0; g < list->n; g++) {
        cpu_instr *group = &list->instrs[g];
        action a;
        int64_t k = find_kernel(f, list, g, &a);

        if (k < 0) continue;
        LKS_TRY(join(f->exe, &list->instrs[k], group, &a));
        group->program = NULL;
        group->n_in = group->n_out = 0;
    }
    for (size_t g = 0; g < list->n; g++)
        if (list->instrs[g].n_out > 0) list->instrs[kept++] = list->instrs[g];
    list->n = kept;
    return LKS_OK;
}

lks_status lks__cpu_plan_after(lks_executable *exe, const bool *kept)
{
    finder f = { exe, lks__calloc(exe->n_nodes + 1, sizeof *f.readers) };
    lks_status status = LKS_OK;

    if (f.readers == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (size_t i = 0; i < exe->n_nodes; i++) f.readers[i] = kept[i];
    for (int s = 0; s < exe->n_phases + 2; s++) count_readers(&f, &exe->stages[s]);
    for (int p = 0; p < exe->n_phases; p++) count_readers(&f, &exe->phases[p].list);
    for (int p = 0; p < exe->n_phases && status == LKS_OK; p++) status = work_through(&f, &exe->phases[p].list);
    lks__free(f.readers);
    return status;
}
