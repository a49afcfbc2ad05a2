/* zip_read.c - see zip_archive.h. The name index is ours, sorted once: thousands of look-ups cost nothing, and a
 * name that stands twice is seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/alloc.h"
#include "os_error.h"
#include "zip_archive.h"

typedef struct entry {
    const char *name; /* libzip's */
    size_t index;
} entry;

struct lks_zip {
    zip_t *z;
    uint64_t archive_size;
    size_t count;
    entry *by_name;
};

typedef struct member_reader {
    lks_reader base;
    zip_file_t *file;
    const char *name;
} member_reader;

lks_status lks__zip_failure(void *zip_error, const char *doing)
{
    zip_error_t *e = zip_error;
    int code = zip_error_code_zip(e), system = zip_error_code_system(e);

    switch (code) {
    case ZIP_ER_MEMORY: return lks__fail(LKS_E_NOMEM, "%s: no memory", doing);
    case ZIP_ER_NOENT: return lks__fail(LKS_E_NOTFOUND, "%s: no such file", doing);
    case ZIP_ER_NOZIP:
        return lks__fail(LKS_E_FORMAT, "%s: not a ZIP archive, or cut off (no end-of-central-directory record)", doing);
    case ZIP_ER_CRC: return lks__fail(LKS_E_FORMAT, "%s: the CRC-32 differs, the data is damaged", doing);
    case ZIP_ER_COMPNOTSUPP:
    case ZIP_ER_ENCRNOTSUPP: return lks__fail(LKS_E_UNSUPPORTED, "%s: %s", doing, zip_error_strerror(e));
    case ZIP_ER_INVAL: /* libzip's answer to an offset beyond the end */
        return lks__fail(LKS_E_FORMAT, "%s: a place in the archive lies outside the file", doing);
    case ZIP_ER_OPEN:
    case ZIP_ER_READ:
    case ZIP_ER_SEEK:
    case ZIP_ER_TELL:
    case ZIP_ER_WRITE:
    case ZIP_ER_TMPOPEN:
    case ZIP_ER_RENAME:
    case ZIP_ER_CLOSE:
        if (system != 0 && system != EINVAL) return lks__fail(LKS_E_IO, "%s: %s", doing, lks__os_error(system));
        return lks__fail(LKS_E_FORMAT, "%s: a place in the archive lies outside the file", doing);
    default: return lks__fail(LKS_E_FORMAT, "%s: %s", doing, zip_error_strerror(e));
    }
}

static int by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order != 0) return order;
    return x->index < y->index ? -1 : x->index > y->index;
}

