/* ragged.c - rows of different length: values one after another, and for each ragged axis where the rows begin. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "element.h"
#include "tensor/tensor.h"

struct lks_ragged {
    atomic_int references;
    lks_tensor *values;
    size_t n;
    lks_tensor *split[];
};

/* Splits rise from 0 to the number of rows of the next level. */
static lks_status check_split(const lks_tensor *split, int64_t rows)
{
    lks_shape shape = lks_tensor_shape(split);
    const int64_t *at = lks_tensor_cdata(split);
    int64_t n = lks_tensor_size(split);

    if (lks_tensor_dtype(split) != LKS_INT64 || shape.rank != 1 || n < 1)
        return lks__fail(LKS_E_SHAPE, "the row splits of a ragged tensor are int64 vectors of one entry or more");
    for (int64_t i = 1; i < n; i++)
        if (at[i] < at[i - 1]) return lks__fail(LKS_E_ARG, "row splits fall at entry %lld", (long long)i);
    if (at[0] != 0 || at[n - 1] != rows)
        return lks__fail(LKS_E_ARG, "row splits run from %lld to %lld, must run from 0 to %lld", (long long)at[0],
                         (long long)at[n - 1], (long long)rows);
    return LKS_OK;
}

lks_ragged *lks_ragged_create(lks_tensor *values, size_t n_splits, lks_tensor *const *splits)
{
    lks_ragged *r;
    lks_shape shape;

    if (values == NULL) return NULL;
    for (size_t k = 0; k < n_splits; k++)
        if (splits[k] == NULL) return NULL;
    shape = lks_tensor_shape(values);
    if (n_splits < 1 || shape.rank < 1) {
        lks__fail(LKS_E_ARG, "a ragged tensor needs row splits and values of one axis or more");
        return NULL;
    }
    for (size_t k = 0; k < n_splits; k++) {
        int64_t rows = k + 1 < n_splits ? lks_tensor_size(splits[k + 1]) - 1 : shape.dim[0];
        if (check_split(splits[k], rows) != LKS_OK) return NULL;
    }
    r = lks__calloc(1, sizeof *r + n_splits * sizeof *r->split);
    if (r == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a ragged tensor");
        return NULL;
    }
    atomic_init(&r->references, 1);
    r->values = lks_tensor_retain(values);
    r->n = n_splits;
    for (size_t k = 0; k < n_splits; k++) r->split[k] = lks_tensor_retain(splits[k]);
    return r;
}

lks_ragged *lks_ragged_retain(lks_ragged *ragged)
{
    if (ragged != NULL) atomic_fetch_add(&ragged->references, 1);
    return ragged;
}

void lks_ragged_release(lks_ragged *ragged)
{
    if (ragged == NULL || atomic_fetch_sub(&ragged->references, 1) != 1) return;
    lks_tensor_release(ragged->values);
    for (size_t k = 0; k < ragged->n; k++) lks_tensor_release(ragged->split[k]);
    lks__free(ragged);
}

lks_tensor *lks_ragged_values(const lks_ragged *ragged)
{
    return ragged->values;
}

size_t lks_ragged_rank(const lks_ragged *ragged)
{
    return ragged->n;
}

lks_tensor *lks_ragged_split(const lks_ragged *ragged, size_t k)
{
    return k < ragged->n ? ragged->split[k] : NULL;
}
