/* reader.c - byte readers over files and memory. What cannot tell its size (a pipe, a device) is read whole first, so
 * that `left` is a bound everywhere. */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os_error.h"

typedef struct memory_reader {
    lks_reader base;
    const char *data;
    size_t size, at;
    char *owned;
} memory_reader;

typedef struct file_reader {
    lks_reader base;
    int fd;
} file_reader;

static lks_status memory_read(lks_reader *r, void *buffer, size_t n, size_t *got)
{
    memory_reader *m = (memory_reader *)r;

    if (n > m->size - m->at) n = m->size - m->at;
    if (n > 0) memcpy(buffer, m->data + m->at, n);
    m->at += n;
    *got = n;
    return LKS_OK;
}

static void memory_close(lks_reader *r)
{
    lks__free(((memory_reader *)r)->owned);
    lks__free(r);
}

lks_status lks__reader_memory(const void *data, size_t n, lks_reader **out)
{
    memory_reader *m = lks__calloc(1, sizeof *m);

    if (m == NULL) return lks__fail(LKS_E_NOMEM, "no memory to read %zu bytes", n);
    m->base = (lks_reader){ .read = memory_read, .close = memory_close, .left = n };
    m->data = data;
    m->size = n;
    *out = &m->base;
    return LKS_OK;
}

lks_status lks__reader_owned(char *data, size_t n, lks_reader **out)
{
    lks_status status = lks__reader_memory(data, n, out);

    if (status != LKS_OK) lks__free(data);
    else ((memory_reader *)*out)->owned = data;
    return status;
}

bool lks__reader_take(lks_reader *r, size_t n, void **data, void **owner)
{
    memory_reader *m = (memory_reader *)r;

    if (r->read != memory_read || m->owned == NULL || r->n_pushed > 0 || m->size - m->at != n) return false;
    *data = m->owned + m->at;
    *owner = m->owned;
    m->owned = NULL;
    m->at = m->size;
    r->left = 0;
    return true;
}

static lks_status fd_read(int fd, void *buffer, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        ssize_t k = read(fd, (char *)buffer + *got, n - *got);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return lks__fail(LKS_E_IO, "cannot read: %s", lks__os_error(errno));
        if (k == 0) break;
        *got += (size_t)k;
    }
    return LKS_OK;
}

static lks_status file_read(lks_reader *r, void *buffer, size_t n, size_t *got)
{
    return fd_read(((file_reader *)r)->fd, buffer, n, got);
}

static void file_close(lks_reader *r)
{
    close(((file_reader *)r)->fd);
    lks__free(r);
}

static lks_status open_for_reading(const char *path, int *fd, struct stat *info)
{
    int error;

    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) {
        error = errno;
        return lks__fail(error == ENOENT || error == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO, "cannot open '%s': %s", path,
                         lks__os_error(error));
    }
    if (fstat(*fd, info) != 0) {
        error = errno;
        close(*fd);
        return lks__fail(LKS_E_IO, "cannot look at '%s': %s", path, lks__os_error(error));
    }
    if (S_ISDIR(info->st_mode)) {
        close(*fd);
        return lks__fail(LKS_E_IO, "'%s' is a directory, a file was expected", path);
    }
    return LKS_OK;
}

/* Reads on until the end or past `limit`. */
static lks_status slurp(int fd, size_t expected, uint64_t limit, char **out, size_t *n)
{
    size_t capacity = 0, used = 0, got;
    char *data = NULL;
    lks_status status;

    do {
        size_t want = used == 0 ? expected + 1 : used + 65536;
        status = lks__grow(&data, &capacity, want + 1, 1);
        if (status != LKS_OK) goto free_data;
        status = fd_read(fd, data + used, want - used, &got);
        if (status != LKS_OK) goto free_data;
        used += got;
        if (used > limit) {
            status = lks__fail(LKS_E_LIMIT, "more than the %llu bytes allowed here", (unsigned long long)limit);
            goto free_data;
        }
        if (got < want - (used - got)) break;
    } while (1);
    data[used] = '\0';
    *out = data;
    *n = used;
    return LKS_OK;

free_data:
    lks__free(data);
    return status;
}

