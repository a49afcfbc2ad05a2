/* plan_recompute.c - elementwise values that a later phase needs are computed again there rather than kept for the whole batch.
 *
 * Batch normalisation ends a phase after every convolution, so without this the normalised, the activated and the centred form of
 * each output would all be stored; here only the convolution's output is, and later phases read that. A value computed
 * twice is the same sequence of operations both times: bits cannot change.
 *
 * Wide phases (wide.c) hold nothing but wide nodes: these read what is kept.
 *
 * The graph belongs to the trace, so a copy of its nodes is rewritten: before each node that reads such a value stand copies
 * of what makes it, one copy a phase.
 */
#include <string.h>

#include "base/alloc.h"
#include "plan.h"
#include "program.h"

enum { MAX_STEPS = 40, MAX_LEAVES = 6 };

typedef struct copy { /* of an old node, for one phase */
    int phase;
    int64_t id; /* in the new graph */
    int64_t next;
} copy;

typedef struct chain { /* what makes a value out of stored ones */
    int steps, n_leaves;
    int64_t leaves[MAX_LEAVES];
} chain;

typedef struct rewriter {
    lks_executable *exe;
    const lks_graph *old;
    chain *chains;   /* of each old node; steps 0: stored, or not worth it */
    int *kept_until; /* old stored nodes: the last phase that reads it in any case */
    int64_t *map;    /* old node -> new id, -1 */
    int64_t *first;  /* old node -> its first copy, -1 */
    copy *copies;
    size_t n_copies, copies_capacity;
    cpu_value *values; /* of the new nodes */
    size_t values_capacity;
} rewriter;

static const lks_graph_node *at(const rewriter *r, int64_t id)
{
    return lks__graph_at(r->old, id);
}

static bool batched_view(const lks_graph_node *n)
{
    return (n->op->flags & LKS_OP_VIEW) != 0 && n->type.batched;
}

/* ---- which values ---- */

static bool add_leaf(chain *c, int64_t id)
{
    for (int i = 0; i < c->n_leaves; i++)
        if (c->leaves[i] == id) return true;
    if (c->n_leaves == MAX_LEAVES) return false;
    c->leaves[c->n_leaves++] = id;
    return true;
}

static void find_chain(rewriter *r, int64_t id)
{
    const lks_graph_node *n = at(r, id);
    chain c = { .steps = batched_view(n) ? 0 : 1 };

    if (r->exe->values[id].whole || !n->type.batched || !(batched_view(n) || lks__ew_fusible(r->old, id))) return;
    for (int k = 0; k < n->n_in; k++) {
        const lks_graph_node *in = at(r, n->in[k]);
        const chain *from = &r->chains[n->in[k]];
        if (!in->type.batched) continue;
        if (in->op == &lks__op_input) c.steps++; /* fed anyway */
        if (in->op == &lks__op_input) continue;
        c.steps += from->steps;
        if (from->steps == 0 && !add_leaf(&c, n->in[k])) return;
        for (int i = 0; from->steps > 0 && i < from->n_leaves; i++)
            if (!add_leaf(&c, from->leaves[i])) return;
    }
    if (c.steps > 0 && c.steps <= MAX_STEPS) r->chains[id] = c;
}

static int phase_of(const rewriter *r, int64_t id)
{
    return r->exe->values[id].phase;
}

/* One leaf no larger than the value: keeping it costs no more than keeping the value. */
static bool from_one(const rewriter *r, int64_t id)
{
    const chain *c = &r->chains[id];

    return c->steps > 0 &&
           (c->n_leaves == 0 || (c->n_leaves == 1 && r->exe->values[c->leaves[0]].bytes <= r->exe->values[id].bytes));
}