static lks_status build_index(lks_zip *z)
{
    zip_int64_t n = zip_get_num_entries(z->z, 0);

    z->count = n > 0 ? (size_t)n : 0;
    z->by_name = lks__calloc(z->count, sizeof *z->by_name);
    if (z->by_name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu member names", z->count);
    for (size_t i = 0; i < z->count; i++) {
        z->by_name[i] = (entry){ zip_get_name(z->z, i, 0), i };
        if (z->by_name[i].name == NULL) return lks__zip_failure(zip_get_error(z->z), "a member's name");
    }
    qsort(z->by_name, z->count, sizeof *z->by_name, by_name);
    for (size_t i = 1; i < z->count; i++)
        if (strcmp(z->by_name[i - 1].name, z->by_name[i].name) == 0)
            return lks__fail(LKS_E_FORMAT, "the archive has two members named '%s'", z->by_name[i].name);
    return LKS_OK;
}

static lks_status finish_open(zip_t *opened, uint64_t size, lks_zip **out)
{
    lks_zip *z = lks__calloc(1, sizeof *z);
    lks_status status;

    if (z == NULL) {
        zip_discard(opened);
        return lks__fail(LKS_E_NOMEM, "no memory for a ZIP archive");
    }
    z->z = opened;
    z->archive_size = size;
    status = build_index(z);
    if (status != LKS_OK) {
        lks__zip_close(z);
        return status;
    }
    *out = z;
    return LKS_OK;
}

static lks_status open_source(zip_source_t *source, uint64_t size, lks_zip **out)
{
    zip_error_t error;
    zip_t *opened;
    lks_status status;

    zip_error_init(&error);
    opened = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (opened == NULL) {
        status = lks__zip_failure(&error, "cannot open the archive");
        zip_source_free(source);
        zip_error_fini(&error);
        return status;
    }
    zip_error_fini(&error);
    return finish_open(opened, size, out);
}

lks_status lks__zip_open_file(const char *path, lks_zip **out)
{
    struct stat info;
    zip_error_t error;
    zip_source_t *source;
    lks_status status;

    if (stat(path, &info) != 0)
        return lks__fail(errno == ENOENT || errno == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO, "cannot open '%s': %s", path,
                         lks__os_error(errno));
    if (!S_ISREG(info.st_mode)) return lks__fail(LKS_E_IO, "'%s' is not a regular file; an archive needs one", path);
    if (info.st_size == 0) return lks__fail(LKS_E_FORMAT, "'%s': the file is empty, not a ZIP archive", path);
    zip_error_init(&error);
    source = zip_source_file_create(path, 0, -1, &error);
    status = source != NULL ? open_source(source, (uint64_t)info.st_size, out)
                            : lks__zip_failure(&error, "cannot open");
    zip_error_fini(&error);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}

lks_status lks__zip_open_memory(const void *data, size_t n, lks_zip **out)
{
    zip_error_t error;
    zip_source_t *source;
    lks_status status;

    if (n == 0) return lks__fail(LKS_E_FORMAT, "no bytes, not a ZIP archive");
    zip_error_init(&error);
    source = zip_source_buffer_create(data, n, 0, &error);
    status = source != NULL ? open_source(source, n, out) : lks__zip_failure(&error, "cannot open");
    zip_error_fini(&error);
    return status;
}

void lks__zip_close(lks_zip *z)
{
    if (z == NULL) return;
    zip_discard(z->z);
    lks__free(z->by_name);
    lks__free(z);
}

size_t lks__zip_count(const lks_zip *z)
{
    return z->count;
}

const char *lks__zip_name(const lks_zip *z, size_t i)
{
    return zip_get_name(z->z, i, 0);
}

bool lks__zip_find(const lks_zip *z, const char *name, size_t *i)
{
    size_t low = 0, high = z->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(z->by_name[middle].name, name);
        if (order == 0) {
            *i = z->by_name[middle].index;
            return true;
        }
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return false;
}

/* The directory's claims about a member: known method, and sizes that the archive can really hold. */
static lks_status check_member(lks_zip *z, size_t i, const char *name, uint64_t *size)
{
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    zip_stat_t s;
    int possible;

    if (zip_stat_index(z->z, i, 0, &s) != 0 || (s.valid & wanted) != wanted)
        return lks__fail(LKS_E_FORMAT, "member '%s': the archive's directory is damaged", name);
    if (s.encryption_method != ZIP_EM_NONE) return lks__fail(LKS_E_UNSUPPORTED, "member '%s' is encrypted", name);
    if (s.comp_method != ZIP_CM_STORE && s.comp_method != ZIP_CM_DEFLATE)
        return lks__fail(LKS_E_UNSUPPORTED, "member '%s' uses compression method %d; stored and deflated are supported",
                         name, s.comp_method);
    possible = s.comp_size <= z->archive_size &&
               (s.comp_method == ZIP_CM_STORE ? s.size == s.comp_size : s.size / LKS_DEFLATE_RATIO <= s.comp_size);
    if (!possible)
        return lks__fail(LKS_E_FORMAT,
                         "member '%s' declares %llu bytes (%llu packed), more than the archive of %llu "
                         "bytes can hold",
                         name, (unsigned long long)s.size, (unsigned long long)s.comp_size,
                         (unsigned long long)z->archive_size);
    *size = s.size;
    return LKS_OK;
}

static lks_status member_read(lks_reader *r, void *buffer, size_t n, size_t *got)
{
    member_reader *m = (member_reader *)r;
    zip_int64_t k = zip_fread(m->file, buffer, n);

    if (k < 0) return lks__context(lks__zip_failure(zip_file_get_error(m->file), "unpacking"), "member '%s'", m->name);
    *got = (size_t)k;
    return LKS_OK;
}

static void member_close(lks_reader *r)
{
    zip_fclose(((member_reader *)r)->file);
    lks__free(r);
}

lks_status lks__zip_member(lks_zip *z, size_t i, lks_reader **out)
{
    const char *name = lks__zip_name(z, i);
    member_reader *m;
    uint64_t size = 0;
    lks_status status;

    LKS_TRY(check_member(z, i, name, &size));
    m = lks__calloc(1, sizeof *m);
    if (m == NULL) return lks__fail(LKS_E_NOMEM, "no memory to read member '%s'", name);
    m->file = zip_fopen_index(z->z, i, 0);
    if (m->file == NULL) {
        status = lks__context(lks__zip_failure(zip_get_error(z->z), "cannot open"), "member '%s'", name);
        lks__free(m);
        return status;
    }
    m->name = name;
    m->base = (lks_reader){ .read = member_read, .close = member_close, .left = size };
    *out = &m->base;
    return LKS_OK;
}

lks_status lks__zip_read(lks_zip *z, size_t i, uint64_t limit, void **out, size_t *n)
{
    const char *name = lks__zip_name(z, i);
    lks_reader *r;
    size_t size;
    char *data;
    lks_status status;

    LKS_TRY(lks__zip_member(z, i, &r));
    if (r->left > limit) {
        status = lks__fail(LKS_E_LIMIT, "member '%s' has %llu bytes, at most %llu are allowed", name,
                           (unsigned long long)r->left, (unsigned long long)limit);
        goto close_reader;
    }
    size = (size_t)r->left;
    data = lks__malloc(size + 1);
    if (data == NULL) {
        status = lks__fail(LKS_E_NOMEM, "no memory for the %zu bytes of member '%s'", size, name);
        goto close_reader;
    }
    status = lks__read_exact(r, data, size, name);
    if (status == LKS_OK) status = lks__read_end(r);
    if (status != LKS_OK) {
        lks__free(data);
        goto close_reader;
    }
    data[size] = '\0';
    *out = data;
    *n = size;

close_reader:
    lks__reader_close(r);
    return status;
}
