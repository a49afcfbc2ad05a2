/* zip_write.c - see zip_archive.h. libzip writes through a source of ours straight into the saving's temporary file, so
 * there is one temporary, one sync and one rename. */
#include <errno.h>
#include <string.h>
#include <zip.h>

#include "base/alloc.h"
#include "save.h"
#include "zip_archive.h"

typedef struct target {
    lks_saving saving;
    uint64_t at, end;
    lks_status status; /* the first failure of a write */
    lks_error error;
    zip_error_t last;
} target;

struct lks_zip_writer {
    zip_t *z;
    target *file;         /* or NULL: into `memory` */
    zip_source_t *memory; /* one reference of ours */
};

static zip_int64_t fail(target *t, int code, int system)
{
    zip_error_set(&t->last, code, system);
    return -1;
}

static zip_int64_t write_some(target *t, const void *data, zip_uint64_t n)
{
    lks_status status = lks__save_write_at(&t->saving, t->at, data, (size_t)n);

    if (status != LKS_OK) {
        lks__error_capture(&t->error, status);
        return fail(t, ZIP_ER_WRITE, EIO);
    }
    t->at += n;
    if (t->at > t->end) t->end = t->at;
    return (zip_int64_t)n;
}

static zip_int64_t seek(target *t, void *data, zip_uint64_t n)
{
    zip_int64_t to = zip_source_seek_compute_offset(t->at, t->end, data, n, &t->last);

    if (to < 0) return -1;
    t->at = (uint64_t)to;
    return 0;
}

static zip_int64_t describe(target *t, void *data, zip_uint64_t n)
{
    zip_stat_t *s = data;

    if (n < sizeof *s) return fail(t, ZIP_ER_INVAL, 0);
    zip_stat_init(s);
    s->valid = ZIP_STAT_SIZE;
    s->size = 0;
    return (zip_int64_t)sizeof *s;
}

/* An empty file to libzip when it looks, a place to write when it closes. Committing is left to the caller. */
static zip_int64_t target_command(void *user, void *data, zip_uint64_t n, zip_source_cmd_t command)
{
    target *t = user;

    switch (command) {
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_READ:
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_FREE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE: return 0;
    case ZIP_SOURCE_BEGIN_WRITE: t->at = t->end = 0; return 0;
    case ZIP_SOURCE_WRITE: return write_some(t, data, n);
    case ZIP_SOURCE_SEEK_WRITE: return seek(t, data, n);
    case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)t->at;
    case ZIP_SOURCE_STAT: return describe(t, data, n);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&t->last, data, n);
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_CLOSE, ZIP_SOURCE_READ, ZIP_SOURCE_SEEK,
                                              ZIP_SOURCE_TELL, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE,
                                              ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
                                              ZIP_SOURCE_REMOVE, ZIP_SOURCE_SUPPORTS, -1);
    default: return fail(t, ZIP_ER_OPNOTSUPP, 0);
    }
}

/* Steals source, on failure too. */
static lks_status open_writer(lks_zip_writer *w, zip_source_t *source)
{
    zip_error_t error;
    lks_status status = LKS_OK;

    zip_error_init(&error);
    w->z = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (w->z == NULL) {
        status = lks__zip_failure(&error, "cannot start an archive");
        zip_source_free(source);
    }
    zip_error_fini(&error);
    return status;
}

static void free_writer(lks_zip_writer *w)
{
    if (w->file != NULL) lks__free(w->file);
    if (w->memory != NULL) zip_source_free(w->memory);
    lks__free(w);
}

lks_status lks__zip_writer_file(const char *path, lks_zip_writer **out)
{
    lks_zip_writer *w = lks__calloc(1, sizeof *w);
    zip_source_t *source;
    lks_status status;

    if (w == NULL || (w->file = lks__calloc(1, sizeof *w->file)) == NULL) {
        lks__free(w);
        return lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
    }
    zip_error_init(&w->file->last);
    status = lks__save_begin(path, &w->file->saving);
    if (status != LKS_OK) goto free_w;
    source = zip_source_function_create(target_command, w->file, NULL);
    status = source != NULL ? open_writer(w, source) : lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
    if (status != LKS_OK) goto abort_saving;
    *out = w;
    return LKS_OK;

abort_saving:
    lks__save_abort(&w->file->saving);
free_w:
    free_writer(w);
    return status;
}

