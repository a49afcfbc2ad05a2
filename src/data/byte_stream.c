/* byte_stream.c - the bytes of a file, plain or through zlib, in blocks of the buffer's size. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byte_stream.h"
#include "files/os_error.h"
#include "work.h"

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

/* From here on blocks are read by who asks, at the place behind those that were given out. */
static void stop_ahead(lks_byte_stream *s)
{
    uint64_t next = s->offset + (s->have - s->at);

    if (s->ahead == NULL) return;
    lks__stream_ahead_end(s->ahead);
    s->ahead = NULL;
    s->by_itself = true;
    lseek(s->fd, (off_t)next, SEEK_SET);
}

void lks__stream_close(lks_byte_stream *s)
{
    lks__stream_ahead_end(s->ahead);
    s->ahead = NULL;
    if (s->open && s->fd >= 0) close(s->fd);
    lks__remote_close(s->remote);
    s->remote = NULL;
    if (s->z_open) inflateEnd(&s->z);
    s->open = s->z_open = false;
}

void lks__stream_free(lks_byte_stream *s)
{
    lks__stream_close(s);
    lks__free(s->out);
    lks__free(s->in);
    s->out = s->in = NULL;
}

uint64_t lks__stream_size(const lks_byte_stream *s)
{
    struct stat info;

    if (s->remote != NULL) return lks__remote_size(s->remote);
    return fstat(s->fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : UINT64_MAX;
}

static lks_status start_inflate(lks_byte_stream *s, lks_compression compression)
{
    memset(&s->z, 0, sizeof s->z);
    s->z.zalloc = z_alloc;
    s->z.zfree = z_free;
    s->z_gzip = compression == LKS_GZIP;
    if (inflateInit2(&s->z, s->z_gzip ? 15 + 16 : 15) != Z_OK)
        return lks__fail(LKS_E_NOMEM, "no memory to decompress '%s'", s->path);
    s->z_open = true;
    if (s->in == NULL) s->in = lks__malloc(s->size);
    return s->in == NULL ? lks__fail(LKS_E_NOMEM, "no memory to read '%s'", s->path) : LKS_OK;
}

lks_status lks__stream_open(lks_byte_stream *s, const char *path, lks_compression compression, size_t buffer_size)
{
    unsigned char *out = s->out, *in = s->in;

    memset(s, 0, sizeof *s);
    s->out = out;
    s->in = in;
    s->path = path;
    s->size = buffer_size;
    s->compressed = compression != LKS_PLAIN;
    if (s->out == NULL) s->out = lks__malloc(buffer_size);
    if (s->out == NULL) return lks__fail(LKS_E_NOMEM, "no memory to read '%s'", path);
    s->fd = -1;
    if (lks__is_remote(path)) LKS_TRY(lks__remote_open(path, &s->remote));
    else s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 && s->remote == NULL)
        return lks__fail(errno == ENOENT || errno == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO, "cannot open '%s': %s", path,
                         lks__os_error(errno));
    s->open = true;
    return s->compressed ? start_inflate(s, compression) : LKS_OK;
}

static lks_status read_failed(const lks_byte_stream *s, int error)
{
    return lks__fail(LKS_E_IO, "cannot read '%s': %s", s->path, lks__os_error(error));
}

static lks_status read_some(lks_byte_stream *s, void *buffer, size_t n, size_t *got)
{
    ssize_t k;

    if (s->remote != NULL) return lks__remote_read(s->remote, buffer, n, got);
    do k = read(s->fd, buffer, n);
    while (k < 0 && errno == EINTR);
    if (k < 0) return read_failed(s, errno);
    lks__work_read((size_t)k);
    *got = (size_t)k;
    return LKS_OK;
}

const char *lks__stream_hint(const lks_byte_stream *s, const unsigned char *data, size_t n, const char *otherwise)
{
    if (s->compressed || n < 2) return otherwise;
    if (data[0] == 0x1f && data[1] == 0x8b) return "; it looks like gzip: read it with compression_type \"GZIP\"";
    if (data[0] == 0x78 && (data[1] == 0x01 || data[1] == 0x5e || data[1] == 0x9c || data[1] == 0xda))
        return "; it looks like zlib: read it with compression_type \"ZLIB\"";
    if (n >= 4 && memcmp(data, "PK\3\4", 4) == 0) return "; it looks like a zip archive: unpack it";
    if ((data[0] == 0xff && data[1] == 0xfe) || (data[0] == 0xfe && data[1] == 0xff))
        return "; it looks like UTF-16: save it as UTF-8";
    return otherwise;
}

/* Offsets count decompressed bytes. */
static lks_status bad_stream(const lks_byte_stream *s, const char *what)
{
    const char *kind = s->z_gzip ? "GZIP" : "ZLIB";

    if (what != NULL && strcmp(what, "incorrect header check") == 0) /* of zlib: this is no header */
        return s->members == 0
                   ? lks__fail(LKS_E_FORMAT,
                               "'%s', offset 0: it is not compressed as %s, though compression_type says so: %s",
                               s->path, kind, "try \"\" (none) or the other kind")
                   : lks__fail(LKS_E_FORMAT,
                               "'%s', offset %llu: behind the compressed data stand bytes that are no %s: "
                               "something was added, or the file is damaged",
                               s->path, (unsigned long long)s->offset, kind);
    return lks__fail(LKS_E_FORMAT, "'%s', offset %llu: the %s data are damaged: %s", s->path,
                     (unsigned long long)s->offset, kind, what != NULL ? what : "bad stream");
}

