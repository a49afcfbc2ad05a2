/* layout.c - features.json as a list of leaves in the order of the element's components, and the element's spec. */
#include <string.h>

#include "base/alloc.h"
#include "tensor/tensor.h"
#include "tfds.h"

typedef struct building {
    lks_tfds_layout *out;
    lks_text key; /* of the feature at hand */
    bool decode_images;
    int depth;
} building;

static lks_status at_feature(const building *b, lks_status code, const char *what)
{
    return lks__fail(code, "feature '%s' of features.json %s", b->key.length > 0 ? b->key.data : "", what);
}

/* {"dimensions": ["28", "-1"]}: unknown sizes are -1, "" or 0 with null. */
static lks_status read_shape(const building *b, const json_t *shape, lks_shape *out)
{
    const json_t *dims = json_object_get(shape, "dimensions");
    json_t *item;
    size_t i;

    *out = (lks_shape){ 0 };
    if (json_array_size(dims) > LKS_MAX_RANK) return at_feature(b, LKS_E_LIMIT, "has too many axes");
    json_array_foreach((json_t *)dims, i, item)
    {
        int64_t v = -1;
        if (json_is_integer(item)) v = json_integer_value(item);
        else if (json_is_string(item) && *json_string_value(item) != '\0' &&
                 !lks__parse_int(json_string_value(item), &v))
            return at_feature(b, LKS_E_FORMAT, "has a shape of other things than numbers");
        if (v < -1 || v > INT32_MAX) return at_feature(b, LKS_E_FORMAT, "has an impossible size");
        out->dim[out->rank++] = v;
    }
    return LKS_OK;
}

static lks_status read_dtype(const building *b, const json_t *kind, lks_dtype *out)
{
    const char *name = json_string_value(json_object_get(kind, "dtype"));

    *out = name == NULL ? (lks_dtype)0 : lks__dtype_from_name(strcmp(name, "object") == 0 ? "string" : name);
    return *out != 0 ? LKS_OK : at_feature(b, LKS_E_UNSUPPORTED, "has a dtype that is not known here");
}

/* ---- the kinds ---- */

static lks_status read_image(const building *b, const json_t *kind, lks_tfds_leaf *leaf)
{
    leaf->kind = b->decode_images ? LKS_TFDS_IMAGE : LKS_TFDS_SAME;
    leaf->dtype = LKS_STRING;
    if (!b->decode_images) return LKS_OK;
    leaf->dtype = LKS_UINT8;
    if (json_object_get(kind, "dtype") != NULL) LKS_TRY(read_dtype(b, kind, &leaf->dtype));
    if (leaf->dtype != LKS_UINT8 && leaf->dtype != LKS_UINT16)
        return at_feature(b, LKS_E_UNSUPPORTED, "has pictures of another dtype than uint8 and uint16");
    LKS_TRY(read_shape(b, json_object_get(kind, "shape"), &leaf->shape));
    if (leaf->shape.rank == 0) leaf->shape = (lks_shape){ 3, { -1, -1, 3 } };
    return leaf->shape.rank == 3 ? LKS_OK : at_feature(b, LKS_E_FORMAT, "has pictures without three axes");
}

static lks_status read_tensor(const building *b, const json_t *kind, lks_tfds_leaf *leaf)
{
    const char *encoding = json_string_value(json_object_get(kind, "encoding"));

    LKS_TRY(read_dtype(b, kind, &leaf->dtype));
    LKS_TRY(read_shape(b, json_object_get(kind, "shape"), &leaf->shape));
    for (int64_t k = 0; k < leaf->shape.rank; k++)
        if (leaf->shape.dim[k] < 0 && k > 0)
            return at_feature(b, LKS_E_UNSUPPORTED, "has an unknown size on another axis than the first");
    leaf->kind = leaf->dtype == LKS_INT64 || leaf->dtype == LKS_FLOAT32 || leaf->dtype == LKS_STRING ? LKS_TFDS_SAME
                                                                                                     : LKS_TFDS_CAST;
    if (encoding == NULL || *encoding == '\0' || lks__same_word(encoding, "none")) return LKS_OK;
    if (leaf->dtype == LKS_STRING) return at_feature(b, LKS_E_UNSUPPORTED, "has encoded strings");
    leaf->kind = lks__same_word(encoding, "zlib") ? LKS_TFDS_ZLIB : LKS_TFDS_RAW;
    return leaf->kind == LKS_TFDS_ZLIB || lks__same_word(encoding, "bytes")
               ? LKS_OK
               : at_feature(b, LKS_E_UNSUPPORTED, "has an encoding that is not known here");
}

