/* mnist_checked.c - what was once compared with the official checksum is not summed again. A stamp beside the file says which
 * file it was: length, inode, times of last change of its data and of its entry. Whatever is written to the file later, or put
 * in its place, differs from the stamp in one of them and is summed anew.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "mnist.h"
#include "reader.h"
#include "save.h"

/* NULL if there is no such file (or no memory). */
static char *stamp_of(const char *path, const lks_mnist_file *f)
{
    struct stat s;
    lks_text text = { 0 };
    char *out;

    if (stat(path, &s) != 0) return NULL;
    lks__text_printf(&text,
                     "lockstep-checked 1\nsha256 %s\nbytes %lld\ninode %llu\nmodified %lld.%09ld\nchanged %lld.%09ld\n",
                     f->sha256, (long long)s.st_size, (unsigned long long)s.st_ino, (long long)s.st_mtim.tv_sec,
                     s.st_mtim.tv_nsec, (long long)s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
    return lks__text_take(&text, &out) == LKS_OK ? out : NULL;
}

static char *stamp_path(const char *path)
{
    lks_text text = { 0 };
    char *out;

    lks__text_printf(&text, "%s.checked", path);
    return lks__text_take(&text, &out) == LKS_OK ? out : NULL;
}

bool lks__mnist_was_checked(const char *path, const lks_mnist_file *f)
{
    char *now = stamp_of(path, f), *where = stamp_path(path);
    void *then = NULL;
    size_t n = 0;
    bool same = false;

    if (now != NULL && where != NULL && lks__read_file(where, 4096, &then, &n) == LKS_OK)
        same = n == strlen(now) && memcmp(now, then, n) == 0;
    lks__free(now);
    lks__free(where);
    lks__free(then);
    return same;
}

void lks__mnist_note_checked(const char *path, const lks_mnist_file *f)
{
    char *now = stamp_of(path, f), *where = stamp_path(path);

    if (now != NULL && where != NULL) (void)lks__save_file(where, now, strlen(now));
    lks__free(now);
    lks__free(where);
}
