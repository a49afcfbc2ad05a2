/* h5_pages.c - see h5_pages.h. The room is reserved, not used: the system gives memory to the pages that are filled. */
#include "h5_pages.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os_error.h"

enum { PAGE = 4096 };

static const uint64_t most = (uint64_t)2 << 30; /* bytes that are loaded: larger structures are refused */

struct lks_h5_pages {
    int fd;
    uint64_t size, left;
    unsigned char *data, *loaded; /* loaded: a byte a page */
};

lks_status lks__h5_pages_open(int fd, uint64_t size, lks_h5_pages **out)
{
    lks_h5_pages *p = lks__calloc(1, sizeof *p);
    void *room = MAP_FAILED;

    if (p != NULL) p->loaded = lks__calloc((size_t)(size / PAGE + 1), 1);
    if (p != NULL && p->loaded != NULL && size <= PTRDIFF_MAX)
        room = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        if (p != NULL) lks__free(p->loaded);
        lks__free(p);
        return lks__fail(LKS_E_NOMEM, "no memory to look through a file of %llu bytes", (unsigned long long)size);
    }
    p->fd = fd;
    p->size = size;
    p->left = most;
    p->data = room;
    *out = p;
    return LKS_OK;
}

void lks__h5_pages_close(lks_h5_pages *p)
{
    if (p == NULL) return;
    munmap(p->data, (size_t)p->size);
    lks__free(p->loaded);
    lks__free(p);
}

const unsigned char *lks__h5_pages_data(const lks_h5_pages *p)
{
    return p->data;
}

static lks_status load_page(lks_h5_pages *p, uint64_t page)
{
    uint64_t at = page * PAGE, end = p->size - at < PAGE ? p->size : at + PAGE;

    if (p->left < PAGE) return lks__fail(LKS_E_LIMIT, "the HDF5 file's structure is larger than 2 GiB");
    p->left -= PAGE;
    while (at < end) {
        ssize_t n = pread(p->fd, p->data + at, (size_t)(end - at), (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return lks__fail(LKS_E_IO, "cannot read at byte %llu: %s", (unsigned long long)at, lks__os_error(errno));
        if (n == 0)
            return lks__fail(
                LKS_E_FORMAT,
                "the file had %llu bytes when it was opened and ends at byte %llu now: it was cut off meanwhile",
                (unsigned long long)p->size, (unsigned long long)at);
        at += (uint64_t)n;
    }
    p->loaded[page] = 1;
    return LKS_OK;
}

lks_status lks__h5_pages_load(lks_h5_pages *p, const unsigned char *from, uint64_t n)
{
    uint64_t first = (uint64_t)(from - p->data) / PAGE, last;

    if (n == 0) return LKS_OK;
    last = ((uint64_t)(from - p->data) + n - 1) / PAGE;
    for (uint64_t page = first; page <= last; page++)
        if (!p->loaded[page]) LKS_TRY(load_page(p, page));
    return LKS_OK;
}
