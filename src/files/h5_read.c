/* h5_read.c - from an HDF5 image to a tree of weights. Only what Keras and h5py write is walked: hard links to groups
 * and datasets whose data lies in the file itself. What a dataset declares is compared with what the file can hold,
 * alone and in sum, before any of it is allocated. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "endian.h"
#include "h5.h"
#include "h5_check.h"
#include "job.h"
#include "reader.h"
#include "tensor/tensor.h"
#include "weights.h"

enum { MAX_DEPTH = 64, SMALLEST_ENTRY = 40 /* bytes of a name's entry in a group */ };

typedef struct reading {
    lks_weights *out;
    uint64_t file_size, budget; /* budget: bytes of arrays that may still come */
    lks_text path;
    int depth, placed; /* placed: the error has its path already */
    lks_status status;
} reading;

static lks_status at_path(reading *r, lks_status status)
{
    if (status == LKS_OK || r->placed) return status;
    r->placed = 1;
    return lks__context(status, "'/%s'", r->path.data);
}

/* ---- attributes: texts and lists of texts; others are not used by Keras and passed over ---- */

static lks_status keep_texts(reading *r, const char *name, int is_list, size_t n, const char *const *texts)
{
    if (is_list) return lks__weights_set_list(r->out, r->path.data, name, n, texts);
    return lks__weights_set_attr(r->out, r->path.data, name, texts[0] != NULL ? texts[0] : "");
}

static lks_status read_variable(reading *r, hid_t attr, const char *name, int is_list, size_t n)
{
    hid_t type = lks__h5_text_type();
    char **texts = lks__calloc(n, sizeof *texts);
    lks_status status = LKS_OK;

    if (type < 0 || texts == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for attribute '%s'", name);
    else if (H5Aread(attr, type, texts) < 0) status = lks__h5_fail("attribute '%s' cannot be read", name);
    for (size_t i = 0; i < n && status == LKS_OK; i++)
        if (texts[i] == NULL && is_list) status = lks__fail(LKS_E_FORMAT, "attribute '%s' has an empty item", name);
    if (status == LKS_OK) status = keep_texts(r, name, is_list, n, (const char *const *)texts);
    for (size_t i = 0; texts != NULL && i < n; i++)
        if (texts[i] != NULL) H5free_memory(texts[i]);
    lks__free(texts);
    if (type >= 0) H5Tclose(type);
    return status;
}

static lks_status read_fixed(reading *r, hid_t attr, hid_t file_type, const char *name, int is_list, size_t n)
{
    size_t size = H5Tget_size(file_type);
    char *bytes = lks__calloc(n, size), *one = lks__malloc(n * (size + 1));
    char **texts = lks__calloc(n, sizeof *texts);
    hid_t type = H5Tcopy(file_type);
    lks_status status = LKS_OK;

    if (bytes == NULL || one == NULL || texts == NULL || type < 0)
        status = lks__fail(LKS_E_NOMEM, "no memory for attribute '%s'", name);
    else if (H5Aread(attr, type, bytes) < 0) status = lks__h5_fail("attribute '%s' cannot be read", name);
    for (size_t i = 0; i < n && status == LKS_OK; i++) {
        texts[i] = one + i * (size + 1);
        memcpy(texts[i], bytes + i * size, size);
        texts[i][size] = '\0';
    }
    if (status == LKS_OK) status = keep_texts(r, name, is_list, n, (const char *const *)texts);
    if (type >= 0) H5Tclose(type);
    lks__free(texts);
    lks__free(one);
    lks__free(bytes);
    return status;
}

static lks_status read_attr(reading *r, hid_t attr, const char *name)
{
    hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    int is_list = space >= 0 && H5Sget_simple_extent_ndims(space) > 0;
    lks_status status = LKS_OK;

    if (type < 0 || n < 0) status = lks__h5_fail("attribute '%s' cannot be read", name);
    else if (H5Tget_class(type) != H5T_STRING || (n == 0 && !is_list)) goto close;
    else if (H5Aget_storage_size(attr) > r->file_size || (uint64_t)n > r->file_size)
        status = lks__fail(LKS_E_FORMAT, "attribute '%s' declares more than the file holds", name);
    else if (H5Tis_variable_str(type) > 0) status = read_variable(r, attr, name, is_list, (size_t)n);
    else status = read_fixed(r, attr, type, name, is_list, (size_t)n);

close:
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static herr_t each_attr(hid_t object, const char *name, const H5A_info_t *info, void *user)
{
    reading *r = user;
    hid_t attr = H5Aopen(object, name, H5P_DEFAULT);

    (void)info;
    r->status = attr < 0 ? lks__h5_fail("attribute '%s' cannot be opened", name) : read_attr(r, attr, name);
    if (attr >= 0) H5Aclose(attr);
    return r->status == LKS_OK ? 0 : -1;
}

static lks_status read_attrs(reading *r, hid_t object)
{
    hsize_t at = 0;

    r->status = LKS_OK;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, each_attr, r) < 0 && r->status == LKS_OK)
        return lks__h5_fail("its attributes cannot be read");
    return r->status;
}