/* A stored value is there until its last direct reader, and until the last reader of what is made of it alone. */
static void find_lives(rewriter *r)
{
    for (size_t id = 0; id < r->old->n_nodes; id++) {
        const lks_graph_node *n = at(r, (int64_t)id);
        int when = phase_of(r, (int64_t)id);
        if (!r->exe->values[id].needed || !(n->type.batched || lks__cpu_accumulates(n))) continue;
        for (int k = 0; k < n->n_in; k++) {
            int64_t in = n->in[k];
            int64_t leaf = r->exe->values[id].wide || !from_one(r, in) ? in
                           : r->chains[in].n_leaves == 1               ? r->chains[in].leaves[0]
                                                                       : -1;
            if (leaf >= 0 && r->kept_until[leaf] < when) r->kept_until[leaf] = when;
        }
    }
}

/* Is the old value made again in this phase, rather than read? */
static bool made_again(const rewriter *r, int64_t id, int phase)
{
    const chain *c = &r->chains[id];

    if (c->steps == 0 || phase_of(r, id) >= phase) return false;
    if (from_one(r, id)) return true;
    for (int i = 0; i < c->n_leaves; i++)
        if (r->kept_until[c->leaves[i]] < phase) return false;
    return true;
}

/* ---- the new graph ---- */

