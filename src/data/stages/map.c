/* map.c - a function over every element, on the calling thread or in a window of pieces on the work pool. */
#include "map.h"

#include "data/fuse.h"
#include "data/placer.h"
#include "data/stages.h"

lks_status lks__map_apply(lks_map_cursor *m, lks_call_place place, lks_element *in, lks_element **out)
{
    lks_status status;

    if (atomic_load(&in->references) == 1) in->given = true; /* nobody looks at it after this */
    status = m->n_joined > 1
                 ? lks__data_fn_apply_joined(m->joined, (size_t)m->n_joined, place, in, m->base.buffers, out)
                 : lks__data_fn_apply(&lks__map_recipe(m)->f, place, in, m->base.buffers, out);
    lks_element_release(in);
    return status;
}

lks_call_place lks__map_place(lks_map_cursor *m, int64_t index, bool row)
{
    lks_call_place place = { .epoch = m->epoch, .index = index, .lineage = m->base.place.lineage };

    if (row) place.batch = lks__placer_take(m->base.place.placer, &place.row);
    return place;
}

static lks_status next_serial(lks_map_cursor *m, lks_element **out)
{
    lks_element *in;
    lks_status status = lks__cursor_next(m->base.input[0], &in);

    if (status == LKS_END) return status;
    m->index++;
    return status != LKS_OK ? status : lks__map_apply(m, lks__map_place(m, m->index - 1, true), in, out);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    lks_map_cursor *m = (lks_map_cursor *)n;

    return m->room > 0 ? lks__map_next_parallel(m, out) : next_serial(m, out);
}

/* A pure function needs no call for what nobody sees. */
static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    lks_map_cursor *m = (lks_map_cursor *)n;

    if (m->count == 0 && (lks__map_recipe(m)->f.fn.flags & LKS_FN_PURE)) {
        lks_status status = lks__cursor_skip(n->input[0], count, done);
        m->index += *done;
        return status;
    }
    for (; *done < count; (*done)++) {
        lks_element *e;
        lks_status status = next(n, &e);
        if (status == LKS_END) return LKS_OK;
        if (status == LKS_OK) lks_element_release(e);
        else if (status == LKS_E_CANCELED) return status;
    }
    return LKS_OK;
}

static lks_status open(lks_cursor *n)
{
    lks_map_cursor *m = (lks_map_cursor *)n;
    lks_map_dataset *d = (lks_map_dataset *)n->dataset;
    int64_t waiting;

    m->epoch = atomic_fetch_add(&d->passes, 1);
    if (d->parallel != 0) LKS_TRY(lks__map_open_window(m));
    waiting = m->room; /* blocks of an autotuned window grow later, while they warm up */
    n->buffers = lks__buffers_wake(&d->base.resting, d->base.spec, n->place.held + waiting);
    if (n->buffers == NULL) return LKS_E_NOMEM;
    return lks__map_open_below(m, lks__place_below(n->place, waiting + 1, false));
}

lks_fused lks__map_kind(const lks_dataset *map)
{
    const lks_map_fn *fn = &((const lks_map_dataset *)map)->f.fn;

    if (fn->apply == lks_cast_rescale->apply) return LKS_FUSED_RESCALE;
    return fn->apply == lks_cast_rescale_onehot->apply ? LKS_FUSED_RESCALE_ONEHOT : LKS_FUSED_NONE;
}

bool lks__map_is_parallel(const lks_dataset *ds)
{
    return ds->stage == &lks__stage_map && ((const lks_map_dataset *)ds)->parallel != 0;
}

void lks__map_begin_pass(lks_dataset *map)
{
    atomic_fetch_add(&((lks_map_dataset *)map)->passes, 1);
}

static void close(lks_cursor *n)
{
    lks__map_close_window((lks_map_cursor *)n);
}

static void destroy(lks_dataset *ds)
{
    lks__data_fn_destroy(&((lks_map_dataset *)ds)->f);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__data_fn_describe(&((const lks_map_dataset *)ds)->f, r);
}

static void counters(lks_dataset *ds, lks_counters *c)
{
    lks__counter_atomic(c, &((lks_map_dataset *)ds)->passes);
}

static const char *unsavable(const lks_dataset *ds)
{
    const lks_map_dataset *d = (const lks_map_dataset *)ds;

    return d->deterministic ? lks__data_fn_unsavable(&d->f) : "deterministic is off";
}

const lks_stage lks__stage_map = { .name = "map",
                                   .dataset_size = sizeof(lks_map_dataset),
                                   .cursor_size = sizeof(lks_map_cursor),
                                   .open = open,
                                   .next = next,
                                   .skip = skip,
                                   .close = close,
                                   .destroy = destroy,
                                   .describe = describe,
                                   .counters = counters,
                                   .unsavable = unsavable };

lks_dataset *lks_map_with(lks_dataset *dataset, const lks_map_fn *fn, const lks_map_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_map, dataset);
    lks_map_dataset *d = (lks_map_dataset *)ds;
    lks_map_options o;
    lks_status status;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, fn);
    lks__options(&o, sizeof o, options);
    status = lks__data_fn_init(&d->f, ds, fn);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    status = lks__option_parallel("num_parallel_calls", o.num_parallel_calls);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->f.depth = o.depth;
    d->f.key = (uint64_t)lks__option_int(o.seed, 0);
    d->deterministic = o.deterministic != LKS_FALSE;
    d->parallel = d->f.fn.flags & LKS_FN_PURE ? o.num_parallel_calls : 0;
    return lks__dataset_spec_is(ds, lks__data_fn_spec(&d->f, ds->spec));
}
