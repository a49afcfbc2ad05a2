/* program_merge.c - runs of steps that have a function of their own become one step: a pass less over the registers in the first
 * cache. Every operation is rounded as before, so bits cannot change.
 */
#include <string.h>

#include "program.h"

typedef struct merger {
    ew_program *p;
    const bool *zero;                        /* of each register: nothing but +0 */
    int maker[EW_MAX_INPUTS + EW_MAX_STEPS]; /* the step that makes it, or -1 */
    int uses[EW_MAX_INPUTS + EW_MAX_STEPS];
} merger;

static int arity(int code)
{
    if (code >= LKS_EW_BYTES_TO_F) return 1;
    if (code >= LKS_EW_SUBTRACT_MULTIPLY || code == LKS_EW_WHERE || code == LKS_EW_WHERE_I)
        return code == LKS_EW_SUBTRACT_SQUARE ? 2 : 3;
    if ((code >= LKS_EW_ADD && code <= LKS_EW_GREATER_EQUAL) || (code >= LKS_EW_ADD_I && code <= LKS_EW_OR)) return 2;
    return 1;
}

static void count(merger *m)
{
    ew_program *p = m->p;

    for (int r = 0; r < p->n_registers; r++) m->maker[r] = -1, m->uses[r] = 0;
    for (int i = 0; i < p->n_steps; i++) {
        const ew_step *s = &p->steps[i];
        const int in[3] = { s->a, s->b, s->c };
        m->maker[s->dst] = i;
        for (int k = 0; k < arity(s->code); k++) m->uses[in[k]]++;
        if (p->registers[s->dst].place == EW_OUTPUT) m->uses[s->dst]++;
    }
    for (int i = 0; i < p->n_stores; i++) m->uses[p->stores[i].reg]++;
    for (int i = 0; i < p->n_sums; i++) m->uses[p->sums[i].reg]++;
}

/* The step of this code that makes the register, or NULL. */
static const ew_step *made_by(const merger *m, int reg, int code)
{
    return m->maker[reg] >= 0 && m->p->steps[m->maker[reg]].code == code ? &m->p->steps[m->maker[reg]] : NULL;
}

/* The same, where nobody else reads it. */
static const ew_step *only_by(const merger *m, int reg, int code, int uses)
{
    return m->uses[reg] == uses ? made_by(m, reg, code) : NULL;
}

static void become(ew_step *s, int code, int a, int b, int c)
{
    *s = (ew_step){ code, s->dst, a, b, c };
}

static bool merge_multiply(const merger *m, ew_step *s)
{
    const ew_step *d = only_by(m, s->a, LKS_EW_SUBTRACT, s->a == s->b ? 2 : 1);
    int other = s->b;

    if (s->a == s->b) {
        if (d != NULL) become(s, LKS_EW_SUBTRACT_SQUARE, d->a, d->b, 0);
        return d != NULL;
    }
    if (d == NULL) d = only_by(m, other = s->b, LKS_EW_SUBTRACT, 1), other = s->a;
    if (d != NULL) become(s, LKS_EW_SUBTRACT_MULTIPLY, d->a, d->b, other);
    return d != NULL;
}

static bool merge_add(const merger *m, ew_step *s)
{
    const ew_step *d = only_by(m, s->a, LKS_EW_MULTIPLY, 1);
    int other = s->b;

    if (d == NULL) d = only_by(m, s->b, LKS_EW_MULTIPLY, 1), other = s->a;
    if (d != NULL) become(s, LKS_EW_MULTIPLY_ADD, d->a, d->b, other);
    return d != NULL;
}

/* where(x >= b, b, relu(x)) */
static bool merge_where(const merger *m, ew_step *s)
{
    const ew_step *mask = made_by(m, s->a, LKS_EW_GREATER_EQUAL), *relu = made_by(m, s->c, LKS_EW_RELU);

    if (mask == NULL || relu == NULL || mask->a != relu->a || mask->b != s->b) return false;
    become(s, LKS_EW_CAPPED_RELU, mask->a, mask->b, mask->b);
    return true;
}

/* relu_grad(relu(x), where(x >= b, 0, d)) */
static bool merge_relu_grad(const merger *m, ew_step *s)
{
    const ew_step *relu = made_by(m, s->a, LKS_EW_RELU), *where = only_by(m, s->b, LKS_EW_WHERE, 1), *mask;

    if (relu == NULL || where == NULL || !m->zero[where->b]) return false;
    mask = made_by(m, where->a, LKS_EW_GREATER_EQUAL);
    if (mask == NULL || mask->a != relu->a) return false;
    become(s, LKS_EW_CAPPED_RELU_GRAD, mask->a, mask->b, where->c);
    return true;
}

static bool merge_step(const merger *m, ew_step *s)
{
    switch (s->code) {
    case LKS_EW_MULTIPLY: return merge_multiply(m, s);
    case LKS_EW_ADD: return merge_add(m, s);
    case LKS_EW_WHERE: return merge_where(m, s);
    case LKS_EW_RELU_GRAD: return merge_relu_grad(m, s);
    default: return false;
    }
}

/* Bytes that nobody wants but as floats are not widened to integers first. */
static void read_bytes(merger *m)
{
    ew_program *p = m->p;

    for (int i = 0; i < p->n_steps; i++) {
        ew_step *s = &p->steps[i];

        for (int l = 0; s->code == LKS_EW_I_TO_F && l < p->n_loads; l++) {
            const ew_load *load = &p->loads[l];

            if (load->kind != EW_LOAD_BYTES || load->reg != s->a || m->uses[s->a] != 1) continue;
            p->registers[s->a] = (ew_register){ EW_BYTES, load->input };
            become(s, LKS_EW_BYTES_TO_F, s->a, 0, 0);
        }
    }
}

/* Steps whose result nobody reads now. */
static bool drop_unread(merger *m)
{
    ew_program *p = m->p;
    int kept = 0;

    for (int i = 0; i < p->n_steps; i++)
        if (m->uses[p->steps[i].dst] > 0) p->steps[kept++] = p->steps[i];
    if (kept == p->n_steps) return false;
    p->n_steps = kept;
    return true;
}

void lks__ew_program_merge(ew_program *p, const bool *zero)
{
    merger m = { .p = p, .zero = zero };

    count(&m);
    read_bytes(&m);
    for (int i = 0; i < p->n_steps; i++)
        if (merge_step(&m, &p->steps[i])) count(&m);
    while (drop_unread(&m)) count(&m);
}
