/* wanted.c - the keys to look for in a record: each once, sorted, with a hash table. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "example.h"

static uint32_t hash(const unsigned char *key, size_t n)
{
    uint32_t h = 2166136261u ^ (uint32_t)n;

    for (size_t i = 0; i < n; i++) h = (h ^ key[i]) * 16777619u;
    return h ^ h >> 15;
}

int lks__wanted_find(const lks_features *f, const unsigned char *key, size_t n)
{
    size_t at = hash(key, n) & (f->slots - 1);

    for (; f->slot[at] != 0; at = (at + 1) & (f->slots - 1)) {
        const lks_wanted *w = &f->wanted[f->slot[at] - 1];
        if (w->size == n && (n == 0 || memcmp(w->key, key, n) == 0)) return f->slot[at] - 1;
    }
    return -1;
}

lks_status lks__wanted_add(lks_features *f, const char *key, lks_list_kind list, size_t *at)
{
    lks_wanted *w;

    for (*at = 0; *at < f->n_wanted; ++*at) {
        if (strcmp(f->wanted[*at].key, key) != 0) continue;
        if (f->wanted[*at].list == list) return LKS_OK;
        return lks__fail(LKS_E_ARG, "'%s' is wanted as %s and as %s", key, lks__list_name(f->wanted[*at].list),
                         lks__list_name(list));
    }
    if (f->n_wanted == LKS_MAX_FEATURES)
        return lks__fail(LKS_E_LIMIT, "the list asks for more than %d features of a record", LKS_MAX_FEATURES);
    w = lks__realloc(f->wanted, (f->n_wanted + 1) * sizeof *w);
    if (w == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    f->wanted = w;
    w += f->n_wanted;
    *w = (lks_wanted){ lks__strdup(key), strlen(key), list };
    if (w->key == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    f->n_wanted++;
    return LKS_OK;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const lks_wanted *)a)->key, ((const lks_wanted *)b)->key);
}

lks_status lks__wanted_sort(lks_features *f)
{
    char *old[LKS_MAX_FEATURES];
    uint16_t now[LKS_MAX_FEATURES];

    for (f->slots = 4; f->slots < 3 * f->n_wanted;) f->slots *= 2;
    f->slot = lks__calloc(f->slots, sizeof *f->slot);
    if (f->slot == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    for (size_t i = 0; i < f->n_wanted; i++) old[i] = f->wanted[i].key;
    qsort(f->wanted, f->n_wanted, sizeof *f->wanted, by_key);
    for (size_t i = 0; i < f->n_wanted; i++) {
        size_t at = hash((const unsigned char *)f->wanted[i].key, f->wanted[i].size) & (f->slots - 1);
        while (f->slot[at] != 0) at = (at + 1) & (f->slots - 1);
        f->slot[at] = (uint16_t)(i + 1);
        for (size_t k = 0; k < f->n_wanted; k++)
            if (old[k] == f->wanted[i].key) now[k] = (uint16_t)i;
    }
    for (size_t i = 0; i < f->n; i++) {
        lks_column *c = &f->column[i];
        c->at = now[c->at];
        for (size_t k = 0; k < c->n_levels; k++)
            if (c->level[k].kind != LKS_UNIFORM_ROW_LENGTH) c->level[k].at = now[c->level[k].at];
    }
    return LKS_OK;
}

void lks__wanted_free(lks_features *f)
{
    for (size_t i = 0; i < f->n_wanted; i++) lks__free(f->wanted[i].key);
    lks__free(f->wanted);
    lks__free(f->slot);
}
