/* crc32c.h - internal. The checksum of TFRecord files: CRC-32C (Castagnoli), and TensorFlow's mask over it. */
#ifndef LKS_FILES_CRC32C_H
#define LKS_FILES_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 at the start) over n more bytes. */
uint32_t lks__crc32c(uint32_t crc, const void *data, size_t n);
/* The same without the processor's instruction, for tests. */
uint32_t lks__crc32c_plain(uint32_t crc, const void *data, size_t n);

static inline uint32_t lks__crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

#endif