/* One more block of decompressed bytes. GZIP may have several members, ZLIB ends with its first stream. */
static lks_status inflate_block(lks_byte_stream *s)
{
    s->z.next_out = s->out;
    s->z.avail_out = (unsigned)s->size;
    while (s->z.avail_out == s->size && !s->ended) {
        int code;
        if (s->z.avail_in == 0 && !s->file_ended) {
            size_t got = 0;
            LKS_TRY(read_some(s, s->in, s->size, &got));
            s->z.next_in = s->in;
            s->z.avail_in = (unsigned)got;
            s->file_ended = got == 0;
        }
        if (s->member_ended) {
            if (s->z.avail_in == 0 && s->file_ended) {
                s->ended = true;
                break;
            }
            if (s->z.avail_in == 0) continue;
            inflateReset(&s->z);
            s->member_ended = false;
        }
        if (s->z.avail_in == 0 && s->z.total_in == 0 && s->offset == 0) { /* an empty file holds no records */
            s->ended = true;
            break;
        }
        code = inflate(&s->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            s->member_ended = true;
            s->members++;
            if (!s->z_gzip) s->ended = true;
        } else if (code == Z_BUF_ERROR && s->file_ended) {
            return lks__fail(
                LKS_E_FORMAT,
                "'%s', offset %llu: the file ends inside the %s data: it is cut off (was its writer closed?)", s->path,
                (unsigned long long)s->offset, s->z_gzip ? "GZIP" : "ZLIB");
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return code == Z_MEM_ERROR ? lks__fail(LKS_E_NOMEM, "no memory to decompress '%s'", s->path)
                                       : bad_stream(s, s->z.msg);
        }
    }
    s->at = 0;
    s->have = s->size - s->z.avail_out;
    return LKS_OK;
}

/* When the first block of a local file has been read. */
static void begin_ahead(lks_byte_stream *s)
{
    if (s->by_itself || s->remote != NULL || s->have < s->size) return;
    s->by_itself = true;
    s->forks = lks__fork_count();
    if (s->offset > 0) s->look = NULL;
    if (s->look != NULL) s->good = s->look->see(s->look, s->out, s->have, 0); /* before others see the next ones */
    s->ahead = lks__stream_ahead_begin(s->fd, s->offset + s->have, s->size, s->look);
}

static lks_status refill(lks_byte_stream *s)
{
    if (s->at < s->have || s->ended) return LKS_OK;
    if (s->compressed) return inflate_block(s);
    if (s->ahead != NULL && s->forks != lks__fork_count()) stop_ahead(s);
    s->at = 0;
    s->good = 0;
    if (s->ahead != NULL) {
        int error = lks__stream_ahead_take(s->ahead, &s->out, &s->have, &s->good);
        if (error != 0) return read_failed(s, error);
    } else {
        LKS_TRY(read_some(s, s->out, s->size, &s->have));
        begin_ahead(s);
    }
    s->ended = s->have == 0;
    return LKS_OK;
}

lks_status lks__stream_peek(lks_byte_stream *s, const unsigned char **data, size_t *n)
{
    LKS_TRY(refill(s));
    *data = s->out + s->at;
    *n = s->have - s->at;
    return LKS_OK;
}

void lks__stream_take(lks_byte_stream *s, size_t n)
{
    s->at += n;
    s->offset += n;
}

lks_status lks__stream_byte(lks_byte_stream *s, int *byte)
{
    LKS_TRY(refill(s));
    *byte = s->at < s->have ? s->out[s->at] : -1;
    if (*byte >= 0) lks__stream_take(s, 1);
    return LKS_OK;
}

lks_status lks__stream_read(lks_byte_stream *s, void *buffer, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t part, left = n - *got;
        if (s->at == s->have && !s->compressed && !s->ended && left >= s->size) { /* large: not through the buffer */
            stop_ahead(s);
            LKS_TRY(read_some(s, (char *)buffer + *got, left, &part));
            s->ended = part == 0;
            s->offset += part;
        } else {
            LKS_TRY(refill(s));
            part = s->have - s->at < left ? s->have - s->at : left;
            memcpy((char *)buffer + *got, s->out + s->at, part);
            lks__stream_take(s, part);
        }
        if (part == 0) break;
        *got += part;
    }
    return LKS_OK;
}

static bool seek_on(const lks_byte_stream *s, uint64_t n)
{
    if (s->remote != NULL) return lks__remote_pass(s->remote, n);
    return n <= INT64_MAX && lseek(s->fd, (off_t)n, SEEK_CUR) >= 0;
}

lks_status lks__stream_pass(lks_byte_stream *s, uint64_t n, uint64_t *done)
{
    *done = 0;
    while (*done < n) {
        size_t ready = s->have - s->at;
        uint64_t left = n - *done;
        if (ready == 0 && left >= s->size) stop_ahead(s);
        if (ready == 0 && !s->compressed && s->ahead == NULL && seek_on(s, left)) {
            s->offset += left;
            *done = n;
            break;
        }
        LKS_TRY(refill(s));
        ready = s->have - s->at;
        if (ready == 0) break;
        if (ready > left) ready = (size_t)left;
        lks__stream_take(s, ready);
        *done += ready;
    }
    return LKS_OK;
}
