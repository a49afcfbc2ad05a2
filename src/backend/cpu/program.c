/* program.c - building and running fused elementwise groups.
 *
 * Registers are blocks of at most LKS_EW_BLOCK elements. Whole float32 and int32 operands are read where they lie; only
 * broadcast or byte operands and intermediate results use buffers, which stay in the L1 cache.
 */
#include "program.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/reduce.h"

static bool is_word(lks_dtype d)
{
    return d == LKS_FLOAT32 || d == LKS_INT32;
}

static bool is_small(lks_dtype d)
{
    return d == LKS_BOOL || d == LKS_UINT8;
}

static int cast_code(lks_dtype from, lks_dtype to)
{
    if (from == LKS_FLOAT32) {
        if (to == LKS_FLOAT32) return LKS_EW_COPY;
        if (to == LKS_INT32) return LKS_EW_F_TO_I;
        return to == LKS_BOOL ? LKS_EW_F_TO_BOOL : LKS_EW_NONE;
    }
    if (from != LKS_INT32 && !is_small(from)) return LKS_EW_NONE;
    if (to == LKS_FLOAT32) return LKS_EW_I_TO_F;
    if (to == LKS_INT32) return LKS_EW_COPY_I;
    return to == LKS_BOOL ? LKS_EW_I_TO_BOOL : LKS_EW_NONE;
}

static int code_of(const lks_graph_node *n)
{
    if (n->op == &lks__op_cast) return cast_code(n->in_type[0]->dtype, n->type.dtype);
    if (n->op == &lks__op_where) return lks__ew_for(LKS_EW_WHERE, n->in_type[1]->dtype);
    return lks__ew_for(n->op->elementwise, n->in_type[0]->dtype);
}

bool lks__ew_fusible(const lks_graph *g, int64_t id)
{
    const lks_graph_node *n = lks__graph_at(g, id);

    if (!(n->op->flags & LKS_OP_ELEMENTWISE) || n->n_in < 1 || n->n_in > 3) return false;
    if (!is_word(n->type.dtype) && n->type.dtype != LKS_BOOL) return false;
    for (int k = 0; k < n->n_in; k++) {
        lks_dtype d = n->in_type[k]->dtype;
        if (!is_word(d) && d != LKS_BOOL && !(d == LKS_UINT8 && n->op == &lks__op_cast)) return false;
    }
    return code_of(n) != LKS_EW_NONE;
}

/* Few channels are better summed by the op's own kernel, several examples side by side. */
bool lks__ew_summable(const lks_graph *g, int64_t id)
{
    const lks_graph_node *n = lks__graph_at(g, id);
    lks_walk w;

    if (n->op != &lks__op_batch_sum || !n->in_type[0]->batched) return false;
    w = lks__reduce_walk(&n->in_type[0]->shape, ((const lks_batch_attrs *)n->attrs)->axes);
    return w.n == 2 && w.reduced[0] && w.dim[1] >= 8;
}

/* ---- building ---- */

typedef struct builder {
    lks_executable *exe;
    ew_program *p;
    const lks_type *space;
    size_t n;
    const int64_t *members, *outs;
    size_t n_out, n_sums;
    int *reg_of; /* member number -> register */
    int64_t inputs[EW_MAX_INPUTS];
    int input_reg[EW_MAX_INPUTS];
    bool zero[EW_MAX_INPUTS + EW_MAX_STEPS]; /* registers that hold nothing but +0 */
} builder;

