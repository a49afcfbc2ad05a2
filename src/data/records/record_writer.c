/* record_writer.c - TFRecord files, several shards at once. Each shard is a stream of frames, gathered in a block, deflated if
 * asked, and written to a temporary file that gets its name at the end. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "data/stage.h"
#include "example.h"
#include "files/crc32c.h"
#include "files/save.h"

enum { BLOCK = 1 << 18, MAX_SHARDS = 10000 };

typedef struct shard {
    lks_saving file;
    bool open, z_open;
    uint64_t written;
    unsigned char *block, *packed; /* frames; deflated bytes */
    size_t have;
    z_stream z;
} shard;

struct lks_record_writer {
    bool compressed, failed;
    size_t n, next; /* the shard of the next record */
    shard shard[];
};

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

static lks_status write_out(shard *s, const void *data, size_t n)
{
    LKS_TRY(lks__save_write_at(&s->file, s->written, data, n));
    s->written += n;
    return LKS_OK;
}

/* Deflates n bytes; finish ends the stream. */
static lks_status deflate_out(shard *s, const void *data, size_t n, bool finish)
{
    const unsigned char *from = data;
    int code;

    do {
        size_t part = n < BLOCK ? n : BLOCK;
        s->z.next_in = (unsigned char *)from;
        s->z.avail_in = (unsigned)part;
        from += part;
        n -= part;
        do {
            s->z.next_out = s->packed;
            s->z.avail_out = BLOCK;
            code = deflate(&s->z, finish && n == 0 ? Z_FINISH : Z_NO_FLUSH);
            if (code == Z_STREAM_ERROR) return lks__fail(LKS_E_INTERNAL, "deflate refused its own state");
            LKS_TRY(write_out(s, s->packed, BLOCK - s->z.avail_out));
        } while (s->z.avail_out == 0);
    } while (n > 0);
    return LKS_OK;
}

static lks_status send(lks_record_writer *w, shard *s, const void *data, size_t n)
{
    return w->compressed ? deflate_out(s, data, n, false) : write_out(s, data, n);
}

static lks_status put(lks_record_writer *w, shard *s, const void *data, size_t n)
{
    if (n > BLOCK - s->have) {
        LKS_TRY(send(w, s, s->block, s->have));
        s->have = 0;
    }
    if (n > BLOCK) return send(w, s, data, n);
    if (n > 0) memcpy(s->block + s->have, data, n);
    s->have += n;
    return LKS_OK;
}

static void put_le32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static lks_status put_record(lks_record_writer *w, shard *s, const void *data, size_t n)
{
    unsigned char header[12], footer[4];

    put_le32(header, (uint32_t)n);
    put_le32(header + 4, (uint32_t)((uint64_t)n >> 32));
    put_le32(header + 8, lks__crc32c_mask(lks__crc32c(0, header, 8)));
    put_le32(footer, lks__crc32c_mask(lks__crc32c(0, data, n)));
    LKS_TRY(put(w, s, header, sizeof header));
    LKS_TRY(put(w, s, data, n));
    return put(w, s, footer, sizeof footer);
}

