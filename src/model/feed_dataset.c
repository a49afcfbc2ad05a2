/* feed_dataset.c - batches from a dataset: (x, y) or (x, y, sample_weight), each a tensor or a structure of them. */
#include <string.h>

#include "data/iterator.h"
#include "data/state.h"
#include "feed.h"
#include "tensor/tensor.h"

typedef struct dataset_feeder {
    lks_feeder base;
    lks_dataset *dataset;
    lks_iter *iter;
    lks_element *element;
    lks_tensor *converted[LKS_MAX_FEEDS];
    size_t n_x, n_y, n_w;
} dataset_feeder;

static void drop_element(dataset_feeder *f)
{
    for (size_t i = 0; i < LKS_MAX_FEEDS; i++) {
        lks_tensor_release(f->converted[i]);
        f->converted[i] = NULL;
    }
    lks_element_release(f->element);
    f->element = NULL;
}

static lks_status restart(lks_feeder *base, int64_t epoch)
{
    dataset_feeder *f = (dataset_feeder *)base;

    (void)epoch; /* a dataset counts its own passes */
    drop_element(f);
    lks_iter_release(f->iter);
    f->iter = NULL;
    return lks_iter_create(f->dataset, &f->iter);
}

static lks_status read_leaf(dataset_feeder *f, size_t i, lks_batch *out)
{
    lks_tensor *t = lks_element_tensor(f->element, i);
    lks_shape s;

    if (t == NULL) return lks__fail(LKS_E_ARG, "component %zu of the dataset's elements is not a dense tensor", i);
    LKS_TRY(lks__feed_convert(t, &f->converted[i]));
    s = lks_tensor_shape(t);
    if (s.rank < 1)
        return lks__fail(LKS_E_SHAPE,
                         "component %zu of the dataset's elements is a scalar: batch the dataset first (lks_batch)", i);
    if (i > 0 && s.dim[0] != out->n)
        return lks__fail(LKS_E_SHAPE, "component %zu of a batch has %lld rows, component 0 has %lld", i,
                         (long long)s.dim[0], (long long)out->n);
    out->n = s.dim[0];
    out->types[i] = lks__row_type(f->converted[i]);
    out->feeds[i] = (lks_feed){ lks_tensor_cdata(f->converted[i]), NULL };
    return LKS_OK;
}

static lks_status next(lks_feeder *base, lks_batch *out)
{
    dataset_feeder *f = (dataset_feeder *)base;

    if (f->iter == NULL) LKS_TRY(restart(base, 0));
    drop_element(f);
    LKS_TRY(lks_iter_next(f->iter, &f->element));
    out->n_x = f->n_x;
    out->n_y = f->n_y;
    out->n_w = f->n_w;
    out->preparation = (lks_preparation){ 0 };
    for (size_t i = 0; i < f->n_x + f->n_y + f->n_w; i++) LKS_TRY(read_leaf(f, i, out));
    return LKS_OK;
}

static lks_status can_be_saved(const dataset_feeder *f)
{
    const char *stage, *why = lks__unsavable(f->dataset, &stage);

    return why == NULL ? LKS_OK : lks__fail(LKS_E_STATE, "the pass can't be saved because of '%s': %s", stage, why);
}

/* The iterator's state, after its size; then the counters that passes share, which matter where none is running. */
static lks_status save(lks_feeder *base, bool position, lks_text *out)
{
    dataset_feeder *f = (dataset_feeder *)base;
    lks_counters counters = { 0 };
    void *state = NULL;
    size_t size = 0;

    if (position && f->iter == NULL) return can_be_saved(f); /* nothing has begun: only asked whether it could */
    if (position) LKS_TRY(lks_iter_save(f->iter, &state, &size));
    lks__text_append(out, (const char *)&size, sizeof size);
    lks__text_append(out, state, size);
    lks_free(state);
    lks__counters_walk(f->dataset, &counters);
    lks__text_append(out, (const char *)counters.value, counters.n * sizeof *counters.value);
    out->failed |= counters.failed;
    lks__counters_free(&counters);
    return LKS_OK;
}

static lks_status set_counters(dataset_feeder *f, const char *bytes, size_t n)
{
    lks_counters c = { .reading = true, .n = n / 8, .value = lks__calloc(n / 8 + 1, 8) };

    if (c.value == NULL) return lks__fail(LKS_E_NOMEM, "no memory for the data's counters");
    memcpy(c.value, bytes, n);
    lks__counters_walk(f->dataset, &c);
    lks__free(c.value);
    return c.failed || c.at != c.n ? lks__fail(LKS_E_ARG, "its data come from another pipeline") : LKS_OK;
}

static lks_status resume(lks_feeder *base, bool position, const char *bytes, size_t n, int64_t pass)
{
    dataset_feeder *f = (dataset_feeder *)base;
    size_t size;

    (void)pass;
    if (n < sizeof size) return lks__fail(LKS_E_ARG, "it was made with arrays, here the data are a dataset");
    memcpy(&size, bytes, sizeof size);
    if (size > n - sizeof size || (position && size == 0) || (n - sizeof size - size) % 8 != 0)
        return lks__fail(LKS_E_ARG, "it was made with arrays, here the data are a dataset");
    if (position) {
        drop_element(f);
        lks_iter_release(f->iter);
        f->iter = NULL;
        LKS_TRY(lks_iter_restore(f->dataset, bytes + sizeof size, size, &f->iter));
        if (!lks__iter_ended(f->iter)) return LKS_OK;
    }
    return set_counters(f, bytes + sizeof size + size, n - sizeof size - size);
}

static void release(lks_feeder *base)
{
    dataset_feeder *f = (dataset_feeder *)base;

    drop_element(f);
    lks_iter_release(f->iter);
    lks_dataset_release(f->dataset);
    lks__free(f);
}

/* A tuple of 2 or 3 is (x, y[, w]), of 1 is (x,); anything else is x itself. */
static lks_status count_parts(dataset_feeder *f)
{
    const lks_spec *spec = lks_dataset_spec(f->dataset);
    size_t *counts[3] = { &f->n_x, &f->n_y, &f->n_w }, n;

    LKS_TRY(lks_dataset_status(f->dataset));
    if (spec == NULL) return lks__fail(LKS_E_ARG, "the dataset has no element spec");
    n = lks_spec_child_count(spec);
    if (lks_spec_kind_of(spec) != LKS_SPEC_TUPLE) f->n_x = lks_spec_leaf_count(spec);
    else if (n < 1 || n > 3)
        return lks__fail(
            LKS_E_ARG, "elements of the dataset are tuples of %zu; a model takes (x,), (x, y) or (x, y, sample_weight)",
            n);
    else
        for (size_t i = 0; i < n; i++) *counts[i] = lks_spec_leaf_count(lks_spec_child(spec, i));
    if (f->n_x + f->n_y + f->n_w > LKS_MAX_FEEDS)
        return lks__fail(LKS_E_LIMIT, "elements of the dataset have too many components");
    return LKS_OK;
}

lks_status lks__feed_dataset(lks_dataset *dataset, lks_feeder **out)
{
    dataset_feeder *f = lks__calloc(1, sizeof *f);
    lks_status status;

    if (f == NULL) {
        lks_dataset_release(dataset);
        return lks__fail(LKS_E_NOMEM, "no memory for a dataset feed");
    }
    f->base = (lks_feeder){ next, restart, release, save, resume, 0, 0 };
    f->dataset = dataset;
    status = count_parts(f);
    if (status != LKS_OK) {
        release(&f->base);
        return status;
    }
    f->base.batches = lks_dataset_cardinality(dataset);
    *out = &f->base;
    return LKS_OK;
}
