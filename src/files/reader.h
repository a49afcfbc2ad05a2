/* reader.h - internal. One way to read bytes for every parser: a file, memory, a zip member, or gzip over any of them.
 *
 * `left` never understates what can still come, so a parser can refuse a size that a header declares before it
 * allocates anything for it.
 */
#ifndef LKS_FILES_READER_H
#define LKS_FILES_READER_H

#include <stdbool.h>

#include "base/error.h"

typedef struct lks_reader lks_reader;
struct lks_reader {
    /* Reads up to n bytes; *got < n only at the end. */
    lks_status (*read)(lks_reader *r, void *buffer, size_t n, size_t *got);
    void (*close)(lks_reader *r);
    uint64_t left; /* upper bound of the bytes still to come */
    unsigned char pushed[4];
    size_t n_pushed;
};

/* Deflate cannot expand its input further than this. */
enum { LKS_DEFLATE_RATIO = 1032 };

lks_status lks__reader_file(const char *path, lks_reader **out);
lks_status lks__reader_memory(const void *data, size_t n, lks_reader **out); /* data must outlive the reader */
lks_status lks__reader_owned(char *data, size_t n,
                             lks_reader **out); /* steals data, from lks__malloc, also on failure */
/* The n bytes to come are all that is left of memory that the reader owns: *data, good until lks__free(*owner). False otherwise. */
bool lks__reader_take(lks_reader *r, size_t n, void **data, void **owner);
/* Steals `base`: the same bytes, decompressed if they start as gzip does (several members are one stream). */
lks_status lks__reader_maybe_gzip(lks_reader *base, lks_reader **out);
void lks__reader_close(lks_reader *r); /* NULL is fine */

lks_status lks__read_some(lks_reader *r, void *buffer, size_t n, size_t *got);
/* LKS_E_FORMAT "the file ends inside WHAT" if fewer than n bytes are left. */
lks_status lks__read_exact(lks_reader *r, void *buffer, size_t n, const char *what);
/* LKS_E_FORMAT unless nothing is left; also checks the checksum of gzip and zip. */
lks_status lks__read_end(lks_reader *r);

/* The whole of a file, at most `limit` bytes; *out is freed with lks__free and has a zero byte after the end. */
lks_status lks__read_file(const char *path, uint64_t limit, void **out, size_t *n);
/* The same into a buffer of *room bytes that is used again (start from NULL, 0) and grows where it must; no zero byte. */
lks_status lks__read_file_again(const char *path, void **buffer, size_t *room, size_t *n);

#endif
