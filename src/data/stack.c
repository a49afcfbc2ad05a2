/* stack.c - rows are written straight into the batch. It is made for `limit` rows at the first one, or, where that would be very
 * large and may not be needed, doubled on the way. Ragged components are gathered and joined at the end. */
#include "stack.h"

#include <string.h>

#include "placer.h"
#include "tensor/tensor.h"

lks_shape lks__with_rows(int64_t rows, lks_shape rest)
{
    lks_shape s = { .rank = rest.rank < 0 ? -1 : rest.rank + 1, .dim = { rows } };

    for (int64_t i = 0; i < rest.rank; i++) s.dim[i + 1] = rest.dim[i];
    return s;
}

typedef struct stack_args {
    int64_t rows;
    bool ragged;
} stack_args;

/* Ragged axes of a batch of such elements: up to the last axis of unknown size. */
static int64_t ragged_axes(const lks_shape *shape)
{
    int64_t n = shape->rank;

    while (n > 0 && shape->dim[n - 1] >= 0) n--;
    return n;
}

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    const stack_args *args = user;
    lks_shape shape = lks_spec_shape(leaf);
    lks_spec_kind kind = lks_spec_kind_of(leaf);

    if (kind == LKS_SPEC_DATASET) {
        lks__fail(LKS_E_SHAPE, "component %zu is a dataset: it can't be batched (flatten it with flat_map)", i);
        return NULL;
    }
    if (shape.rank >= LKS_MAX_RANK) {
        lks__fail(LKS_E_LIMIT, "component %zu has %d axes already, one more is too many", i, LKS_MAX_RANK);
        return NULL;
    }
    if (args->ragged && shape.rank < 0) {
        lks__fail(LKS_E_SHAPE, "component %zu has an unknown number of axes: ragged_batch must know which are ragged",
                  i);
        return NULL;
    }
    if (kind == LKS_SPEC_RAGGED)
        return lks_spec_ragged(lks_spec_dtype(leaf), lks__with_rows(args->rows, shape), lks_spec_ragged_rank(leaf) + 1);
    if (args->ragged && ragged_axes(&shape) > 0)
        return lks_spec_ragged(lks_spec_dtype(leaf), lks__with_rows(args->rows, shape), ragged_axes(&shape));
    return lks_spec_label(lks_spec_dtype(leaf), lks__with_rows(args->rows, shape), lks_spec_num_classes(leaf));
}

lks_spec *lks__stack_spec(const lks_spec *in, int64_t rows, bool ragged)
{
    stack_args args = { rows, ragged };

    return lks__spec_map(in, leaf_spec, &args);
}

int64_t lks__batch_cardinality(int64_t n, int64_t size, bool drop_remainder)
{
    if (n < 0) return n;
    return n / size + (!drop_remainder && n % size != 0);
}

static lks_status add_place(const lks_stack *s, lks_status status)
{
    return lks__context(status, "%s (stage %d)", s->cursor->stage->name, s->cursor->dataset->number);
}

static bool is_ragged(const lks_stack *s, size_t i)
{
    return lks_spec_kind_of(lks_spec_leaf(s->cursor->dataset->spec, i)) == LKS_SPEC_RAGGED;
}

/* The first allocation holds all rows unless that takes more than this. */
enum { FIRST_BYTES = 1 << 26 };

static int64_t first_room(const lks_stack *s, size_t row_bytes)
{
    const lks_dataset *ds = s->cursor->dataset;
    int64_t room = s->limit, known = ds->n_inputs > 0 ? ds->input[0]->cardinality : -1;

    if (known >= 0 && room > known) room = known > 0 ? known : 1;
    if (row_bytes > 0 && (uint64_t)room > FIRST_BYTES / row_bytes) room = (int64_t)(FIRST_BYTES / row_bytes);
    return room > 0 ? room : 1;
}

/* Component i is one that the fused function changes. */
static bool changes(const lks_stack *s, size_t i)
{
    return (s->fused != LKS_FUSED_NONE && i == 0) || (s->fused == LKS_FUSED_RESCALE_ONEHOT && i == 1);
}

/* dtype and shape of a row of component i. */
static void row_form(const lks_stack *s, size_t i, const lks_tensor *t, lks_dtype *dtype, lks_shape *shape)
{
    *dtype = lks_tensor_dtype(t);
    *shape = lks_tensor_shape(t);
    if (changes(s, i)) lks__fused_shape(s->fused, s->cursor->dataset->spec, i, t, dtype, shape);
}

