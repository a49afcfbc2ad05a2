/* gzip.c - a reader that decompresses another one, at once where that is quicker, else as it goes. zlib's memory comes from our allocator; its checks (CRC-32 and
 * length at the end of each member) run when the reader reaches the end. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "inflate.h"
#include "reader.h"

enum { WHOLE_LIMIT = 64 << 20 }; /* packed bytes; larger files are not held in memory */

typedef struct gzip_reader {
    lks_reader base;
    lks_reader *from;
    z_stream z;
    int finished; /* a member ended and nothing has followed yet */
    unsigned char in[16384];
} gzip_reader;

static void *z_alloc(void *user, unsigned items, unsigned size)
{
    (void)user;
    return lks__calloc(items, size);
}

static void z_free(void *user, void *memory)
{
    (void)user;
    lks__free(memory);
}

static lks_status refill(gzip_reader *g)
{
    size_t got = 0;

    if (g->z.avail_in > 0) return LKS_OK;
    LKS_TRY(lks__read_some(g->from, g->in, sizeof g->in, &got));
    g->z.next_in = g->in;
    g->z.avail_in = (unsigned)got;
    return LKS_OK;
}

/* Between members: more input means another member. */
static lks_status next_member(gzip_reader *g, int *ended)
{
    LKS_TRY(refill(g));
    *ended = g->z.avail_in == 0;
    if (*ended) return LKS_OK;
    if (inflateReset(&g->z) != Z_OK) return lks__fail(LKS_E_INTERNAL, "zlib refuses to start over");
    g->finished = 0;
    return LKS_OK;
}

static lks_status gzip_read(lks_reader *r, void *buffer, size_t n, size_t *got)
{
    gzip_reader *g = (gzip_reader *)r;
    int ended = 0, code;

    *got = 0;
    while (*got < n) {
        size_t room = n - *got < 1u << 30 ? n - *got : 1u << 30;
        if (g->finished) LKS_TRY(next_member(g, &ended));
        if (ended) break;
        LKS_TRY(refill(g));
        if (g->z.avail_in == 0) return lks__fail(LKS_E_FORMAT, "the gzip data is cut off");
        g->z.next_out = (unsigned char *)buffer + *got;
        g->z.avail_out = (unsigned)room;
        code = inflate(&g->z, Z_NO_FLUSH);
        *got += room - g->z.avail_out;
        if (code == Z_STREAM_END) g->finished = 1;
        else if (code == Z_MEM_ERROR) return lks__fail(LKS_E_NOMEM, "no memory to decompress");
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return lks__fail(LKS_E_FORMAT, "the gzip data is damaged: %s", g->z.msg ? g->z.msg : "bad stream");
    }
    return LKS_OK;
}

static void gzip_close(lks_reader *r)
{
    gzip_reader *g = (gzip_reader *)r;

    inflateEnd(&g->z);
    lks__reader_close(g->from);
    lks__free(g);
}

static lks_status start(lks_reader *from, lks_reader **out)
{
    gzip_reader *g = lks__calloc(1, sizeof *g);
    uint64_t limit = UINT64_MAX / LKS_DEFLATE_RATIO;

    if (g == NULL) return lks__fail(LKS_E_NOMEM, "no memory to decompress");
    g->base.read = gzip_read;
    g->base.close = gzip_close;
    g->base.left = from->left < limit ? from->left * LKS_DEFLATE_RATIO : UINT64_MAX;
    g->from = from;
    g->z.zalloc = z_alloc;
    g->z.zfree = z_free;
    if (inflateInit2(&g->z, 16 + MAX_WBITS) != Z_OK) {
        lks__free(g);
        return lks__fail(LKS_E_NOMEM, "no memory to decompress");
    }
    *out = &g->base;
    return LKS_OK;
}

/* Reads all of *base and replaces it by a reader of memory: of what it decompresses to (*done), or of the same bytes. */
static lks_status try_whole(lks_reader **base, bool *done)
{
    size_t n = (size_t)(*base)->left, got = 0, length;
    char *packed = lks__malloc(n + 1);
    void *whole;
    lks_status status;

    *done = false;
    if (packed == NULL) return LKS_OK; /* as it goes, then */
    status = lks__read_some(*base, packed, n, &got);
    if (status != LKS_OK) {
        lks__free(packed);
        return status;
    }
    lks__reader_close(*base);
    *base = NULL;
    *done = lks__gunzip_whole(packed, got, &whole, &length);
    if (!*done) return lks__reader_owned(packed, got, base);
    lks__free(packed);
    return lks__reader_owned(whole, length, base);
}

lks_status lks__reader_maybe_gzip(lks_reader *base, lks_reader **out)
{
    unsigned char magic[2] = { 0, 0 };
    size_t got = 0;
    lks_status status = lks__read_some(base, magic, sizeof magic, &got);

    if (status != LKS_OK) goto close_base;
    memcpy(base->pushed, magic, got);
    base->n_pushed = got;
    base->left += got;
    if (got < 2 || magic[0] != 0x1f || magic[1] != 0x8b) {
        *out = base;
        return LKS_OK;
    }
    if (lks__gunzip_whole_helps() && base->left <= WHOLE_LIMIT) {
        bool done;
        status = try_whole(&base, &done);
        if (status != LKS_OK) goto close_base;
        if (done) {
            *out = base;
            return LKS_OK;
        }
    }
    status = start(base, out);
    if (status == LKS_OK) return LKS_OK;

close_base:
    lks__reader_close(base);
    return status;
}
