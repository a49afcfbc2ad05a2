/* unbatch.c - the rows of batches, as views of them. */
#include "data/batch_rows.h"
#include "data/stages.h"
#include "tensor/tensor.h"

typedef struct unbatch_cursor {
    lks_cursor base;
    lks_element *batch;
    int64_t row, rows;
} unbatch_cursor;

/* The next batch that has rows. */
static lks_status pull(unbatch_cursor *u)
{
    lks_status status;

    lks_element_release(u->batch);
    u->batch = NULL;
    u->row = u->rows = 0;
    LKS_TRY(lks__cursor_next(u->base.input[0], &u->batch));
    status = lks__batch_rows(&u->base, u->batch, &u->rows);
    if (status != LKS_OK) {
        lks_element_release(u->batch);
        u->batch = NULL;
    }
    return status;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    unbatch_cursor *u = (unbatch_cursor *)n;
    lks_element *e;

    while (u->batch == NULL || u->row >= u->rows) LKS_TRY(pull(u));
    e = lks__cursor_element(n);
    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < lks_element_count(e); i++) {
        e->value[i].tensor = lks__element_row(e, i, u->batch->value[i].tensor, u->row);
        if (e->value[i].tensor == NULL) {
            lks_element_release(e);
            return LKS_E_NOMEM;
        }
    }
    u->row++;
    *out = e;
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    lks_element_release(((unbatch_cursor *)n)->batch);
}

const lks_stage lks__stage_unbatch = { .name = "unbatch",
                                       .dataset_size = sizeof(lks_dataset),
                                       .cursor_size = sizeof(unbatch_cursor),
                                       .next = next,
                                       .close = close };

static lks_spec *row_spec(void *user, size_t i, const lks_spec *leaf)
{
    lks_shape shape = lks_spec_shape(leaf);

    (void)user;
    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR || shape.rank == 0) {
        lks__fail(LKS_E_SHAPE, "component %zu is no batch: it has no axis to split", i);
        return NULL;
    }
    for (int64_t k = 1; k < shape.rank; k++) shape.dim[k - 1] = shape.dim[k];
    if (shape.rank > 0) shape.rank--;
    return lks_spec_label(lks_spec_dtype(leaf), shape, lks_spec_num_classes(leaf));
}

/* Known where the batches' number and their static size are. */
static int64_t rows(const lks_dataset *ds)
{
    for (size_t i = 0; i < lks_spec_leaf_count(ds->spec); i++) {
        lks_shape shape = lks_spec_shape(lks_spec_leaf(ds->spec, i));
        if (shape.rank < 1 || shape.dim[0] < 0) continue;
        if (ds->cardinality < 0 || (shape.dim[0] > 0 && ds->cardinality > INT64_MAX / shape.dim[0])) break;
        return ds->cardinality * shape.dim[0];
    }
    return LKS_UNKNOWN_CARDINALITY;
}

lks_dataset *lks_unbatch(lks_dataset *dataset)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_unbatch, dataset);
    lks_status status;

    if (!lks__dataset_ok(ds)) return ds;
    status = lks__batch_rows_agree(ds->spec);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    if (ds->cardinality != LKS_INFINITE_CARDINALITY) ds->cardinality = rows(ds);
    return lks__dataset_spec_is(ds, lks__spec_map(ds->spec, row_spec, NULL));
}
