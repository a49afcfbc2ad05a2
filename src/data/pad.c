/* pad.c - elements of different sizes in one batch: the batch is filled with the padding value, then every element is copied
 * into the corner of its row. */
#include "pad.h"

#include <string.h>

#include "tensor/tensor.h"

void lks__padding_free(lks_padding *p)
{
    for (size_t i = 0; p->value != NULL && i < p->n; i++) lks_tensor_release(p->value[i]);
    lks__free(p->shape);
    lks__free(p->value);
    memset(p, 0, sizeof *p);
}

/* The wanted shape of component i, checked against what its elements are. */
static lks_status choose_shape(lks_padding *p, size_t i, const lks_spec *in, const lks_shape *wanted)
{
    const lks_spec *leaf = lks_spec_leaf(in, i);
    lks_shape shape = lks_spec_shape(leaf);
    char name[LKS_LEAF_TEXT], one[LKS_SHAPE_TEXT], two[LKS_SHAPE_TEXT];
    bool fits;

    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR)
        return lks__fail(LKS_E_SHAPE, "%s is no dense tensor and can't be padded", lks__leaf_text(in, i, name));
    if (shape.rank >= LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "%s has too many axes already", lks__leaf_text(in, i, name));
    if (wanted == NULL && shape.rank < 0)
        return lks__fail(LKS_E_SHAPE, "%s has an unknown number of axes: say the padded shape",
                         lks__leaf_text(in, i, name));
    if (wanted != NULL && (wanted->rank < 0 || wanted->rank > LKS_MAX_RANK))
        return lks__fail(LKS_E_ARG, "the padded shape of %s has %lld axes: 0 to %d are possible",
                         lks__leaf_text(in, i, name), (long long)wanted->rank, LKS_MAX_RANK);
    for (int64_t k = 0; wanted != NULL && k < wanted->rank; k++)
        if (wanted->dim[k] < -1)
            return lks__fail(LKS_E_ARG,
                             "axis %lld of the padded shape of %s is %lld, must be a size or -1 (the largest)",
                             (long long)k, lks__leaf_text(in, i, name), (long long)wanted->dim[k]);
    p->shape[i] = wanted == NULL ? shape : *wanted;
    if (wanted == NULL || shape.rank < 0) return LKS_OK;
    fits = wanted->rank == shape.rank;
    for (int64_t k = 0; fits && k < shape.rank; k++) fits = wanted->dim[k] < 0 || shape.dim[k] <= wanted->dim[k];
    if (fits) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s of shape %s can't be padded to %s", lks__leaf_text(in, i, name),
                     lks__shape_text(&shape, one), lks__shape_text(wanted, two));
}

static lks_status choose_value(lks_padding *p, size_t i, const lks_spec *in, lks_tensor *value)
{
    lks_dtype dtype = lks_spec_dtype(lks_spec_leaf(in, i));
    char name[LKS_LEAF_TEXT];

    if (value == NULL) return LKS_OK;
    if (lks_tensor_dtype(value) != dtype || lks_tensor_size(value) != 1)
        return lks__fail(LKS_E_SHAPE, "the padding value of %s must be one %s scalar, found %s",
                         lks__leaf_text(in, i, name), lks_dtype_name(dtype), lks_dtype_name(lks_tensor_dtype(value)));
    p->value[i] = lks_tensor_retain(value);
    return LKS_OK;
}

