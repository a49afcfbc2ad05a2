/* columns.c - arrays of npy, npz and IDX files as columns. The files are read when the dataset is made; what a pass does is
 * from_tensor_slices. */
#include <string.h>

#include "data/sources.h"
#include "data/stages.h"
#include "files/npz.h"
#include "lockstep/files.h"
#include "lockstep/sources.h"

/* Stand for the source where a file could not be read. */
static const lks_stage stage_npy = { .name = "npy", .dataset_size = sizeof(lks_dataset) },
                       stage_npz = { .name = "npz", .dataset_size = sizeof(lks_dataset) },
                       stage_idx = { .name = "idx", .dataset_size = sizeof(lks_dataset) };

static lks_dataset *refuse(const lks_stage *stage, lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(stage, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

static void release(size_t n, lks_tensor **column)
{
    for (size_t i = 0; column != NULL && i < n; i++) lks_tensor_release(column[i]);
    lks__free(column);
}

/* Reads column i of n into the array. */
typedef lks_status (*read_fn)(void *from, size_t i, lks_tensor **out);

static lks_dataset *build(const lks_stage *stage, size_t n, read_fn read, void *from)
{
    lks_tensor **column = n == 0 ? NULL : lks__calloc(n, sizeof *column);
    lks_status status = LKS_OK;
    lks_dataset *ds;

    if (n == 0) return refuse(stage, lks__fail(LKS_E_ARG, "no column is named"));
    if (column == NULL) return refuse(stage, lks__fail(LKS_E_NOMEM, "no memory for %zu columns", n));
    for (size_t i = 0; i < n && status == LKS_OK; i++) status = read(from, i, &column[i]);
    ds = status == LKS_OK ? lks_from_tensor_slices_n(n, column) : refuse(stage, status);
    release(n, column);
    return ds;
}

static lks_status read_npy(void *from, size_t i, lks_tensor **out)
{
    (void)i;
    return lks_read_npy(from, out);
}

lks_dataset *lks_npy(const char *path)
{
    return build(&stage_npy, 1, read_npy, (char *)path);
}

static lks_status read_idx(void *from, size_t i, lks_tensor **out)
{
    return lks_read_idx(((const char *const *)from)[i], out);
}

lks_dataset *lks_idx_n(size_t n, const char *const *paths)
{
    return build(&stage_idx, n, read_idx, (void *)paths);
}

/* ---- npz ---- */

typedef struct npz_columns {
    const char *path;
    lks_npz *npz;
    const char *const *keys; /* NULL: all */
} npz_columns;

static lks_status read_npz(void *from, size_t i, lks_tensor **out)
{
    const npz_columns *c = from;

    lks_status status = lks__npz_read(c->npz, c->keys != NULL ? c->keys[i] : lks__npz_name(c->npz, i), out);

    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", c->path);
}

/* A zip would end with the shortest. */
static lks_dataset *as_many(lks_dataset *ds, const lks_dataset *first, const char *name, const char *other,
                            const char *path)
{
    if (!lks__dataset_ok(ds) || !lks__dataset_ok(first) || ds->cardinality == first->cardinality) return ds;
    return lks__dataset_fail(
        ds, lks__fail(LKS_E_ARG, "'%s': array '%s' has %lld rows, array '%s' has %lld: name the ones to read", path,
                      other, (long long)first->cardinality, name, (long long)ds->cardinality));
}

/* The tuple of all columns as a dict by their names. */
static lks_dataset *name_columns(const npz_columns *c, size_t n)
{
    const char **name = lks__calloc(n, sizeof *name);
    lks_dataset **part = lks__calloc(n, sizeof *part), *ds = NULL;

    if (name != NULL && part != NULL) {
        for (size_t i = 0; i < n; i++) {
            const char *one[] = { lks__npz_name(c->npz, i) };
            npz_columns single = { c->path, c->npz, one };
            name[i] = one[0];
            part[i] = build(&stage_npz, 1, read_npz, &single);
        }
        for (size_t i = 1; i < n; i++) part[i] = as_many(part[i], part[0], name[i], name[0], c->path);
        ds = lks_zip_named(n, name, part);
    }
    lks__free(part);
    lks__free(name);
    return ds != NULL ? ds : refuse(&stage_npz, lks__fail(LKS_E_NOMEM, "no memory for %zu columns", n));
}

lks_dataset *lks_npz_n(const char *path, size_t n, const char *const *keys)
{
    npz_columns c = { path, NULL, n == 0 ? NULL : keys };
    lks_status status = lks__npz_open(path, &c.npz);
    lks_dataset *ds;

    if (status != LKS_OK) return refuse(&stage_npz, status);
    if (n > 0) ds = build(&stage_npz, n, read_npz, &c);
    else if (lks__npz_count(c.npz) == 0) ds = refuse(&stage_npz, lks__fail(LKS_E_FORMAT, "'%s' holds no array", path));
    else ds = name_columns(&c, lks__npz_count(c.npz));
    lks__npz_close(c.npz);
    return ds;
}
