/* permute.c - the elements of a source that can be asked for any of them, in the order of a keyed permutation; and shuffle_indexed, which
 * puts it below the maps. */
#include "data/clone.h"
#include "data/function.h"
#include "data/permutation.h"
#include "data/stages.h"
#include "lockstep/dataset_sampling.h"
#include "together.h"

typedef struct permute_dataset {
    lks_dataset base;
    uint64_t seed;
    bool reshuffle;
    _Atomic int64_t passes;
} permute_dataset;

typedef struct permute_cursor {
    lks_cursor base;
    lks_permutation order;
    int64_t next;
    lks_together *together; /* not NULL: elements are fetched many at a time */
} permute_cursor;

static int64_t number(const lks_cursor *n, int64_t k)
{
    return (int64_t)lks__permuted(&((const permute_cursor *)n)->order, (uint64_t)k);
}

static lks_status open(lks_cursor *n)
{
    permute_dataset *d = (permute_dataset *)n->dataset;
    int64_t pass = d->reshuffle ? atomic_fetch_add(&d->passes, 1) : 0;

    ((permute_cursor *)n)->order = lks__permutation((uint64_t)n->dataset->cardinality, d->seed, (uint64_t)pass);
    LKS_TRY(lks__cursor_open_inputs(n));
    ((permute_cursor *)n)->together = lks__together_begin(n, number);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    permute_cursor *p = (permute_cursor *)n;
    int64_t k = p->next;

    if (k >= n->dataset->cardinality) return LKS_END;
    p->next++;
    if (p->together != NULL) return lks__together_next(p->together, k, out);
    return n->input[0]->stage->at(n->input[0], number(n, k), out);
}

static void close(lks_cursor *n)
{
    lks__together_end(((permute_cursor *)n)->together);
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    permute_cursor *p = (permute_cursor *)n;
    int64_t left = n->dataset->cardinality - p->next;

    *got = want < left ? want : left;
    for (int64_t i = 0; i < *got; i++) rows[i] = number(n, p->next++);
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    permute_cursor *p = (permute_cursor *)n;

    return lks__cursor_skip_to(n, &p->next, count, done);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, (int64_t)((const permute_dataset *)ds)->seed);
    lks__recipe_int(r, ((const permute_dataset *)ds)->reshuffle);
}

static void counters(lks_dataset *ds, lks_counters *c)
{
    lks__counter_atomic(c, &((permute_dataset *)ds)->passes);
}

const lks_stage lks__stage_permute = { .name = "shuffle_indexed",
                                       .dataset_size = sizeof(permute_dataset),
                                       .cursor_size = sizeof(permute_cursor),
                                       .open = open,
                                       .next = next,
                                       .next_rows = next_rows,
                                       .skip = skip,
                                       .close = close,
                                       .describe = describe,
                                       .counters = counters };

/* Puts the permutation on the source below the maps. Borrows ds. */
static lks_dataset *permuted(lks_dataset *ds, const lks_shuffle_indexed_options *o)
{
    lks_dataset *input, *out;
    permute_dataset *d;

    if (ds->stage == &lks__stage_map) {
        input = permuted(ds->input[0], o);
        return lks__dataset_clone(ds, &input, ds->cardinality);
    }
    out = lks__dataset_begin1(&lks__stage_permute, lks_dataset_retain(ds));
    if (!lks__dataset_ok(out)) return out;
    if (ds->stage->at == NULL)
        return lks__dataset_fail(out, lks__fail(LKS_E_UNSUPPORTED,
                                                "the elements of '%s' can't be asked for by number: use lks_shuffle "
                                                "with a buffer",
                                                ds->stage->name));
    d = (permute_dataset *)out;
    d->seed = (uint64_t)lks__option_int(o->seed, 0);
    d->reshuffle = o->reshuffle_each_iteration != LKS_FALSE;
    return out;
}

lks_dataset *lks_shuffle_indexed_with(lks_dataset *dataset, const lks_shuffle_indexed_options *options)
{
    lks_shuffle_indexed_options o;
    lks_dataset *out;

    if (!lks__dataset_ok(dataset)) return dataset;
    lks__options(&o, sizeof o, options);
    out = permuted(dataset, &o);
    lks_dataset_release(dataset);
    return out;
}

lks_dataset *lks_map_indexed_with(int64_t n, const lks_map_fn *fn, const lks_map_options *options)
{
    lks_dataset *numbers = lks_range(0, n < 0 ? 0 : n, 1);

    if (n < 0 && lks__dataset_ok(numbers))
        numbers = lks__dataset_fail(numbers, lks__fail(LKS_E_ARG, "the number of elements is %lld", (long long)n));
    return lks_map_with(numbers, fn, options);
}