lks_status lks__reader_file(const char *path, lks_reader **out)
{
    struct stat info;
    file_reader *f;
    char *data;
    size_t n;
    int fd;
    lks_status status;

    LKS_TRY(open_for_reading(path, &fd, &info));
    if (!S_ISREG(info.st_mode)) {
        status = slurp(fd, 4096, UINT64_MAX, &data, &n);
        close(fd);
        return status == LKS_OK ? lks__reader_owned(data, n, out) : status;
    }
    f = lks__calloc(1, sizeof *f);
    if (f == NULL) {
        close(fd);
        return lks__fail(LKS_E_NOMEM, "no memory to open '%s'", path);
    }
    f->base = (lks_reader){ .read = file_read, .close = file_close, .left = (uint64_t)info.st_size };
    f->fd = fd;
    *out = &f->base;
    return LKS_OK;
}

lks_status lks__read_file(const char *path, uint64_t limit, void **out, size_t *n)
{
    struct stat info;
    size_t expected;
    char *data = NULL;
    int fd;
    lks_status status;

    LKS_TRY(open_for_reading(path, &fd, &info));
    expected = S_ISREG(info.st_mode) ? (size_t)info.st_size : 4096;
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit) {
        close(fd);
        return lks__fail(LKS_E_LIMIT, "'%s' has %lld bytes, at most %llu are allowed here", path,
                         (long long)info.st_size, (unsigned long long)limit);
    }
    status = slurp(fd, expected, limit, &data, n);
    close(fd);
    if (status != LKS_OK) return lks__context(status, "'%s'", path);
    *out = data;
    return LKS_OK;
}

lks_status lks__read_file_again(const char *path, void **buffer, size_t *room, size_t *n)
{
    struct stat info;
    size_t used = 0, want, got;
    int fd;
    lks_status status;

    LKS_TRY(open_for_reading(path, &fd, &info));
    want = S_ISREG(info.st_mode) ? (size_t)info.st_size + 1 : 4096;
    do {
        if (want > *room) {
            void *larger = lks__realloc(*buffer, want);
            status = larger != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for %zu bytes", want);
            if (larger == NULL) break;
            *buffer = larger;
            *room = want;
        }
        status = fd_read(fd, (char *)*buffer + used, want - used, &got);
        if (status != LKS_OK) break;
        used += got;
        if (used < want) break;
        want = used + 65536;
    } while (1);
    close(fd);
    if (status != LKS_OK) return lks__context(status, "'%s'", path);
    *n = used;
    return LKS_OK;
}

void lks__reader_close(lks_reader *r)
{
    if (r != NULL) r->close(r);
}

lks_status lks__read_some(lks_reader *r, void *buffer, size_t n, size_t *got)
{
    char *to = buffer;
    size_t pushed = r->n_pushed < n ? r->n_pushed : n, more = 0;

    memcpy(to, r->pushed, pushed);
    memmove(r->pushed, r->pushed + pushed, r->n_pushed - pushed);
    r->n_pushed -= pushed;
    if (n > pushed) LKS_TRY(r->read(r, to + pushed, n - pushed, &more));
    *got = pushed + more;
    r->left = r->left > *got ? r->left - *got : 0;
    return LKS_OK;
}

lks_status lks__read_exact(lks_reader *r, void *buffer, size_t n, const char *what)
{
    size_t got = 0;

    LKS_TRY(lks__read_some(r, buffer, n, &got));
    if (got < n) return lks__fail(LKS_E_FORMAT, "the file ends inside %s: %zu bytes wanted, %zu found", what, n, got);
    return LKS_OK;
}

lks_status lks__read_end(lks_reader *r)
{
    char extra;
    size_t got = 0;

    LKS_TRY(lks__read_some(r, &extra, 1, &got));
    if (got != 0) return lks__fail(LKS_E_FORMAT, "there are bytes after the end of the data");
    return LKS_OK;
}