static lks_status read_label(const building *b, const json_t *kind, lks_tfds_leaf *leaf)
{
    const json_t *n = json_object_get(kind, "numClasses");

    leaf->dtype = LKS_INT64;
    if (json_is_integer(n)) leaf->classes = json_integer_value(n);
    else if (json_is_string(n) && !lks__parse_int(json_string_value(n), &leaf->classes))
        return at_feature(b, LKS_E_FORMAT, "has a numClasses that is no number");
    return LKS_OK;
}

/* A feature that is one entry of the Example. LKS_END: of no such kind. */
static lks_status read_leaf(const building *b, const json_t *feature, lks_tfds_leaf *leaf)
{
    const json_t *kind;

    *leaf = (lks_tfds_leaf){ .kind = LKS_TFDS_SAME };
    if ((kind = json_object_get(feature, "image")) != NULL || (kind = json_object_get(feature, "labeledImage")) != NULL)
        return read_image(b, kind, leaf);
    if ((kind = json_object_get(feature, "classLabel")) != NULL) return read_label(b, kind, leaf);
    if ((kind = json_object_get(feature, "tensor")) != NULL) return read_tensor(b, kind, leaf);
    if ((kind = json_object_get(feature, "text")) != NULL) {
        leaf->dtype = LKS_STRING;
        return LKS_OK;
    }
    if ((kind = json_object_get(feature, "boundingBox")) != NULL) {
        leaf->dtype = LKS_FLOAT32;
        leaf->shape = (lks_shape){ 1, { 4 } };
        return LKS_OK;
    }
    return LKS_END;
}

static lks_status add_leaf(building *b, lks_tfds_leaf leaf)
{
    lks_tfds_layout *l = b->out;

    LKS_TRY(lks__grow(&l->leaf, &l->room, l->n + 1, sizeof *l->leaf));
    leaf.key = lks__strdup(b->key.length > 0 ? b->key.data : "");
    if (leaf.key == NULL || b->key.failed) return lks__fail(LKS_E_NOMEM, "no memory for a feature");
    l->leaf[l->n++] = leaf;
    return LKS_OK;
}

/* ---- the tree ---- */

static lks_status read_feature(building *b, const json_t *feature, bool in_sequence, int64_t length, lks_spec **out);

