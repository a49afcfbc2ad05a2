/* stack.c - rows are written straight into the batch. It is made for `limit` rows at the first one, or, where that would be very
 * large and may not be needed, doubled on the way. */
#include "stack.h"

#include <string.h>

#include "tensor/tensor.h"

static lks_shape with_rows(int64_t rows, lks_shape rest)
{
    lks_shape s = { .rank = rest.rank < 0 ? -1 : rest.rank + 1, .dim = { rows } };

    for (int64_t i = 0; i < rest.rank; i++) s.dim[i + 1] = rest.dim[i];
    return s;
}

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    lks_shape shape = lks_spec_shape(leaf);
    int64_t rows = *(const int64_t *)user;

    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR) {
        lks__fail(LKS_E_SHAPE, "component %zu is a dataset: it can't be batched (flatten it with flat_map)", i);
        return NULL;
    }
    if (shape.rank >= LKS_MAX_RANK) {
        lks__fail(LKS_E_LIMIT, "component %zu has %d axes already, one more is too many", i, LKS_MAX_RANK);
        return NULL;
    }
    return lks_spec_label(lks_spec_dtype(leaf), with_rows(rows, shape), lks_spec_num_classes(leaf));
}

lks_spec *lks__stack_spec(const lks_spec *in, int64_t rows)
{
    return lks__spec_map(in, leaf_spec, &rows);
}

int64_t lks__batch_cardinality(int64_t n, int64_t size, bool drop_remainder)
{
    if (n < 0) return n;
    return n / size + (!drop_remainder && n % size != 0);
}

static lks_status no_memory(const lks_stack *s)
{
    return lks__context(LKS_E_NOMEM, "%s (stage %d)", s->cursor->stage->name, s->cursor->dataset->number);
}

/* The first allocation holds all rows unless that takes more than this. */
enum { FIRST_BYTES = 1 << 26 };

static int64_t first_room(const lks_stack *s, size_t row_bytes)
{
    int64_t room = s->limit, known = s->cursor->dataset->n_inputs > 0 ? s->cursor->dataset->input[0]->cardinality : -1;

    if (known >= 0 && room > known) room = known > 0 ? known : 1;
    if (row_bytes > 0 && (uint64_t)room > FIRST_BYTES / row_bytes) room = (int64_t)(FIRST_BYTES / row_bytes);
    return room > 0 ? room : 1;
}

static lks_status begin(lks_stack *s, const lks_element *first)
{
    size_t n = lks_element_count(first), widest = 0;

    s->element = lks__cursor_element(s->cursor);
    if (s->element == NULL) return no_memory(s);
    for (size_t i = 0; i < n; i++) {
        lks_tensor *t = first->value[i].tensor;
        size_t bytes = (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t));
        if (bytes > widest) widest = bytes;
    }
    s->room = first_room(s, widest);
    for (size_t i = 0; i < n; i++) {
        lks_tensor *t = first->value[i].tensor;
        lks_shape shape = with_rows(s->room, lks_tensor_shape(t));
        s->element->value[i].tensor = lks__buffers_tensor(s->cursor->buffers, i, lks_tensor_dtype(t), &shape);
        if (s->element->value[i].tensor == NULL) return no_memory(s);
    }
    return LKS_OK;
}

static lks_status grow(lks_stack *s)
{
    size_t n = lks_element_count(s->element);
    int64_t room = s->room > s->limit / 2 ? s->limit : 2 * s->room;
    lks_element *wider = lks__cursor_element(s->cursor);

    if (wider == NULL) return no_memory(s);
    for (size_t i = 0; i < n; i++) {
        lks_tensor *old = s->element->value[i].tensor, *t;
        lks_shape shape = lks_tensor_shape(old);
        size_t bytes = (size_t)lks_tensor_size(old) * lks_dtype_size(lks_tensor_dtype(old));
        shape.dim[0] = room;
        t = lks__buffers_tensor(s->cursor->buffers, i, lks_tensor_dtype(old), &shape);
        wider->value[i].tensor = t;
        if (t == NULL) {
            lks_element_release(wider);
            return no_memory(s);
        }
        if (lks_tensor_dtype(old) == LKS_STRING) { /* the strings change hands one by one */
            for (int64_t k = 0; k < lks_tensor_size(old); k++) {
                lks_bytes *from = (lks_bytes *)lks_tensor_data(old) + k, *to = (lks_bytes *)lks_tensor_data(t) + k;
                *to = *from;
                *from = (lks_bytes){ NULL, 0 };
            }
        } else {
            memcpy(lks_tensor_data(t), lks_tensor_data(old), bytes);
        }
    }
    lks_element_release(s->element);
    s->element = wider;
    s->room = room;
    return LKS_OK;
}

static lks_status check_row(const lks_stack *s, size_t i, const lks_tensor *t)
{
    lks_shape batch = lks_tensor_shape(s->element->value[i].tensor), row = lks_tensor_shape(t);
    lks_shape first = { .rank = batch.rank - 1 };
    char name[LKS_LEAF_TEXT], one[LKS_SHAPE_TEXT], two[LKS_SHAPE_TEXT];

    for (int64_t k = 0; k < first.rank; k++) first.dim[k] = batch.dim[k + 1];
    if (lks_shape_equal(&first, &row)) return LKS_OK;
    return lks__cursor_fail(
        s->cursor, LKS_E_SHAPE,
        "%s has shape %s in element %lld of the batch and %s in its first: resize the elements, or use "
        "padded_batch or ragged_batch",
        lks__leaf_text(s->cursor->dataset->spec, i, name), lks__shape_text(&row, one), (long long)s->rows,
        lks__shape_text(&first, two));
}

static lks_status copy_row(const lks_stack *s, size_t i, const lks_tensor *t)
{
    lks_tensor *batch = s->element->value[i].tensor;
    int64_t n = lks_tensor_size(t);
    size_t bytes = (size_t)n * lks_dtype_size(lks_tensor_dtype(t));
    const lks_bytes *text = lks_tensor_cdata(t);

    if (lks_tensor_dtype(t) != LKS_STRING) {
        if (bytes > 0) memcpy((char *)lks_tensor_data(batch) + (size_t)s->rows * bytes, lks_tensor_cdata(t), bytes);
        return LKS_OK;
    }
    for (int64_t k = 0; k < n; k++) LKS_TRY(lks__tensor_set_bytes(batch, s->rows * n + k, text[k].data, text[k].size));
    return LKS_OK;
}

lks_status lks__stack_add(lks_stack *s, lks_element *e)
{
    if (s->element == NULL) LKS_TRY(begin(s, e));
    else if (s->rows == s->room) LKS_TRY(grow(s));
    for (size_t i = 0; i < lks_element_count(e); i++) {
        LKS_TRY(check_row(s, i, e->value[i].tensor));
        LKS_TRY(copy_row(s, i, e->value[i].tensor));
    }
    s->rows++;
    return LKS_OK;
}

lks_status lks__stack_take(lks_stack *s, lks_element **out)
{
    for (size_t i = 0; i < lks_element_count(s->element); i++)
        lks__tensor_set_rows(s->element->value[i].tensor, s->rows);
    *out = s->element;
    s->element = NULL;
    s->rows = s->room = 0;
    return LKS_OK;
}

void lks__stack_drop(lks_stack *s)
{
    lks_element_release(s->element);
    s->element = NULL;
    s->rows = s->room = 0;
}