/* Strides of an operand over the rows and axes of the space (0 where it is broadcast), then merged where possible. */
static void operand_strides(const builder *b, const lks_type *t, ew_load *load)
{
    const lks_shape *s = &b->space->shape;
    int64_t dim[EW_MAX_DIMS], stride[EW_MAX_DIMS], step = 1;
    int n = (int)s->rank + 1, m = 0;

    for (int i = (int)s->rank - 1; i >= 0; i--) {
        int64_t k = i - (s->rank - t->shape.rank); /* the operand's axis */
        dim[i + 1] = s->dim[i];
        stride[i + 1] = k >= 0 && t->shape.dim[k] != 1 ? step : 0;
        if (k >= 0) step *= t->shape.dim[k];
    }
    dim[0] = INT64_MAX; /* rows: unbounded */
    stride[0] = t->batched ? step : 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && dim[i] == 1) continue;
        if (m > 0 && load->stride[m - 1] == stride[i] * dim[i]) { /* consecutive in memory, or both broadcast */
            load->dim[m - 1] = m == 1 ? INT64_MAX : load->dim[m - 1] * dim[i];
            load->stride[m - 1] = stride[i];
            continue;
        }
        load->dim[m] = dim[i];
        load->stride[m++] = stride[i];
    }
    load->n_dims = m;
}

/* Period of a broadcast operand in elements, if one block can hold it; 0 otherwise. */
static int64_t period_of(const ew_load *load)
{
    int64_t period = 1;

    if (load->stride[0] != 0) return 0;
    for (int i = 1; i < load->n_dims; i++) {
        period *= load->dim[i];
        if (period > LKS_EW_BLOCK) return 0;
    }
    return period;
}

/* Makes blocks a multiple of one more period; false if they would outgrow LKS_EW_BLOCK. */
static bool grow_period(ew_program *p, int period)
{
    int a = p->period, b = period;

    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    if (p->period / a > LKS_EW_BLOCK / period) return false;
    p->period = p->period / a * period;
    p->block = LKS_EW_BLOCK / p->period * p->period;
    return true;
}

static int new_register(ew_program *p, ew_place place, int number)
{
    p->registers[p->n_registers] = (ew_register){ place, number };
    return p->n_registers++;
}

static bool whole(const builder *b, const lks_type *t)
{
    return t->batched == b->space->batched && lks_shape_equal(&t->shape, &b->space->shape);
}

static bool is_zero(const lks_graph_node *n)
{
    static const unsigned char zero[4];

    return n->constant != NULL && n->type.shape.rank == 0 && n->type.dtype == LKS_FLOAT32 &&
           memcmp(n->constant, zero, sizeof zero) == 0;
}

static int load_input(builder *b, int64_t id)
{
    ew_program *p = b->p;
    const lks_type *t = &lks__graph_at(b->exe->graph, id)->type;
    ew_load *load;
    int64_t period;

    for (int i = 0; i < p->n_inputs; i++)
        if (b->inputs[i] == id) return b->input_reg[i];
    if (p->n_inputs == EW_MAX_INPUTS) return -1;
    load = &p->loads[p->n_loads++];
    load->input = p->n_inputs;
    load->bytes = is_small(t->dtype);
    b->inputs[p->n_inputs] = id;
    operand_strides(b, t, load);
    period = period_of(load);
    load->period = (int)period;
    if (whole(b, t)) load->kind = load->bytes ? EW_LOAD_BYTES : EW_LOAD_DIRECT;
    else load->kind = period > 0 && grow_period(p, (int)period) ? EW_LOAD_CONSTANT : EW_LOAD_GATHER;
    if (load->kind == EW_LOAD_DIRECT) load->reg = new_register(p, EW_INPUT, load->input);
    else load->reg = new_register(p, EW_BUFFER, p->n_buffers++);
    b->input_reg[p->n_inputs] = load->reg;
    b->zero[load->reg] = is_zero(lks__graph_at(b->exe->graph, id));
    return b->input_reg[p->n_inputs++];
}

/* The register of an operand: a member's result or a loaded input. */
static int operand(builder *b, int64_t id)
{
    int64_t root = b->exe->values[id].root;

    for (size_t m = 0; m < b->n; m++)
        if (b->members[m] == root && whole(b, &lks__graph_at(b->exe->graph, id)->type)) return b->reg_of[m];
    return load_input(b, id);
}

