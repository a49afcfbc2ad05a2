/* features.c - the compiled list of features: columns sorted by key, a hash table from keys to columns, the output's spec. */
#include <string.h>

#include "base/alloc.h"
#include "example.h"
#include "tensor/tensor.h"

static uint32_t hash(const unsigned char *key, size_t n)
{
    uint32_t h = 2166136261u ^ (uint32_t)n;

    for (size_t i = 0; i < n; i++) h = (h ^ key[i]) * 16777619u;
    return h ^ h >> 15;
}

int lks__features_find(const lks_features *f, const unsigned char *key, size_t n)
{
    size_t at = hash(key, n) & (f->slots - 1);

    for (; f->slot[at] != 0; at = (at + 1) & (f->slots - 1)) {
        const lks_column *c = &f->column[f->slot[at] - 1];
        if (c->key_size == n && (n == 0 || memcmp(c->f.key, key, n) == 0)) return f->slot[at] - 1;
    }
    return -1;
}

lks_features *lks_features_retain(lks_features *features)
{
    if (features != NULL) atomic_fetch_add(&features->references, 1);
    return features;
}

void lks_features_release(lks_features *f)
{
    if (f == NULL || atomic_fetch_sub(&f->references, 1) != 1) return;
    for (size_t i = 0; f->column != NULL && i < f->n; i++) {
        lks__free((char *)f->column[i].f.key);
        lks_tensor_release(f->column[i].f.default_value);
    }
    lks__free(f->column);
    lks__free(f->slot);
    lks__free(f);
}

const char *lks__list_name(lks_list_kind kind)
{
    static const char *const name[] = { "no", "bytes", "float", "int64" };

    return name[kind];
}

static lks_status check_default(const lks_feature *f)
{
    lks_shape shape;
    char want[LKS_SHAPE_TEXT], found[LKS_SHAPE_TEXT];

    if (f->default_value == NULL) return LKS_OK;
    if (lks_tensor_dtype(f->default_value) != f->dtype)
        return lks__fail(LKS_E_ARG, "its default is %s, the feature %s",
                         lks_dtype_name(lks_tensor_dtype(f->default_value)), lks_dtype_name(f->dtype));
    shape = lks_tensor_shape(f->default_value);
    if (f->kind == LKS_FIXED_LEN_FEATURE && !lks_shape_equal(&shape, &f->shape))
        return lks__fail(LKS_E_ARG, "its default has shape %s, the feature %s", lks__shape_text(&shape, found),
                         lks__shape_text(&f->shape, want));
    if (f->kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && lks_tensor_size(f->default_value) != 1)
        return lks__fail(LKS_E_ARG, "its padding must be one value, found shape %s", lks__shape_text(&shape, found));
    return LKS_OK;
}

static lks_status check_feature(const lks_feature *f)
{
    char text[LKS_SHAPE_TEXT];

    if (f->dtype != LKS_INT64 && f->dtype != LKS_FLOAT32 && f->dtype != LKS_STRING)
        return lks__fail(LKS_E_ARG, "its dtype must be int64, float32 or string (what an Example can hold), found %s",
                         lks_dtype_name(f->dtype));
    if ((unsigned)f->kind > LKS_FIXED_LEN_SEQUENCE_FEATURE)
        return lks__fail(LKS_E_ARG, "its kind %d does not exist", (int)f->kind);
    if (lks_shape_size(&f->shape) < 0 || lks_shape_size(&f->shape) > INT32_MAX ||
        (f->kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && f->shape.rank > LKS_MAX_RANK - 2))
        return lks__fail(LKS_E_ARG,
                         "its shape must have known sizes%s, found %s (use a ragged or fixed-length sequence feature "
                         "for lengths that vary)",
                         lks_shape_size(&f->shape) > INT32_MAX ? " of at most 2^31 values" : "",
                         lks__shape_text(&f->shape, text));
    return check_default(f);
}

