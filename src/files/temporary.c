/* temporary.c - see temporary.h. A name is removed or renamed only by one who holds the lock of the very file that stands under it. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "os_error.h"

/* So many writers of one file at once leave nothing behind; a sweep looks for so many names. MOST: then something is wrong. */
enum { SWEPT = 4, MOST = 10000 };

static lks_status name_of(const char *path, int i, char **out)
{
    lks_text name = { 0 };

    lks__text_printf(&name, "%s.lks-tmp%d", path, i);
    return lks__text_take(&name, out);
}

/* Is this open file still the one of that name? */
static bool stands(int fd, const char *name)
{
    struct stat mine, theirs;

    return fstat(fd, &mine) == 0 && lstat(name, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
           mine.st_ino == theirs.st_ino && S_ISREG(mine.st_mode);
}

/* Not blocking: the name may be a pipe's. Open for writing: locks over NFS ask for that. */
static void remove_if_left(const char *name)
{
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && stands(fd, name)) unlink(name);
    close(fd);
}

void lks__temporary_sweep(const char *path)
{
    for (int i = 0; i < SWEPT; i++) {
        char *name;
        if (name_of(path, i, &name) != LKS_OK) return; /* they stay until the next time */
        remove_if_left(name);
        lks__free(name);
    }
}

/* -1: another's, errno says why. A sweep may come between the making and the lock: then the file is that sweep's. */
static int make(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 ? stands(fd, name) : errno != EWOULDBLOCK) return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

lks_status lks__temporary_open(const char *path, char **name, int *fd)
{
    char *tried = NULL;

    lks__temporary_sweep(path);
    *fd = -1;
    for (int i = 0; i < MOST && *fd < 0; i++) {
        lks__free(tried);
        LKS_TRY(name_of(path, i, &tried));
        *fd = make(tried);
        if (*fd < 0 && errno != EEXIST) break;
    }
    if (*fd >= 0) {
        *name = tried;
        return LKS_OK;
    }
    if (errno == ENOENT || errno == ENOTDIR) lks__fail(LKS_E_IO, "cannot write '%s': there is no such folder", path);
    else lks__fail(LKS_E_IO, "cannot create '%s': %s", tried, lks__os_error(errno));
    lks__free(tried);
    return LKS_E_IO;
}
