/* tfds.c - the pipeline over a TFDS folder: TFRecord files, the records of the slice, parse_example, then a function that turns
 * what Examples can hold into what the features are: other dtypes, pictures, raw tensors, nested dicts. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "data/stages.h"
#include "lockstep/dataset_distribute.h"
#include "lockstep/image.h"
#include "tensor/tensor.h"
#include "tfds.h"

/* Stands for the source where the folder can't be read. */
const lks_stage lks__stage_tfds = { .name = "tfds", .dataset_size = sizeof(lks_dataset) };

static lks_dataset *refuse(lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_tfds, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

/* ---- what to ask of parse_example ---- */

static lks_feature feature_of(const lks_tfds_leaf *leaf)
{
    lks_feature f = { .key = leaf->key, .dtype = LKS_STRING };

    if (leaf->kind == LKS_TFDS_IMAGE || leaf->kind == LKS_TFDS_RAW || leaf->kind == LKS_TFDS_ZLIB) return f;
    f.shape = leaf->shape;
    f.dtype = leaf->dtype;
    if (leaf->kind == LKS_TFDS_CAST)
        f.dtype = leaf->dtype == LKS_FLOAT64 || leaf->dtype == LKS_FLOAT16 || leaf->dtype == LKS_BFLOAT16 ? LKS_FLOAT32
                                                                                                          : LKS_INT64;
    if (leaf->shape.rank == 0 || leaf->shape.dim[0] >= 0) return f;
    f.kind = LKS_FIXED_LEN_SEQUENCE_FEATURE;
    f.shape.rank--;
    memmove(f.shape.dim, leaf->shape.dim + 1, (size_t)f.shape.rank * sizeof *f.shape.dim);
    return f;
}

/* The list of features; numbers the leaves' columns. */
static lks_features *features_of(lks_tfds_layout *l)
{
    lks_feature *f = lks__calloc(l->n, sizeof *f);
    lks_features *out;

    if (f == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for %zu features", l->n);
        return NULL;
    }
    for (size_t i = 0; i < l->n; i++) {
        f[i] = feature_of(&l->leaf[i]);
        l->leaf[i].column = 0;
        for (size_t k = 0; k < l->n; k++) l->leaf[i].column += strcmp(l->leaf[k].key, l->leaf[i].key) < 0;
    }
    out = lks_features_create(l->n, sizeof *f, f);
    lks__free(f);
    return out;
}

/* ---- from what was parsed to what the features are ---- */

static lks_status put_cast(lks_element *out, size_t i, const lks_tensor *in)
{
    lks_tensor *t = lks_element_output_shaped(out, i, lks_tensor_shape(in));

    if (t == NULL) return lks__error_code();
    lks__convert(lks_tensor_dtype(in), lks_tensor_cdata(in), lks_tensor_dtype(t), lks_tensor_data(t),
                 lks_tensor_size(in));
    return LKS_OK;
}

static lks_status put_image(lks_element *out, size_t i, const lks_tfds_leaf *leaf, const lks_bytes *bytes)
{
    const lks_decode_options o = { .struct_size = sizeof o,
                                   .channels = leaf->shape.dim[2] > 0 ? leaf->shape.dim[2] : 0,
                                   .dtype = leaf->dtype };
    lks_tensor *picture = NULL;
    lks_status status = lks_image_decode_with(bytes->data, bytes->size, &picture, &o);

    if (status == LKS_OK) status = lks_element_set(out, i, picture);
    lks_tensor_release(picture);
    return status;
}

/* The shape that `bytes` fill, with a first size that may be unknown. */
static lks_status raw_shape(const lks_tfds_leaf *leaf, size_t bytes, lks_shape *shape)
{
    size_t row = lks_dtype_size(leaf->dtype);

    *shape = leaf->shape;
    for (int64_t k = shape->rank > 0 && shape->dim[0] < 0; k < shape->rank; k++)
        if (!lks__mul_size(row, (size_t)shape->dim[k], &row)) row = 0;
    if (row > 0 && shape->rank > 0 && shape->dim[0] < 0 && bytes % row == 0) {
        shape->dim[0] = (int64_t)(bytes / row);
        return LKS_OK;
    }
    if (row == bytes && row > 0) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "it has %zu bytes, its shape and dtype want %zu", bytes, row);
}

static lks_status put_raw(lks_element *out, size_t i, const lks_tfds_leaf *leaf, const void *data, size_t n)
{
    lks_shape shape;
    lks_tensor *t;

    LKS_TRY(raw_shape(leaf, n, &shape));
    t = lks_element_output_shaped(out, i, shape);
    if (t == NULL) return lks__error_code();
    memcpy(lks_tensor_data(t), data, n);
    return LKS_OK;
}

