/* rebatch.c - batches of other sizes, cut from the input's batches. The size cycles through a list; 0 gives an empty batch without a
 * look at the input; a short batch is the last. */
#include <string.h>

#include "data/batch_rows.h"
#include "data/stack.h"
#include "data/stages.h"
#include "tensor/tensor.h"

typedef struct rebatch_dataset {
    lks_dataset base;
    size_t n;
    int64_t *size;
    bool drop_remainder;
} rebatch_dataset;

typedef struct rebatch_cursor {
    lks_cursor base;
    lks_element *batch; /* of the input; rows before `row` are given out */
    int64_t row, rows;
    size_t turn;
    bool ended;
} rebatch_cursor;

/* Makes sure that the present input batch has a row left. */
static lks_status refill(rebatch_cursor *r)
{
    lks_status status;

    while (r->batch == NULL || r->row >= r->rows) {
        lks_element_release(r->batch);
        r->batch = NULL;
        r->row = r->rows = 0;
        LKS_TRY(lks__cursor_next(r->base.input[0], &r->batch));
        status = lks__batch_rows(&r->base, r->batch, &r->rows);
        if (status != LKS_OK) {
            lks_element_release(r->batch);
            r->batch = NULL;
            return status;
        }
    }
    return LKS_OK;
}

/* Copies up to `want` rows of the present batch behind `have` rows of e, whose tensors are made for `size` rows first. */
static lks_status copy_rows(rebatch_cursor *r, lks_element *e, int64_t have, int64_t size, int64_t want)
{
    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_tensor *from = r->batch->value[i].tensor;
        int64_t row = r->rows == 0 ? 0 : lks_tensor_size(from) / r->rows;
        lks_shape shape = lks_tensor_shape(from);
        shape.dim[0] = size;
        if (e->value[i].tensor == NULL) e->value[i].tensor = lks__element_room(e, i, lks_tensor_dtype(from), &shape);
        if (e->value[i].tensor == NULL) return lks__error_code();
        if (lks_tensor_size(e->value[i].tensor) / size != row)
            return lks__cursor_fail(&r->base, LKS_E_SHAPE, "component %zu changes its shape between batches", i);
        LKS_TRY(lks__copy_elements(e->value[i].tensor, have * row, from, r->row * row, want * row));
    }
    return LKS_OK;
}

static lks_status empty_batch(rebatch_cursor *r, lks_element *e)
{
    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_spec *leaf = lks_spec_leaf(r->base.dataset->spec, i);
        lks_shape shape = lks_spec_shape(leaf);
        for (int64_t k = 0; k < shape.rank; k++)
            if (k == 0 || shape.dim[k] < 0) shape.dim[k] = 0;
        e->value[i].tensor = lks__element_room(e, i, lks_spec_dtype(leaf), &shape);
        if (e->value[i].tensor == NULL) return lks__error_code();
    }
    return LKS_OK;
}

static lks_status fill(rebatch_cursor *r, lks_element *e, int64_t size, int64_t *have)
{
    while (*have < size) {
        lks_status status = refill(r);
        int64_t take;
        if (status != LKS_OK) return status;
        take = r->rows - r->row < size - *have ? r->rows - r->row : size - *have;
        LKS_TRY(copy_rows(r, e, *have, size, take));
        *have += take;
        r->row += take;
    }
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    rebatch_cursor *r = (rebatch_cursor *)n;
    const rebatch_dataset *d = (const rebatch_dataset *)n->dataset;
    int64_t size = d->size[r->turn % d->n], have = 0;
    lks_element *e;
    lks_status status;

    if (r->ended) return LKS_END;
    e = lks__cursor_element(n);
    if (e == NULL) return LKS_E_NOMEM;
    status = size == 0 ? empty_batch(r, e) : fill(r, e, size, &have);
    if (status == LKS_END) {
        r->ended = true;
        if (have > 0 && !d->drop_remainder) {
            for (size_t i = 0; i < lks_element_count(e); i++) lks__tensor_set_rows(e->value[i].tensor, have);
            status = LKS_OK;
        }
    }
    if (status != LKS_OK) {
        lks_element_release(e);
        return status;
    }
    r->turn++;
    *out = e;
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    lks_element_release(((rebatch_cursor *)n)->batch);
}

static void destroy(lks_dataset *ds)
{
    lks__free(((rebatch_dataset *)ds)->size);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const rebatch_dataset *d = (const rebatch_dataset *)ds;

    for (size_t i = 0; i < d->n; i++) lks__recipe_int(r, d->size[i]);
    lks__recipe_int(r, d->drop_remainder);
}

const lks_stage lks__stage_rebatch = { .name = "rebatch",
                                       .dataset_size = sizeof(rebatch_dataset),
                                       .cursor_size = sizeof(rebatch_cursor),
                                       .next = next,
                                       .close = close,
                                       .destroy = destroy,
                                       .describe = describe };

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    lks_shape shape = lks_spec_shape(leaf);

    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR || shape.rank == 0) {
        lks__fail(LKS_E_SHAPE, "component %zu is no batch: call batch first", i);
        return NULL;
    }
    if (shape.rank > 0) shape.dim[0] = *(const int64_t *)user;
    return lks_spec_label(lks_spec_dtype(leaf), shape, lks_spec_num_classes(leaf));
}

lks_dataset *lks_rebatch_with(lks_dataset *dataset, size_t n, const int64_t *sizes, const lks_batch_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_rebatch, dataset);
    rebatch_dataset *d = (rebatch_dataset *)ds;
    lks_batch_options o;
    int64_t rows = -1, longest = 0;
    lks_status status;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    status = lks__batch_rows_agree(ds->spec);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    if (n == 0) return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "no batch size given"));
    for (size_t i = 0; i < n; i++)
        if (sizes[i] < 0)
            return lks__dataset_fail(
                ds, lks__fail(LKS_E_ARG, "batch size %zu is %lld, must be at least 0", i, (long long)sizes[i]));
    for (size_t i = 0; i < n; i++) longest = sizes[i] > longest ? sizes[i] : longest;
    if (longest == 0) return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "every batch size is 0"));
    d->size = lks__memdup(sizes, n * sizeof *sizes);
    if (d->size == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for %zu sizes", n));
    d->n = n;
    d->drop_remainder = o.drop_remainder == LKS_TRUE;
    if (d->drop_remainder && n == 1) rows = sizes[0];
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return lks__dataset_spec_is(ds, lks__spec_map(ds->spec, leaf_spec, &rows));
}
