/* h5_write.c - from a tree of weights to an HDF5 image, laid out as h5py lays it out: the oldest format that holds it,
 * no times, contiguous arrays, attributes as variable-length UTF-8. */
#include <string.h>

#include "base/alloc.h"
#include "h5.h"
#include "job.h"
#include "weights.h"

/* Makes every group of `path`, up to its last slash if `whole` is 0. */
static lks_status ensure_groups(hid_t file, const char *path, int whole)
{
    char *copy = lks__strdup(path);
    lks_status status = LKS_OK;

    if (copy == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a path");
    for (size_t i = 0, n = strlen(path); i <= n && status == LKS_OK && n > 0; i++) {
        hid_t group;
        htri_t exists;
        if (path[i] != '/' && !(i == n && whole)) continue;
        copy[i] = '\0';
        exists = H5Lexists(file, copy, H5P_DEFAULT);
        if (exists == 0) {
            group = H5Gcreate2(file, copy, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            if (group >= 0) H5Gclose(group);
            else exists = -1;
        }
        if (exists < 0) status = lks__h5_fail("group '/%s' cannot be made", copy);
        copy[i] = path[i];
    }
    lks__free(copy);
    return status;
}

static lks_status write_attr(hid_t object, const char *name, int is_list, size_t n, const char *const *values)
{
    hsize_t size = n;
    hid_t type = lks__h5_text_type(), space = is_list ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    hid_t attr = -1;
    lks_status status = LKS_OK;

    if (type >= 0 && space >= 0) attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attr < 0 || (n > 0 && H5Awrite(attr, type, values) < 0))
        status = lks__h5_fail("attribute '%s' cannot be written", name);
    if (attr >= 0 && H5Aclose(attr) < 0 && status == LKS_OK)
        status = lks__h5_fail("attribute '%s' cannot be written", name);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static lks_status write_group(hid_t file, const lks_weight_entry *e)
{
    hid_t group;
    lks_status status;

    LKS_TRY(ensure_groups(file, e->path, 1));
    if (e->n_attrs == 0) return LKS_OK;
    group = H5Gopen2(file, *e->path != '\0' ? e->path : "/", H5P_DEFAULT);
    if (group < 0) return lks__h5_fail("group '/%s' cannot be opened", e->path);
    status = LKS_OK;
    for (size_t i = 0; i < e->n_attrs && status == LKS_OK; i++) {
        const lks_weight_attr *a = &e->attrs[i];
        status = write_attr(group, a->name, a->is_list, a->count, (const char *const *)a->values);
    }
    H5Gclose(group);
    return status;
}

static hid_t space_of(const lks_tensor *t)
{
    lks_shape shape = lks_tensor_shape(t);
    hsize_t dims[LKS_MAX_RANK];

    for (int64_t i = 0; i < shape.rank; i++) dims[i] = (hsize_t)shape.dim[i];
    return shape.rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple((int)shape.rank, dims, NULL);
}

static lks_status fill_dataset(hid_t dataset, hid_t mem, const lks_tensor *t)
{
    static const char *const bfloat16[1] = { "bfloat16" };

    if (lks_tensor_size(t) > 0 && H5Dwrite(dataset, mem, H5S_ALL, H5S_ALL, H5P_DEFAULT, lks_tensor_cdata(t)) < 0)
        return lks__h5_fail("the data cannot be written");
    return lks_tensor_dtype(t) == LKS_BFLOAT16 ? write_attr(dataset, "dtype", 0, 1, bfloat16) : LKS_OK;
}

static lks_status write_dataset(hid_t file, const lks_weight_entry *e)
{
    hid_t type, mem, space, plist, dataset = -1;
    lks_status status;

    LKS_TRY(ensure_groups(file, e->path, 0));
    LKS_TRY(lks__h5_write_types(lks_tensor_dtype(e->tensor), &type, &mem));
    space = space_of(e->tensor);
    plist = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && plist >= 0 && H5Pset_obj_track_times(plist, 0) >= 0)
        dataset = H5Dcreate2(file, e->path, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    status = dataset < 0 ? lks__h5_fail("it cannot be made") : fill_dataset(dataset, mem, e->tensor);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && status == LKS_OK) status = lks__h5_fail("it cannot be written");
    if (plist >= 0) H5Pclose(plist);
    if (space >= 0) H5Sclose(space);
    H5Tclose(mem);
    H5Tclose(type);
    return status == LKS_OK ? LKS_OK : lks__context(status, "array '/%s'", e->path);
}

static lks_status write_entries(hid_t file, const lks_weights *w)
{
    for (size_t i = 0; i < w->count; i++)
        LKS_TRY(w->entries[i].tensor != NULL ? write_dataset(file, &w->entries[i]) : write_group(file, &w->entries[i]));
    return LKS_OK;
}

static lks_status take_image(hid_t file, void **out, size_t *n)
{
    ssize_t size;
    char *data;

    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || (size = H5Fget_file_image(file, NULL, 0)) < 0)
        return lks__h5_fail("the image cannot be finished");
    data = lks__malloc((size_t)size);
    if (data == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %lld bytes", (long long)size);
    if (H5Fget_file_image(file, data, (size_t)size) != size) {
        lks__free(data);
        return lks__h5_fail("the image cannot be finished");
    }
    *out = data;
    *n = (size_t)size;
    return LKS_OK;
}

typedef struct write_job {
    const lks_weights *w;
    void **out;
    size_t *n;
} write_job;

static lks_status write_image(write_job *j)
{
    hid_t access = lks__h5_memory_access(NULL, 0), file = -1;
    lks_status status;

    if (access >= 0) file = H5Fcreate("lockstep-memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0) H5Pclose(access);
    if (file < 0) return lks__h5_fail("no HDF5 file can be made in memory");
    status = write_entries(file, j->w);
    if (status == LKS_OK) status = take_image(file, j->out, j->n);
    H5Fclose(file);
    return status;
}

static lks_status run_write(void *user)
{
    lks_h5_guard guard;
    lks_status status;

    LKS_TRY(lks__h5_enter(&guard));
    status = write_image(user);
    lks__h5_leave(&guard);
    return status == LKS_OK ? LKS_OK : lks__context(status, "writing weights");
}

lks_status lks__weights_write_h5(const lks_weights *w, void **out, size_t *n)
{
    write_job job = { w, out, n };

    return lks__file_job(run_write, &job);
}