static int output_number(const builder *b, int64_t id)
{
    for (size_t i = 0; i < b->n_out; i++)
        if (b->outs[i] == id) return (int)i;
    return -1;
}

static lks_status add_step(builder *b, size_t m)
{
    ew_program *p = b->p;
    const lks_graph_node *n = lks__graph_at(b->exe->graph, b->members[m]);
    int reg[3] = { 0, 0, 0 }, out = output_number(b, b->members[m]);
    ew_step *s;

    for (int k = 0; k < n->n_in; k++) {
        reg[k] = operand(b, n->in[k]);
        if (reg[k] < 0) return lks__fail(LKS_E_LIMIT, "a fused group reads more than %d values", EW_MAX_INPUTS);
    }
    s = &p->steps[p->n_steps++];
    s->code = code_of(n);
    s->a = reg[0];
    s->b = reg[1];
    s->c = reg[2];
    if (out >= 0 && is_word(n->type.dtype)) s->dst = new_register(p, EW_OUTPUT, out);
    else s->dst = new_register(p, EW_BUFFER, p->n_buffers++);
    if (out >= 0 && !is_word(n->type.dtype)) p->stores[p->n_stores++] = (ew_store){ s->dst, out, true };
    b->reg_of[m] = s->dst;
    return LKS_OK;
}

static lks_status add_sum(builder *b, int64_t id)
{
    ew_program *p = b->p;
    const lks_graph_node *n = lks__graph_at(b->exe->graph, id);
    int reg = operand(b, n->in[0]);

    if (reg < 0) return lks__fail(LKS_E_LIMIT, "a fused group reads more than %d values", EW_MAX_INPUTS);
    p->sums[p->n_sums] = (ew_sum){ .reg = reg,
                                   .output = p->n_outputs + p->n_sums,
                                   .channels = lks__type_size(&n->type),
                                   .row = lks__type_size(b->space) };
    p->n_sums++;
    return LKS_OK;
}

/* Buffers of results are reused after their last reader; buffers of loads stay (constants live through the run). */
static void reuse_buffers(ew_program *p)
{
    int last[EW_MAX_INPUTS + EW_MAX_STEPS], held[EW_MAX_INPUTS + EW_MAX_STEPS], n_free = 0, n = 0;

    for (int r = 0; r < p->n_registers; r++) last[r] = -1;
    for (int i = 0; i < p->n_steps; i++) last[p->steps[i].a] = last[p->steps[i].b] = last[p->steps[i].c] = i;
    for (int i = 0; i < p->n_stores; i++) last[p->stores[i].reg] = p->n_steps;
    for (int i = 0; i < p->n_sums; i++) last[p->sums[i].reg] = p->n_steps;
    for (int i = 0; i < p->n_loads; i++)
        if (p->registers[p->loads[i].reg].place == EW_BUFFER) p->registers[p->loads[i].reg].number = n++;
    for (int i = 0; i < p->n_steps; i++) {
        ew_register *d = &p->registers[p->steps[i].dst];
        if (d->place == EW_BUFFER) d->number = n_free > 0 ? held[--n_free] : n++;
        for (int j = 0; j < i; j++) { /* results whose last reader is this step */
            ew_register *r = &p->registers[p->steps[j].dst];
            if (r->place == EW_BUFFER && last[p->steps[j].dst] == i) held[n_free++] = r->number;
        }
    }
    p->n_buffers = n;
}

