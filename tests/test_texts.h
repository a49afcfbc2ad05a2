/* test_texts.h - elements as text, for tests that compare whole passes. */
#ifndef TEST_TEXTS_H
#define TEST_TEXTS_H

#include "test_data.h"

#include "base/text.h"

/* With ' for ", so that they can be read. */
static inline const char *quoted(const char *text)
{
    static char out[4096];
    size_t n = strlen(text);

    assert_true(n < sizeof out);
    for (size_t i = 0; i <= n; i++) out[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    return out;
}

/* A zero byte becomes two letters. */
static inline void put_string(lks_text *t, const lks_bytes *b)
{
    for (size_t i = 0; i < b->size; i++) {
        if (b->data[i] == '\0') lks__text_puts(t, "\\0");
        else lks__text_append(t, b->data + i, 1);
    }
}

static inline void put_number(lks_text *t, const lks_tensor *v, int64_t i)
{
    const void *data = lks_tensor_cdata(v);

    switch (lks_tensor_dtype(v)) {
    case LKS_INT64: lks__text_printf(t, "%lld", (long long)((const int64_t *)data)[i]); break;
    case LKS_INT32: lks__text_printf(t, "%d", (int)((const int32_t *)data)[i]); break;
    case LKS_UINT8:
    case LKS_BOOL: lks__text_printf(t, "%d", ((const uint8_t *)data)[i]); break;
    case LKS_FLOAT32: lks__text_printf(t, "%g", (double)((const float *)data)[i]); break;
    case LKS_FLOAT64: lks__text_printf(t, "%g", ((const double *)data)[i]); break;
    case LKS_STRING: put_string(t, &((const lks_bytes *)data)[i]); break;
    default: lks__text_printf(t, "<%s>", lks_dtype_name(lks_tensor_dtype(v))); break;
    }
}

/* Rows [first, end) of axis `axis`; each has `size` elements in all. */
static inline void put_rows(lks_text *t, const lks_tensor *v, int64_t axis, int64_t first, int64_t end, int64_t size)
{
    lks_shape shape = lks_tensor_shape(v);

    lks__text_puts(t, "[");
    for (int64_t i = first; i < end; i++) {
        if (i > first) lks__text_puts(t, ",");
        if (axis + 1 < shape.rank) {
            int64_t n = shape.dim[axis + 1];
            put_rows(t, v, axis + 1, i * n, i * n + n, n == 0 ? 0 : size / n);
        } else {
            put_number(t, v, i);
        }
    }
    lks__text_puts(t, "]");
}

static inline void put_dense(lks_text *t, const lks_tensor *v)
{
    if (lks_tensor_shape(v).rank == 0) put_number(t, v, 0);
    else put_rows(t, v, 0, 0, lks_tensor_shape(v).dim[0], lks_tensor_size(v));
}

static inline void put_ragged(lks_text *t, const lks_ragged *r, size_t level, int64_t first, int64_t end)
{
    if (level == lks_ragged_rank(r)) {
        put_rows(t, lks_ragged_values(r), 0, first, end, 0);
        return;
    }
    lks__text_puts(t, "[");
    for (int64_t i = first; i < end; i++) {
        const int64_t *split = lks_tensor_cdata(lks_ragged_split(r, level));
        if (i > first) lks__text_puts(t, ",");
        put_ragged(t, r, level + 1, split[i], split[i + 1]);
    }
    lks__text_puts(t, "]");
}

static inline void put_leaf(lks_text *t, lks_element *e, size_t i)
{
    lks_ragged *r = lks_element_ragged(e, i);

    if (r != NULL) put_ragged(t, r, 0, 0, lks_tensor_size(lks_ragged_split(r, 0)) - 1);
    else put_dense(t, lks_element_tensor(e, i));
}

/* All leaves with blanks between, elements with "; ". Or the sentence of the first failure. */
static inline const char *texts_of(lks_dataset *ds)
{
    static lks_text t;
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = lks_iter_create(ds, &it);

    lks__text_free(&t);
    lks__text_puts(&t, "");
    while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) {
        if (t.length > 0) lks__text_puts(&t, "; ");
        for (size_t i = 0; i < lks_element_count(e); i++) {
            if (i > 0) lks__text_puts(&t, " ");
            put_leaf(&t, e, i);
        }
        lks_element_release(e);
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    return status == LKS_END ? t.data : lks_last_error();
}

#endif