lks_status lks__zip_writer_memory(lks_zip_writer **out)
{
    lks_zip_writer *w = lks__calloc(1, sizeof *w);
    lks_status status;

    if (w == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write an archive");
    w->memory = zip_source_buffer_create(NULL, 0, 0, NULL);
    if (w->memory == NULL) {
        free_writer(w);
        return lks__fail(LKS_E_NOMEM, "no memory to write an archive");
    }
    zip_source_keep(w->memory);
    status = open_writer(w, w->memory);
    if (status != LKS_OK) {
        free_writer(w);
        return status;
    }
    *out = w;
    return LKS_OK;
}

static lks_status failure_of(lks_zip_writer *w, const char *name)
{
    if (w->file != NULL && w->file->error.code != LKS_OK) return lks__error_raise(&w->file->error);
    return lks__context(lks__zip_failure(zip_get_error(w->z), "cannot write"), "member '%s'", name);
}

lks_status lks__zip_add(lks_zip_writer *w, const char *name, const lks_zip_part *parts, size_t n_parts)
{
    enum { MAX_PARTS = 4, JANUARY_1_1980 = 1 << 5 | 1 };
    zip_buffer_fragment_t fragments[MAX_PARTS];
    zip_source_t *source;
    zip_int64_t i;
    size_t n = 0;

    for (size_t k = 0; k < n_parts && n < MAX_PARTS; k++)
        if (parts[k].n > 0)
            fragments[n++] = (zip_buffer_fragment_t){ (zip_uint8_t *)(uintptr_t)parts[k].data, parts[k].n };
    source = n > 0 ? zip_source_buffer_fragment(w->z, fragments, n, 0) : zip_source_buffer(w->z, NULL, 0, 0);
    if (source == NULL) return failure_of(w, name);
    i = zip_file_add(w->z, name, source, ZIP_FL_ENC_UTF_8);
    if (i < 0) {
        zip_source_free(source);
        return failure_of(w, name);
    }
    if (zip_set_file_compression(w->z, (zip_uint64_t)i, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(w->z, (zip_uint64_t)i, 0, JANUARY_1_1980, 0) != 0)
        return failure_of(w, name);
    return LKS_OK;
}

void lks__zip_drop(lks_zip_writer *w)
{
    if (w == NULL) return;
    zip_discard(w->z);
    if (w->file != NULL) lks__save_abort(&w->file->saving);
    free_writer(w);
}

lks_status lks__zip_finish_file(lks_zip_writer *w)
{
    lks_status status;

    if (zip_close(w->z) != 0) {
        status = failure_of(w, "archive");
        lks__zip_drop(w);
        return status;
    }
    status = lks__save_commit(&w->file->saving);
    free_writer(w);
    return status;
}

static lks_status copy_out(zip_source_t *source, void **out, size_t *n)
{
    zip_stat_t s;
    char *data;

    if (zip_source_stat(source, &s) != 0 || zip_source_open(source) != 0)
        return lks__zip_failure(zip_source_error(source), "cannot read back the archive");
    data = lks__malloc((size_t)s.size);
    if (data == NULL || zip_source_read(source, data, s.size) != (zip_int64_t)s.size) {
        lks__free(data);
        zip_source_close(source);
        return lks__fail(LKS_E_NOMEM, "no memory for an archive of %llu bytes", (unsigned long long)s.size);
    }
    zip_source_close(source);
    *out = data;
    *n = (size_t)s.size;
    return LKS_OK;
}

lks_status lks__zip_finish_memory(lks_zip_writer *w, void **out, size_t *n)
{
    lks_status status;

    if (zip_close(w->z) != 0) {
        status = failure_of(w, "archive");
        lks__zip_drop(w);
        return status;
    }
    status = copy_out(w->memory, out, n);
    free_writer(w);
    return status;
}
