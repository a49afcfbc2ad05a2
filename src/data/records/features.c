/* features.c - the compiled list of features: columns sorted by key, and the output's spec. */
#include <string.h>

#include "base/alloc.h"
#include "example.h"
#include "tensor/tensor.h"

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
    lks__wanted_free(f);
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

static lks_status check_partitions(const lks_feature *f)
{
    if (f->n_partitions > 0 && f->kind != LKS_RAGGED_FEATURE)
        return lks__fail(LKS_E_ARG, "only a ragged feature has partitions");
    if (f->n_partitions > LKS_MAX_RANK - 3)
        return lks__fail(LKS_E_ARG, "it has %zu partitions, %d are possible", f->n_partitions, LKS_MAX_RANK - 3);
    for (size_t i = 0; i < f->n_partitions; i++) {
        const lks_partition *p = &f->partitions[i];
        if (p->kind < LKS_ROW_SPLITS || p->kind > LKS_UNIFORM_ROW_LENGTH)
            return lks__fail(LKS_E_ARG, "the kind %d of partition %zu does not exist", (int)p->kind, i);
        if (p->kind == LKS_UNIFORM_ROW_LENGTH ? p->key != NULL : p->key == NULL)
            return lks__fail(LKS_E_ARG, "partition %zu %s", i,
                             p->key == NULL ? "has no key" : "has a uniform row length and takes no key");
        if (p->kind == LKS_UNIFORM_ROW_LENGTH && (p->length < 1 || p->length > INT32_MAX))
            return lks__fail(LKS_E_ARG, "the uniform row length %lld of partition %zu must be 1 or more",
                             (long long)p->length, i);
    }
    return LKS_OK;
}

static lks_status check_indices(const lks_feature *f)
{
    if (f->kind != LKS_SPARSE_FEATURE)
        return f->n_index_keys == 0 ? LKS_OK : lks__fail(LKS_E_ARG, "only a sparse feature has index keys");
    if (f->n_index_keys < 1 || (int64_t)f->n_index_keys != f->shape.rank || f->n_index_keys > LKS_MAX_RANK - 1)
        return lks__fail(LKS_E_ARG, "a sparse feature has one index key for each axis of its shape, found %zu for %lld",
                         f->n_index_keys, (long long)f->shape.rank);
    for (size_t i = 0; i < f->n_index_keys; i++)
        if (f->index_keys[i] == NULL) return lks__fail(LKS_E_ARG, "its index key %zu is NULL", i);
    if (f->default_value != NULL) return lks__fail(LKS_E_ARG, "a sparse feature has no default");
    return LKS_OK;
}

/* The shape of a sparse feature bounds indices, it is no memory: 0, or -1 if a size is unknown. */
static int64_t sizes_known(const lks_shape *shape)
{
    int64_t known = shape->rank < 0 || shape->rank > LKS_MAX_RANK ? -1 : 0;

    for (int64_t k = 0; known == 0 && k < shape->rank; k++)
        if (shape->dim[k] < 0) known = -1;
    return known;
}

static lks_status check_feature(const lks_feature *f)
{
    int64_t size = f->kind == LKS_SPARSE_FEATURE ? sizes_known(&f->shape) : lks_shape_size(&f->shape);
    char text[LKS_SHAPE_TEXT];

    if (f->dtype != LKS_INT64 && f->dtype != LKS_FLOAT32 && f->dtype != LKS_STRING)
        return lks__fail(LKS_E_ARG, "its dtype must be int64, float32 or string (what an Example can hold), found %s",
                         lks_dtype_name(f->dtype));
    if ((unsigned)f->kind > LKS_SPARSE_FEATURE) return lks__fail(LKS_E_ARG, "its kind %d does not exist", (int)f->kind);
    if (size < 0 || size > INT32_MAX || (f->kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && f->shape.rank > LKS_MAX_RANK - 2))
        return lks__fail(LKS_E_ARG,
                         "its shape must have known sizes%s, found %s (use a ragged or fixed-length sequence feature "
                         "for lengths that vary)",
                         size > INT32_MAX ? " of at most 2^31 values" : "", lks__shape_text(&f->shape, text));
    LKS_TRY(check_partitions(f));
    LKS_TRY(check_indices(f));
    return check_default(f);
}

/* What the column looks for in a record. */
static lks_status want(lks_features *out, lks_column *c, const lks_feature *f)
{
    LKS_TRY(lks__wanted_add(out, f->value_key != NULL ? f->value_key : f->key, c->list, &c->at));
    for (size_t i = 0; i < f->n_index_keys; i++) {
        LKS_TRY(lks__wanted_add(out, f->index_keys[i], LKS_LIST_INT64, &c->level[i].at));
        c->n_levels++;
    }
    for (size_t i = 0; i < f->n_partitions; i++) {
        lks_level *l = &c->level[i];
        l->kind = f->partitions[i].kind;
        l->length = f->partitions[i].length;
        if (l->kind != LKS_UNIFORM_ROW_LENGTH)
            LKS_TRY(lks__wanted_add(out, f->partitions[i].key, LKS_LIST_INT64, &l->at));
        c->n_levels++;
        if (l->kind != LKS_UNIFORM_ROW_LENGTH) c->n_ragged = c->n_levels;
    }
    return LKS_OK;
}