/* ---- datasets ---- */

static const char *filter_name(H5Z_filter_t f)
{
    switch (f) {
    case H5Z_FILTER_SZIP: return " (szip)";
    case H5Z_FILTER_NBIT: return " (nbit)";
    case H5Z_FILTER_SCALEOFFSET: return " (scale-offset)";
    case 32000: return " (LZF)";
    case 32001: return " (Blosc)";
    case 32004: return " (LZ4)";
    case 32008: return " (bitshuffle)";
    case 32015: return " (Zstandard)";
    default: return "";
    }
}

/* External and virtual data would open other files, unknown filters would load code. */
lks_status lks__h5_check_storage(hid_t dataset)
{
    hid_t plist = H5Dget_create_plist(dataset);
    lks_status status = LKS_OK;
    unsigned flags, config;

    if (plist < 0) return lks__h5_fail("its storage cannot be read");
    if (H5Pget_layout(plist) == H5D_VIRTUAL) status = lks__fail(LKS_E_UNSUPPORTED, "virtual storage is refused");
    else if (H5Pget_external_count(plist) != 0) status = lks__fail(LKS_E_UNSUPPORTED, "external storage is refused");
    for (int i = 0; status == LKS_OK && i < H5Pget_nfilters(plist); i++) {
        size_t n = 0;
        H5Z_filter_t f = H5Pget_filter2(plist, (unsigned)i, &flags, &n, NULL, 0, NULL, &config);
        if (f != H5Z_FILTER_DEFLATE && f != H5Z_FILTER_SHUFFLE && f != H5Z_FILTER_FLETCHER32)
            status = lks__fail(
                LKS_E_UNSUPPORTED,
                "its storage is packed by filter %d%s, which is not supported: write it with gzip or without", (int)f,
                filter_name(f));
    }
    H5Pclose(plist);
    return status;
}

lks_status lks__h5_read_shape(hid_t dataset, lks_shape *out)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t dims[LKS_MAX_RANK] = { 0 };
    lks_shape shape = { 0 };
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1, simple;

    if (space < 0) return lks__h5_fail("its shape cannot be read");
    simple = H5Sget_simple_extent_type(space) != H5S_NULL;
    if (rank >= 0 && rank <= LKS_MAX_RANK && H5Sget_simple_extent_dims(space, dims, NULL) < 0) rank = -1;
    H5Sclose(space);
    if (rank < 0 || !simple) return lks__fail(LKS_E_FORMAT, "it has no shape");
    if (rank > LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "it has %d axes, at most %d are supported", rank, LKS_MAX_RANK);
    shape.rank = rank;
    for (int i = 0; i < rank; i++) shape.dim[i] = dims[i] > INT64_MAX ? -1 : (int64_t)dims[i];
    LKS_TRY(lks__shape_check(&shape));
    *out = shape;
    return LKS_OK;
}

lks_status lks__h5_check_size(hid_t dataset, const lks_shape *shape, lks_dtype dtype, uint64_t file_size,
                              uint64_t *budget)
{
    uint64_t stored = H5Dget_storage_size(dataset), ratio = 1;
    char text[LKS_SHAPE_TEXT];
    hid_t plist = H5Dget_create_plist(dataset);
    size_t bytes;

    if (plist < 0) return lks__h5_fail("its storage cannot be read");
    if (H5Pget_nfilters(plist) > 0) ratio = LKS_DEFLATE_RATIO;
    H5Pclose(plist);
    if (!lks__mul_size((size_t)lks_shape_size(shape), lks_dtype_size(dtype), &bytes) || stored > file_size ||
        bytes > stored * ratio || bytes > *budget)
        return lks__fail(LKS_E_FORMAT, "it declares %s %s, but the file of %llu bytes stores %llu for it",
                         lks__shape_text(shape, text), lks_dtype_name(dtype), (unsigned long long)file_size,
                         (unsigned long long)stored);
    *budget -= bytes;
    return LKS_OK;
}

lks_status lks__h5_read_data(hid_t dataset, hid_t mem, hid_t room, hid_t chosen, lks_tensor *t)
{
    unsigned char *data = lks_tensor_data(t);

    if (lks_tensor_size(t) == 0) return LKS_OK;
    if (H5Dread(dataset, mem, room, chosen, H5P_DEFAULT, data) < 0) return lks__h5_fail("its data cannot be read");
    if (lks_tensor_dtype(t) == LKS_BOOL)
        for (int64_t i = 0; i < lks_tensor_size(t); i++) data[i] = data[i] != 0;
    if (H5Tget_class(mem) == H5T_OPAQUE && !lks__host_is_little()) lks__swap_bytes(data, (size_t)lks_tensor_size(t), 2);
    return LKS_OK;
}

