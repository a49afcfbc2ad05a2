/* save.c - see save.h. A temporary file is closed last: until then it is locked, and no other writer takes it for one that was left. */
#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os_error.h"
#include "temporary.h"

static lks_status no_memory(const char *path)
{
    return lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
}

/* Follows a link, so that the file behind it is replaced and not the link. */
static lks_status real_target(const char *path, char **out)
{
    char resolved[PATH_MAX];
    char *copy = lks__strdup(realpath(path, resolved) != NULL ? resolved : path);

    if (copy == NULL) return no_memory(path);
    *out = copy;
    return LKS_OK;
}

static lks_status open_directly(lks_saving *s)
{
    s->fd = open(s->path, O_WRONLY | O_CLOEXEC);
    if (s->fd < 0) return lks__fail(LKS_E_IO, "cannot write '%s': %s", s->path, lks__os_error(errno));
    return LKS_OK;
}

lks_status lks__save_begin(const char *path, lks_saving *out)
{
    lks_saving s = { .fd = -1 };
    struct stat info;
    int exists = stat(path, &info) == 0;
    lks_status status;

    if (*path == '\0') return lks__fail(LKS_E_ARG, "the name of the file to write is empty");
    if (exists && S_ISDIR(info.st_mode)) return lks__fail(LKS_E_IO, "cannot write '%s': it is a directory", path);
    LKS_TRY(real_target(path, &s.path));
    status = exists && !S_ISREG(info.st_mode) ? open_directly(&s) : lks__temporary_open(s.path, &s.temporary, &s.fd);
    if (status != LKS_OK) {
        lks__free(s.temporary);
        lks__free(s.path);
        return status;
    }
    if (exists && s.temporary != NULL && fchmod(s.fd, info.st_mode & 07777) != 0) errno = 0; /* best effort */
    *out = s;
    return LKS_OK;
}

lks_status lks__save_write_at(lks_saving *s, uint64_t offset, const void *data, size_t n)
{
    const char *from = data;

    while (n > 0) {
        ssize_t k = s->temporary != NULL ? pwrite(s->fd, from, n, (off_t)offset) : write(s->fd, from, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return lks__fail(LKS_E_IO, "cannot write '%s': %s", s->path, lks__os_error(errno));
        from += k;
        offset += (uint64_t)k;
        n -= (size_t)k;
    }
    return LKS_OK;
}

static void sync_folder(const char *path)
{
    char *folder = lks__strdup(path), *slash;
    int fd;

    if (folder == NULL) return;
    slash = strrchr(folder, '/');
    if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
    fd = open(slash != NULL ? folder : ".", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); /* some file systems cannot; the rename itself has succeeded */
        close(fd);
    }
    lks__free(folder);
}

static void forget(lks_saving *s)
{
    lks__free(s->temporary);
    lks__free(s->path);
    *s = (lks_saving){ .fd = -1 };
}

lks_status lks__save_commit(lks_saving *s)
{
    lks_status status = LKS_OK;

    if (s->temporary != NULL && fsync(s->fd) != 0)
        status = lks__fail(LKS_E_IO, "cannot write '%s' to disk: %s", s->path, lks__os_error(errno));
    if (status == LKS_OK && s->temporary != NULL && rename(s->temporary, s->path) != 0)
        status = lks__fail(LKS_E_IO, "cannot rename '%s' to '%s': %s", s->temporary, s->path, lks__os_error(errno));
    if (status != LKS_OK) {
        lks__save_abort(s);
        return status;
    }
    if (close(s->fd) != 0 && s->temporary == NULL)
        status = lks__fail(LKS_E_IO, "cannot finish '%s': %s", s->path, lks__os_error(errno));
    if (s->temporary != NULL) sync_folder(s->path);
    forget(s);
    return status;
}

void lks__save_abort(lks_saving *s)
{
    if (s->temporary != NULL) unlink(s->temporary);
    if (s->fd >= 0) close(s->fd);
    forget(s);
}

lks_status lks__save_file(const char *path, const void *data, size_t n)
{
    lks_saving s;
    lks_status status;

    LKS_TRY(lks__save_begin(path, &s));
    status = lks__save_write_at(&s, 0, data, n);
    if (status != LKS_OK) {
        lks__save_abort(&s);
        return status;
    }
    return lks__save_commit(&s);
}