static lks_status fill_column(lks_features *out, lks_column *c, const lks_feature *f)
{
    c->f = *f;
    c->f.value_key = NULL;
    c->f.partitions = NULL;
    c->f.index_keys = NULL;
    c->f.key = lks__strdup(f->key);
    c->f.default_value = lks_tensor_retain(f->default_value);
    if (c->f.key == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a list of features");
    c->size = lks_shape_size(&f->shape);
    c->list = f->dtype == LKS_INT64 ? LKS_LIST_INT64 : f->dtype == LKS_FLOAT32 ? LKS_LIST_FLOAT : LKS_LIST_BYTES;
    return want(out, c, f);
}

/* Keeps column[0..n) sorted bytewise by key while one more goes in. */
static lks_status insert(lks_features *out, const lks_feature *f)
{
    size_t at = out->n;
    lks_status status;

    if (f->key == NULL) return lks__fail(LKS_E_ARG, "feature %zu has no key", out->n);
    while (at > 0 && strcmp(out->column[at - 1].f.key, f->key) > 0) at--;
    if (at > 0 && strcmp(out->column[at - 1].f.key, f->key) == 0)
        return lks__fail(LKS_E_ARG, "feature '%s' is listed twice", f->key);
    status = check_feature(f);
    if (status == LKS_OK) {
        lks_column *c = &out->column[at];
        memmove(c + 1, c, (out->n - at) * sizeof *c);
        *c = (lks_column){ 0 };
        out->n++;
        status = fill_column(out, c, f);
    }
    return status == LKS_OK ? status : lks__context(status, "feature '%s'", f->key);
}

static void number_leaves(lks_features *f)
{
    for (size_t i = 0; i < f->n; i++) {
        lks_column *c = &f->column[i];
        c->leaf = f->n_leaves;
        f->n_leaves += c->f.kind == LKS_VAR_LEN_FEATURE || c->f.kind == LKS_SPARSE_FEATURE ? 3 : 1;
        c->late = f->n_late;
        if (lks__column_late(c)) f->n_late += 1 + c->n_levels;
    }
}

lks_features *lks_features_create(size_t n, size_t feature_size, const lks_feature *features)
{
    lks_features *f;
    lks_status status = LKS_OK;

    if (features == NULL || feature_size < offsetof(lks_feature, kind)) {
        lks__fail(LKS_E_ARG, "a list of features needs the features and feature_size = sizeof(lks_feature), found %zu",
                  feature_size);
        return NULL;
    }
    if (n < 1 || n > LKS_MAX_FEATURES) {
        lks__fail(LKS_E_ARG, "a list of features has 1 to %d of them, found %zu", LKS_MAX_FEATURES, n);
        return NULL;
    }
    f = lks__calloc(1, sizeof *f);
    if (f != NULL) f->column = lks__calloc(n, sizeof *f->column);
    if (f == NULL || f->column == NULL) {
        lks__free(f);
        lks__fail(LKS_E_NOMEM, "no memory for a list of features");
        return NULL;
    }
    atomic_init(&f->references, 1);
    for (size_t i = 0; i < n && status == LKS_OK; i++) {
        lks_feature one = { 0 };
        memcpy(&one, (const char *)features + i * feature_size, feature_size < sizeof one ? feature_size : sizeof one);
        status = insert(f, &one);
    }
    if (status == LKS_OK) status = lks__wanted_sort(f);
    if (status == LKS_OK) {
        number_leaves(f);
        return f;
    }
    lks_features_release(f);
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

/* outer + rows of each ragged partition + values + the uniform axes */
static lks_spec *ragged_spec(const lks_column *c, int64_t n_outer, const int64_t *outer)
{
    lks_shape shape = { .rank = n_outer };
    int64_t ragged_rank = n_outer + (int64_t)c->n_ragged;

    for (int64_t k = 0; k < n_outer; k++) shape.dim[k] = outer[k];
    for (size_t k = 0; k <= c->n_ragged; k++) shape.dim[shape.rank++] = -1;
    for (size_t k = c->n_ragged; k < c->n_levels; k++) shape.dim[shape.rank++] = c->level[k].length;
    return ragged_rank > 0 ? lks_spec_ragged(c->f.dtype, shape, ragged_rank) : lks_spec_tensor(c->f.dtype, shape);
}

lks_spec *lks__column_spec(const lks_column *c, int64_t n_outer, const int64_t *outer)
{
    lks_shape shape = { .rank = n_outer };

    switch (c->f.kind) {
    case LKS_VAR_LEN_FEATURE: return sparse_spec(c->f.dtype, n_outer + 1);
    case LKS_SPARSE_FEATURE: return sparse_spec(c->f.dtype, n_outer + c->f.shape.rank);
    case LKS_RAGGED_FEATURE: return ragged_spec(c, n_outer, outer);
    default: break;
    }
    for (int64_t k = 0; k < n_outer; k++) shape.dim[k] = outer[k];
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
            part[i] = lks__column_spec(&f->column[i], batch ? 1 : 0, &rows);
        }
        spec = lks_spec_dict(f->n, name, part);
    } else {
        lks__fail(LKS_E_NOMEM, "no memory for an element spec");
    }
    lks__free(part);
    lks__free(name);
    return spec;
}
