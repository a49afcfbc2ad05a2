/* placer.c - see placer.h. Rows are given out in the order of the inputs, batch after batch. */
#include "placer.h"

#include "tensor/tensor.h"

enum { FEWEST_ROWS = 4, MOST_BYTES = 1 << 26 };

lks_status lks__batch_of_rows(lks_cursor *n, int64_t rows, lks_element **out)
{
    lks_element *e = lks__cursor_element(n);

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_spec *leaf = lks_spec_leaf(n->dataset->spec, i);
        lks_shape shape = lks_spec_shape(leaf);
        shape.dim[0] = rows;
        e->value[i].tensor = lks__element_room(e, i, lks_spec_dtype(leaf), &shape);
        if (e->value[i].tensor == NULL) {
            lks_element_release(e);
            return lks__error_code();
        }
    }
    *out = e;
    return LKS_OK;
}

/* Bytes of a row of leaf i; -1 where they are not known. */
static int64_t row_bytes(const lks_spec *spec, size_t i)
{
    const lks_spec *leaf = lks_spec_leaf(spec, i);
    lks_shape shape = lks_spec_shape(leaf);
    int64_t n;

    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR || shape.rank < 1) return -1;
    shape.dim[0] = 1;
    n = lks_shape_size(&shape);
    return n < 0 || n > MOST_BYTES ? -1 : n * (int64_t)lks_dtype_size(lks_spec_dtype(leaf));
}

void lks__placer_begin(lks_placer *p, lks_cursor *batch, int64_t rows)
{
    const lks_spec *spec = batch->dataset->spec;
    int64_t largest = 0;

    if (rows < FEWEST_ROWS) return;
    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++) {
        int64_t bytes = row_bytes(spec, i);
        if (bytes < 0 || bytes > MOST_BYTES / rows) return;
        if (bytes > largest && lks_spec_dtype(lks_spec_leaf(spec, i)) != LKS_STRING) largest = bytes;
    }
    if (largest < LKS_PLACED_BYTES) return;
    *p = (lks_placer){ .batch = batch, .rows = rows };
}

void lks__placer_end(lks_placer *p)
{
    lks_element_release(p->next);
    p->next = NULL;
    p->row = 0;
}

lks_element *lks__placer_take(lks_placer *p, int64_t *row)
{
    lks_element *e;

    if (p == NULL || p->batch == NULL) return NULL;
    if (p->next == NULL && lks__batch_of_rows(p->batch, p->rows, &p->next) != LKS_OK)
        return NULL; /* no memory: no place */
    e = lks_element_retain(p->next);
    *row = p->row++;
    if (p->row == p->rows) {
        lks_element_release(p->next);
        p->next = NULL;
        p->row = 0;
    }
    return e;
}
