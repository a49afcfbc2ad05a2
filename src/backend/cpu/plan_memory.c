/* plan_memory.c - where every value lives: slots of one slice, rows of the whole batch, shared storage, or memory that exists
 * already (variables, constants, the caller's rows).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "plan.h"
#include "program.h"

typedef struct item { /* something to place: alive in [first, last] */
    int64_t node;
    size_t bytes, offset;
    int first, last;
} item;

static size_t aligned(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static int larger_first(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

/* First fit, largest first: an item takes the lowest offset free of all placed items alive at the same time. */
static size_t place_items(item *items, size_t n)
{
    size_t total = 0;

    qsort(items, n, sizeof *items, larger_first);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        bool moved = true;
        while (moved) {
            moved = false;
            for (size_t j = 0; j < i; j++) {
                if (items[j].last < items[i].first || items[i].last < items[j].first) continue;
                if (at < items[j].offset + items[j].bytes && items[j].offset < at + items[i].bytes) {
                    at = items[j].offset + items[j].bytes;
                    moved = true;
                }
            }
        }
        items[i].offset = at;
        if (at + items[i].bytes > total) total = at + items[i].bytes;
    }
    return total;
}

/* First and last instruction of every batched value, and the last phase that reads it. */
static void find_lives(lks_executable *exe)
{
    for (int p = 0; p < exe->n_phases; p++) {
        const cpu_list *list = &exe->phases[p].list;
        for (size_t i = 0; i < list->n; i++) {
            const cpu_instr *instr = &list->instrs[i];
            for (int k = 0; k < instr->n_out; k++) {
                cpu_value *v = &exe->values[instr->out[k]];
                v->first = v->last = (int)i;
                v->last_phase = p;
            }
            for (int k = 0; k < instr->n_in; k++) {
                cpu_value *v = &exe->values[exe->values[instr->in[k]].root];
                v->last = (int)i;
                v->last_phase = p;
            }
        }
    }
}

static void locate(lks_executable *exe, int64_t id)
{
    const lks_graph_node *n = lks__graph_at(exe->graph, id);
    cpu_value *v = &exe->values[id];

    if (v->root != id || !v->needed) return;
    if (n->op == &lks__op_input) {
        v->where = AT_FEED;
        v->index = n->input;
    } else if (n->variable != NULL) {
        v->where = AT_FIXED;
        v->fixed = lks_tensor_data(n->variable->value);
    } else if (n->constant != NULL) {
        v->where = AT_FIXED;
        v->fixed = (void *)(uintptr_t)n->constant;
    } else if (lks__cpu_accumulates(n)) {
        v->where = v->wide ? AT_SHARED : AT_RESULT;
    } else if (!n->type.batched) {
        v->where = AT_SHARED;
    } else {
        v->where = v->last_phase > v->phase ? AT_FULL : AT_SLOT;
    }
}

static void locate_fetches(lks_executable *exe)
{
    for (size_t i = 0; i < exe->n_fetches; i++) {
        const lks_graph_node *n = lks__graph_at(exe->graph, exe->fetches[i]);
        cpu_value *v = &exe->values[exe->values[exe->fetches[i]].root];
        if (!n->type.batched || v->where == AT_FEED || v->where == AT_FETCH) continue;
        v->where = AT_FETCH;
        v->index = (int64_t)i;
    }
}

/* Sums first, then maxima; every value starts at a multiple of 16 floats. */
static void place_accumulators(lks_executable *exe)
{
    for (int p = 0; p < exe->n_phases; p++) {
        cpu_phase *phase = &exe->phases[p];
        int64_t at[2] = { 0, 0 };
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < phase->list.n; i++) {
                cpu_instr *instr = &phase->list.instrs[i];
                for (int k = 0; k < instr->n_out; k++) {
                    const lks_graph_node *n = lks__graph_at(exe->graph, instr->out[k]);
                    int64_t floats = (lks__type_size(&n->type) + 15) & ~(int64_t)15;
                    cpu_value *v = &exe->values[instr->out[k]];
                    if (!lks__cpu_accumulates(n) || ((n->op->flags & LKS_OP_BATCH_MAX) != 0) != (pass == 1)) continue;
                    if (lks__cpu_is_wide(exe, n)) exe->wide_floats += floats;
                    if (v->wide) continue;
                    if (lks__cpu_is_wide(exe, n)) phase->unwide_floats += floats;
                    instr->sums = true;
                    v->index = (pass == 1 ? at[0] : 0) + at[pass];
                    at[pass] += floats;
                }
            }
        phase->sum_floats = at[0];
        phase->max_floats = at[1];
        phase->result_offset = exe->result_floats;
        exe->result_floats += (size_t)(at[0] + at[1]);
        if ((size_t)(at[0] + at[1]) > exe->accumulator_floats) exe->accumulator_floats = (size_t)(at[0] + at[1]);
        for (size_t i = 0; i < phase->list.n; i++) exe->flop_per_example += phase->list.instrs[i].flop;
    }
}

