/* batch.c - batch and ragged_batch: consecutive elements on a new first axis. The two differ in the spec alone: where that says
 * ragged, the rows may have different lengths.
 *
 * Over arrays in memory that are only put in order, no elements are made below the batch: row numbers come up, and the rows are
 * gathered from the arrays into the batch (rows of `gather`), by workers if calls in parallel are wanted. */
#include "batch_gather.h"
#include "data/placer.h"
#include "data/stack.h"
#include "data/stages.h"
#include "tensor/tensor.h"

typedef struct batch_dataset {
    lks_dataset base;
    int64_t size;
    bool drop_remainder, parallel;
} batch_dataset;

enum { ROWS = 512 }; /* numbers asked for at once */

typedef struct batch_cursor {
    lks_cursor base;
    lks_fused fused;           /* the function of a map below that is applied here */
    const lks_dataset *source; /* not NULL: rows are gathered from it */
    lks_placer placer;
    lks_gather_window *window; /* not NULL: workers gather */
} batch_cursor;

static void gather(const batch_cursor *b, lks_element *e, int64_t have, const int64_t *rows, int64_t n)
{
    const lks_tensor *from;

    for (size_t i = 0; (from = lks__slices_component(b->source, i)) != NULL; i++) {
        lks_tensor *to = e->value[i].tensor;
        lks_shape shape = lks_tensor_shape(to);
        size_t row = (size_t)(lks_tensor_size(to) / shape.dim[0]) * lks_dtype_size(lks_tensor_dtype(to));
        lks__fused_gather(b->fused, i, from, rows, n, (char *)lks_tensor_data(to) + (size_t)have * row,
                          shape.dim[shape.rank - 1]);
    }
}

static int64_t rows_of_batch(const batch_dataset *d)
{
    int64_t known = d->base.input[0]->cardinality;

    return known >= 0 && known < d->size ? (known > 0 ? known : 1) : d->size;
}

static lks_status next_gathered(batch_cursor *b, lks_element **out)
{
    const batch_dataset *d = (const batch_dataset *)b->base.dataset;
    int64_t rows[ROWS], have = 0, got = 0, limit = rows_of_batch(d);
    lks_element *e = NULL;

    while (have < limit) {
        int64_t want = limit - have < ROWS ? limit - have : ROWS;
        lks_status status = lks__cursor_next_rows(b->base.input[0], rows, want, &got);
        if (status == LKS_OK && got > 0 && e == NULL) status = lks__batch_of_rows(&b->base, limit, &e);
        if (status != LKS_OK) {
            lks_element_release(e);
            return status;
        }
        if (got == 0) break;
        gather(b, e, have, rows, got);
        have += got;
    }
    if (have == 0 || (have < d->size && d->drop_remainder)) {
        lks_element_release(e);
        return LKS_END;
    }
    for (size_t i = 0; i < lks_element_count(e); i++) lks__tensor_set_rows(e->value[i].tensor, have);
    *out = e;
    return LKS_OK;
}

/* The piece of work for a whole batch. */
static lks_status gather_batch(void *user, const int64_t *rows, int64_t n, lks_element **out)
{
    batch_cursor *b = user;

    LKS_TRY(lks__batch_of_rows(&b->base, rows_of_batch((const batch_dataset *)b->base.dataset), out));
    gather(b, *out, 0, rows, n);
    for (size_t i = 0; i < lks_element_count(*out); i++) lks__tensor_set_rows((*out)->value[i].tensor, n);
    return LKS_OK;
}

/* Workers gather where the user wants calls in parallel and a batch is worth handing over. */
static lks_status open_window(batch_cursor *b, const lks_dataset *bypass)
{
    enum { LEAST = 1 << 17 }; /* bytes */
    const batch_dataset *d = (const batch_dataset *)b->base.dataset;
    const lks_spec *spec = d->base.spec;
    bool wanted = d->parallel || (bypass != NULL && lks__map_is_parallel(bypass));
    int64_t bytes = 0;

    if (!wanted || rows_of_batch(d) < d->size) return LKS_OK;
    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++) {
        lks_shape shape = lks_spec_shape(lks_spec_leaf(spec, i));
        shape.dim[0] = d->size;
        bytes += lks_shape_size(&shape) * (int64_t)lks_dtype_size(lks_spec_dtype(lks_spec_leaf(spec, i)));
    }
    if (bytes < LEAST) return LKS_OK;
    b->base.place.held += lks__gather_window_size();
    if (lks__cursor_buffers(&b->base) == NULL) return LKS_E_NOMEM; /* several threads will ask for them */
    return lks__gather_open(&b->base, d->size, bytes, d->drop_remainder, gather_batch, b, &b->window);
}

