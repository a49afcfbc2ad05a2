/* npz_write.c - see npz.h. Headers and tensors are kept until the archive is finished: libzip reads them then. */
#include <string.h>

#include "base/alloc.h"
#include "lockstep/files.h"
#include "npy.h"
#include "npz.h"

typedef struct member {
    lks_text header;
    lks_tensor *tensor;
} member;

struct lks_npz_writer {
    lks_zip_writer *zip;
    member **members;
    size_t count, capacity;
};

static void free_writer(lks_npz_writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        lks__text_free(&w->members[i]->header);
        lks_tensor_release(w->members[i]->tensor);
        lks__free(w->members[i]);
    }
    lks__free(w->members);
    lks__free(w);
}

static lks_status create(const char *path, lks_npz_writer **out)
{
    lks_npz_writer *w = lks__calloc(1, sizeof *w);
    lks_status status;

    if (w == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write an npz archive");
    status = path != NULL ? lks__zip_writer_file(path, &w->zip) : lks__zip_writer_memory(&w->zip);
    if (status != LKS_OK) {
        lks__free(w);
        return status;
    }
    *out = w;
    return LKS_OK;
}

lks_status lks__npz_writer_file(const char *path, lks_npz_writer **out)
{
    return create(path, out);
}

lks_status lks__npz_writer_memory(lks_npz_writer **out)
{
    return create(NULL, out);
}

static lks_status add_member(lks_npz_writer *w, const member *m, const char *name)
{
    const lks_zip_part parts[2] = {
        { m->header.data, m->header.length },
        { lks_tensor_cdata(m->tensor),
          (size_t)lks_tensor_size(m->tensor) * lks_dtype_size(lks_tensor_dtype(m->tensor)) },
    };
    lks_text full = { 0 };
    char *full_name;
    lks_status status;

    lks__text_puts(&full, name);
    lks__text_puts(&full, ".npy");
    LKS_TRY(lks__text_take(&full, &full_name));
    status = lks__zip_add(w->zip, full_name, parts, 2);
    lks__free(full_name);
    return status;
}

lks_status lks__npz_writer_add(lks_npz_writer *w, const char *name, lks_tensor *tensor)
{
    member *m;
    lks_status status;

    LKS_TRY(lks__grow(&w->members, &w->capacity, w->count + 1, sizeof *w->members));
    m = lks__calloc(1, sizeof *m);
    if (m == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write array '%s'", name);
    m->tensor = lks_tensor_retain(tensor);
    w->members[w->count++] = m;
    status = lks__npy_header(tensor, &m->header);
    if (status == LKS_OK) status = add_member(w, m, name);
    return status == LKS_OK ? LKS_OK : lks__context(status, "array '%s'", name);
}

lks_status lks__npz_writer_finish(lks_npz_writer *w)
{
    lks_status status = lks__zip_finish_file(w->zip);

    free_writer(w);
    return status;
}

lks_status lks__npz_writer_finish_memory(lks_npz_writer *w, void **out, size_t *n)
{
    lks_status status = lks__zip_finish_memory(w->zip, out, n);

    free_writer(w);
    return status;
}

void lks__npz_writer_drop(lks_npz_writer *w)
{
    if (w == NULL) return;
    lks__zip_drop(w->zip);
    free_writer(w);
}

lks_status lks_write_npz(const char *path, size_t count, const char *const *keys, lks_tensor *const *tensors)
{
    lks_npz_writer *w = NULL;

    if (path == NULL || count == 0 || keys == NULL || tensors == NULL)
        return lks__fail(LKS_E_ARG, "lks_write_npz: a path and at least one key and tensor are needed");
    for (size_t i = 0; i < count; i++)
        if (keys[i] == NULL || tensors[i] == NULL)
            return lks__fail(LKS_E_ARG, "lks_write_npz: key or tensor %zu is NULL", i);
    LKS_TRY(lks__npz_writer_file(path, &w));
    for (size_t i = 0; i < count; i++) {
        lks_status status = lks__npz_writer_add(w, keys[i], tensors[i]);
        if (status != LKS_OK) {
            lks__npz_writer_drop(w);
            return lks__context(status, "'%s'", path);
        }
    }
    return lks__npz_writer_finish(w);
}
