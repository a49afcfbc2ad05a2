/* plan_after.c - elementwise groups that the kernel in front of them does while its results are in registers: normalisation by
 * moving statistics, a bias, a shortcut and relu behind a layer's sums, relu's gradient behind a gradient for an input.
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
    int input;                         /* the kernel's result */
    int mean, factor, bias, add, mask; /* inputs, or -1 */
    bool relu;
    float cap; /* 0: none */
} action;

static bool is_direct(const ew_load *load)
{
    return load != NULL && load->kind == EW_LOAD_DIRECT;
}

/* The input that a register repeats, or -1. */
static int repeated(const ew_program *p, int reg)
{
    const ew_load *load = load_of(p, reg);

    if (load == NULL || load->bytes) return -1;
    return load->kind == EW_LOAD_CONSTANT || load->kind == EW_LOAD_GATHER ? load->input : -1;
}

/* The number above 0 that an input is, or 0. */
static float positive_number(const lks_executable *exe, int64_t node)
{
    const lks_graph_node *n = lks__graph_at(exe->graph, node);
    float value = 0;

    if (n->constant == NULL || n->type.shape.rank != 0 || n->type.dtype != LKS_FLOAT32) return 0;
    memcpy(&value, n->constant, sizeof value);
    return value > 0 ? value : 0;
}

static bool find_mask(const ew_program *p, action *a)
{
    const ew_load *x = load_of(p, p->steps[0].a), *y = load_of(p, p->steps[0].b);

    if (!is_direct(x) || !is_direct(y) || x == y) return false;
    a->mask = x->input;
    a->input = y->input;
    return true;
}

/* Step `at` if it is this code on what came before. */
static const ew_step *next_step(const ew_program *p, int at, int code, int reg)
{
    return at < p->n_steps && p->steps[at].code == code && p->steps[at].a == reg ? &p->steps[at] : NULL;
}

/* The input of the full space that a step adds to `reg`, or -1. */
static int added(const ew_program *p, const ew_step *s, int reg)
{
    const ew_load *load;

    if (s->code != LKS_EW_ADD || (s->a == reg) == (s->b == reg)) return -1;
    load = load_of(p, s->a == reg ? s->b : s->a);
    return is_direct(load) ? load->input : -1;
}

