/* interleave.c - interleave and flat_map: a function makes a dataset of every element; `cycle` of them are open at a time and give
 * `block` elements in turn.
 *
 * The walk is tf.data's sequential one (a freed slot is filled on its next turn only). With num_parallel_calls every open
 * dataset is read ahead by a thread of its own, which changes no order. flat_map is cycle 1.
 */
#include "data/function.h"
#include "data/stages.h"

enum { DEFAULT_CYCLE = 16, MAX_CYCLE = 4096 };

typedef struct interleave_dataset {
    lks_dataset base;
    lks_data_fn f;
    int64_t cycle, block;
    bool parallel;
} interleave_dataset;

typedef struct interleave_cursor {
    lks_cursor base;
    lks_buffers *made; /* for the function's outputs */
    lks_cursor **slot;
    int64_t at, in_block, open;
    int64_t index; /* inputs pulled */
    bool input_ended;
} interleave_cursor;

static const interleave_dataset *recipe(const interleave_cursor *c)
{
    return (const interleave_dataset *)c->base.dataset;
}

static lks_status open(lks_cursor *n)
{
    interleave_cursor *c = (interleave_cursor *)n;
    const interleave_dataset *d = recipe(c);
    lks_spec *spec = lks__data_fn_spec(&d->f, d->base.input[0]->spec);

    if (spec == NULL) return lks__error_code();
    c->made = lks__buffers_create(spec, 0);
    lks_spec_release(spec);
    c->slot = lks__calloc((size_t)d->cycle, sizeof *c->slot);
    if (c->made == NULL || c->slot == NULL)
        return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for %lld open inputs", (long long)d->cycle);
    return lks__cursor_open_inputs(n);
}

/* Elements to read ahead of every open dataset; 0 = none. */
static int64_t ahead(const interleave_cursor *c)
{
    return !recipe(c)->parallel ? 0 : recipe(c)->block < 1000 ? 2 * recipe(c)->block + 1 : 2001;
}

static lks_status fill_slot(interleave_cursor *c)
{
    lks_element *e;
    lks_status status = lks__cursor_next(c->base.input[0], &e);

    if (status == LKS_END) {
        c->input_ended = true;
        return LKS_OK;
    }
    if (status != LKS_OK) return status;
    status = lks__data_fn_open(&recipe(c)->f, c->base.place, c->index, e, c->made, ahead(c), &c->slot[c->at]);
    lks_element_release(e);
    c->index++;
    if (status == LKS_OK) c->open++;
    return status;
}

static void turn(interleave_cursor *c)
{
    c->in_block = 0;
    c->at = (c->at + 1) % recipe(c)->cycle;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    interleave_cursor *c = (interleave_cursor *)n;

    while (!c->input_ended || c->open > 0) {
        lks_status status;
        if (c->slot[c->at] == NULL) {
            if (c->input_ended) turn(c);
            else LKS_TRY(fill_slot(c));
            continue;
        }
        status = lks__cursor_next(c->slot[c->at], out);
        if (status == LKS_END) {
            lks__cursor_close(c->slot[c->at]);
            c->slot[c->at] = NULL;
            c->open--;
            turn(c);
            continue;
        }
        if (status == LKS_OK && ++c->in_block == recipe(c)->block) turn(c);
        return status;
    }
    return LKS_END;
}

static void close(lks_cursor *n)
{
    interleave_cursor *c = (interleave_cursor *)n;

    for (int64_t i = 0; c->slot != NULL && i < recipe(c)->cycle; i++) lks__cursor_close(c->slot[i]);
    lks__free(c->slot);
    lks__buffers_release(c->made);
}

static void destroy(lks_dataset *ds)
{
    lks__data_fn_destroy(&((interleave_dataset *)ds)->f);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const interleave_dataset *d = (const interleave_dataset *)ds;

    lks__data_fn_describe(&d->f, r);
    lks__recipe_int(r, d->cycle);
    lks__recipe_int(r, d->block);
}

static const char *unsavable(const lks_dataset *ds)
{
    return lks__data_fn_unsavable(&((const interleave_dataset *)ds)->f);
}

const lks_stage lks__stage_interleave = { .name = "interleave",
                                          .dataset_size = sizeof(interleave_dataset),
                                          .cursor_size = sizeof(interleave_cursor),
                                          .open = open,
                                          .next = next,
                                          .close = close,
                                          .destroy = destroy,
                                          .describe = describe,
                                          .unsavable = unsavable };
const lks_stage lks__stage_flat_map = { .name = "flat_map",
                                        .dataset_size = sizeof(interleave_dataset),
                                        .cursor_size = sizeof(interleave_cursor),
                                        .open = open,
                                        .next = next,
                                        .close = close,
                                        .destroy = destroy,
                                        .describe = describe,
                                        .unsavable = unsavable };

static lks_dataset *build(const lks_stage *stage, lks_dataset *dataset, const lks_map_fn *fn,
                          const lks_interleave_options *o)
{
    lks_dataset *ds = lks__dataset_begin1(stage, dataset);
    interleave_dataset *d = (interleave_dataset *)ds;
    lks_status status;
    int64_t inputs;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, fn);
    inputs = ds->cardinality;
    status = lks__data_fn_init(&d->f, ds, fn);
    d->cycle = lks__option_int(o->cycle_length, LKS_AUTOTUNE);
    d->block = lks__option_int(o->block_length, 1);
    d->parallel = o->num_parallel_calls != 0;
    if (d->cycle == LKS_AUTOTUNE) d->cycle = inputs > 0 && inputs < DEFAULT_CYCLE ? inputs : DEFAULT_CYCLE;
    if (status == LKS_OK) status = lks__option_parallel("num_parallel_calls", o->num_parallel_calls);
    if (status == LKS_OK && (d->cycle < 1 || d->cycle > MAX_CYCLE))
        status = lks__fail(LKS_E_ARG, "cycle_length must be 1 to %d, found %lld", MAX_CYCLE, (long long)d->cycle);
    if (status == LKS_OK && d->block < 1)
        status = lks__fail(LKS_E_ARG, "block_length must be at least 1, found %lld", (long long)d->block);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return lks__dataset_spec_is(ds, lks__data_fn_dataset(&d->f, ds->spec));
}

lks_dataset *lks_interleave_with(lks_dataset *dataset, const lks_map_fn *fn, const lks_interleave_options *options)
{
    lks_interleave_options o;

    lks__options(&o, sizeof o, options);
    return build(&lks__stage_interleave, dataset, fn, &o);
}

lks_dataset *lks_flat_map(lks_dataset *dataset, const lks_map_fn *fn)
{
    const lks_interleave_options o = { .struct_size = sizeof o, .cycle_length = 1 };

    return build(&lks__stage_flat_map, dataset, fn, &o);
}
