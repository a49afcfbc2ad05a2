/* program_run.c - the interpreter of fused elementwise groups: a block at a time, a step at a time. */
#include <string.h>

#include "program.h"

static void fill_run(const ew_load *load, const void *base, int64_t from, int64_t stride, int32_t *to, int64_t n)
{
    if (load->bytes) {
        const uint8_t *p = (const uint8_t *)base + from;
        for (int64_t i = 0; i < n; i++) to[i] = p[i * stride];
    } else if (stride == 1) {
        memcpy(to, (const int32_t *)base + from, (size_t)n * 4);
    } else {
        const int32_t *p = (const int32_t *)base + from;
        for (int64_t i = 0; i < n; i++) to[i] = p[i * stride];
    }
}

/* Elements [begin, begin + n) of the space, gathered along the operand's strides. */
static void gather(const ew_load *load, const void *base, int64_t begin, int n, int32_t *to)
{
    int64_t index[EW_MAX_DIMS], rest = begin, offset = 0;
    int last = load->n_dims - 1;

    for (int d = last; d >= 0; d--) {
        index[d] = d > 0 ? rest % load->dim[d] : rest;
        rest = d > 0 ? rest / load->dim[d] : 0;
        offset += index[d] * load->stride[d];
    }
    while (n > 0) {
        int64_t left = load->dim[last] - index[last];
        int64_t run = left < n ? left : n;
        fill_run(load, base, offset, load->stride[last], to, run);
        to += run;
        n -= (int)run;
        index[last] += run;
        offset += run * load->stride[last];
        for (int d = last; d > 0 && index[d] == load->dim[d]; d--) {
            offset += load->stride[d - 1] - index[d] * load->stride[d];
            index[d] = 0;
            index[d - 1]++;
        }
    }
}

typedef struct block_run {
    const ew_program *p;
    const void *const *in;
    void *const *out;
    int32_t *buffers;
    int64_t begin;
} block_run;

static void *place_of(const block_run *r, int reg)
{
    const ew_register *x = &r->p->registers[reg];

    if (x->place == EW_BUFFER) return r->buffers + (size_t)x->number * LKS_EW_BLOCK;
    if (x->place == EW_OUTPUT) return (int32_t *)r->out[x->number] + r->begin;
    if (x->place == EW_BYTES) return (uint8_t *)(uintptr_t)r->in[x->number] + r->begin;
    return (int32_t *)(uintptr_t)r->in[x->number] + r->begin; /* read only */
}

/* One period, then copies of it, doubling. */
static void fill_constant(const block_run *r, const ew_load *load, int64_t begin, int64_t wanted)
{
    int32_t *to = place_of(r, load->reg);
    int have = load->period, block = wanted < r->p->block ? (int)wanted : r->p->block;

    gather(load, r->in[load->input], begin % have, have, to);
    if (have == 1) {
        for (int i = 1; i < block; i++) to[i] = to[0];
        return;
    }
    while (have < block) {
        int n = have < block - have ? have : block - have;
        memcpy(to + have, to, (size_t)n * 4);
        have += n;
    }
}

static void load_block(const block_run *r, int n)
{
    for (int i = 0; i < r->p->n_loads; i++) {
        const ew_load *load = &r->p->loads[i];
        if (r->p->registers[load->reg].place == EW_BYTES) continue;
        if (load->kind == EW_LOAD_BYTES) fill_run(load, r->in[load->input], r->begin, 1, place_of(r, load->reg), n);
        else if (load->kind == EW_LOAD_GATHER) gather(load, r->in[load->input], r->begin, n, place_of(r, load->reg));
    }
}

static void store_block(const block_run *r, int n)
{
    for (int i = 0; i < r->p->n_stores; i++) {
        const ew_store *s = &r->p->stores[i];
        const int32_t *from = place_of(r, s->reg);
        if (s->bytes) {
            uint8_t *to = (uint8_t *)r->out[s->output] + r->begin;
            for (int k = 0; k < n; k++) to[k] = (uint8_t)from[k];
        } else {
            memcpy((int32_t *)r->out[s->output] + r->begin, from, (size_t)n * 4);
        }
    }
}

/* An example's own sum starts at 0 and goes to the running one when the example is complete. */
static void sum_block(const block_run *r, const ew_sum *s, const lks_kernel_set *kernels, int64_t n)
{
    float *one = (float *)r->buffers + s->offset;
    const float *x = place_of(r, s->reg);
    int64_t at = r->begin % s->row;

    while (n > 0) {
        int64_t left = s->row - at < n ? s->row - at : n, channel = at % s->channels, take;
        if (at == 0) memset(one, 0, (size_t)s->channels * sizeof *one);
        if (channel == 0 && left >= s->channels) {
            take = left / s->channels * s->channels;
            kernels->add_rows(one, x, take / s->channels, s->channels);
        } else {
            take = s->channels - channel < left ? s->channels - channel : left;
            kernels->add(one + channel, x, take);
        }
        x += take;
        n -= take;
        at += take;
        if (at < s->row) continue;
        kernels->add(r->out[s->output], one, s->channels);
        at = 0;
    }
}

void lks__ew_program_run(const ew_program *p, const lks_kernel_set *kernels, const void *const *in, void *const *out,
                         int64_t begin, int64_t end, void *scratch)
{
    block_run r = { p, in, out, scratch, begin };
    const lks_ew_fn *table = kernels->elementwise;

    if (begin >= end) return;
    for (int i = 0; i < p->n_loads; i++)
        if (p->loads[i].kind == EW_LOAD_CONSTANT) fill_constant(&r, &p->loads[i], begin, end - begin);
    for (; r.begin < end; r.begin += p->block) {
        int n = end - r.begin < p->block ? (int)(end - r.begin) : p->block;
        load_block(&r, n);
        for (int i = 0; i < p->n_steps; i++) {
            const ew_step *s = &p->steps[i];
            table[s->code](n, place_of(&r, s->dst), place_of(&r, s->a), place_of(&r, s->b), place_of(&r, s->c));
        }
        store_block(&r, n);
        for (int i = 0; i < p->n_sums; i++) sum_block(&r, &p->sums[i], kernels, n);
    }
}