/* (x - mean) factor, + bias, + an array, relu or capped relu: any of these in this order. */
static bool find_action(const lks_executable *exe, const cpu_instr *group, action *a)
{
    const ew_program *p = group->program;
    int reg = p->steps[0].a, at = 0;
    const ew_load *x = load_of(p, reg);
    const ew_step *s;

    *a = (action){ -1, -1, -1, -1, -1, -1, false, 0 };
    if (p->n_steps > 4 || p->n_outputs != 1 || p->n_sums > 0 ||
        p->registers[p->steps[p->n_steps - 1].dst].place != EW_OUTPUT)
        return false;
    if (p->n_steps == 1 && p->steps[0].code == LKS_EW_RELU_GRAD) return find_mask(p, a);
    if (!is_direct(x)) return false;
    a->input = x->input;
    if ((s = next_step(p, at, LKS_EW_SUBTRACT_MULTIPLY, reg)) != NULL) {
        a->mean = repeated(p, s->b);
        a->factor = repeated(p, s->c);
        if (a->mean < 0 || a->factor < 0) return false;
        reg = s->dst, at++;
    }
    if ((s = next_step(p, at, LKS_EW_ADD, reg)) != NULL && repeated(p, s->b) >= 0) {
        a->bias = repeated(p, s->b);
        reg = s->dst, at++;
    }
    if (at > 0 && at < p->n_steps && (a->add = added(p, &p->steps[at], reg)) >= 0) reg = p->steps[at++].dst;
    if (next_step(p, at, LKS_EW_RELU, reg) != NULL) a->relu = true, at++;
    else if ((s = next_step(p, at, LKS_EW_CAPPED_RELU, reg)) != NULL) {
        a->cap = repeated(p, s->b) >= 0 ? positive_number(exe, group->in[repeated(p, s->b)]) : 0;
        if (!(a->cap > 0)) return false;
        a->relu = true, at++;
    }
    return at == p->n_steps;
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
    size_t room = strlen(kernel->name) + 32;
    int64_t *in = lks__arena_calloc(&exe->arena, ((size_t)kernel->n_in + 5) * sizeof *in);
    char *name = lks__arena_calloc(&exe->arena, room);

    if (in == NULL || name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    snprintf(name, room, "%s%s%s%s%s%s", kernel->name, a->mean >= 0 ? "+norm" : "", a->bias >= 0 ? "+bias" : "",
             a->add >= 0 ? "+add" : "",
             a->cap > 0 ? "+relu6"
             : a->relu  ? "+relu"
                        : "",
             a->mask >= 0 ? "+relu'" : "");
    memcpy(in, kernel->in, (size_t)kernel->n_in * sizeof *in);
    if (a->mean >= 0) in[kernel->mean = kernel->n_in++] = group->in[a->mean];
    if (a->mean >= 0) in[kernel->factor = kernel->n_in++] = group->in[a->factor];
    if (a->bias >= 0) in[kernel->bias = kernel->n_in++] = group->in[a->bias];
    if (a->add >= 0) in[kernel->add = kernel->n_in++] = group->in[a->add];
    if (a->mask >= 0) in[kernel->mask = kernel->n_in++] = group->in[a->mask];
    kernel->in = in;
    kernel->out = group->out;
    kernel->relu = a->relu;
    kernel->cap = a->cap;
    kernel->after = true;
    kernel->takes_after = 0;
    kernel->name = name;
    kernel->order = group->order;
    kernel->flop += group->flop;
    return LKS_OK;
}

/* Not where a convolution makes few channels by sums over lanes. */
static bool takes_all(const cpu_instr *kernel)
{
    const lks_conv_attrs *c = kernel->attrs;

    if (kernel->takes_after < LKS_AFTER_ALL) return false;
    return kernel->in_type[1]->shape.dim[3] / c->groups >= 4 || kernel->in_type[1]->shape.dim[2] < 8;
}

/* Does the array exist before the kernel at k runs, in the shape that it writes? */
static bool can_add(const finder *f, const cpu_list *list, int64_t node, int64_t k)
{
    const lks_type *t = &lks__graph_at(f->exe->graph, node)->type, *out = list->instrs[k].out_type;

    return t->batched && t->dtype == LKS_FLOAT32 && lks__type_size(t) == lks__type_size(out) &&
           writer(f, list, node) < k;
}

/* Is there a kernel in front of group g that can do it? Gives the kernel, or -1. */
static int64_t find_kernel(const finder *f, const cpu_list *list, size_t g, action *a)
{
    const cpu_instr *group = &list->instrs[g], *kernel;
    int64_t k;

    if (group->program == NULL || !find_action(f->exe, group, a)) return -1;
    k = writer(f, list, group->in[a->input]);
    if (k < 0 || (size_t)k > g) return -1;
    kernel = &list->instrs[k];
    if (!kernel->takes_after || f->readers[kernel->out[0]] != 1) return -1;
    if ((a->mean >= 0 || a->cap > 0 || a->add >= 0) && !takes_all(kernel)) return -1;
    if (a->add >= 0 && !can_add(f, list, group->in[a->add], k)) return -1;
    for (int i = 0; i < 3; i++) {
        int input = i == 0 ? a->mean : i == 1 ? a->factor : a->bias;
        if (input >= 0 && !(is_bias(f->exe, group->in[input], kernel->out_type) &&
                            is_bias(f->exe, group->in[input], group->out_type)))
            return -1;
    }
    return a->mask >= 0 && writer(f, list, group->in[a->mask]) >= k ? -1 : k;
}

static bool reads(const finder *f, const cpu_instr *instr, int64_t root)
{
    for (int k = 0; k < instr->n_in; k++)
        if (f->exe->values[instr->in[k]].root == root) return true;
    return false;
}

/* Sums over the batch that read the mask of kernel `at` later go in front of it where their inputs are there: then the kernel
 * is the mask's last reader, and may write over it (lks__cpu_share_masks). Sums do not meet, so their order is free. */
static void hurry_sums(const finder *f, cpu_list *list, size_t at)
{
    const int64_t mask = f->exe->values[list->instrs[at].in[list->instrs[at].mask]].root;

    for (size_t i = at + 1; i < list->n; i++) {
        const cpu_instr sum = list->instrs[i];
        bool ready = sum.program == NULL && lks__cpu_accumulates(lks__graph_at(f->exe->graph, sum.out[0]));

        if (!ready || !reads(f, &sum, mask)) continue;
        for (int k = 0; k < sum.n_in; k++) ready = ready && writer(f, list, sum.in[k]) < (int64_t)at;
        if (!ready) continue;
        memmove(&list->instrs[at + 1], &list->instrs[at], (i - at) * sizeof sum);
        list->instrs[at++] = sum;
    }
}

/* The results of a kernel with a mask go where the mask lies, if nobody reads it any more. Every such kernel reads a
 * place of the mask before it writes it, and writes each place once. */
void lks__cpu_share_masks(lks_executable *exe, int phase)
{
    const cpu_list *list = &exe->phases[phase].list;

    for (size_t i = 0; i < list->n; i++) {
        const cpu_instr *instr = &list->instrs[i];
        int64_t mask = instr->mask > 0 ? exe->values[instr->in[instr->mask]].root : -1, out = instr->out[0];
        cpu_value *m = &exe->values[mask >= 0 ? mask : 0], *v = &exe->values[out];

        for (int k = 0; k < instr->n_in && mask >= 0; k++)
            if (k != instr->mask && exe->values[instr->in[k]].root == mask) mask = -1;
        if (mask < 0 || m->where != AT_SLOT || v->where != AT_SLOT || m->last != (int)i || m->bytes != v->bytes)
            continue;
        m->last = v->last;
        v->where = AT_NOWHERE;
        for (size_t id = 0; id < exe->n_nodes; id++)
            if (exe->values[id].root == out) exe->values[id].root = mask;
    }
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
    for (size_t i = 0; i < list->n; i++)
        if (list->instrs[i].mask > 0) hurry_sums(f, list, i);
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