lks_status lks__padding_init(lks_padding *p, const lks_spec *in, const lks_padded_batch_options *o)
{
    lks_status status = LKS_OK;

    p->n = lks_spec_leaf_count(in);
    p->shape = lks__calloc(p->n, sizeof *p->shape);
    p->value = lks__calloc(p->n, sizeof *p->value);
    if (p->shape == NULL || p->value == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for padding");
    for (size_t i = 0; i < p->n && status == LKS_OK; i++) {
        status = choose_shape(p, i, in, o->padded_shapes == NULL ? NULL : &o->padded_shapes[i]);
        if (status == LKS_OK)
            status = choose_value(p, i, in, o->padding_values != NULL ? o->padding_values[i] : o->padding_value);
    }
    if (status != LKS_OK) lks__padding_free(p);
    return status;
}

void lks__padding_describe(const lks_padding *p, lks_recipe *r)
{
    for (size_t i = 0; i < p->n; i++) {
        for (int64_t k = 0; k < p->shape[i].rank; k++) lks__recipe_int(r, p->shape[i].dim[k]);
        lks__recipe_tensor(r, p->value[i]);
    }
}

/* The shape of one row of component i. */
static lks_status row_shape(const lks_padding *p, lks_cursor *n, size_t i, size_t rows, lks_element *const *row,
                            lks_shape *out)
{
    lks_shape shape = p->shape[i];
    char name[LKS_LEAF_TEXT];

    for (size_t r = 0; r < rows; r++) {
        lks_shape s = lks_tensor_shape(row[r]->value[i].tensor);
        if (s.rank != shape.rank)
            return lks__cursor_fail(n, LKS_E_SHAPE, "%s has %lld axes, the padded shape %lld",
                                    lks__leaf_text(n->dataset->spec, i, name), (long long)s.rank,
                                    (long long)shape.rank);
        for (int64_t k = 0; k < s.rank; k++) {
            if (p->shape[i].dim[k] < 0) {
                if (s.dim[k] > shape.dim[k]) shape.dim[k] = s.dim[k];
            } else if (s.dim[k] > shape.dim[k]) {
                return lks__cursor_fail(n, LKS_E_SHAPE, "axis %lld of %s has size %lld and can't be padded to %lld",
                                        (long long)k, lks__leaf_text(n->dataset->spec, i, name), (long long)s.dim[k],
                                        (long long)shape.dim[k]);
            }
        }
    }
    for (int64_t k = 0; k < shape.rank; k++)
        if (shape.dim[k] < 0) shape.dim[k] = 0;
    *out = shape;
    return LKS_OK;
}

static lks_status fill(lks_tensor *t, const lks_tensor *value)
{
    size_t size = lks_dtype_size(lks_tensor_dtype(t));
    int64_t n = lks_tensor_size(t);

    if (value == NULL) {
        if (lks_tensor_dtype(t) != LKS_STRING && n > 0) memset(lks_tensor_data(t), 0, (size_t)n * size);
        return LKS_OK; /* new strings are empty */
    }
    for (int64_t i = 0; i < n; i++) LKS_TRY(lks__copy_elements(t, i, value, 0, 1));
    return LKS_OK;
}

/* The part of `from` (shape s) below axis k, into `to` (shape d) at these offsets. */
static lks_status copy_corner(lks_tensor *to, int64_t at, const lks_shape *d, const lks_tensor *from, int64_t first,
                              const lks_shape *s, int64_t k)
{
    int64_t to_step = 1, from_step = 1;

    if (k == s->rank) return lks__copy_elements(to, at, from, first, 1);
    if (k == s->rank - 1) return lks__copy_elements(to, at, from, first, s->dim[k]);
    for (int64_t j = k + 1; j < s->rank; j++) {
        to_step *= d->dim[j];
        from_step *= s->dim[j];
    }
    for (int64_t i = 0; i < s->dim[k]; i++)
        LKS_TRY(copy_corner(to, at + i * to_step, d, from, first + i * from_step, s, k + 1));
    return LKS_OK;
}

static lks_shape rows_of(size_t rows, const lks_shape *row)
{
    lks_shape s = { .rank = row->rank + 1, .dim = { (int64_t)rows } };

    for (int64_t k = 0; k < row->rank; k++) s.dim[k + 1] = row->dim[k];
    return s;
}

static lks_status stack_component(const lks_padding *p, lks_cursor *n, size_t i, size_t rows, lks_element *const *row,
                                  lks_element *e)
{
    lks_shape each, all;
    lks_tensor *t;

    LKS_TRY(row_shape(p, n, i, rows, row, &each));
    all = rows_of(rows, &each);
    t = lks__element_room(e, i, lks_spec_dtype(lks_spec_leaf(n->dataset->spec, i)), &all);
    if (t == NULL) return lks__error_code();
    e->value[i].tensor = t;
    LKS_TRY(fill(t, p->value[i]));
    for (size_t r = 0; r < rows; r++) {
        const lks_tensor *from = row[r]->value[i].tensor;
        lks_shape shape = lks_tensor_shape(from);
        if (lks_tensor_size(from) > 0)
            LKS_TRY(copy_corner(t, (int64_t)r * lks_shape_size(&each), &each, from, 0, &shape, 0));
    }
    return LKS_OK;
}

lks_status lks__padding_stack(const lks_padding *p, lks_cursor *n, size_t rows, lks_element *const *row,
                              lks_element **out)
{
    lks_element *e = lks__cursor_element(n);

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < p->n; i++) {
        lks_status status = stack_component(p, n, i, rows, row, e);
        if (status != LKS_OK) {
            lks_element_release(e);
            return status;
        }
    }
    *out = e;
    return LKS_OK;
}