static lks_status begin(lks_stack *s, const lks_element *first)
{
    lks_dtype dtype;
    lks_shape shape;
    size_t n = lks_element_count(first), widest = 0;

    if (first->batch != NULL && first->row == 0 && first->batch->home == s->cursor->buffers) {
        s->element = lks_element_retain(first->batch);
        s->room = lks_tensor_shape(s->element->value[0].tensor).dim[0];
    } else {
        s->element = lks__cursor_element(s->cursor);
    }
    if (s->element == NULL) return add_place(s, LKS_E_NOMEM);
    if (first->origin.file != NULL) {
        s->element->origin = first->origin;
        s->element->origin.file = lks__buffers_name(s->cursor->buffers, first->origin.file);
        s->element->origin.first = true;
    }
    if (s->room > 0) return LKS_OK;
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        if (is_ragged(s, i)) continue;
        row_form(s, i, first->value[i].tensor, &dtype, &shape);
        bytes = (size_t)lks_shape_size(&shape) * lks_dtype_size(dtype);
        if (bytes > widest) widest = bytes;
    }
    s->room = first_room(s, widest);
    for (size_t i = 0; i < n; i++) {
        if (is_ragged(s, i)) continue;
        row_form(s, i, first->value[i].tensor, &dtype, &shape);
        shape = lks__with_rows(s->room, shape);
        s->element->value[i].tensor = lks__element_room(s->element, i, dtype, &shape);
        if (s->element->value[i].tensor == NULL) return add_place(s, lks__error_code());
    }
    return LKS_OK;
}

/* Into a tensor with more rows; strings change hands one by one. */
static void move_rows(lks_tensor *to, lks_tensor *from)
{
    lks_bytes *a = lks_tensor_data(from), *b = lks_tensor_data(to);
    int64_t n = lks_tensor_size(from);

    if (lks_tensor_dtype(from) != LKS_STRING) {
        memcpy(b, a, (size_t)n * lks_dtype_size(lks_tensor_dtype(from)));
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        lks_bytes empty = b[k]; /* of a recycled tensor: memory that serves again */
        b[k] = a[k];
        a[k] = empty;
    }
}