/* Notes where the phase's inputs are gathered. */
static lks_status keep_feeds(lks_executable *exe, cpu_phase *phase, const item *items, size_t n)
{
    phase->n_feeds = 0;
    if (phase->feeds == NULL) {
        phase->feeds = lks__arena_calloc(&exe->arena, (n + 1) * sizeof *phase->feeds);
        phase->feed_offsets = lks__arena_calloc(&exe->arena, (n + 1) * sizeof *phase->feed_offsets);
    }
    if (phase->feeds == NULL || phase->feed_offsets == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (size_t i = 0; i < n; i++) {
        if (exe->values[items[i].node].where != AT_FEED) continue;
        phase->feeds[phase->n_feeds] = items[i].node;
        phase->feed_offsets[phase->n_feeds++] = items[i].offset;
    }
    return LKS_OK;
}

/* Slots of one phase for slices of `slice` examples; inputs that may have to be gathered get one too. */
static lks_status place_slots(lks_executable *exe, int p, int64_t slice, item *items)
{
    const cpu_list *list = &exe->phases[p].list;
    size_t n = 0;
    bool *seen = (bool *)(items + exe->n_nodes);

    memset(seen, 0, exe->n_nodes);
    for (size_t i = 0; i < list->n; i++) {
        const cpu_instr *instr = &list->instrs[i];
        for (int k = 0; k < instr->n_in + instr->n_out; k++) {
            int64_t id = exe->values[k < instr->n_in ? instr->in[k] : instr->out[k - instr->n_in]].root;
            const cpu_value *v = &exe->values[id];
            bool feed = v->where == AT_FEED && lks__graph_at(exe->graph, id)->type.batched;
            if (seen[id] || !(feed || v->where == AT_SLOT)) continue;
            seen[id] = true;
            items[n++] = (item){ id, aligned(v->bytes * (size_t)slice), 0, feed ? 0 : v->first,
                                 feed ? (int)list->n : v->last };
        }
    }
    exe->phases[p].slot_bytes = place_items(items, n);
    for (size_t i = 0; i < n; i++) exe->values[items[i].node].offset = items[i].offset;
    return keep_feeds(exe, &exe->phases[p], items, n);
}

static int64_t wished_slice(void)
{
    const char *text = getenv("LOCKSTEP_SLICE");
    int64_t n;

    return text != NULL && lks__parse_int(text, &n) && n > 0 ? n : 0;
}

/* Shared values and accumulators that a slice walks through once, whatever its size. */
static size_t walked_bytes(const lks_executable *exe, const cpu_phase *phase, bool *seen)
{
    size_t total = 0;

    memset(seen, 0, exe->n_nodes);
    for (size_t i = 0; i < phase->list.n; i++) {
        const cpu_instr *instr = &phase->list.instrs[i];
        for (int k = 0; k < instr->n_in + instr->n_out; k++) {
            int64_t id = exe->values[k < instr->n_in ? instr->in[k] : instr->out[k - instr->n_in]].root;
            if (seen[id] || lks__graph_at(exe->graph, id)->type.batched) continue;
            seen[id] = true;
            total += exe->values[id].bytes;
        }
    }
    return total;
}

/* Half of the L2 cache for the slots; more where weights and their gradients weigh as much, so that few slices walk through
 * those (measured on the MNIST CNN: a third less time with 9 examples than with 3), but never more than a
 * lane's share of the last cache. */
static size_t slot_budget(const lks_executable *exe, int p, item *items)
{
    size_t l2 = (size_t)lks__cache_bytes(2) / 2, l3 = (size_t)(lks__cache_bytes(3) / (4 * exe->threads));
    size_t walked = walked_bytes(exe, &exe->phases[p], (bool *)(items + exe->n_nodes)) / 2 * 3;

    if (walked > l3) walked = l3;
    return walked > l2 ? walked : l2;
}

/* 16 examples in two slices of 8 rather than 9 and 7: kernels take several examples side by side. */
static int64_t equal_parts(int64_t whole, int64_t most)
{
    int64_t parts = (whole + most - 1) / most;

    return (whole + parts - 1) / parts;
}

static lks_status choose_slice(lks_executable *exe, int p, item *items)
{
    size_t one, budget = slot_budget(exe, p, items);
    int64_t shard = (exe->max_batch + exe->shards - 1) / exe->shards, slice;

    exe->phases[p].slice = exe->max_batch;
    if (lks__cpu_phase_is_wide(exe, p)) return LKS_OK;
    LKS_TRY(place_slots(exe, p, 1, items));
    one = exe->phases[p].slot_bytes;
    slice = one > 0 ? (int64_t)(budget / one) : shard;
    if (wished_slice() > 0) slice = wished_slice();
    if (slice > shard) slice = shard;
    if (slice < 1) slice = 1;
    if (wished_slice() == 0) slice = equal_parts(shard, slice);
    exe->phases[p].slice = slice;
    return place_slots(exe, p, slice, items);
}

static lks_status place_full(lks_executable *exe, item *items)
{
    size_t n = 0, bytes;

    for (size_t id = 0; id < exe->n_nodes; id++) {
        const cpu_value *v = &exe->values[id];
        if (v->where != AT_FULL) continue;
        if (!lks__mul_size(v->bytes, (size_t)exe->max_batch, &bytes))
            return lks__fail(LKS_E_LIMIT, "a batch of %lld examples is too large", (long long)exe->max_batch);
        items[n++] = (item){ (int64_t)id, aligned(bytes), 0, v->phase, v->last_phase };
    }
    exe->full_bytes = place_items(items, n);
    for (size_t i = 0; i < n; i++) exe->values[items[i].node].offset = items[i].offset;
    return LKS_OK;
}

static void mark_outputs(const cpu_list *list, bool *written)
{
    for (size_t i = 0; i < list->n; i++)
        for (int k = 0; k < list->instrs[i].n_out; k++) written[list->instrs[i].out[k]] = true;
}

/* What only lives in the registers of a fused group gets no memory. */
static void place_shared(lks_executable *exe, bool *written)
{
    memset(written, 0, exe->n_nodes);
    for (int s = 0; s < exe->n_phases + 2; s++) mark_outputs(&exe->stages[s], written);
    for (int p = 0; p < exe->n_phases; p++) mark_outputs(&exe->phases[p].list, written);
    for (size_t id = 0; id < exe->n_nodes; id++) {
        cpu_value *v = &exe->values[id];
        const lks_graph_node *n = lks__graph_at(exe->graph, (int64_t)id);
        if (v->where != AT_SHARED || (!written[id] && !(n->op->flags & LKS_OP_SOURCE))) continue;
        v->offset = exe->shared_bytes;
        exe->shared_bytes += aligned(v->bytes) * (size_t)(n->type.local ? exe->replicas : 1);
    }
}

static void find_scratch(lks_executable *exe, const cpu_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const cpu_instr *instr = &list->instrs[i];
        if (instr->scratch > exe->scratch_bytes) exe->scratch_bytes = instr->scratch;
        if (instr->n_in > exe->max_in) exe->max_in = instr->n_in;
        if (instr->n_out > exe->max_out) exe->max_out = instr->n_out;
    }
}

