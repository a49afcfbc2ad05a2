/* element.c - reading and filling elements. Whoever fills one is checked against the spec at the moment of filling, so an
 * element that left its stage is always what the spec says. */
#include "element.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error_file.h"
#include "lockstep/dataset.h"
#include "tensor/tensor.h"

lks_element *lks_element_retain(lks_element *element)
{
    if (element != NULL) atomic_fetch_add(&element->references, 1);
    return element;
}

const lks_spec *lks_element_spec(const lks_element *element)
{
    return lks__buffers_spec(element->home);
}

size_t lks_element_count(const lks_element *element)
{
    return lks_spec_leaf_count(lks_element_spec(element));
}

static bool is_kind(const lks_element *e, size_t i, lks_spec_kind kind)
{
    const lks_spec *leaf = e == NULL ? NULL : lks_spec_leaf(lks_element_spec(e), i);

    return leaf != NULL && lks_spec_kind_of(leaf) == kind;
}

lks_tensor *lks_element_tensor(const lks_element *element, size_t i)
{
    return is_kind(element, i, LKS_SPEC_TENSOR) ? element->value[i].tensor : NULL;
}

lks_dataset *lks_element_dataset(const lks_element *element, size_t i)
{
    return is_kind(element, i, LKS_SPEC_DATASET) ? element->value[i].dataset : NULL;
}

lks_ragged *lks_element_ragged(const lks_element *element, size_t i)
{
    return is_kind(element, i, LKS_SPEC_RAGGED) ? element->value[i].ragged : NULL;
}

lks_status lks__leaf_check(const lks_spec *spec, size_t i, lks_dtype dtype, const lks_shape *shape)
{
    const lks_spec *leaf = lks_spec_leaf(spec, i);
    lks_shape want = lks_spec_shape(leaf);
    char name[LKS_LEAF_TEXT], expected[LKS_SHAPE_TEXT], found[LKS_SHAPE_TEXT];

    if (lks_spec_dtype(leaf) == dtype && lks__shape_fits(&want, shape)) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s must be %s %s, found %s %s", lks__leaf_text(spec, i, name),
                     lks_dtype_name(lks_spec_dtype(leaf)), lks__shape_text(&want, expected), lks_dtype_name(dtype),
                     lks__shape_text(shape, found));
}

/* LKS_E_ARG unless component i exists and is of this kind. */
static lks_status check_kind(const lks_element *e, size_t i, lks_spec_kind kind)
{
    static const char *const word[] = { "?", "a tensor", "a tuple", "a dict", "a dataset", "a ragged tensor" };
    const lks_spec *leaf = lks_spec_leaf(lks_element_spec(e), i);
    char name[LKS_LEAF_TEXT];

    if (leaf == NULL)
        return lks__fail(LKS_E_ARG, "component %zu does not exist, the element has %zu", i, lks_element_count(e));
    if (lks_spec_kind_of(leaf) == kind) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s must be %s, found %s", lks__leaf_text(lks_element_spec(e), i, name),
                     word[lks_spec_kind_of(leaf)], word[kind]);
}

lks_tensor *lks_element_output_shaped(lks_element *element, size_t i, lks_shape shape)
{
    const lks_spec *spec = lks_element_spec(element);
    lks_tensor *t;
    lks_dtype dtype;

    if (check_kind(element, i, LKS_SPEC_TENSOR) != LKS_OK) return NULL;
    dtype = lks_spec_dtype(lks_spec_leaf(spec, i));
    if (lks__leaf_check(spec, i, dtype, &shape) != LKS_OK) return NULL;
    t = lks__element_room(element, i, dtype, &shape);
    if (t == NULL) return NULL;
    lks_tensor_release(element->value[i].tensor);
    element->value[i].tensor = t;
    return t;
}

lks_tensor *lks_element_output(lks_element *element, size_t i)
{
    lks_shape shape;
    char name[LKS_LEAF_TEXT], text[LKS_SHAPE_TEXT];

    if (check_kind(element, i, LKS_SPEC_TENSOR) != LKS_OK) return NULL;
    shape = lks_spec_shape(lks_spec_leaf(lks_element_spec(element), i));
    if (lks_shape_size(&shape) < 0) {
        lks__fail(LKS_E_ARG, "the shape %s of %s is not static: say which one with lks_element_output_shaped",
                  lks__shape_text(&shape, text), lks__leaf_text(lks_element_spec(element), i, name));
        return NULL;
    }
    return lks_element_output_shaped(element, i, shape);
}

lks_status lks_element_set(lks_element *element, size_t i, lks_tensor *tensor)
{
    lks_shape shape;

    LKS_TRY(check_kind(element, i, LKS_SPEC_TENSOR));
    if (tensor == NULL) return lks__fail(LKS_E_ARG, "component %zu is set to a NULL tensor", i);
    shape = lks_tensor_shape(tensor);
    LKS_TRY(lks__leaf_check(lks_element_spec(element), i, lks_tensor_dtype(tensor), &shape));
    lks_tensor_retain(tensor);
    lks_tensor_release(element->value[i].tensor);
    element->value[i].tensor = tensor;
    return LKS_OK;
}