static lks_status grow(lks_stack *s)
{
    size_t n = lks_element_count(s->element);
    int64_t room = s->room > s->limit / 2 ? s->limit : 2 * s->room;
    lks_element *wider = lks__cursor_element(s->cursor);

    if (wider == NULL) return add_place(s, LKS_E_NOMEM);
    wider->origin = s->element->origin;
    for (size_t i = 0; i < n; i++) {
        lks_tensor *old = s->element->value[i].tensor;
        lks_shape shape;
        if (is_ragged(s, i)) continue;
        shape = lks_tensor_shape(old);
        shape.dim[0] = room;
        wider->value[i].tensor = lks__element_room(wider, i, lks_tensor_dtype(old), &shape);
        if (wider->value[i].tensor == NULL) {
            lks_element_release(wider);
            return add_place(s, lks__error_code());
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!is_ragged(s, i)) move_rows(wider->value[i].tensor, s->element->value[i].tensor);
    lks_element_release(s->element);
    s->element = wider;
    s->room = room;
    return LKS_OK;
}

static lks_status check_row(const lks_stack *s, size_t i, const lks_tensor *t)
{
    lks_shape batch = lks_tensor_shape(s->element->value[i].tensor), first = { .rank = batch.rank - 1 }, row;
    char name[LKS_LEAF_TEXT], one[LKS_SHAPE_TEXT], two[LKS_SHAPE_TEXT];
    lks_dtype dtype;

    row_form(s, i, t, &dtype, &row);
    for (int64_t k = 0; k < first.rank; k++) first.dim[k] = batch.dim[k + 1];
    if (lks_shape_equal(&first, &row)) return LKS_OK;
    return lks__cursor_fail(s->cursor, LKS_E_SHAPE,
                            "%s has shape %s in element %lld of the batch and %s in its first: resize the elements, or "
                            "use padded_batch or ragged_batch",
                            lks__leaf_text(s->cursor->dataset->spec, i, name), lks__shape_text(&row, one),
                            (long long)s->rows, lks__shape_text(&first, two));
}

static lks_status add_ragged(lks_stack *s, size_t i, lks_element *e)
{
    size_t n = lks_element_count(e), at = (size_t)s->rows * n + i;
    int64_t axes = lks_spec_ragged_rank(lks_spec_leaf(s->cursor->dataset->spec, i)) - 1;

    LKS_TRY(lks__grow(&s->ragged, &s->ragged_room, ((size_t)s->rows + 1) * n, sizeof *s->ragged));
    if (lks_element_ragged(e, i) != NULL) s->ragged[at] = lks_ragged_retain(e->value[i].ragged);
    else s->ragged[at] = lks__ragged_from_dense(e->value[i].tensor, axes);
    return s->ragged[at] == NULL ? lks__error_code() : LKS_OK;
}

/* The row was written where it belongs. */
static bool in_place(const lks_stack *s, const lks_tensor *batch, const lks_tensor *t, int64_t n)
{
    return (const char *)lks_tensor_cdata(t) ==
           (const char *)lks_tensor_cdata(batch) + (size_t)(s->rows * n) * lks_dtype_size(lks_tensor_dtype(t));
}

/* What fits. `alone`: nobody else holds the element, so strings need not be copied. */
static lks_status add_dense(const lks_stack *s, size_t i, lks_tensor *t, bool alone)
{
    lks_tensor *batch = s->element->value[i].tensor;
    lks_dtype dtype;
    lks_shape row;
    int64_t n;

    row_form(s, i, t, &dtype, &row);
    n = lks_shape_size(&row);
    if (!changes(s, i) && in_place(s, batch, t, n)) return LKS_OK;
    if (alone && !changes(s, i) && lks__tensor_move_strings(batch, s->rows * n, t)) return LKS_OK;
    if (!changes(s, i)) return lks__copy_elements(batch, s->rows * n, t, 0, n);
    lks__fused_write(s->fused, i, t, (char *)lks_tensor_data(batch) + (size_t)(s->rows * n) * lks_dtype_size(dtype),
                     row.rank > 0 ? row.dim[row.rank - 1] : 1);
    return LKS_OK;
}

lks_status lks__stack_add(lks_stack *s, lks_element *e)
{
    bool alone = atomic_load(&e->references) == 1;

    if (s->element == NULL) LKS_TRY(begin(s, e));
    else if (s->rows == s->room) LKS_TRY(grow(s));
    for (size_t i = 0; i < lks_element_count(e); i++)
        if (!is_ragged(s, i)) LKS_TRY(check_row(s, i, e->value[i].tensor)); /* before strings move out of e */
    for (size_t i = 0; i < lks_element_count(e); i++) {
        if (is_ragged(s, i)) LKS_TRY(add_ragged(s, i, e));
        else LKS_TRY(add_dense(s, i, e->value[i].tensor, alone));
    }
    s->rows++;
    return LKS_OK;
}

static lks_status join_ragged(lks_stack *s, size_t i)
{
    size_t n = lks_element_count(s->element), rows = (size_t)s->rows;
    lks_ragged **column = lks__calloc(rows, sizeof *column);

    if (column == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu ragged rows", rows);
    for (size_t k = 0; k < rows; k++) column[k] = s->ragged[k * n + i];
    s->element->value[i].ragged = lks__ragged_stack(rows, column);
    lks__free(column);
    return s->element->value[i].ragged == NULL ? lks__error_code() : LKS_OK;
}

lks_status lks__stack_take(lks_stack *s, lks_element **out)
{
    lks_status status = LKS_OK;

    for (size_t i = 0; i < lks_element_count(s->element) && status == LKS_OK; i++) {
        if (is_ragged(s, i)) status = join_ragged(s, i);
        else lks__tensor_set_rows(s->element->value[i].tensor, s->rows);
    }
    if (status == LKS_OK) {
        *out = s->element;
        s->element = NULL;
    } else {
        add_place(s, status);
    }
    lks__stack_drop(s);
    return status;
}

void lks__stack_drop(lks_stack *s)
{
    for (size_t k = 0; k < s->ragged_room; k++) lks_ragged_release(s->ragged[k]);
    lks__free(s->ragged);
    lks_element_release(s->element);
    s->ragged = NULL;
    s->ragged_room = 0;
    s->element = NULL;
    s->rows = s->room = 0;
}

/* An element did not fit: the rest of its batch goes too. */
static lks_status drop_rest(lks_stack *s, lks_status status)
{
    lks_error error = { .code = LKS_OK };
    int64_t rest = s->limit - s->rows - 1;

    lks__error_capture(&error, status);
    lks__stack_drop(s);
    while (rest-- > 0) {
        lks_element *e;
        if (lks__cursor_next(s->cursor->input[0], &e) != LKS_OK) break;
        lks_element_release(e);
    }
    return lks__error_raise(&error);
}

/* The input's next element, or a whole batch of them. */
static lks_status ask(const lks_stack *s, lks_placer *placer, lks_element **out, bool *is_whole)
{
    lks_status status;

    *is_whole = false;
    if (placer == NULL) return lks__cursor_next(s->cursor->input[0], out);
    placer->filled = s->rows;
    placer->asks = true;
    placer->is_whole = false;
    status = lks__cursor_next(s->cursor->input[0], out);
    placer->asks = false;
    *is_whole = status == LKS_OK && placer->is_whole;
    return status;
}

lks_status lks__stack_next(lks_stack stack, bool drop_remainder, lks_placer *placer, lks_element **out)
{
    lks_status status = LKS_OK;
    bool is_whole;

    while (stack.rows < stack.limit) {
        lks_element *e;
        status = ask(&stack, placer, &e, &is_whole);
        if (status != LKS_OK) break;
        if (is_whole) {
            *out = e;
            return LKS_OK;
        }
        status = lks__stack_add(&stack, e);
        lks_element_release(e);
        if (status != LKS_OK) return drop_rest(&stack, status);
    }
    if ((status == LKS_END && (stack.rows == 0 || drop_remainder)) || (status != LKS_OK && status != LKS_END)) {
        lks__stack_drop(&stack); /* an input's failure loses what was gathered, as in tf.data */
        return status;
    }
    return lks__stack_take(&stack, out);
}

lks_status lks__stack_skip(lks_cursor *n, int64_t size, bool drop_remainder, int64_t count, int64_t *done)
{
    for (; *done < count; (*done)++) {
        int64_t passed = 0;
        LKS_TRY(lks__cursor_skip(n->input[0], size, &passed));
        if (passed < size && (passed == 0 || drop_remainder)) return LKS_OK;
    }
    return LKS_OK;
}