/* Inflates step by step, so that memory is made for what has come and not for what is promised. */
static lks_status put_zlib(lks_element *out, size_t i, const lks_tfds_leaf *leaf, const lks_bytes *bytes)
{
    enum { LARGEST = 1 << 30 };
    z_stream z = { .next_in = (unsigned char *)bytes->data, .avail_in = (unsigned)bytes->size };
    unsigned char *data = NULL;
    size_t room = 0, n = 0;
    int code = bytes->size > UINT32_MAX ? Z_DATA_ERROR : inflateInit(&z);
    lks_status status = LKS_OK;

    if (code != Z_OK) return lks__fail(LKS_E_NOMEM, "no memory to decompress it");
    do {
        status = n > LARGEST ? lks__fail(LKS_E_LIMIT, "it decompresses to more than 1 GiB")
                             : lks__grow(&data, &room, n + 65536, 1);
        if (status != LKS_OK) break;
        z.next_out = data + n;
        z.avail_out = 65536;
        code = inflate(&z, Z_NO_FLUSH);
        n += 65536 - z.avail_out;
        if (code != Z_OK && code != Z_STREAM_END) status = lks__fail(LKS_E_FORMAT, "its compressed bytes are broken");
    } while (status == LKS_OK && code != Z_STREAM_END);
    inflateEnd(&z);
    if (status == LKS_OK) status = put_raw(out, i, leaf, data, n);
    lks__free(data);
    return status;
}

static lks_status put_leaf(lks_element *out, size_t i, const lks_tfds_leaf *leaf, lks_element *in)
{
    lks_tensor *t = lks_element_tensor(in, leaf->column);
    const lks_bytes *bytes = lks_tensor_cdata(t);

    switch (leaf->kind) {
    case LKS_TFDS_CAST: return put_cast(out, i, t);
    case LKS_TFDS_IMAGE: return put_image(out, i, leaf, bytes);
    case LKS_TFDS_RAW: return put_raw(out, i, leaf, bytes->data, bytes->size);
    case LKS_TFDS_ZLIB: return put_zlib(out, i, leaf, bytes);
    default: return lks_element_set(out, i, t);
    }
}

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_tfds_layout *l = user;

    (void)context;
    for (size_t i = 0; i < l->n; i++) {
        lks_status status = put_leaf(out, i, &l->leaf[i], in);
        if (status != LKS_OK) return lks__context(status, "feature '%s'", l->leaf[i].key);
    }
    return LKS_OK;
}

static lks_spec *output_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in;
    return lks_spec_retain(((const lks_tfds_layout *)user)->spec);
}

static void release(void *user)
{
    lks__tfds_layout_free(user);
    lks__free(user);
}

/* ---- building ---- */

static lks_spec *shard_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_STRING, lks_shape_of(0, NULL)));
}

/* Elements are (name of a shard, how many of its records to pass over, how many to read, whether it must end there). */
static lks_status open_shard(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, 0));
    const int64_t *skip = lks_tensor_cdata(lks_element_tensor(in, 1));
    const int64_t *count = lks_tensor_cdata(lks_element_tensor(in, 2));
    const int64_t *ends = lks_tensor_cdata(lks_element_tensor(in, 3));
    lks_dataset *ds = lks_tfrecord(1, &name->data, .allow_http = user != NULL ? LKS_TRUE : LKS_FALSE);

    (void)context;
    if (*skip > 0) ds = lks_skip(ds, *skip);
    if (!*ends) ds = lks_take(ds, *count);
    return lks_element_set_dataset(out, 0, lks__assert_records(ds, *count, name->data));
}

static int http_mark;

/* The shards that records [begin, end) lie in, as such elements. Each shard knows its own part, so that shards may be dealt out to
 * workers. */
