/* inflate.h - internal. Whole gzip files and checksums at once: libdeflate where the build has it, several times as quick as zlib. */
#ifndef LKS_FILES_INFLATE_H
#define LKS_FILES_INFLATE_H

#include <stdbool.h>

#include "base/error.h"

/* CRC-32 as gzip's, of more bytes after those that gave `crc` (0: none yet). */
uint32_t lks__crc32(uint32_t crc, const void *data, size_t n);

/* The whole of a gzip file of one member; *out is freed with lks__free. False: not that simple, damaged, no memory, or no
 * libdeflate; zlib then finds out what is the matter. */
bool lks__gunzip_whole_helps(void); /* this build has libdeflate */
bool lks__gunzip_whole(const void *data, size_t n, void **out, size_t *n_out);

#endif
