/* tar.h - internal. The members of a tar archive, read from front to end of a stream: ustar, pax (path, size), GNU's long names
 * and base-256 sizes. */
#ifndef LKS_DATA_TAR_H
#define LKS_DATA_TAR_H

#include "base/text.h"
#include "byte_stream.h"

typedef struct lks_tar {
    lks_text name; /* of the present member */
    uint64_t size; /* of its contents, of which `left` bytes are still to come */
    uint64_t left, padding;
    uint64_t limit; /* bytes of the file, UINT64_MAX if unknown */
    lks_text pax_name;
    int64_t pax_size; /* -1: none */
    bool unclosed; /* LKS_END came without the closing blocks: some archivers leave them out, or the file is cut off */
} lks_tar;

/* At the beginning of a file; keeps the buffers of an earlier one. */
void lks__tar_begin(lks_tar *t, const lks_byte_stream *s);
void lks__tar_free(lks_tar *t);
/* Passes over what is left and goes to the next regular file; LKS_END behind the last. LKS_E_FORMAT says what is wrong. */
lks_status lks__tar_next(lks_tar *t, lks_byte_stream *s);
/* The next n <= left bytes of the member. */
lks_status lks__tar_read(lks_tar *t, lks_byte_stream *s, void *data, size_t n);

#endif
