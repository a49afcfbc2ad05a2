/* h5_columns.c - see h5_columns.h. The structure of the file is looked through when it is opened, as for files that are read whole,
 * but no page of the data is touched. */
#include "h5_columns.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "h5.h"
#include "h5_check.h"
#include "job.h"
#include "os_error.h"
#include "reader.h"
#include "tensor/tensor.h"

typedef struct column {
    hid_t set, mem; /* -1: not open */
    lks_dtype dtype;
    lks_shape shape;
    int64_t chunk;
    int64_t plain; /* where its rows stand in the file one after another, as in memory; 0: they do not */
} column;

struct lks_h5_columns {
    char *path;
    hid_t file;
    uint64_t size; /* when it was opened */
    int fd;        /* the file's, which HDF5 closes; -1: not known */
    size_t n;
    column column[];
};

static lks_status read_rows(const column *c, int64_t first, int64_t rows, lks_tensor **out);

/* ---- the whole structure, before HDF5 sees it ---- */

static lks_status check_structure(const char *path, uint64_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    lks_status status;

    if (fd < 0)
        return lks__fail(errno == ENOENT || errno == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO, "cannot open '%s': %s", path,
                         lks__os_error(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
        close(fd);
        return lks__fail(LKS_E_FORMAT, "'%s' is empty or no file, an HDF5 file was expected", path);
    }
    status = lks__h5_check_file(fd, (uint64_t)info.st_size);
    close(fd);
    *size = (uint64_t)info.st_size;
    return status == LKS_OK ? status : lks__context(status, "'%s'", path);
}

/* ---- opening ---- */

static herr_t list_name(hid_t group, const char *name, const H5O_info_t *info, void *user)
{
    lks_text *list = user;

    (void)group;
    if (info->type == H5O_TYPE_DATASET && list->length < 200)
        lks__text_printf(list, "%s%s", list->length > 0 ? ", " : "", name);
    return 0;
}

static lks_status no_such_dataset(const lks_h5_columns *c, const char *name)
{
    lks_text list = { 0 };
    lks_status status;

    if (H5Ovisit1(c->file, H5_INDEX_NAME, H5_ITER_INC, list_name, &list) < 0) list.length = 0;
    status = lks__fail(LKS_E_NOTFOUND, "'%s' has no dataset '%s'; there are: %s", c->path, name,
                       list.length > 0 && !list.failed ? list.data : "none");
    lks__text_free(&list);
    return status;
}

/* Every step of the path is a hard link: others would open other files. */
static lks_status check_links(const lks_h5_columns *c, const char *name)
{
    char *part = lks__strdup(name);
    lks_status status = part == NULL ? lks__fail(LKS_E_NOMEM, "no memory for a path") : LKS_OK;

    for (size_t i = 1, n = strlen(name); status == LKS_OK && i <= n; i++) {
        H5L_info_t info;
        if (i < n && name[i] != '/') continue;
        part[i] = '\0';
        if (H5Lexists(c->file, part, H5P_DEFAULT) <= 0) status = no_such_dataset(c, name);
        else if (H5Lget_info(c->file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            status = lks__fail(LKS_E_UNSUPPORTED, "'/%s' is a soft or external link; links are refused", part);
        part[i] = name[i];
    }
    lks__free(part);
    return status;
}

static int64_t chunk_rows(hid_t set)
{
    hid_t plist = H5Dget_create_plist(set);
    hsize_t dims[H5S_MAX_RANK];
    int64_t rows = 0;

    if (plist < 0) return 0;
    if (H5Pget_layout(plist) == H5D_CHUNKED && H5Pget_chunk(plist, H5S_MAX_RANK, dims) > 0 && dims[0] <= INT32_MAX)
        rows = (int64_t)dims[0];
    H5Pclose(plist);
    return rows;
}

/* Rows without HDF5; false: it is asked, and says what is wrong. */
static bool read_plain(const lks_h5_columns *c, const column *from, int64_t first, int64_t rows, lks_tensor **out)
{
    lks_shape shape = from->shape;
    size_t bytes, done = 0;
    int64_t offset;
    ssize_t n = 1;

    shape.dim[0] = rows;
    bytes = (size_t)lks_shape_size(&shape) * lks_dtype_size(from->dtype);
    offset = from->plain + (rows > 0 ? (int64_t)bytes / rows * first : 0);
    *out = lks__tensor_create_raw(from->dtype, shape);
    while (*out != NULL && done < bytes && n > 0) {
        n = pread(c->fd, (char *)lks_tensor_data(*out) + done, bytes - done, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR) n = 1;
        else if (n > 0) done += (size_t)n;
    }
    if (*out != NULL && done == bytes) return true;
    lks_tensor_release(*out);
    *out = NULL;
    return false;
}

static bool same_rows(const lks_h5_columns *c, const column *of, int64_t row)
{
    lks_tensor *a = NULL, *b = NULL;
    bool same = read_plain(c, of, row, 1, &a) && read_rows(of, row, 1, &b) == LKS_OK &&
                memcmp(lks_tensor_cdata(a), lks_tensor_cdata(b),
                       (size_t)lks_tensor_size(a) * lks_dtype_size(lks_tensor_dtype(a))) == 0;

    lks_tensor_release(a);
    lks_tensor_release(b);
    return same;
}

/* A column that lies in one piece, in the processor's own form, is read without HDF5, which would take a thread, a lock and some fifty
 * calls for a row. The first and the last row are compared with what HDF5 reads. */
static void look_whether_plain(lks_h5_columns *c, column *of, hid_t type, uint64_t file_size)
{
    hid_t plist = H5Dget_create_plist(of->set);
    haddr_t at = plist < 0 || H5Pget_layout(plist) != H5D_CONTIGUOUS ? HADDR_UNDEF : H5Dget_offset(of->set);
    uint64_t bytes = (uint64_t)lks_shape_size(&of->shape) * lks_dtype_size(of->dtype);

    if (plist >= 0) H5Pclose(plist);
    if (c->fd < 0 || at == HADDR_UNDEF || at == 0 || bytes == 0 || of->dtype == LKS_BOOL || of->dtype == LKS_BFLOAT16 ||
        H5Tequal(type, of->mem) <= 0 || H5Dget_storage_size(of->set) != bytes || at > file_size ||
        bytes > file_size - at)
        return;
    of->plain = (int64_t)at;
    if (!same_rows(c, of, 0) || !same_rows(c, of, of->shape.dim[0] - 1)) of->plain = 0;
}

static lks_status open_column(lks_h5_columns *c, column *to, const char *name, uint64_t file_size, uint64_t *budget)
{
    lks_status status = LKS_OK;
    H5O_info_t info;
    hid_t type;

    LKS_TRY(check_links(c, name));
    if (H5Oget_info_by_name1(c->file, name, &info, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET)
        return no_such_dataset(c, name);
    to->set = H5Dopen2(c->file, name, H5P_DEFAULT);
    type = to->set < 0 ? -1 : H5Dget_type(to->set);
    if (type < 0) return lks__h5_fail("dataset '%s' cannot be opened", name);
    status = lks__h5_check_storage(to->set);
    if (status == LKS_OK) status = lks__h5_read_type(to->set, type, &to->dtype, &to->mem);
    if (status == LKS_OK) status = lks__h5_read_shape(to->set, &to->shape);
    if (status == LKS_OK) status = lks__h5_check_size(to->set, &to->shape, to->dtype, file_size, budget);
    if (status == LKS_OK && to->shape.rank >= 1) look_whether_plain(c, to, type, file_size);
    H5Tclose(type);
    if (status == LKS_OK && to->shape.rank < 1) status = lks__fail(LKS_E_ARG, "it is a single value and has no rows");
    if (status == LKS_OK && to->shape.dim[0] != c->column[0].shape.dim[0])
        status = lks__fail(LKS_E_ARG, "it has %lld rows, the first column has %lld: they must be equal",
                           (long long)to->shape.dim[0], (long long)c->column[0].shape.dim[0]);
    if (status != LKS_OK) return lks__context(status, "'%s', dataset '%s'", c->path, name);
    to->chunk = chunk_rows(to->set);
    return LKS_OK;
}

/* Locks would fail on mounts that are read-only, and nothing is written here. */
static hid_t open_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

    if (access < 0) return access;
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, 0, 1);
#endif
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

typedef struct job {
    lks_h5_columns *c;
    const char *const *names;
    int64_t first, rows;
    lks_tensor **out;
} job;

static lks_status run_open(void *user)
{
    job *j = user;
    lks_h5_columns *c = j->c;
    uint64_t size = 0, budget;
    void *handle = NULL;
    lks_h5_guard guard;
    lks_status status = check_structure(c->path, &size);

    if (status != LKS_OK) return status;
    budget = size < UINT64_MAX / LKS_DEFLATE_RATIO ? size * LKS_DEFLATE_RATIO : UINT64_MAX;
    c->size = size;
    LKS_TRY(lks__h5_enter(&guard));
    c->file = open_file(c->path);
    if (c->file < 0) status = lks__h5_fail("'%s' is not an HDF5 file, or cut off", c->path);
    else if (H5Fget_vfd_handle(c->file, H5P_DEFAULT, &handle) >= 0 && handle != NULL) c->fd = *(const int *)handle;
    for (size_t i = 0; i < c->n && status == LKS_OK; i++) {
        const char *name = j->names[i];
        while (*name == '/') name++;
        status = *name == '\0' ? no_such_dataset(c, name) : open_column(c, &c->column[i], name, size, &budget);
    }
    lks__h5_leave(&guard);
    return status;
}

static lks_status run_close(void *user)
{
    lks_h5_columns *c = user;
    lks_h5_guard guard;

    if (c->file < 0) return LKS_OK;
    LKS_TRY(lks__h5_enter(&guard));
    for (size_t i = 0; i < c->n; i++) {
        if (c->column[i].mem >= 0) H5Tclose(c->column[i].mem);
        if (c->column[i].set >= 0) H5Dclose(c->column[i].set);
    }
    H5Fclose(c->file);
    lks__h5_leave(&guard);
    return LKS_OK;
}

lks_status lks__h5_columns_open(const char *path, size_t n, const char *const *names, lks_h5_columns **out)
{
    lks_h5_columns *c = lks__calloc(1, sizeof *c + n * sizeof *c->column);
    job j = { .c = c, .names = names };
    lks_status status;

    if (c == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu columns", n);
    c->n = n;
    c->file = -1;
    c->fd = -1;
    for (size_t i = 0; i < n; i++) c->column[i].set = c->column[i].mem = -1;
    c->path = lks__strdup(path);
    status = c->path == NULL ? lks__fail(LKS_E_NOMEM, "no memory for a path") : lks__file_job(run_open, &j);
    if (status == LKS_OK) *out = c;
    else lks__h5_columns_close(c);
    return status;
}

void lks__h5_columns_close(lks_h5_columns *c)
{
    if (c == NULL) return;
    if (c->file >= 0) run_close(c);
    lks__free(c->path);
    lks__free(c);
}

/* ---- what is there ---- */

lks_dtype lks__h5_columns_dtype(const lks_h5_columns *c, size_t i)
{
    return c->column[i].dtype;
}

lks_shape lks__h5_columns_shape(const lks_h5_columns *c, size_t i)
{
    return c->column[i].shape;
}

int64_t lks__h5_columns_chunk(const lks_h5_columns *c, size_t i)
{
    return c->column[i].chunk;
}

int64_t lks__h5_columns_row_bytes(const lks_h5_columns *c)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < c->n; i++) {
        lks_shape row = c->column[i].shape;
        row.dim[0] = 1;
        bytes += lks_shape_size(&row) * (int64_t)lks_dtype_size(c->column[i].dtype);
    }
    return bytes;
}

/* ---- rows ---- */

static lks_status read_rows(const column *c, int64_t first, int64_t rows, lks_tensor **out)
{
    hsize_t start[LKS_MAX_RANK] = { (hsize_t)first }, count[LKS_MAX_RANK];
    lks_shape shape = c->shape;
    hid_t chosen, room;
    lks_status status = LKS_OK;

    shape.dim[0] = rows;
    for (int64_t k = 0; k < shape.rank; k++) count[k] = (hsize_t)shape.dim[k];
    *out = lks_tensor_create(c->dtype, shape);
    if (*out == NULL) return LKS_E_NOMEM;
    if (lks_tensor_size(*out) == 0) return LKS_OK;
    chosen = H5Dget_space(c->set);
    room = H5Screate_simple((int)shape.rank, count, NULL);
    if (chosen < 0 || room < 0 || H5Sselect_hyperslab(chosen, H5S_SELECT_SET, start, NULL, count, NULL) < 0)
        status = lks__h5_fail("rows can't be chosen");
    else status = lks__h5_read_data(c->set, c->mem, room, chosen, *out);
    if (room >= 0) H5Sclose(room);
    if (chosen >= 0) H5Sclose(chosen);
    return status;
}

/* HDF5 takes zeros for what the end of the file should have held. */
static lks_status check_size(const lks_h5_columns *c)
{
    struct stat info;
    void *fd = NULL;

    if (H5Fget_vfd_handle(c->file, H5P_DEFAULT, &fd) < 0 || fd == NULL || fstat(*(const int *)fd, &info) != 0 ||
        (uint64_t)info.st_size >= c->size)
        return LKS_OK;
    return lks__fail(LKS_E_FORMAT,
                     "the file had %llu bytes when it was opened and has %lld now: it was cut off meanwhile",
                     (unsigned long long)c->size, (long long)info.st_size);
}

static lks_status run_read(void *user)
{
    job *j = user;
    lks_h5_guard guard;
    lks_status status;

    LKS_TRY(lks__h5_enter(&guard));
    status = check_size(j->c);
    for (size_t i = 0; i < j->c->n && status == LKS_OK; i++)
        if (j->out[i] == NULL) status = read_rows(&j->c->column[i], j->first, j->rows, &j->out[i]);
    lks__h5_leave(&guard);
    if (status == LKS_OK) return LKS_OK;
    return lks__context(status, "'%s', rows %lld to %lld", j->c->path, (long long)j->first,
                        (long long)(j->first + j->rows - 1));
}

lks_status lks__h5_columns_read(lks_h5_columns *c, int64_t first, int64_t rows, lks_tensor **out)
{
    job j = { c, NULL, first, rows, out };
    lks_status status = LKS_OK;
    size_t plain = 0;

    for (size_t i = 0; i < c->n; i++) out[i] = NULL;
    for (size_t i = 0; i < c->n && check_size(c) == LKS_OK; i++)
        plain += c->column[i].plain > 0 && read_plain(c, &c->column[i], first, rows, &out[i]);
    if (plain < c->n) status = lks__file_job(run_read, &j);
    for (size_t i = 0; i < c->n && status != LKS_OK; i++) {
        lks_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}
