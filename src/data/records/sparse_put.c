/* sparse_put.c - values at places that other features hold, put in the order of their places. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "example.h"
#include "tensor/tensor.h"

/* An entry while they are sorted. */
typedef struct entry {
    const int64_t *index;
    int64_t rank, place;
} entry;

static int by_index(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    for (int64_t k = 0; k < x->rank; k++)
        if (x->index[k] != y->index[k]) return x->index[k] < y->index[k] ? -1 : 1;
    return x->place < y->place ? -1 : 1; /* equal places stay in the order of the record */
}

/* Index k of an item's n values into every rank-th number from `out` on. */
static lks_status read_index(const lks_column *c, const lks_values *v, size_t k, int64_t n, int64_t rank, int64_t *out)
{
    int64_t *list, size = c->f.shape.dim[k];
    lks_status status = LKS_OK;

    if (v[1 + k].n != n)
        return lks__fail(LKS_E_ARG, "its index %zu has %lld entries, there are %lld values", k, (long long)v[1 + k].n,
                         (long long)n);
    if (n == 0) return LKS_OK;
    list = lks__calloc((size_t)n, sizeof *list);
    if (list == NULL) return lks__feature_no_memory();
    if (!lks__values_int64(v[1 + k], list))
        status = lks__fail(LKS_E_FORMAT, "an integer of its index %zu has more than ten bytes", k);
    for (int64_t i = 0; i < n && status == LKS_OK; i++) {
        out[i * rank] = list[i];
        if (list[i] < 0 || list[i] >= size)
            status = lks__fail(LKS_E_ARG, "entry %lld of its index %zu is %lld, the size there is %lld", (long long)i,
                               k, (long long)list[i], (long long)size);
    }
    lks__free(list);
    return status;
}

static lks_status read_item(const lks_column *c, const lks_values *v, bool rows, int64_t item, int64_t *index)
{
    int64_t rank = c->f.shape.rank + rows;

    for (size_t k = 0; k < c->n_levels; k++) LKS_TRY(read_index(c, v, k, v->n, rank, index + k + rows));
    for (int64_t i = 0; rows && i < v->n; i++) index[i * rank] = item;
    return LKS_OK;
}

/* Sorts entries by their places; the tensors have them in the order of the records. */
static lks_status sort(int64_t n, int64_t rank, lks_tensor *indices, lks_tensor *values)
{
    int64_t *index = lks_tensor_data(indices), *old;
    entry *e = lks__calloc((size_t)n, sizeof *e);
    lks_tensor *from = NULL;
    lks_status status = LKS_OK;
    bool sorted = true;

    if (e == NULL) return lks__feature_no_memory();
    for (int64_t i = 0; i < n; i++) {
        e[i] = (entry){ index + i * rank, rank, i };
        sorted = sorted && (i == 0 || by_index(&e[i - 1], &e[i]) < 0);
    }
    if (sorted) goto done;
    old = lks__calloc((size_t)n, (size_t)rank * sizeof *old);
    from = lks_tensor_create(lks_tensor_dtype(values), lks_shape(n));
    if (old != NULL && from != NULL && lks__copy_elements(from, 0, values, 0, n) == LKS_OK) {
        memcpy(old, index, (size_t)n * (size_t)rank * sizeof *old);
        for (int64_t i = 0; i < n; i++) e[i].index = old + i * rank;
        qsort(e, (size_t)n, sizeof *e, by_index);
        for (int64_t i = 0; i < n && status == LKS_OK; i++) {
            memcpy(index + i * rank, e[i].index, (size_t)rank * sizeof *index);
            status = lks__copy_elements(values, i, from, e[i].place, 1);
        }
    } else {
        status = lks__feature_no_memory();
    }
    lks_tensor_release(from);
    lks__free(old);

done:
    lks__free(e);
    return status;
}

lks_status lks__sparse_put(const lks_column *c, lks_items items, size_t leaf, lks_element *out)
{
    bool rows = items.called != NULL;
    int64_t rank = c->f.shape.rank + rows, total = 0, at = 0;
    lks_tensor *shape, *indices, *values;

    for (int64_t i = 0; i < items.n; i++) total += items.v[(size_t)i * items.stride].n;
    shape = lks__column_output(out, leaf, LKS_INT64, 1, &rank);
    indices = lks__column_output(out, leaf + 1, LKS_INT64, 2, (const int64_t[]){ total, rank });
    values = lks__column_output(out, leaf + 2, c->f.dtype, 1, &total);
    if (shape == NULL || indices == NULL || values == NULL) return lks__feature_no_memory();
    *(int64_t *)lks_tensor_data(shape) = items.n;
    memcpy((int64_t *)lks_tensor_data(shape) + rows, c->f.shape.dim, (size_t)c->f.shape.rank * sizeof(int64_t));
    for (int64_t i = 0; i < items.n; i++) {
        const lks_values *v = &items.v[(size_t)i * items.stride];
        lks_status status = read_item(c, v, rows, i, (int64_t *)lks_tensor_data(indices) + at * rank);
        if (status == LKS_OK) status = lks__values_put(v, values, at);
        if (status != LKS_OK) return rows ? lks__context(status, "%s %lld", items.called, (long long)i) : status;
        at += v->n;
    }
    return c->f.already_sorted == LKS_TRUE || total == 0 ? LKS_OK : sort(total, rank, indices, values);
}
