/* split_batches.c - batches cut into n pieces, of which some are given out: views of the batch, nothing is copied. */
#include "data/batch_rows.h"
#include "data/stages.h"
#include "lockstep/dataset_distribute.h"

typedef struct split_dataset {
    lks_dataset base;
    int64_t n, first, count;
    bool ceiling;
} split_dataset;

typedef struct split_cursor {
    lks_cursor base;
    lks_element *batch; /* NULL: the next one is due */
    int64_t rows, piece;
} split_cursor;

/* First row of piece i of n. */
static int64_t edge(const split_dataset *d, int64_t rows, int64_t i)
{
    int64_t size = rows / d->n, left = rows % d->n, at;

    if (!d->ceiling) return i * size + (i < left ? i : left);
    at = i * (size + (left > 0));
    return at < rows ? at : rows;
}

static lks_status take_batch(split_cursor *s)
{
    const split_dataset *d = (const split_dataset *)s->base.dataset;
    lks_status status;

    LKS_TRY(lks__cursor_next(s->base.input[0], &s->batch));
    s->piece = d->first;
    status = lks__batch_rows(&s->base, s->batch, &s->rows);
    if (status != LKS_OK) {
        lks_element_release(s->batch);
        s->batch = NULL;
    }
    return status;
}

static lks_status cut(split_cursor *s, lks_element *e)
{
    const split_dataset *d = (const split_dataset *)s->base.dataset;
    int64_t from = edge(d, s->rows, s->piece), to = edge(d, s->rows, s->piece + 1);

    for (size_t i = 0; i < lks_element_count(e); i++) {
        lks_tensor *batch = s->batch->value[i].tensor;
        lks_shape shape = lks_tensor_shape(batch);
        size_t row;
        shape.dim[0] = 1;
        row = (size_t)lks_shape_size(&shape) * lks_dtype_size(lks_tensor_dtype(batch));
        shape.dim[0] = to - from;
        e->value[i].tensor = lks__element_view(e, i, batch, &shape, (size_t)from * row);
        if (e->value[i].tensor == NULL) return LKS_E_NOMEM;
    }
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    split_cursor *s = (split_cursor *)n;
    const split_dataset *d = (const split_dataset *)n->dataset;
    lks_element *e;

    if (s->batch == NULL) LKS_TRY(take_batch(s));
    e = lks__cursor_element(n);
    if (e == NULL || cut(s, e) != LKS_OK) {
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    if (++s->piece == d->first + d->count) {
        lks_element_release(s->batch);
        s->batch = NULL;
    }
    *out = e;
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    lks_element_release(((split_cursor *)n)->batch);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const split_dataset *d = (const split_dataset *)ds;

    lks__recipe_int(r, d->n);
    lks__recipe_int(r, d->first);
    lks__recipe_int(r, d->count);
    lks__recipe_int(r, d->ceiling);
}

const lks_stage lks__stage_split_batches = { .name = "split_batches",
                                             .dataset_size = sizeof(split_dataset),
                                             .cursor_size = sizeof(split_cursor),
                                             .next = next,
                                             .close = close,
                                             .describe = describe };

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    const split_dataset *d = user;
    lks_shape shape = lks_spec_shape(leaf);
    char name[LKS_LEAF_TEXT];

    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR || shape.rank == 0) {
        lks__fail(LKS_E_SHAPE, "%s is no batch that could be cut into rows: call batch first",
                  lks__leaf_text(d->base.spec, i, name));
        return NULL;
    }
    if (shape.rank > 0) shape.dim[0] = shape.dim[0] > 0 && shape.dim[0] % d->n == 0 ? shape.dim[0] / d->n : -1;
    return lks_spec_label(lks_spec_dtype(leaf), shape, lks_spec_num_classes(leaf));
}

lks_dataset *lks_split_batches(lks_dataset *dataset, int64_t n, int64_t first, int64_t count, int tf_pieces)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_split_batches, dataset);
    split_dataset *d = (split_dataset *)ds;

    if (!lks__dataset_ok(ds)) return ds;
    if (n < 1 || first < 0 || count < 1 || first > n - count || n > (int64_t)1 << 30)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "pieces [%lld, %lld) of %lld do not exist", (long long)first,
                                               (long long)first + count, (long long)n));
    d->n = n;
    d->first = first;
    d->count = count;
    d->ceiling = tf_pieces != 0;
    if (ds->cardinality >= 0)
        ds->cardinality = ds->cardinality > INT64_MAX / count ? LKS_UNKNOWN_CARDINALITY : ds->cardinality * count;
    return lks__dataset_spec_is(ds, lks__spec_map(ds->spec, leaf_spec, d));
}