lks_status lks_element_set_ragged(lks_element *element, size_t i, lks_ragged *ragged)
{
    const lks_spec *leaf;

    LKS_TRY(check_kind(element, i, LKS_SPEC_RAGGED));
    leaf = lks_spec_leaf(lks_element_spec(element), i);
    if (ragged == NULL) return lks__fail(LKS_E_ARG, "component %zu is set to a NULL ragged tensor", i);
    if (lks_spec_dtype(leaf) != lks_tensor_dtype(lks_ragged_values(ragged)) ||
        (size_t)lks_spec_ragged_rank(leaf) != lks_ragged_rank(ragged))
        return lks__fail(LKS_E_SHAPE, "component %zu must be ragged %s with %lld ragged axes, found %s with %zu", i,
                         lks_dtype_name(lks_spec_dtype(leaf)), (long long)lks_spec_ragged_rank(leaf),
                         lks_dtype_name(lks_tensor_dtype(lks_ragged_values(ragged))), lks_ragged_rank(ragged));
    lks_ragged_retain(ragged);
    lks_ragged_release(element->value[i].ragged);
    element->value[i].ragged = ragged;
    return LKS_OK;
}

lks_status lks_element_set_dataset(lks_element *element, size_t i, lks_dataset *dataset)
{
    const lks_spec *want, *found;
    char expected[LKS_SPEC_TEXT], text[LKS_SPEC_TEXT];
    lks_status status = check_kind(element, i, LKS_SPEC_DATASET);

    if (status == LKS_OK) status = lks_dataset_status(dataset);
    if (status == LKS_OK) {
        want = lks_spec_child(lks_spec_leaf(lks_element_spec(element), i), 0);
        found = lks_dataset_spec(dataset);
        if (!lks__spec_allows(want, found))
            status = lks__fail(LKS_E_SHAPE, "component %zu must be a dataset of %s, found one of %s", i,
                               lks__spec_text(want, expected), lks__spec_text(found, text));
    }
    if (status != LKS_OK) {
        lks_dataset_release(dataset);
        return status;
    }
    lks_dataset_release(element->value[i].dataset);
    element->value[i].dataset = dataset;
    return LKS_OK;
}

lks_status lks_element_set_bytes(lks_element *element, size_t i, int64_t j, const void *data, size_t size)
{
    lks_tensor *t = lks_element_tensor(element, i);

    if (t == NULL || lks_tensor_dtype(t) != LKS_STRING || j < 0 || j >= lks_tensor_size(t))
        return lks__fail(LKS_E_ARG, "component %zu has no string %lld to set", i, (long long)j);
    return lks__tensor_set_bytes(t, j, data, size);
}

void lks__element_blame(const lks_element *e)
{
    const lks_origin *o = &e->origin;

    if (o->file == NULL) return;
    lks__context(LKS_E_FORMAT, "%s'%s', record %lld, offset %llu", o->first ? "in the batch that begins with " : "",
                 o->file, (long long)o->record, (unsigned long long)o->offset);
    lks__error_set_file(o->file);
}

lks_status lks__element_complete(const lks_element *e)
{
    char name[LKS_LEAF_TEXT];

    for (size_t i = 0; i < lks_element_count(e); i++)
        if (e->value[i].tensor == NULL)
            return lks__fail(LKS_E_ARG, "%s was not set", lks__leaf_text(lks_element_spec(e), i, name));
    return LKS_OK;
}

void lks__element_share(lks_element *to, size_t j, const lks_element *from, size_t i)
{
    switch (lks_spec_kind_of(lks_spec_leaf(lks_element_spec(from), i))) {
    case LKS_SPEC_DATASET: to->value[j].dataset = lks_dataset_retain(from->value[i].dataset); return;
    case LKS_SPEC_RAGGED: to->value[j].ragged = lks_ragged_retain(from->value[i].ragged); return;
    default: to->value[j].tensor = lks_tensor_retain(from->value[i].tensor); return;
    }
}

lks_status lks__copy_elements(lks_tensor *to, int64_t at, const lks_tensor *from, int64_t first, int64_t n)
{
    size_t size = lks_dtype_size(lks_tensor_dtype(from));
    const lks_bytes *text = lks_tensor_cdata(from);

    if (n <= 0) return LKS_OK;
    if (lks_tensor_dtype(from) != LKS_STRING) {
        memcpy((char *)lks_tensor_data(to) + (size_t)at * size,
               (const char *)lks_tensor_cdata(from) + (size_t)first * size, (size_t)n * size);
        return LKS_OK;
    }
    for (int64_t i = 0; i < n; i++)
        LKS_TRY(lks__tensor_set_bytes(to, at + i, text[first + i].data, text[first + i].size));
    return LKS_OK;
}
