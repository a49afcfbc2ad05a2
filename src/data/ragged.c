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
    if (shape.rank < 1) { /* no splits: one row, as the elements of a ragged vector are */
        lks__fail(LKS_E_ARG, "a ragged tensor needs values of one axis or more");
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

/* int64 vector of n + 1 entries whose first is 0. */
static lks_tensor *new_split(int64_t n)
{
    return lks_tensor_create(LKS_INT64, (lks_shape){ .rank = 1, .dim = { n + 1 } });
}

lks_ragged *lks__ragged_from_dense(lks_tensor *tensor, int64_t rank)
{
    lks_shape shape = lks_tensor_shape(tensor), flat = { .rank = shape.rank - rank };
    lks_tensor *split[LKS_MAX_RANK] = { NULL }, *values;
    lks_ragged *r = NULL;
    int64_t rows = 1, k;

    for (k = 0; k < rank; k++) {
        int64_t *at;
        rows *= shape.dim[k];
        split[k] = new_split(rows);
        if (split[k] == NULL) break;
        at = lks_tensor_data(split[k]);
        for (int64_t i = 0; i <= rows; i++) at[i] = i * shape.dim[k + 1];
    }
    flat.dim[0] = rows * shape.dim[rank];
    for (int64_t i = 1; i < flat.rank; i++) flat.dim[i] = shape.dim[rank + i];
    values = k == rank ? lks_tensor_reshape(tensor, flat) : NULL;
    if (values != NULL) r = lks_ragged_create(values, (size_t)rank, split);
    lks_tensor_release(values);
    for (k = 0; k < rank; k++) lks_tensor_release(split[k]);
    return r;
}

/* Rows of the outermost axis. */
static int64_t outer_rows(const lks_ragged *r)
{
    return r->n > 0 ? lks_tensor_size(r->split[0]) - 1 : lks_tensor_shape(r->values).dim[0];
}

/* Split k of the stack: the items' splits one behind another. */
static lks_tensor *stack_split(size_t n, lks_ragged *const *item, size_t k)
{
    int64_t total = 0, entry = 0, base = 0, *at;
    lks_tensor *t;

    for (size_t i = 0; i < n; i++) total += k == 0 ? 1 : lks_tensor_size(item[i]->split[k - 1]) - 1;
    t = new_split(total);
    if (t == NULL) return NULL;
    at = lks_tensor_data(t);
    for (size_t i = 0; i < n; i++) {
        const int64_t *from;
        int64_t rows;
        if (k == 0) {
            base += outer_rows(item[i]);
            at[++entry] = base;
            continue;
        }
        from = lks_tensor_cdata(item[i]->split[k - 1]);
        rows = lks_tensor_size(item[i]->split[k - 1]) - 1;
        for (int64_t j = 1; j <= rows; j++) at[++entry] = base + from[j];
        base += from[rows];
    }
    return t;
}

static lks_tensor *stack_values(size_t n, lks_ragged *const *item)
{
    lks_shape shape = lks_tensor_shape(item[0]->values);
    lks_dtype dtype = lks_tensor_dtype(item[0]->values);
    int64_t at = 0;
    lks_tensor *t;

    shape.dim[0] = 0;
    for (size_t i = 0; i < n; i++) {
        lks_shape s = lks_tensor_shape(item[i]->values), rest = shape;
        rest.dim[0] = s.dim[0];
        if (!lks_shape_equal(&rest, &s)) {
            lks__fail(LKS_E_SHAPE, "the uniform axes of ragged elements differ");
            return NULL;
        }
        shape.dim[0] += s.dim[0];
    }
    t = lks_tensor_create(dtype, shape);
    if (t == NULL) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (lks__copy_elements(t, at, item[i]->values, 0, lks_tensor_size(item[i]->values)) != LKS_OK) {
            lks_tensor_release(t);
            return NULL;
        }
        at += lks_tensor_size(item[i]->values);
    }
    return t;
}

lks_ragged *lks__ragged_stack(size_t n, lks_ragged *const *item)
{
    lks_tensor *split[LKS_MAX_RANK + 1] = { NULL }, *values = stack_values(n, item);
    size_t rank = item[0]->n + 1, k = 0;
    lks_ragged *r = NULL;

    if (values != NULL)
        for (; k < rank; k++)
            if ((split[k] = stack_split(n, item, k)) == NULL) break;
    if (values != NULL && k == rank) r = lks_ragged_create(values, rank, split);
    while (k > 0) lks_tensor_release(split[--k]);
    lks_tensor_release(values);
    return r;
}