static lks_status fill_column(lks_column *c, const lks_feature *f)
{
    LKS_TRY(check_feature(f));
    c->f = *f;
    c->f.key = lks__strdup(f->key);
    c->f.default_value = lks_tensor_retain(f->default_value);
    if (c->f.key == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    c->key_size = strlen(f->key);
    c->size = lks_shape_size(&f->shape);
    c->list = f->dtype == LKS_INT64 ? LKS_LIST_INT64 : f->dtype == LKS_FLOAT32 ? LKS_LIST_FLOAT : LKS_LIST_BYTES;
    return LKS_OK;
}

/* Keeps column[0..n) sorted bytewise by key while one more goes in. */
static lks_status insert(lks_features *out, const lks_feature *f)
{
    size_t at = out->n;
    lks_column c = { 0 };
    lks_status status;

    if (f->key == NULL) return lks__fail(LKS_E_ARG, "feature %zu has no key", out->n);
    while (at > 0 && strcmp(out->column[at - 1].f.key, f->key) > 0) at--;
    if (at > 0 && strcmp(out->column[at - 1].f.key, f->key) == 0)
        return lks__fail(LKS_E_ARG, "feature '%s' is listed twice", f->key);
    status = fill_column(&c, f);
    memmove(out->column + at + 1, out->column + at, (out->n - at) * sizeof c);
    out->column[at] = c;
    out->n++;
    return status == LKS_OK ? status : lks__context(status, "feature '%s'", f->key);
}

static void number_leaves(lks_features *f)
{
    for (size_t i = 0; i < f->n; i++) {
        size_t at = hash((const unsigned char *)f->column[i].f.key, f->column[i].key_size) & (f->slots - 1);
        while (f->slot[at] != 0) at = (at + 1) & (f->slots - 1);
        f->slot[at] = (uint16_t)(i + 1);
        f->column[i].leaf = f->n_leaves;
        f->n_leaves += f->column[i].f.kind == LKS_VAR_LEN_FEATURE ? 3 : 1;
    }
}

lks_features *lks_features_create(size_t n, size_t feature_size, const lks_feature *features)
{
    lks_features *f;
    lks_status status = LKS_OK;

    if (n < 1 || n > LKS_MAX_FEATURES || feature_size < offsetof(lks_feature, kind)) {
        lks__fail(LKS_E_ARG, "a list of features has 1 to %d of them, found %zu", LKS_MAX_FEATURES, n);
        return NULL;
    }
    f = lks__calloc(1, sizeof *f);
    if (f == NULL) goto no_memory;
    atomic_init(&f->references, 1);
    for (f->slots = 4; f->slots < 3 * n;) f->slots *= 2;
    f->column = lks__calloc(n, sizeof *f->column);
    f->slot = lks__calloc(f->slots, sizeof *f->slot);
    if (f->column == NULL || f->slot == NULL) goto no_memory;
    for (size_t i = 0; i < n && status == LKS_OK; i++) {
        lks_feature one = { 0 };
        memcpy(&one, (const char *)features + i * feature_size, feature_size < sizeof one ? feature_size : sizeof one);
        status = insert(f, &one);
    }
    if (status == LKS_OK) {
        number_leaves(f);
        return f;
    }
    lks_features_release(f);
    return NULL;

no_memory:
    lks_features_release(f);
    lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    return NULL;
}

/* ---- what it gives ---- */

static lks_spec *sparse_spec(lks_dtype dtype, int64_t rank)
{
    static const char *const names[] = { "dense_shape", "indices", "values" };
    lks_spec *part[3] = { lks_spec_tensor(LKS_INT64, lks_shape(rank)), lks_spec_tensor(LKS_INT64, lks_shape(-1, rank)),
                          lks_spec_tensor(dtype, lks_shape(-1)) };

    return lks_spec_dict(3, names, part);
}

static lks_spec *column_spec(const lks_column *c, bool batch, int64_t rows)
{
    lks_shape shape = { 0 };

    switch (c->f.kind) {
    case LKS_VAR_LEN_FEATURE: return sparse_spec(c->f.dtype, batch ? 2 : 1);
    case LKS_RAGGED_FEATURE:
        return batch ? lks_spec_ragged(c->f.dtype, lks_shape(rows, -1), 1) : lks_spec_tensor(c->f.dtype, lks_shape(-1));
    default: break;
    }
    if (batch) shape.dim[shape.rank++] = rows;
    if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE) shape.dim[shape.rank++] = -1;
    if (shape.rank + c->f.shape.rank > LKS_MAX_RANK) {
        lks__fail(LKS_E_SHAPE, "feature '%s' has too many axes for a batch", c->f.key);
        return NULL;
    }
    for (int64_t k = 0; k < c->f.shape.rank; k++) shape.dim[shape.rank++] = c->f.shape.dim[k];
    return lks_spec_tensor(c->f.dtype, shape);
}

lks_spec *lks__features_spec(const lks_features *f, bool batch, int64_t rows)
{
    const char **name = lks__calloc(f->n, sizeof *name);
    lks_spec **part = lks__calloc(f->n, sizeof *part), *spec = NULL;

    if (name != NULL && part != NULL) {
        for (size_t i = 0; i < f->n; i++) {
            name[i] = f->column[i].f.key;
            part[i] = column_spec(&f->column[i], batch, rows);
        }
        spec = lks_spec_dict(f->n, name, part);
    } else {
        lks__fail(LKS_E_NOMEM, "no memory for an element spec");
    }
    lks__free(part);
    lks__free(name);
    return spec;
}
