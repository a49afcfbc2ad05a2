/* tensors.c - arrays in memory as one element, or row by row as views of the caller's memory: nothing is copied. */
#include "data/fuse.h"
#include "data/sources.h"
#include "data/stages.h"
#include "tensor/tensor.h"

typedef struct tensors_dataset {
    lks_dataset base;
    size_t n;
    lks_tensor **tensor;
} tensors_dataset;

typedef struct tensors_cursor {
    lks_cursor base;
    int64_t next;
} tensors_cursor;

/* Row `row` of component i, or the whole of it, into the element. */
static lks_status put(lks_cursor *n, lks_element *e, size_t i, int64_t row)
{
    lks_tensor *t = ((const tensors_dataset *)n->dataset)->tensor[i];

    e->value[i].tensor = row < 0 ? lks_tensor_retain(t) : lks__element_row(e, i, t, row);
    return e->value[i].tensor == NULL ? LKS_E_NOMEM : LKS_OK;
}

static lks_status make(lks_cursor *n, int64_t row, lks_element **out)
{
    lks_element *e = lks__cursor_element(n);

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < ((const tensors_dataset *)n->dataset)->n; i++)
        if (put(n, e, i, row) != LKS_OK) {
            lks_element_release(e);
            return LKS_E_NOMEM;
        }
    *out = e;
    return LKS_OK;
}

static lks_status next_row(lks_cursor *n, lks_element **out)
{
    tensors_cursor *t = (tensors_cursor *)n;

    if (t->next >= n->dataset->cardinality) return LKS_END;
    LKS_TRY(make(n, t->next, out));
    t->next++;
    return LKS_OK;
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    tensors_cursor *t = (tensors_cursor *)n;
    int64_t left = n->dataset->cardinality - t->next;

    *got = want < left ? want : left;
    for (int64_t i = 0; i < *got; i++) rows[i] = t->next++;
    return LKS_OK;
}

static lks_status next_whole(lks_cursor *n, lks_element **out)
{
    tensors_cursor *t = (tensors_cursor *)n;

    if (t->next > 0) return LKS_END;
    LKS_TRY(make(n, -1, out));
    t->next++;
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    tensors_cursor *t = (tensors_cursor *)n;

    return lks__cursor_skip_to(n, &t->next, count, done);
}

static void destroy(lks_dataset *ds)
{
    tensors_dataset *d = (tensors_dataset *)ds;

    for (size_t i = 0; i < d->n; i++) lks_tensor_release(d->tensor[i]);
    lks__free(d->tensor);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const tensors_dataset *d = (const tensors_dataset *)ds;

    for (size_t i = 0; i < d->n; i++) lks__recipe_tensor(r, d->tensor[i]);
}

const lks_stage lks__stage_tensor_slices = { .name = "from_tensor_slices",
                                             .dataset_size = sizeof(tensors_dataset),
                                             .cursor_size = sizeof(tensors_cursor),
                                             .next = next_row,
                                             .skip = skip,
                                             .at = make,
                                             .next_rows = next_rows,
                                             .destroy = destroy,
                                             .describe = describe };
const lks_stage lks__stage_tensors = { .name = "from_tensors",
                                       .dataset_size = sizeof(tensors_dataset),
                                       .cursor_size = sizeof(tensors_cursor),
                                       .next = next_whole,
                                       .skip = skip,
                                       .destroy = destroy,
                                       .describe = describe };

const lks_tensor *lks__slices_component(const lks_dataset *ds, size_t i)
{
    const tensors_dataset *d = (const tensors_dataset *)ds;

    return ds->stage == &lks__stage_tensor_slices && i < d->n ? d->tensor[i] : NULL;
}

/* The spec of component i: the tensor's shape, without its first axis for slices. */
static lks_spec *leaf_spec(const lks_tensor *t, bool slices)
{
    lks_shape shape = lks_tensor_shape(t);

    if (slices) {
        shape.rank--;
        for (int64_t k = 0; k < shape.rank; k++) shape.dim[k] = shape.dim[k + 1];
    }
    return lks_spec_tensor(lks_tensor_dtype(t), shape);
}

static lks_status check_slices(size_t n, lks_tensor *const *tensors)
{
    int64_t rows = 0;

    for (size_t i = 0; i < n; i++) {
        lks_shape shape = lks_tensor_shape(tensors[i]);
        if (shape.rank < 1) return lks__fail(LKS_E_ARG, "component %zu is a scalar: there are no rows to slice", i);
        if (i == 0) rows = shape.dim[0];
        if (shape.dim[0] != rows)
            return lks__fail(LKS_E_ARG, "component 0 has %lld rows, component %zu has %lld: they must be equal",
                             (long long)rows, i, (long long)shape.dim[0]);
    }
    return LKS_OK;
}

static lks_status check_present(size_t n, lks_tensor *const *tensors)
{
    if (n == 0) return lks__fail(LKS_E_ARG, "no tensor given");
    for (size_t i = 0; i < n; i++)
        if (tensors[i] == NULL)
            return lks__context(lks__error_code() == LKS_E_NOMEM ? LKS_E_NOMEM : LKS_E_ARG,
                                "tensor %zu is NULL (the last error was)", i);
    return LKS_OK;
}

static lks_spec *spec_of(size_t n, lks_tensor *const *tensors, bool slices)
{
    lks_spec **leaf, *spec;

    if (n == 1) return leaf_spec(tensors[0], slices);
    leaf = lks__calloc(n, sizeof *leaf);
    if (leaf == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for an element spec");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) leaf[i] = leaf_spec(tensors[i], slices);
    spec = lks_spec_tuple(n, leaf);
    lks__free(leaf);
    return spec;
}

static lks_dataset *build(const lks_stage *stage, size_t n, lks_tensor *const *tensors, bool slices, lks_spec *given)
{
    lks_dataset *ds = lks__dataset_begin(stage, 0, NULL);
    tensors_dataset *d = (tensors_dataset *)ds;
    lks_status status;

    if (ds == NULL) {
        lks_spec_release(given);
        return NULL;
    }
    ds->spec = given;
    status = check_present(n, tensors);
    if (status == LKS_OK && slices) status = check_slices(n, tensors);
    if (status == LKS_OK && (d->tensor = lks__calloc(n, sizeof *d->tensor)) == NULL)
        status = lks__fail(LKS_E_NOMEM, "no memory for %zu tensors", n);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->n = n;
    for (size_t i = 0; i < n; i++) d->tensor[i] = lks_tensor_retain(tensors[i]);
    ds->cardinality = slices ? lks_tensor_shape(tensors[0]).dim[0] : 1;
    return given != NULL ? ds : lks__dataset_spec_is(ds, spec_of(n, tensors, slices));
}

lks_dataset *lks_from_tensor_slices_n(size_t n, lks_tensor *const *tensors)
{
    return build(&lks__stage_tensor_slices, n, tensors, true, NULL);
}

lks_dataset *lks_from_tensors_n(size_t n, lks_tensor *const *tensors)
{
    return build(&lks__stage_tensors, n, tensors, false, NULL);
}

lks_dataset *lks__from_slices_of(lks_spec *spec, size_t n, lks_tensor *const *tensors)
{
    return build(&lks__stage_tensor_slices, n, tensors, true, spec);
}
