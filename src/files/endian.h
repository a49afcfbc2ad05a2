/* endian.h - internal. Byte order of numbers in files. */
#ifndef LKS_FILES_ENDIAN_H
#define LKS_FILES_ENDIAN_H

#include <stddef.h>
#include <stdint.h>

static inline int lks__host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

static inline uint32_t lks__be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t lks__le32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t lks__le64(const unsigned char *p)
{
    return (uint64_t)lks__le32(p + 4) << 32 | lks__le32(p);
}

/* Reverses the bytes of each of n items in place. */
static inline void lks__swap_bytes(void *data, size_t n, size_t size)
{
    unsigned char *p = data;

    for (; n > 0; n--, p += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char c = p[i];
            p[i] = p[size - 1 - i];
            p[size - 1 - i] = c;
        }
}

#endif
