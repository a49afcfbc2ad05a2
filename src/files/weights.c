/* weights.c - see weights.h. */
#include "weights.h"

#include <string.h>

#include "base/alloc.h"
#include "reader.h"
#include "save.h"

static void free_attr(lks_weight_attr *a)
{
    for (size_t i = 0; i < a->count; i++) lks__free(a->values[i]);
    lks__free(a->values);
    lks__free(a->name);
}

static void free_entry(lks_weight_entry *e)
{
    for (size_t i = 0; i < e->n_attrs; i++) free_attr(&e->attrs[i]);
    lks__free(e->attrs);
    lks__free(e->path);
    lks_tensor_release(e->tensor);
}

void lks__weights_free(lks_weights *w)
{
    for (size_t i = 0; i < w->count; i++) free_entry(&w->entries[i]);
    lks__free(w->entries);
    lks__free(w->table);
    memset(w, 0, sizeof *w);
}

static size_t hash(const char *path)
{
    uint64_t h = 14695981039346656037u;

    for (; *path != '\0'; path++) h = (h ^ (unsigned char)*path) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

/* The slot that holds `path`, or the free one where it belongs. */
static size_t slot_of(const lks_weights *w, const char *path)
{
    size_t i = hash(path) & (w->table_size - 1);

    while (w->table[i] != 0 && strcmp(w->entries[w->table[i] - 1].path, path) != 0) i = (i + 1) & (w->table_size - 1);
    return i;
}

static lks_status reserve(lks_weights *w)
{
    size_t size = w->table_size ? w->table_size * 2 : 64;
    size_t *table;

    LKS_TRY(lks__grow(&w->entries, &w->capacity, w->count + 1, sizeof *w->entries));
    if ((w->count + 1) * 2 <= w->table_size) return LKS_OK;
    table = lks__calloc(size, sizeof *table);
    if (table == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu weights", w->count);
    lks__free(w->table);
    w->table = table;
    w->table_size = size;
    for (size_t i = 0; i < w->count; i++) w->table[slot_of(w, w->entries[i].path)] = i + 1;
    return LKS_OK;
}

static lks_status add(lks_weights *w, const char *path, lks_tensor *tensor)
{
    char *copy;

    LKS_TRY(reserve(w));
    if (w->table[slot_of(w, path)] != 0) return lks__fail(LKS_E_ARG, "the weights have '%s' already", path);
    copy = lks__strdup(path);
    if (copy == NULL) return lks__fail(LKS_E_NOMEM, "no memory for weight '%s'", path);
    w->entries[w->count] = (lks_weight_entry){ .path = copy, .tensor = lks_tensor_retain(tensor) };
    w->table[slot_of(w, path)] = w->count + 1;
    w->count++;
    return LKS_OK;
}

lks_status lks__weights_add(lks_weights *w, const char *path, lks_tensor *tensor)
{
    if (tensor == NULL || *path == '\0') return lks__fail(LKS_E_ARG, "a weight needs a path and a tensor");
    return add(w, path, tensor);
}

lks_status lks__weights_add_group(lks_weights *w, const char *path)
{
    return add(w, path, NULL);
}

lks_status lks__weights_add_named_group(lks_weights *w, const char *path, const char *name)
{
    LKS_TRY(add(w, path, NULL));
    return lks__weights_set_attr(w, path, "name", name);
}

static lks_status set(lks_weights *w, const char *path, const char *name, bool list, size_t n, const char *const *v)
{
    lks_weight_entry *e = (lks_weight_entry *)(uintptr_t)lks__weights_find(w, path);
    lks_weight_attr a = { .is_list = list };

    if (e == NULL) return lks__fail(LKS_E_ARG, "there is no '%s' in the weights to describe", path);
    LKS_TRY(lks__grow(&e->attrs, &e->attr_capacity, e->n_attrs + 1, sizeof *e->attrs));
    a.name = lks__strdup(name);
    a.values = lks__calloc(n, sizeof *a.values);
    if (a.name == NULL || a.values == NULL) goto no_memory;
    for (; a.count < n; a.count++) {
        a.values[a.count] = lks__strdup(v[a.count]);
        if (a.values[a.count] == NULL) goto no_memory;
    }
    e->attrs[e->n_attrs++] = a;
    return LKS_OK;

no_memory:
    free_attr(&a);
    return lks__fail(LKS_E_NOMEM, "no memory for attribute '%s' of '%s'", name, path);
}

lks_status lks__weights_set_attr(lks_weights *w, const char *path, const char *name, const char *value)
{
    return set(w, path, name, false, 1, &value);
}

lks_status lks__weights_set_list(lks_weights *w, const char *path, const char *name, size_t n, const char *const *v)
{
    return set(w, path, name, true, n, v);
}

const lks_weight_entry *lks__weights_find(const lks_weights *w, const char *path)
{
    size_t found;

    if (w->table_size == 0) return NULL;
    found = w->table[slot_of(w, path)];
    return found != 0 ? &w->entries[found - 1] : NULL;
}

lks_tensor *lks__weights_tensor(const lks_weights *w, const char *path)
{
    const lks_weight_entry *e = lks__weights_find(w, path);

    return e != NULL ? e->tensor : NULL;
}

const lks_weight_attr *lks__weights_attr(const lks_weights *w, const char *path, const char *name)
{
    const lks_weight_entry *e = lks__weights_find(w, path);

    for (size_t i = 0; e != NULL && i < e->n_attrs; i++)
        if (strcmp(e->attrs[i].name, name) == 0) return &e->attrs[i];
    return NULL;
}

lks_status lks__weights_load(const char *path, lks_weights *out)
{
    void *data;
    size_t n;
    lks_status status;

    LKS_TRY(lks__read_file(path, UINT64_MAX, &data, &n));
    status = lks__weights_read_h5(data, n, path, out);
    lks__free(data);
    return status;
}

lks_status lks__weights_save(const char *path, const lks_weights *w)
{
    void *data;
    size_t n;
    lks_status status;

    LKS_TRY(lks__weights_write_h5(w, &data, &n));
    status = lks__save_file(path, data, n);
    lks__free(data);
    return status;
}
