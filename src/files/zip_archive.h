/* zip_archive.h - internal. ZIP archives through libzip, with the checks that hostile ones need: every member's sizes
 * are compared with the archive's, no name stands twice, CRC-32 is verified, nothing is ever unpacked to disk. */
#ifndef LKS_FILES_ZIP_ARCHIVE_H
#define LKS_FILES_ZIP_ARCHIVE_H

#include <stdbool.h>

#include "reader.h"

typedef struct lks_zip lks_zip;

lks_status lks__zip_open_file(const char *path, lks_zip **out);
lks_status lks__zip_open_memory(const void *data, size_t n, lks_zip **out); /* data must outlive the archive */
void lks__zip_close(lks_zip *z);                                            /* NULL is fine */

size_t lks__zip_count(const lks_zip *z);
const char *lks__zip_name(const lks_zip *z, size_t i); /* UTF-8, in the archive's order */
bool lks__zip_find(const lks_zip *z, const char *name, size_t *i);

/* Close the reader before the archive. */
lks_status lks__zip_member(lks_zip *z, size_t i, lks_reader **out);
/* The whole member, at most `limit` bytes, with a zero byte after the end; freed with lks__free. */
lks_status lks__zip_read(lks_zip *z, size_t i, uint64_t limit, void **out, size_t *n);

/* ---- writing: members are stored, dated 1980-01-01, and written when the archive is finished ---- */
typedef struct lks_zip_writer lks_zip_writer;
typedef struct lks_zip_part {
    const void *data; /* must live until the writer is finished or dropped */
    size_t n;
} lks_zip_part;

lks_status lks__zip_writer_file(const char *path, lks_zip_writer **out);
lks_status lks__zip_writer_memory(lks_zip_writer **out);
lks_status lks__zip_add(lks_zip_writer *w, const char *name, const lks_zip_part *parts, size_t n_parts);
/* Both end the writer, also on failure. For memory: *out is freed with lks__free. */
lks_status lks__zip_finish_file(lks_zip_writer *w);
lks_status lks__zip_finish_memory(lks_zip_writer *w, void **out, size_t *n);
void lks__zip_drop(lks_zip_writer *w); /* nothing is written; NULL is fine */

/* A sentence and a status for libzip's error. Internal to zip_*.c; the type is zip_error_t. */
lks_status lks__zip_failure(void *zip_error, const char *doing);

#endif