static lks_dataset *shards_of(const lks_tfds_part *p)
{
    const lks_shape shape = lks_shape((int64_t)p->n);
    lks_tensor *column[4] = { lks_tensor_create(LKS_STRING, shape), lks_tensor_create(LKS_INT64, shape),
                              lks_tensor_create(LKS_INT64, shape), lks_tensor_create(LKS_INT64, shape) };
    lks_status status = LKS_OK;
    int64_t at = 0, n = 0;
    lks_dataset *ds;

    for (int k = 0; k < 4; k++)
        if (column[k] == NULL) status = lks__error_code();
    for (size_t i = 0; i < p->n && status == LKS_OK; at += p->length[i++]) {
        int64_t first = p->begin > at ? p->begin - at : 0;
        int64_t last = p->end - at < p->length[i] ? p->end - at : p->length[i];
        if (first >= last) continue;
        ((int64_t *)lks_tensor_data(column[1]))[n] = first;
        ((int64_t *)lks_tensor_data(column[2]))[n] = last - first;
        ((int64_t *)lks_tensor_data(column[3]))[n] = last == p->length[i];
        status = lks__tensor_set_bytes(column[0], n++, p->file[i], strlen(p->file[i]));
    }
    ds = status == LKS_OK ? lks_take(lks_from_tensor_slices_n(4, column), n) : refuse(status);
    for (int k = 0; k < 4; k++) lks_tensor_release(column[k]);
    return ds;
}

static lks_dataset *records_of(const lks_tfds_part *p, const lks_tfds_options *o)
{
    const lks_map_fn fn = { .struct_size = sizeof fn,
                            .name = "read_shard",
                            .output_spec = shard_spec,
                            .apply = open_shard,
                            .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES,
                            .user = o->allow_http == LKS_TRUE ? &http_mark : NULL };
    lks_dataset *ds = shards_of(p);

    if (o->num_parallel_reads == 0) ds = lks_flat_map(ds, &fn);
    else
        ds = lks_interleave(ds, &fn, .cycle_length = o->num_parallel_reads, .block_length = 16,
                            .num_parallel_calls = o->num_parallel_reads);
    if (lks__dataset_ok(ds)) ds->cardinality = p->end - p->begin;
    return ds;
}

/* All parts of "train[:10]+test". */
static lks_dataset *read_split(const lks_tfds_folder *f, const char *split, const lks_tfds_options *o)
{
    lks_dataset *all = NULL;

    for (;;) {
        size_t n = strcspn(split, "+");
        lks_tfds_part part;
        lks_status status = lks__tfds_split(f, split, n, &part);
        lks_dataset *one = status == LKS_OK ? records_of(&part, o) : refuse(status);
        lks__tfds_part_free(&part);
        all = all == NULL ? one : lks_dataset_concatenate(all, one);
        if (split[n] == '\0') return all;
        split += n + 1;
    }
}

static lks_dataset *decode(lks_dataset *ds, lks_tfds_layout *layout, int64_t parallel)
{
    lks_tfds_layout *kept = lks__memdup(layout, sizeof *layout);
    lks_features *features = features_of(layout);
    const lks_map_fn fn = { .struct_size = sizeof fn,
                            .name = "tfds_features",
                            .output_spec = output_spec,
                            .apply = apply,
                            .flags = LKS_FN_PURE,
                            .user = kept,
                            .release = release };

    if (kept == NULL) {
        lks_features_release(features);
        lks_dataset_release(ds);
        return refuse(lks__fail(LKS_E_NOMEM, "no memory for the features"));
    }
    *layout = (lks_tfds_layout){ .leaf = NULL };
    ds = lks_map(ds, lks_parse_example(features), .num_parallel_calls = parallel);
    return lks_map(ds, &fn, .num_parallel_calls = parallel);
}

lks_dataset *lks_tfds_with(const char *folder, const char *split, const lks_tfds_options *options)
{
    lks_tfds_folder f = { .path = NULL };
    lks_tfds_layout layout = { .leaf = NULL };
    lks_tfds_options o;
    lks_dataset *ds;
    lks_status status;

    lks__options(&o, sizeof o, options);
    status = folder == NULL || split == NULL ? lks__fail(LKS_E_ARG, "the folder or the split is NULL") : LKS_OK;
    if (status == LKS_OK && lks__starts_with(folder, "http://") && o.allow_http != LKS_TRUE)
        status = lks__fail(LKS_E_ARG,
                           "'%s' would travel unprotected: use https://, or set .allow_http = LKS_TRUE for a server "
                           "that you trust",
                           folder);
    if (status == LKS_OK) status = lks__tfds_open(folder, &f);
    if (status == LKS_OK)
        status = lks__tfds_layout(&f, o.decode_images != LKS_FALSE, o.as_supervised == LKS_TRUE, &layout);
    if (status == LKS_OK)
        ds = decode(read_split(&f, split, &o), &layout, lks__option_int(o.num_parallel_calls, LKS_AUTOTUNE));
    else ds = refuse(status);
    lks__tfds_layout_free(&layout);
    lks__tfds_close(&f);
    return ds;
}
