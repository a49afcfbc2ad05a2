/* column.c - one feature of one record: found and of the wanted kind, or a sentence that says what is there instead. */
#include <string.h>

#include "example.h"
#include "tensor/tensor.h"

lks_status lks__feature_no_memory(void)
{
    return lks__error_code() == LKS_OK ? lks__fail(LKS_E_NOMEM, "no memory for a feature") : lks__error_code();
}

lks_status lks__wanted_values(const lks_wanted *w, lks_wire at, lks_values *v)
{
    *v = (lks_values){ 0 };
    if (at.p == NULL) return LKS_OK;
    if (!lks__values_begin(v, at)) return lks__fail(LKS_E_FORMAT, "feature '%s' is malformed", w->key);
    if (v->kind == LKS_LIST_NONE || v->kind == w->list) return LKS_OK;
    return lks__fail(LKS_E_ARG, "feature '%s' holds %s values, wanted are %s ones: compare the dtype with the writer's",
                     w->key, lks__list_name(v->kind), lks__list_name(w->list));
}

lks_status lks__column_values(const lks_features *f, const lks_column *c, const lks_found *found, lks_values *v)
{
    LKS_TRY(lks__wanted_values(&f->wanted[c->at], found->at[c->at], &v[0]));
    for (size_t i = 0; i < c->n_levels; i++) {
        v[1 + i] = (lks_values){ 0 };
        if (c->level[i].kind != LKS_UNIFORM_ROW_LENGTH)
            LKS_TRY(lks__wanted_values(&f->wanted[c->level[i].at], found->at[c->level[i].at], &v[1 + i]));
    }
    return LKS_OK;
}

static lks_status wrong_count(const lks_column *c, int64_t n)
{
    char text[LKS_SHAPE_TEXT];

    return lks__fail(LKS_E_ARG, "feature '%s' holds %lld %s value%s, its shape %s wants %lld%s", c->f.key, (long long)n,
                     lks__list_name(c->list), n == 1 ? "" : "s", lks__shape_text(&c->f.shape, text), (long long)c->size,
                     n == 0 ? " (it was written with an empty list; a default stands only for a missing feature)"
                            : "; for numbers that vary use a ragged feature");
}

lks_status lks__column_fixed(const lks_features *f, const lks_column *c, lks_wire at, lks_tensor *t, int64_t first)
{
    lks_values v;
    lks_status status;

    LKS_TRY(lks__wanted_values(&f->wanted[c->at], at, &v));
    if (v.kind == LKS_LIST_NONE) {
        if (c->f.default_value != NULL) return lks__copy_elements(t, first, c->f.default_value, 0, c->size);
        return lks__fail(LKS_E_ARG, "feature '%s' (%s) is required but the record does not have it%s", c->f.key,
                         lks_dtype_name(c->f.dtype), at.p == NULL ? "" : " (its entry has no values of any kind)");
    }
    if (v.n != c->size) return wrong_count(c, v.n);
    status = lks__values_put(&v, t, first);
    return status == LKS_OK ? status : lks__context(status, "feature '%s'", c->f.key);
}

lks_tensor *lks__column_output(lks_element *out, size_t leaf, lks_dtype dtype, int64_t rank, const int64_t *dims)
{
    lks_shape shape = lks_shape_of((size_t)rank, dims);
    lks_tensor *t = lks__element_room(out, leaf, dtype, &shape);

    if (t == NULL) return NULL;
    lks_tensor_release(out->value[leaf].tensor);
    out->value[leaf].tensor = t;
    return t;
}

lks_status lks__column_pad(const lks_column *c, lks_tensor *t, int64_t at, int64_t n)
{
    if (n <= 0) return LKS_OK;
    if (c->f.default_value != NULL) {
        for (int64_t i = 0; i < n; i++) LKS_TRY(lks__copy_elements(t, at + i, c->f.default_value, 0, 1));
    } else if (c->f.dtype == LKS_STRING) {
        for (int64_t i = 0; i < n; i++) LKS_TRY(lks__tensor_set_bytes(t, at + i, "", 0));
    } else {
        size_t size = lks_dtype_size(c->f.dtype);
        memset((char *)lks_tensor_data(t) + (size_t)at * size, 0, (size_t)n * size);
    }
    return LKS_OK;
}

const lks_column *lks__column_to_take(const lks_features *f, const lks_found *found, lks_record_place from,
                                      lks_wire *text)
{
    enum { LEAST = 1 << 11 }; /* less is copied as fast */
    size_t half, least;

    if (from.strings == NULL || f->n_late > 0) return NULL;
    half = ((const lks_bytes *)lks_tensor_cdata(from.strings))[from.i].size / 2;
    least = half > LEAST ? half : LEAST;
    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        if (c->list == LKS_LIST_BYTES && c->size == 1 && found->at[c->at].p != NULL &&
            lks__values_long_string(found->at[c->at], least, text))
            return c;
    }
    return NULL;
}

lks_status lks__column_take(lks_wire text, lks_record_place from, lks_tensor *t, int64_t at)
{
    const lks_bytes *record = (const lks_bytes *)lks_tensor_cdata(from.strings) + from.i;
    size_t offset = (size_t)((const char *)text.p - record->data), size = (size_t)(text.end - text.p);

    if (lks__tensor_move_part(t, at, from.strings, from.i, offset, size)) return LKS_OK;
    return lks__tensor_set_bytes(t, at, text.p, size);
}
