/* example_build.c - Examples under construction: each feature is kept as its serialized Feature message, sorted by key, so
 * that encoding is putting them together. Cleared entries keep their memory for the next Example. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "example.h"
#include "files/endian.h"
#include "tensor/tensor.h"

typedef struct entry {
    lks_text key, body; /* body: a Feature message, or the Features of a list one behind another as fields */
} entry;

typedef struct entries {
    entry *item; /* [0, n) in use and sorted, [n, made) spare */
    size_t n, made, room;
} entries;

struct lks_example {
    entries features, lists;
    lks_text scratch;
};

static lks_status no_memory(void)
{
    return lks__fail(LKS_E_NOMEM, "no memory for an Example");
}

/* ---- wire format ---- */

static void put_varint(lks_text *t, uint64_t v)
{
    char b[10];
    size_t n = 0;

    for (; v >= 128; v >>= 7) b[n++] = (char)(v | 128);
    b[n++] = (char)v;
    lks__text_append(t, b, n);
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    for (; v >= 128; v >>= 7) n++;
    return n;
}

/* Field `number` of n bytes, which the caller appends. */
static void put_field(lks_text *t, unsigned number, size_t n)
{
    put_varint(t, number << 3 | LKS_WIRE_SPAN);
    put_varint(t, n);
}

static size_t field_size(size_t n)
{
    return 1 + varint_size(n) + n;
}

/* Values given as one of three arrays. */
typedef struct values {
    lks_list_kind kind;
    size_t n;
    const void *data;
} values;

static size_t packed_size(const values *v)
{
    const int64_t *x = v->data;
    size_t size = 0;

    if (v->kind == LKS_LIST_FLOAT) return 4 * v->n;
    for (size_t i = 0; i < v->n; i++) size += varint_size((uint64_t)x[i]);
    return size;
}

static void put_packed(lks_text *t, const values *v)
{
    const int64_t *x = v->data;

    if (v->kind == LKS_LIST_INT64) {
        for (size_t i = 0; i < v->n; i++) put_varint(t, (uint64_t)x[i]);
        return;
    }
    if (lks__host_is_little()) {
        lks__text_append(t, v->data, 4 * v->n);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)v->data + i, 4);
        lks__swap_bytes(&bits, 1, 4);
        lks__text_append(t, (const char *)&bits, 4);
    }
}

static void put_feature(lks_text *t, const values *v)
{
    const lks_bytes *s = v->data;
    size_t size = 0, packed = 0;

    if (v->kind == LKS_LIST_BYTES) {
        for (size_t i = 0; i < v->n; i++) size += field_size(s[i].size);
    } else if (v->n > 0) {
        packed = packed_size(v);
        size = field_size(packed);
    }
    put_field(t, v->kind, size);
    if (v->kind == LKS_LIST_BYTES) {
        for (size_t i = 0; i < v->n; i++) {
            put_field(t, 1, s[i].size);
            lks__text_append(t, s[i].data, s[i].size);
        }
    } else if (v->n > 0) {
        put_field(t, 1, packed);
        put_packed(t, v);
    }
}

/* ---- entries ---- */

/* The entry of this key, made at its place if new; NULL on failure. */
static entry *find(entries *list, const char *key)
{
    size_t at = 0, n = strlen(key);
    entry fresh;

    while (at < list->n && strcmp(list->item[at].key.data, key) < 0) at++;
    if (at < list->n && strcmp(list->item[at].key.data, key) == 0) return &list->item[at];
    if (list->n == list->made) {
        if (lks__grow(&list->item, &list->room, list->made + 1, sizeof *list->item) != LKS_OK) return NULL;
        list->item[list->made++] = (entry){ { 0 }, { 0 } };
    }
    fresh = list->item[list->n];
    fresh.key.length = fresh.body.length = 0;
    lks__text_append(&fresh.key, key, n);
    if (fresh.key.failed) {
        lks__text_free(&fresh.key);
        fresh.key = (lks_text){ 0 };
        list->item[list->n] = fresh;
        return NULL;
    }
    memmove(list->item + at + 1, list->item + at, (list->n - at) * sizeof fresh);
    list->item[at] = fresh;
    list->n++;
    return &list->item[at];
}

static void free_entries(entries *list)
{
    for (size_t i = 0; i < list->made; i++) {
        lks__text_free(&list->item[i].key);
        lks__text_free(&list->item[i].body);
    }
    lks__free(list->item);
}

/* A failed buffer must not fail the next Example too. */
static lks_status settle(entries *list, entry *e)
{
    size_t at = (size_t)(e - list->item);
    entry broken = *e;

    if (!e->body.failed) return LKS_OK;
    lks__text_free(&broken.body);
    broken.body = (lks_text){ 0 };
    memmove(list->item + at, list->item + at + 1, (list->n - at - 1) * sizeof broken);
    list->item[--list->n] = broken;
    return no_memory();
}

static lks_status set(lks_example *x, const char *key, const values *v)
{
    entry *e;

    if (x == NULL || key == NULL || (v->data == NULL && v->n > 0))
        return lks__fail(LKS_E_ARG, "the Example, the key or the values are NULL");
    e = find(&x->features, key);
    if (e == NULL) return no_memory();
    e->body.length = 0;
    put_feature(&e->body, v);
    return settle(&x->features, e);
}

