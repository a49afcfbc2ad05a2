/* batch_rows.c - see batch_rows.h. */
#include "batch_rows.h"

#include "tensor/tensor.h"

lks_status lks__batch_rows(const lks_cursor *n, const lks_element *e, int64_t *rows)
{
    int64_t first = 0;

    for (size_t i = 0; i < lks_element_count(e); i++) {
        lks_shape shape = lks_tensor_shape(e->value[i].tensor);
        if (shape.rank < 1) return lks__cursor_fail(n, LKS_E_SHAPE, "component %zu is a scalar and has no rows", i);
        if (i > 0 && shape.dim[0] != first)
            return lks__cursor_fail(n, LKS_E_SHAPE, "component 0 has %lld rows, component %zu has %lld",
                                    (long long)first, i, (long long)shape.dim[0]);
        first = shape.dim[0];
    }
    *rows = first;
    return LKS_OK;
}

lks_status lks__batch_rows_agree(const lks_spec *spec)
{
    size_t known = 0;
    int64_t rows = -1;

    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++) {
        lks_shape shape = lks_spec_shape(lks_spec_leaf(spec, i));
        if (shape.rank < 1 || shape.dim[0] < 0) continue;
        if (rows >= 0 && shape.dim[0] != rows)
            return lks__fail(LKS_E_SHAPE, "component %zu has %lld rows, component %zu has %lld", known, (long long)rows,
                             i, (long long)shape.dim[0]);
        rows = shape.dim[0];
        known = i;
    }
    return LKS_OK;
}