static bool allocate(builder *b, cpu_instr *instr)
{
    lks_arena *a = &b->exe->arena;
    ew_program *p = lks__arena_calloc(a, sizeof *p);

    if (p == NULL) return false;
    p->loads = lks__arena_calloc(a, EW_MAX_INPUTS * sizeof *p->loads);
    p->steps = lks__arena_calloc(a, b->n * sizeof *p->steps);
    p->stores = lks__arena_calloc(a, (b->n_out + 1) * sizeof *p->stores);
    p->sums = lks__arena_calloc(a, (b->n_sums + 1) * sizeof *p->sums);
    p->registers = lks__arena_calloc(a, (EW_MAX_INPUTS + b->n) * sizeof *p->registers);
    p->output_bytes = lks__arena_calloc(a, b->n_out + 1);
    instr->out = lks__arena_calloc(a, (b->n_out + b->n_sums + 1) * sizeof *instr->out);
    p->block = LKS_EW_BLOCK;
    p->period = 1;
    p->n_outputs = (int)b->n_out;
    instr->program = b->p = p;
    return p->loads && p->steps && p->stores && p->sums && p->registers && p->output_bytes && instr->out;
}

static lks_status finish(builder *b, const int64_t *sums, cpu_instr *instr)
{
    ew_program *p = b->p;
    const lks_graph *g = b->exe->graph;

    lks__ew_program_merge(p, b->zero);
    reuse_buffers(p);
    p->input_bytes = lks__arena_calloc(&b->exe->arena, (size_t)p->n_inputs + 1);
    instr->in = lks__arena_calloc(&b->exe->arena, ((size_t)p->n_inputs + 1) * sizeof *instr->in);
    if (p->input_bytes == NULL || instr->in == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < p->n_inputs; i++) {
        instr->in[i] = b->inputs[i];
        p->input_bytes[i] = is_small(lks__graph_at(g, b->inputs[i])->type.dtype);
    }
    for (size_t i = 0; i < b->n_out; i++) {
        instr->out[i] = b->outs[i];
        p->output_bytes[i] = is_small(lks__graph_at(g, b->outs[i])->type.dtype);
    }
    for (int i = 0; i < p->n_sums; i++) instr->out[p->sums[i].output] = sums[i];
    instr->n_in = p->n_inputs;
    instr->n_out = p->n_outputs + p->n_sums;
    instr->name = "elementwise";
    instr->out_type = b->space;
    instr->scratch = (size_t)(p->n_buffers + 1) * LKS_EW_BLOCK * 4;
    for (int i = 0; i < p->n_sums; i++) {
        p->sums[i].offset = instr->scratch / 4;
        instr->scratch += (size_t)p->sums[i].channels * 4;
    }
    instr->elements = b->space->batched ? 0 : lks__type_size(b->space);
    instr->flop = (double)lks__type_size(b->space) * (double)(b->n + b->n_sums);
    return LKS_OK;
}

lks_status lks__ew_program_create(lks_executable *exe, size_t n, const int64_t *members, size_t n_out,
                                  const int64_t *outs, size_t n_sums, const int64_t *sums, cpu_instr *instr)
{
    builder b = { .exe = exe, .n = n, .members = members, .n_out = n_out, .outs = outs, .n_sums = n_sums };
    lks_status status = LKS_OK;

    b.space = &lks__graph_at(exe->graph, members[n - 1])->type;
    b.reg_of = lks__calloc(n, sizeof *b.reg_of);
    if (b.reg_of == NULL || !allocate(&b, instr)) {
        lks__free(b.reg_of);
        return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    }
    for (size_t m = 0; m < n && status == LKS_OK; m++) status = add_step(&b, m);
    for (size_t i = 0; i < n_sums && status == LKS_OK; i++) status = add_sum(&b, sums[i]);
    if (status == LKS_OK) status = finish(&b, sums, instr);
    lks__free(b.reg_of);
    return status;
}

void lks__ew_program_in_place(ew_program *p, int out)
{
    for (int i = 0; i < p->n_steps; i++) {
        ew_register *d = &p->registers[p->steps[i].dst];
        if (d->place != EW_OUTPUT || d->number != out) continue;
        *d = (ew_register){ EW_BUFFER, p->n_buffers++ };
        p->stores[p->n_stores++] = (ew_store){ p->steps[i].dst, out, false };
    }
}