static lks_status allocate(lks_executable *exe)
{
    exe->shared = lks__aligned_calloc(exe->shared_bytes);
    exe->full = lks__aligned_calloc(exe->full_bytes);
    exe->common = lks__aligned_calloc(exe->common_bytes);
    exe->results = lks__aligned_calloc(exe->result_floats * (size_t)exe->replicas * sizeof(float));
    if (exe->shared == NULL || exe->full == NULL || exe->results == NULL || exe->common == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of values",
                         exe->shared_bytes + exe->full_bytes + exe->common_bytes + exe->result_floats * sizeof(float));
    return LKS_OK;
}

/* Where the number of threads may show, one sum for each of them is enough. */
static int choose_shards(const lks_executable *exe, const lks_compile_spec *spec)
{
    if (exe->reproducible != LKS_ANY_WORLD) return lks__cpu_lanes_a_replica(exe) * exe->replicas;
    return spec->virtual_shards > 0 ? spec->virtual_shards : lks__cpu_default_shards(exe);
}

lks_status lks__cpu_plan_memory(lks_executable *exe, const lks_compile_spec *spec)
{
    item *items;
    lks_status status;

    find_lives(exe);
    for (size_t id = 0; id < exe->n_nodes; id++) locate(exe, (int64_t)id);
    locate_fetches(exe);
    for (int p = 0; p < exe->n_phases; p++) lks__cpu_share_masks(exe, p);
    LKS_TRY(lks__cpu_plan_bands(exe));
    place_accumulators(exe);
    exe->shards = choose_shards(exe, spec);
    exe->wide_shards = exe->reproducible == LKS_ANY_WORLD ? exe->shards : 1;
    if (exe->shards < exe->replicas)
        return lks__fail(LKS_E_LIMIT,
                         "%d replicas, but only %d virtual shards: use at most as many replicas as shards, or set "
                         "virtual_shards",
                         exe->replicas, exe->shards);
    items = lks__calloc(exe->n_nodes + 1, sizeof *items + sizeof(bool));
    if (items == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    status = place_full(exe, items);
    for (int p = 0; p < exe->n_phases && status == LKS_OK; p++) status = choose_slice(exe, p, items);
    if (status == LKS_OK) status = lks__cpu_plan_wide(exe);
    if (status == LKS_OK) status = lks__cpu_plan_assign(exe);
    if (status == LKS_OK) place_shared(exe, (bool *)items);
    lks__free(items);
    LKS_TRY(status);
    for (int s = 0; s < exe->n_phases + 2; s++) find_scratch(exe, &exe->stages[s]);
    for (int p = 0; p < exe->n_phases; p++) find_scratch(exe, &exe->phases[p].list);
    return allocate(exe);
}