static lks_status read_dataset(reading *r, hid_t dataset)
{
    hid_t type = H5Dget_type(dataset), mem = -1;
    lks_dtype dtype = (lks_dtype)0;
    lks_shape shape = { 0 };
    lks_tensor *t = NULL;
    lks_status status;

    if (type < 0) return lks__h5_fail("its type cannot be read");
    status = lks__h5_check_storage(dataset);
    if (status == LKS_OK) status = lks__h5_read_type(dataset, type, &dtype, &mem);
    if (status == LKS_OK) status = lks__h5_read_shape(dataset, &shape);
    if (status == LKS_OK) status = lks__h5_check_size(dataset, &shape, dtype, r->file_size, &r->budget);
    if (status == LKS_OK && (t = lks_tensor_create(dtype, shape)) == NULL) status = LKS_E_NOMEM;
    if (status == LKS_OK) status = lks__h5_read_data(dataset, mem, H5S_ALL, H5S_ALL, t);
    if (status == LKS_OK) status = lks__weights_add(r->out, r->path.data, t);
    lks_tensor_release(t);
    if (mem >= 0) H5Tclose(mem);
    H5Tclose(type);
    return status;
}

/* ---- groups ---- */

static lks_status read_group(reading *r, hid_t group);

static lks_status read_object(reading *r, hid_t group, const char *name)
{
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    lks_status status;

    if (object < 0) return lks__h5_fail("it cannot be opened");
    switch (H5Iget_type(object)) {
    case H5I_GROUP: status = read_group(r, object); break;
    case H5I_DATASET: status = read_dataset(r, object); break;
    default: status = lks__fail(LKS_E_UNSUPPORTED, "it is neither a group nor an array"); break;
    }
    H5Oclose(object);
    return status;
}

static herr_t each_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    reading *r = user;
    size_t length = r->path.length;

    if (length > 0) lks__text_puts(&r->path, "/");
    lks__text_puts(&r->path, name);
    if (r->path.failed) {
        r->status = lks__fail(LKS_E_NOMEM, "no memory for a path");
        return -1;
    }
    r->status = info->type == H5L_TYPE_HARD
                    ? read_object(r, group, name)
                    : lks__fail(LKS_E_UNSUPPORTED, "it is a soft or external link; links are refused");
    r->status = at_path(r, r->status);
    r->path.length = length;
    r->path.data[length] = '\0';
    return r->status == LKS_OK ? 0 : -1;
}

static lks_status read_group(reading *r, hid_t group)
{
    hsize_t at = 0;
    lks_status status = LKS_OK;

    if (r->depth == MAX_DEPTH) return lks__fail(LKS_E_LIMIT, "groups are nested deeper than %d", MAX_DEPTH);
    if (r->out->count > r->file_size / SMALLEST_ENTRY + 64)
        return lks__fail(LKS_E_FORMAT, "there are more names than the file can hold: its groups form a circle");
    LKS_TRY(lks__weights_add_group(r->out, r->path.data));
    LKS_TRY(read_attrs(r, group));
    r->depth++;
    r->status = LKS_OK;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, each_link, r) < 0)
        status = r->status != LKS_OK ? r->status : lks__h5_fail("its members cannot be read");
    r->depth--;
    return status;
}

static lks_status read_file(reading *r, const void *data, size_t n)
{
    hid_t access = lks__h5_memory_access(data, n), file, root;
    lks_status status;

    if (access < 0) return lks__fail(LKS_E_NOMEM, "no memory to open %zu bytes", n);
    file = H5Fopen("lockstep-memory", H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (file < 0) return lks__h5_fail("not an HDF5 file, or cut off");
    root = H5Gopen2(file, "/", H5P_DEFAULT);
    status = root < 0 ? lks__h5_fail("its root group cannot be opened") : read_group(r, root);
    if (root >= 0) H5Gclose(root);
    H5Fclose(file);
    return status;
}

typedef struct read_job {
    const void *data;
    size_t n;
    const char *what;
    lks_weights *out;
} read_job;

static lks_status run_read(void *user)
{
    read_job *j = user;
    lks_weights tree = { 0 };
    reading r = { .out = &tree, .file_size = j->n, .budget = (uint64_t)j->n * LKS_DEFLATE_RATIO };
    lks_h5_guard guard;
    lks_status status;

    if (j->n == 0) return lks__fail(LKS_E_FORMAT, "%s is empty, an HDF5 file was expected", j->what);
    status = lks__h5_check(j->data, j->n);
    if (status != LKS_OK) return lks__context(status, "%s", j->what);
    lks__text_puts(&r.path, "");
    if (r.path.failed) return lks__fail(LKS_E_NOMEM, "no memory to read %s", j->what);
    status = lks__h5_enter(&guard);
    if (status == LKS_OK) {
        status = read_file(&r, j->data, j->n);
        lks__h5_leave(&guard);
    }
    lks__text_free(&r.path);
    if (status != LKS_OK) {
        lks__weights_free(&tree);
        return lks__context(status, "%s", j->what);
    }
    *j->out = tree;
    return LKS_OK;
}

lks_status lks__weights_read_h5(const void *data, size_t n, const char *what, lks_weights *out)
{
    read_job job = { data, n, what, out };

    return lks__file_job(run_read, &job);
}