static lks_status open_shard(lks_record_writer *w, shard *s, const char *path, bool gzip, int level)
{
    s->block = lks__malloc(BLOCK);
    if (s->block == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
    if (w->compressed) {
        s->packed = lks__malloc(BLOCK);
        s->z.zalloc = z_alloc;
        s->z.zfree = z_free;
        if (s->packed == NULL ||
            deflateInit2(&s->z, level, Z_DEFLATED, gzip ? 15 + 16 : 15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
            return lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
        s->z_open = true;
    }
    LKS_TRY(lks__save_begin(path, &s->file));
    s->open = true;
    return LKS_OK;
}

static lks_status open_shards(lks_record_writer *w, const char *path, bool gzip, int level)
{
    size_t room = strlen(path) + 32;
    char *name = lks__malloc(room);
    lks_status status = name == NULL ? lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path) : LKS_OK;

    for (size_t i = 0; i < w->n && status == LKS_OK; i++) {
        if (w->n == 1) snprintf(name, room, "%s", path);
        else snprintf(name, room, "%s-%05zu-of-%05zu", path, i, w->n);
        status = open_shard(w, &w->shard[i], name, gzip, level);
    }
    lks__free(name);
    return status;
}

lks_status lks_record_writer_open_with(const char *path, const lks_record_writer_options *options,
                                       lks_record_writer **out)
{
    lks_record_writer_options o;
    const char *type;
    lks_record_writer *w;
    lks_status status;

    lks__options(&o, sizeof o, options);
    type = o.compression_type == NULL ? "" : o.compression_type;
    if (path == NULL || out == NULL) return lks__fail(LKS_E_ARG, "the path or where the writer goes is NULL");
    if (*type != '\0' && strcmp(type, "GZIP") != 0 && strcmp(type, "ZLIB") != 0)
        return lks__fail(LKS_E_ARG, "compression_type must be \"\", \"GZIP\" or \"ZLIB\", found \"%s\"", type);
    if (o.compression_level < 0 || o.compression_level > 9)
        return lks__fail(LKS_E_ARG, "compression_level must be 1 to 9, found %lld", (long long)o.compression_level);
    if (o.num_shards < 0 || o.num_shards > MAX_SHARDS)
        return lks__fail(LKS_E_ARG, "num_shards must be 1 to %d, found %lld", MAX_SHARDS, (long long)o.num_shards);
    if (o.num_shards == 0) o.num_shards = 1;
    w = lks__calloc(1, sizeof *w + (size_t)o.num_shards * sizeof *w->shard);
    if (w == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write '%s'", path);
    w->n = (size_t)o.num_shards;
    w->compressed = *type != '\0';
    status = open_shards(w, path, *type == 'G',
                         o.compression_level == 0 ? Z_DEFAULT_COMPRESSION : (int)o.compression_level);
    if (status == LKS_OK) *out = w;
    else lks_record_writer_drop(w);
    return status;
}

lks_status lks_record_writer_write(lks_record_writer *writer, const void *data, size_t size)
{
    lks_status status;

    if (writer == NULL || (data == NULL && size > 0)) return lks__fail(LKS_E_ARG, "the writer or the record is NULL");
    if (writer->failed) return lks__fail(LKS_E_STATE, "an earlier record could not be written");
    status = put_record(writer, &writer->shard[writer->next], data, size);
    writer->failed = status != LKS_OK;
    writer->next = (writer->next + 1) % writer->n;
    return status;
}

lks_status lks_record_writer_write_example(lks_record_writer *writer, lks_example *example)
{
    const char *data;
    size_t size;

    if (example == NULL) return lks__fail(LKS_E_ARG, "the Example is NULL");
    LKS_TRY(lks__example_bytes(example, &data, &size));
    return lks_record_writer_write(writer, data, size);
}

static void free_shard(shard *s)
{
    if (s->z_open) deflateEnd(&s->z);
    if (s->open) lks__save_abort(&s->file);
    lks__free(s->block);
    lks__free(s->packed);
}

static lks_status finish_shard(lks_record_writer *w, shard *s)
{
    LKS_TRY(w->compressed ? deflate_out(s, s->block, s->have, true) : write_out(s, s->block, s->have));
    s->have = 0;
    return LKS_OK;
}

lks_status lks_record_writer_close(lks_record_writer *w)
{
    lks_status status = LKS_OK;

    if (w == NULL) return LKS_OK;
    if (w->failed) status = lks__fail(LKS_E_STATE, "a record could not be written, so the files were not completed");
    for (size_t i = 0; i < w->n && status == LKS_OK; i++) status = finish_shard(w, &w->shard[i]);
    for (size_t i = 0; i < w->n && status == LKS_OK; i++) {
        w->shard[i].open = false; /* committing ends the file, also when it fails */
        status = lks__save_commit(&w->shard[i].file);
    }
    lks_record_writer_drop(w);
    return status;
}

void lks_record_writer_drop(lks_record_writer *writer)
{
    if (writer == NULL) return;
    for (size_t i = 0; i < writer->n; i++) free_shard(&writer->shard[i]);
    lks__free(writer);
}
