/* recipe.c - the fingerprint of a dataset: FNV-1a over stage names, parameters and specs of the whole tree. Two datasets with one
 * fingerprint yield the same elements from the same state. */
#include <string.h>

#include "stage.h"

struct lks_recipe {
    uint64_t hash;
};

void lks__recipe_bytes(lks_recipe *r, const void *data, size_t size)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < size; i++) r->hash = (r->hash ^ p[i]) * 0x100000001B3u;
}

void lks__recipe_int(lks_recipe *r, int64_t value)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
    lks__recipe_bytes(r, bytes, sizeof bytes);
}

void lks__recipe_text(lks_recipe *r, const char *text)
{
    lks__recipe_bytes(r, text, strlen(text) + 1);
}

/* Of large arrays a sample spread over all of it. */
static void add_sample(lks_recipe *r, const char *data, size_t size)
{
    enum { WHOLE = 1 << 20, PIECE = 4096, PIECES = WHOLE / PIECE };

    if (size <= WHOLE) {
        lks__recipe_bytes(r, data, size);
        return;
    }
    for (size_t i = 0; i < PIECES; i++) lks__recipe_bytes(r, data + (size - PIECE) / (PIECES - 1) * i, PIECE);
}

void lks__recipe_tensor(lks_recipe *r, const lks_tensor *t)
{
    enum { MOST_TEXTS = 4096 };
    lks_shape shape;
    int64_t step;

    if (t == NULL) {
        lks__recipe_int(r, -1);
        return;
    }
    shape = lks_tensor_shape(t);
    lks__recipe_int(r, (int64_t)lks_tensor_dtype(t));
    for (int64_t k = 0; k < shape.rank; k++) lks__recipe_int(r, shape.dim[k]);
    step = lks_tensor_size(t) / MOST_TEXTS + 1;
    for (int64_t i = 0; lks_tensor_dtype(t) == LKS_STRING && i < lks_tensor_size(t); i += step) {
        const lks_bytes *b = (const lks_bytes *)lks_tensor_cdata(t) + i;
        lks__recipe_int(r, (int64_t)b->size);
        add_sample(r, b->data, b->size);
    }
    if (lks_tensor_dtype(t) != LKS_STRING)
        add_sample(r, lks_tensor_cdata(t), (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t)));
}

static void add(lks_recipe *r, const lks_dataset *ds)
{
    char text[LKS_SPEC_TEXT];

    lks__recipe_text(r, ds->stage->name);
    lks__recipe_text(r, lks__spec_text(ds->spec, text));
    if (ds->stage->describe != NULL) ds->stage->describe(ds, r);
    lks__recipe_int(r, (int64_t)ds->n_inputs);
    for (size_t i = 0; i < ds->n_inputs; i++) add(r, ds->input[i]);
}

uint64_t lks__recipe_of(void (*describe)(const void *what, lks_recipe *r), const void *what)
{
    lks_recipe r = { 0xCBF29CE484222325u };

    describe(what, &r);
    return r.hash;
}

uint64_t lks__recipe_fingerprint(const lks_dataset *ds)
{
    lks_recipe r = { 0xCBF29CE484222325u };

    add(&r, ds);
    return r.hash;
}
