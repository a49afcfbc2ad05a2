/* byte_stream.h - internal. The bytes of one file, plain or decompressed, read in blocks. */
#ifndef LKS_DATA_BYTE_STREAM_H
#define LKS_DATA_BYTE_STREAM_H

#include <zlib.h>

#include "files/remote.h"
#include "stage.h"
#include "stream_ahead.h"

typedef enum lks_compression { LKS_PLAIN = 0, LKS_GZIP, LKS_ZLIB } lks_compression;

/* The bytes of one file, decompressed. */
typedef struct lks_byte_stream {
    const char *path;
    int fd;             /* -1: remote */
    lks_remote *remote; /* not NULL: a file behind https:// */
    bool open, compressed, ended, file_ended;
    uint64_t offset;         /* of the next byte given out, after decompression */
    unsigned char *out, *in; /* in: compressed bytes */
    size_t at, have, size;
    lks_stream_ahead *ahead; /* NULL, or who reads the blocks */
    lks_block_look
        *look;     /* NULL, or who looks at them if the file is read ahead from its beginning; set after opening */
    uint64_t good; /* it found the present block to be good up to here */
    unsigned forks;
    bool by_itself; /* not read ahead */
    z_stream z;
    bool z_open, member_ended, z_gzip;
    unsigned members; /* whole ones so far */
} lks_byte_stream;

/* Start from { 0 }; may be opened again and again (buffer_size must stay the same), path is borrowed. */
lks_status lks__stream_open(lks_byte_stream *s, const char *path, lks_compression compression, size_t buffer_size);
void lks__stream_close(lks_byte_stream *s); /* keeps the buffers */
void lks__stream_free(lks_byte_stream *s);

/* What the first bytes of a file show that could not be read: "; it looks like gzip: read it with ...", or `otherwise`. */
const char *lks__stream_hint(const lks_byte_stream *s, const unsigned char *data, size_t n, const char *otherwise);
/* Bytes of the open file as it lies there, compressed or not; UINT64_MAX if nobody knows. */
uint64_t lks__stream_size(const lks_byte_stream *s);
/* Up to n bytes; *got < n only at the end of the file. */
lks_status lks__stream_read(lks_byte_stream *s, void *buffer, size_t n, size_t *got);
/* The next byte, or -1 at the end. */
lks_status lks__stream_byte(lks_byte_stream *s, int *byte);
/* Bytes that are ready without reading: a parser may scan them. Empty at the end. */
lks_status lks__stream_peek(lks_byte_stream *s, const unsigned char **data, size_t *n);
void lks__stream_take(lks_byte_stream *s, size_t n);
/* Passes over up to n bytes, without reading them where the file is plain and can be positioned (its size is the caller's
 * concern then); *done < n only at the end. */
lks_status lks__stream_pass(lks_byte_stream *s, uint64_t n, uint64_t *done);

#endif
