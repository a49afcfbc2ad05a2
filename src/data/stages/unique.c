/* unique.c - first occurrences; remembers every value it has seen in an open-addressing table. */
#include <string.h>

#include "data/predicate.h"
#include "data/stages.h"

typedef struct unique_cursor {
    lks_cursor base;
    lks_element **table; /* power of two; NULL = free */
    size_t size, n;
} unique_cursor;

static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static uint64_t hash(const lks_tensor *t)
{
    uint64_t h = 0xCBF29CE484222325u;
    const lks_bytes *text = lks_tensor_cdata(t);
    int64_t n = lks_tensor_size(t);

    if (lks_tensor_dtype(t) != LKS_STRING) h = mix(h, text, (size_t)n * lks_dtype_size(lks_tensor_dtype(t)));
    else
        for (int64_t i = 0; i < n; i++) h = mix(mix(h, text[i].data, text[i].size), &text[i].size, sizeof text[i].size);
    return h ^ h >> 29;
}

static bool same(const lks_tensor *a, const lks_tensor *b)
{
    lks_shape x = lks_tensor_shape(a), y = lks_tensor_shape(b);
    const lks_bytes *s = lks_tensor_cdata(a), *t = lks_tensor_cdata(b);
    int64_t n = lks_tensor_size(a);

    if (!lks_shape_equal(&x, &y)) return false;
    if (lks_tensor_dtype(a) != LKS_STRING)
        return n == 0 || memcmp(s, t, (size_t)n * lks_dtype_size(lks_tensor_dtype(a))) == 0;
    for (int64_t i = 0; i < n; i++)
        if (s[i].size != t[i].size || (s[i].size > 0 && memcmp(s[i].data, t[i].data, s[i].size) != 0)) return false;
    return true;
}

/* The place of an equal element, or the free one where it belongs. */
static size_t find(const unique_cursor *u, const lks_element *e)
{
    const lks_tensor *t = e->value[0].tensor;
    size_t at = (size_t)hash(t) & (u->size - 1);

    while (u->table[at] != NULL && !same(u->table[at]->value[0].tensor, t)) at = (at + 1) & (u->size - 1);
    return at;
}

static lks_status make_room(unique_cursor *u)
{
    lks_element **old = u->table, **table;
    size_t size = u->size == 0 ? 64 : 2 * u->size, old_size = u->size;

    if (2 * (u->n + 1) <= u->size) return LKS_OK;
    table = lks__calloc(size, sizeof *table);
    if (table == NULL) return lks__cursor_fail(&u->base, LKS_E_NOMEM, "no memory for %zu values", size);
    u->table = table;
    u->size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i] != NULL) table[find(u, old[i])] = old[i];
    lks__free(old);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    unique_cursor *u = (unique_cursor *)n;

    for (;;) {
        lks_element *e;
        size_t at;
        LKS_TRY(make_room(u));
        LKS_TRY(lks__cursor_next(n->input[0], &e));
        at = find(u, e);
        if (u->table[at] == NULL) {
            u->table[at] = lks_element_retain(e);
            u->n++;
            *out = e;
            return LKS_OK;
        }
        lks_element_release(e);
    }
}

static void close(lks_cursor *n)
{
    unique_cursor *u = (unique_cursor *)n;

    for (size_t i = 0; i < u->size; i++) lks_element_release(u->table[i]);
    lks__free(u->table);
}

const lks_stage lks__stage_unique = { .name = "unique",
                                      .dataset_size = sizeof(lks_dataset),
                                      .cursor_size = sizeof(unique_cursor),
                                      .next = next,
                                      .close = close };

lks_dataset *lks_unique(lks_dataset *dataset)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_unique, dataset);
    char text[LKS_SPEC_TEXT];
    lks_dtype dtype;

    if (!lks__dataset_ok(ds)) return ds;
    dtype = lks_spec_dtype(ds->spec);
    if (lks_spec_kind_of(ds->spec) != LKS_SPEC_TENSOR ||
        (dtype != LKS_INT32 && dtype != LKS_INT64 && dtype != LKS_STRING))
        return lks__dataset_fail(ds, lks__fail(LKS_E_SHAPE, "takes one int32, int64 or string tensor, found %s",
                                               lks__spec_text(ds->spec, text)));
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return ds;
}