static lks_status add(lks_example *x, const char *key, const values *v)
{
    entry *e;

    if (x == NULL || key == NULL || (v->data == NULL && v->n > 0))
        return lks__fail(LKS_E_ARG, "the Example, the key or the values are NULL");
    x->scratch.length = 0;
    put_feature(&x->scratch, v);
    e = x->scratch.failed ? NULL : find(&x->lists, key);
    if (e == NULL) {
        lks__text_free(&x->scratch);
        x->scratch = (lks_text){ 0 };
        return no_memory();
    }
    put_field(&e->body, 1, x->scratch.length);
    lks__text_append(&e->body, x->scratch.data, x->scratch.length);
    return settle(&x->lists, e);
}

/* ---- public ---- */

lks_example *lks_example_create(void)
{
    lks_example *x = lks__calloc(1, sizeof *x);

    if (x == NULL) no_memory();
    return x;
}

void lks_example_release(lks_example *example)
{
    if (example == NULL) return;
    free_entries(&example->features);
    free_entries(&example->lists);
    lks__text_free(&example->scratch);
    lks__free(example);
}

void lks_example_clear(lks_example *example)
{
    if (example != NULL) example->features.n = example->lists.n = 0;
}

lks_status lks_example_set_int64(lks_example *example, const char *key, size_t n, const int64_t *v)
{
    return set(example, key, &(const values){ LKS_LIST_INT64, n, v });
}

lks_status lks_example_set_float(lks_example *example, const char *key, size_t n, const float *v)
{
    return set(example, key, &(const values){ LKS_LIST_FLOAT, n, v });
}

lks_status lks_example_set_bytes(lks_example *example, const char *key, size_t n, const lks_bytes *v)
{
    return set(example, key, &(const values){ LKS_LIST_BYTES, n, v });
}

lks_status lks_example_add_int64(lks_example *example, const char *key, size_t n, const int64_t *v)
{
    return add(example, key, &(const values){ LKS_LIST_INT64, n, v });
}

lks_status lks_example_add_float(lks_example *example, const char *key, size_t n, const float *v)
{
    return add(example, key, &(const values){ LKS_LIST_FLOAT, n, v });
}

lks_status lks_example_add_bytes(lks_example *example, const char *key, size_t n, const lks_bytes *v)
{
    return add(example, key, &(const values){ LKS_LIST_BYTES, n, v });
}

static bool is_float(lks_dtype dtype)
{
    return dtype == LKS_FLOAT32 || dtype == LKS_FLOAT64 || dtype == LKS_FLOAT16 || dtype == LKS_BFLOAT16;
}

lks_status lks_example_set_tensor(lks_example *example, const char *key, const lks_tensor *tensor)
{
    lks_dtype dtype = tensor == NULL ? (lks_dtype)0 : lks_tensor_dtype(tensor), as;
    lks_tensor *cast;
    lks_status status;
    size_t n;

    if (tensor == NULL) return lks__fail(LKS_E_ARG, "feature '%s' is set to a NULL tensor", key == NULL ? "" : key);
    n = (size_t)lks_tensor_size(tensor);
    if (dtype == LKS_STRING) return lks_example_set_bytes(example, key, n, lks_tensor_cdata(tensor));
    as = is_float(dtype) ? LKS_FLOAT32 : LKS_INT64;
    cast = lks_tensor_cast(tensor, as);
    if (cast == NULL) return lks__error_code();
    status = set(example, key,
                 &(const values){ as == LKS_FLOAT32 ? LKS_LIST_FLOAT : LKS_LIST_INT64, n, lks_tensor_cdata(cast) });
    lks_tensor_release(cast);
    return status;
}

static size_t entry_size(const entry *e)
{
    return field_size(e->key.length) + field_size(e->body.length);
}

/* Field `number`: the map of these entries. */
static void put_map(lks_text *t, unsigned number, const entries *list)
{
    size_t size = 0;

    for (size_t i = 0; i < list->n; i++) size += field_size(entry_size(&list->item[i]));
    put_field(t, number, size);
    for (size_t i = 0; i < list->n; i++) {
        const entry *e = &list->item[i];
        put_field(t, 1, entry_size(e));
        put_field(t, 1, e->key.length);
        lks__text_append(t, e->key.data, e->key.length);
        put_field(t, 2, e->body.length);
        lks__text_append(t, e->body.data, e->body.length);
    }
}

static void put_message(lks_text *t, const lks_example *x)
{
    if (x->lists.n == 0 || x->features.n > 0) put_map(t, 1, &x->features);
    if (x->lists.n > 0) put_map(t, 2, &x->lists);
}

lks_status lks__example_bytes(lks_example *x, const char **data, size_t *size)
{
    x->scratch.length = 0;
    put_message(&x->scratch, x);
    if (x->scratch.failed) {
        lks__text_free(&x->scratch);
        x->scratch = (lks_text){ 0 };
        return no_memory();
    }
    *data = x->scratch.data;
    *size = x->scratch.length;
    return LKS_OK;
}

lks_status lks_example_encode(lks_example *example, void **bytes, size_t *size)
{
    lks_text t = { 0 };
    size_t n;
    char *data;

    if (example == NULL || bytes == NULL || size == NULL)
        return lks__fail(LKS_E_ARG, "the Example or where its bytes go is NULL");
    put_message(&t, example);
    n = t.length;
    LKS_TRY(lks__text_take(&t, &data));
    *bytes = data;
    *size = n;
    return LKS_OK;
}