static lks_status append(rewriter *r, int64_t old, int phase, const int64_t *in, int64_t *out)
{
    lks_graph *g = &r->exe->rewritten;
    const lks_graph_node *n = at(r, old);
    lks_graph_node *node = lks__arena_calloc(&r->exe->arena, sizeof *node);
    int64_t *inputs = lks__arena_calloc(&r->exe->arena, ((size_t)n->n_in + 1) * sizeof *inputs);

    if (node == NULL || inputs == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    LKS_TRY(lks__grow(&g->nodes, &g->capacity, g->n_nodes + 1, sizeof *g->nodes));
    LKS_TRY(lks__grow(&r->values, &r->values_capacity, g->n_nodes + 2, sizeof *r->values));
    *node = *n;
    node->in = inputs;
    for (int k = 0; k < n->n_in; k++) inputs[k] = in[k];
    g->nodes[g->n_nodes] = node;
    r->values[g->n_nodes] = r->exe->values[old];
    r->values[g->n_nodes].phase = phase;
    r->values[g->n_nodes].root = batched_view(n) || (n->op->flags & LKS_OP_VIEW) ? r->values[in[0]].root
                                                                                 : (int64_t)g->n_nodes;
    *out = (int64_t)g->n_nodes++;
    return LKS_OK;
}

static lks_status input_of(rewriter *r, int64_t old, int phase, int64_t *out);

static lks_status copy_node(rewriter *r, int64_t old, int phase, int64_t *out)
{
    const lks_graph_node *n = at(r, old);
    int64_t in[8];

    for (int64_t c = r->first[old]; c >= 0; c = r->copies[c].next)
        if (r->copies[c].phase == phase) return *out = r->copies[c].id, LKS_OK;
    for (int k = 0; k < n->n_in; k++) LKS_TRY(input_of(r, n->in[k], phase, &in[k])); /* at most MAX_STEPS deep */
    LKS_TRY(append(r, old, phase, in, out));
    LKS_TRY(lks__grow(&r->copies, &r->copies_capacity, r->n_copies + 1, sizeof *r->copies));
    r->copies[r->n_copies] = (copy){ phase, *out, r->first[old] };
    r->first[old] = (int64_t)r->n_copies++;
    return LKS_OK;
}

static lks_status input_of(rewriter *r, int64_t old, int phase, int64_t *out)
{
    if (made_again(r, old, phase)) return copy_node(r, old, phase, out);
    *out = r->map[old];
    return LKS_OK;
}

static lks_status rewrite(rewriter *r)
{
    int64_t few[8], *in;

    for (size_t id = 0; id < r->old->n_nodes; id++) {
        const lks_graph_node *n = at(r, (int64_t)id);
        bool reads_rows = (n->type.batched || lks__cpu_accumulates(n)) && !r->exe->values[id].wide;
        int phase = phase_of(r, (int64_t)id);
        in = n->n_in <= 8 ? few : lks__arena_calloc(&r->exe->arena, (size_t)n->n_in * sizeof *in);
        if (in == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
        for (int k = 0; k < n->n_in; k++) {
            if (reads_rows && r->exe->values[id].needed) LKS_TRY(input_of(r, n->in[k], phase, &in[k]));
            else in[k] = r->map[n->in[k]];
        }
        LKS_TRY(append(r, (int64_t)id, phase, in, &r->map[id]));
    }
    return LKS_OK;
}

/* Originals that only later phases read have no reader left. */
static void find_needed(rewriter *r, const bool *roots)
{
    lks_graph *g = &r->exe->rewritten;

    for (size_t id = 0; id < g->n_nodes; id++) r->values[id].needed = false;
    for (size_t id = 0; id < r->old->n_nodes; id++)
        if (roots[id]) r->values[r->map[id]].needed = true;
    for (int64_t id = (int64_t)g->n_nodes - 1; id >= 0; id--)
        for (int k = 0; r->values[id].needed && k < g->nodes[id]->n_in; k++)
            r->values[g->nodes[id]->in[k]].needed = true;
}

static void adopt(rewriter *r, bool *roots)
{
    lks_executable *exe = r->exe;

    for (size_t i = 0; i < exe->n_fetches; i++) roots[exe->fetches[i]] = true;
    for (size_t i = 0; i < exe->n_checks; i++) roots[exe->checks[i]] = true;
    for (size_t i = 0; i < exe->n_assignments; i++) roots[exe->assignments[i].value.id] = true;
    find_needed(r, roots);
    for (size_t i = 0; i < exe->n_fetches; i++) exe->fetches[i] = r->map[exe->fetches[i]];
    for (size_t i = 0; i < exe->n_checks; i++) exe->checks[i] = r->map[exe->checks[i]];
    for (size_t i = 0; i < exe->n_assignments; i++) exe->assignments[i].value.id = r->map[exe->assignments[i].value.id];
    if (exe->batch_size_node >= 0) exe->batch_size_node = r->map[exe->batch_size_node];
    exe->graph = &exe->rewritten;
    exe->n_nodes = exe->rewritten.n_nodes;
    lks__free(exe->values);
    exe->values = r->values;
    r->values = NULL;
}

static lks_status run(rewriter *r, bool *roots)
{
    for (size_t id = 0; id < r->old->n_nodes; id++) {
        r->map[id] = r->first[id] = r->kept_until[id] = -1;
        find_chain(r, (int64_t)id);
    }
    find_lives(r);
    LKS_TRY(rewrite(r));
    adopt(r, roots);
    return LKS_OK;
}

lks_status lks__cpu_plan_recompute(lks_executable *exe)
{
    rewriter r = { .exe = exe, .old = exe->graph };
    size_t n = exe->n_nodes;
    bool *roots = lks__calloc(n + 1, sizeof *roots);
    lks_status status = LKS_OK;

    if (exe->n_phases > 1) {
        exe->rewritten = *exe->graph;
        exe->rewritten.nodes = NULL;
        exe->rewritten.n_nodes = exe->rewritten.capacity = 0;
        r.chains = lks__calloc(n + 1, sizeof *r.chains);
        r.kept_until = lks__calloc(n + 1, sizeof *r.kept_until);
        r.map = lks__calloc(n + 1, sizeof *r.map);
        r.first = lks__calloc(n + 1, sizeof *r.first);
        if (!roots || !r.chains || !r.kept_until || !r.map || !r.first)
            status = lks__fail(LKS_E_NOMEM, "no memory for a plan");
        else status = run(&r, roots);
    }
    lks__free(roots);
    lks__free(r.chains);
    lks__free(r.kept_until);
    lks__free(r.map);
    lks__free(r.first);
    lks__free(r.copies);
    lks__free(r.values);
    return status;
}