static lks_status read_dict(building *b, const json_t *features, bool in_sequence, int64_t length, lks_spec **out)
{
    size_t n = json_object_size(features), at = 0, k, before = b->key.length;
    const char **name = lks__calloc(n + 1, sizeof *name);
    lks_spec **part = lks__calloc(n + 1, sizeof *part);
    lks_status status = LKS_OK;
    const char *key;
    json_t *item;

    if (name == NULL || part == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for %zu features", n);
    json_object_foreach((json_t *)features, key, item)
    { /* sorted bytewise, as the components are */
        if (status != LKS_OK) break;
        for (k = at++; k > 0 && strcmp(name[k - 1], key) > 0; k--) name[k] = name[k - 1];
        name[k] = key;
    }
    for (k = 0; k < at && status == LKS_OK; k++) {
        lks__text_printf(&b->key, "%s%s", before > 0 ? "/" : "", name[k]);
        if (b->key.failed) status = lks__fail(LKS_E_NOMEM, "no memory for a feature");
        else status = read_feature(b, json_object_get(features, name[k]), in_sequence, length, &part[k]);
        b->key.length = before;
        if (b->key.data != NULL) b->key.data[before] = '\0';
    }
    if (status == LKS_OK) {
        *out = lks_spec_dict(n, name, part);
        if (*out == NULL) status = lks__error_code();
    } else {
        for (k = 0; part != NULL && k < n; k++) lks_spec_release(part[k]);
    }
    lks__free(part);
    lks__free(name);
    return status;
}

/* {"feature": ..., "length": "-1"} */
static lks_status read_sequence(building *b, const json_t *sequence, lks_spec **out)
{
    const json_t *n = json_object_get(sequence, "length");
    int64_t length = json_is_integer(n) ? json_integer_value(n) : -1;

    if (json_is_string(n) && !lks__parse_int(json_string_value(n), &length)) length = -1;
    return read_feature(b, json_object_get(sequence, "feature"), true, length < 0 ? -1 : length, out);
}

static lks_status read_feature(building *b, const json_t *feature, bool in_sequence, int64_t length, lks_spec **out)
{
    enum { DEEPEST = 32 };
    const json_t *dict = json_object_get(json_object_get(feature, "featuresDict"), "features");
    const json_t *sequence = json_object_get(feature, "sequence");
    lks_tfds_leaf leaf;
    lks_status status;

    if (b->depth++ == DEEPEST) return at_feature(b, LKS_E_LIMIT, "is nested too deep");
    if (dict != NULL) status = read_dict(b, dict, in_sequence, length, out);
    else if (sequence != NULL && in_sequence)
        status = at_feature(b, LKS_E_UNSUPPORTED, "is a sequence of sequences, which is not read");
    else if (sequence != NULL) status = read_sequence(b, sequence, out);
    else {
        const char *kind = json_string_value(json_object_get(feature, "pythonClassName"));
        status = read_leaf(b, feature, &leaf);
        if (status == LKS_END)
            status = lks__fail(LKS_E_UNSUPPORTED, "feature '%s' of features.json is of a kind that is not read: %s",
                               b->key.length > 0 ? b->key.data : "", kind == NULL ? "unnamed" : kind);
        if (status == LKS_OK && in_sequence) {
            if (leaf.kind != LKS_TFDS_SAME && leaf.kind != LKS_TFDS_CAST)
                status = at_feature(b, LKS_E_UNSUPPORTED,
                                    "is a sequence of encoded values; pictures in it can be read as "
                                    "bytes with .decode_images = LKS_FALSE");
            else if (leaf.shape.rank == LKS_MAX_RANK || lks_shape_size(&leaf.shape) < 0)
                status = at_feature(b, LKS_E_UNSUPPORTED, "is a sequence of values whose shape varies");
            memmove(leaf.shape.dim + 1, leaf.shape.dim, (LKS_MAX_RANK - 1) * sizeof *leaf.shape.dim);
            leaf.shape.dim[0] = length;
            leaf.shape.rank++;
        }
        if (status == LKS_OK) status = add_leaf(b, leaf);
        if (status == LKS_OK) {
            *out = leaf.classes > 0 ? lks_spec_label(leaf.dtype, leaf.shape, leaf.classes)
                                    : lks_spec_tensor(leaf.dtype, leaf.shape);
            if (*out == NULL) status = lks__error_code();
        }
    }
    b->depth--;
    return status;
}

/* ---- supervised ---- */

/* The keys that the folder calls supervised, in their order: two of them. */
static lks_status supervised_keys(const lks_tfds_folder *f, const char *key[2])
{
    const json_t *keys = json_object_get(f->info, "supervisedKeys");
    const json_t *items = json_object_get(json_object_get(keys, "tuple"), "items");

    for (size_t i = 0; i < 2; i++) {
        key[i] = json_string_value(json_object_get(json_array_get(items, i), "featureKey"));
        if (key[i] == NULL) key[i] = json_string_value(json_object_get(keys, i == 0 ? "input" : "output"));
        if (key[i] == NULL)
            return lks__fail(LKS_E_ARG, "'%s' does not say which features are supervised: read all of them", f->path);
    }
    return LKS_OK;
}

/* Keeps two leaves, in this order. */
static lks_status keep_pair(lks_tfds_layout *l, const char *const key[2])
{
    lks_tfds_leaf kept[2];
    lks_spec *part[2], *spec;
    size_t at[2];

    for (int i = 0; i < 2; i++) {
        for (at[i] = 0; at[i] < l->n && strcmp(l->leaf[at[i]].key, key[i]) != 0;) at[i]++;
        if (at[i] == l->n || (i == 1 && at[1] == at[0]))
            return lks__fail(LKS_E_UNSUPPORTED, "the supervised feature '%s' is not one single feature", key[i]);
    }
    for (int i = 0; i < 2; i++) {
        kept[i] = l->leaf[at[i]];
        l->leaf[at[i]].key = NULL;
        part[i] = lks_spec_retain(lks_spec_leaf(l->spec, at[i]));
    }
    spec = lks_spec_tuple(2, part);
    for (size_t i = 0; i < l->n; i++) lks__free(l->leaf[i].key);
    memcpy(l->leaf, kept, sizeof kept);
    l->n = 2;
    lks_spec_release(l->spec);
    l->spec = spec;
    return spec == NULL ? lks__error_code() : LKS_OK;
}

/* ---- public to the folder ---- */

lks_status lks__tfds_layout(const lks_tfds_folder *f, bool decode_images, bool supervised, lks_tfds_layout *out)
{
    building b = { .out = out, .decode_images = decode_images };
    const char *key[2];
    lks_status status;

    *out = (lks_tfds_layout){ .leaf = NULL };
    status = read_feature(&b, f->features, false, -1, &out->spec);
    lks__text_free(&b.key);
    if (status == LKS_OK && out->n == 0) status = lks__fail(LKS_E_FORMAT, "features.json has no features");
    if (status == LKS_OK && supervised) {
        status = supervised_keys(f, key);
        if (status == LKS_OK) status = keep_pair(out, key);
    }
    return status == LKS_OK ? status : lks__context(status, "'%s'", f->path);
}

void lks__tfds_layout_free(lks_tfds_layout *l)
{
    for (size_t i = 0; i < l->n; i++) lks__free(l->leaf[i].key);
    lks__free(l->leaf);
    lks_spec_release(l->spec);
    *l = (lks_tfds_layout){ .leaf = NULL };
}