static lks_status skip_gathered(batch_cursor *b, int64_t count, int64_t *done)
{
    const batch_dataset *d = (const batch_dataset *)b->base.dataset;
    int64_t rows[ROWS], passed, got = 1;

    for (; b->window != NULL && !lks__gather_is_empty(b->window) && *done < count; ++*done) {
        lks_element *e;
        LKS_TRY(lks__gather_next(b->window, &e));
        lks_element_release(e);
    }
    for (; *done < count; ++*done) {
        for (passed = 0; passed < d->size && got > 0; passed += got)
            LKS_TRY(
                lks__cursor_next_rows(b->base.input[0], rows, d->size - passed < ROWS ? d->size - passed : ROWS, &got));
        if (passed < d->size && (passed == 0 || d->drop_remainder)) return LKS_OK;
    }
    return LKS_OK;
}

/* A parallel map right below may make the batches, if their rows can be told apart again. */
static lks_status offer_whole_batches(batch_cursor *b)
{
    const lks_spec *spec = b->base.dataset->spec;

    if (!lks__map_is_parallel(b->base.dataset->input[0])) return LKS_OK;
    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++)
        if (lks_spec_kind_of(lks_spec_leaf(spec, i)) != LKS_SPEC_TENSOR) return LKS_OK;
    b->placer.size = ((const batch_dataset *)b->base.dataset)->size;
    b->placer.above = &b->base;
    return lks__cursor_buffers(&b->base) != NULL ? LKS_OK : LKS_E_NOMEM; /* several threads will ask for them */
}

static lks_status open(lks_cursor *n)
{
    lks_cursor_place place = lks__place_below(n->place, 1, true); /* elements are copied */
    lks_fused kind = LKS_FUSED_NONE;

    place.bypass = lks__fusable_map(n->dataset, &kind);
    if (place.bypass != NULL) ((batch_cursor *)n)->fused = kind;
    if (n->stage == &lks__stage_batch) {
        batch_cursor *b = (batch_cursor *)n;
        b->source = lks__rows_source(n->dataset, place.bypass);
        lks__placer_begin(&b->placer, n, rows_of_batch((const batch_dataset *)n->dataset));
        place.placer = &b->placer;
        if (b->placer.batch != NULL) n->place.held += 2; /* batches whose rows are under way */
        LKS_TRY(b->source != NULL ? open_window(b, place.bypass) : offer_whole_batches(b));
    }
    return lks__cursor_open_inputs_at(n, place);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;
    batch_cursor *b = (batch_cursor *)n;
    lks_stack stack = { .cursor = n, .limit = d->size, .fused = b->fused };

    if (b->window != NULL) return lks__gather_next(b->window, out);
    if (b->source != NULL) return next_gathered(b, out);
    return lks__stack_next(stack, d->drop_remainder, &b->placer, out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    const batch_dataset *d = (const batch_dataset *)n->dataset;

    if (((const batch_cursor *)n)->source != NULL) return skip_gathered((batch_cursor *)n, count, done);
    return lks__stack_skip(n, d->size, d->drop_remainder, count, done);
}

static void close(lks_cursor *n)
{
    lks__gather_close(((batch_cursor *)n)->window);
    lks__placer_end(&((batch_cursor *)n)->placer);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const batch_dataset *)ds)->size);
    lks__recipe_int(r, ((const batch_dataset *)ds)->drop_remainder);
}

const lks_stage lks__stage_batch = { .name = "batch",
                                     .dataset_size = sizeof(batch_dataset),
                                     .cursor_size = sizeof(batch_cursor),
                                     .open = open,
                                     .next = next,
                                     .skip = skip,
                                     .close = close,
                                     .describe = describe };
const lks_stage lks__stage_ragged_batch = { .name = "ragged_batch",
                                            .dataset_size = sizeof(batch_dataset),
                                            .cursor_size = sizeof(batch_cursor),
                                            .open = open,
                                            .next = next,
                                            .skip = skip,
                                            .close = close,
                                            .describe = describe };

static lks_dataset *build(const lks_stage *stage, lks_dataset *input, int64_t size, const lks_batch_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(stage, input);
    batch_dataset *d = (batch_dataset *)ds;
    lks_batch_options o;
    lks_status status;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    if (size < 1)
        return lks__dataset_fail(ds,
                                 lks__fail(LKS_E_ARG, "batch_size must be at least 1, found %lld", (long long)size));
    status = lks__option_parallel("num_parallel_calls", o.num_parallel_calls);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->size = size;
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    d->parallel = o.num_parallel_calls != 0;
    ds->cardinality = lks__batch_cardinality(ds->cardinality, size, d->drop_remainder);
    return lks__dataset_spec_is(
        ds, lks__stack_spec(ds->spec, d->drop_remainder ? size : -1, stage == &lks__stage_ragged_batch));
}

lks_dataset *lks_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options)
{
    return build(&lks__stage_batch, dataset, batch_size, options);
}

lks_dataset *lks_ragged_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options)
{
    return build(&lks__stage_ragged_batch, dataset, batch_size, options);
}

int64_t lks__batch_size(const lks_dataset *ds)
{
    bool batched = ds->stage == &lks__stage_batch || ds->stage == &lks__stage_ragged_batch ||
                   ds->stage == &lks__stage_padded_batch;

    return batched ? ((const lks_batched *)ds)->size : 0;
}
