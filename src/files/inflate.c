/* inflate.c - see inflate.h. A gzip file ends with the length of what it holds, so the memory is there before the first byte;
 * a file that lies about it fails and is read by zlib. libdeflate's own few kilobytes come from malloc: it has one allocator for
 * the whole process, which may be the host's.
 */
#include "inflate.h"

#include "base/alloc.h"
#include "endian.h"
#include "reader.h"

#if defined(LKS_HAVE_LIBDEFLATE)
#include <libdeflate.h>

bool lks__gunzip_whole_helps(void)
{
    return true;
}

uint32_t lks__crc32(uint32_t crc, const void *data, size_t n)
{
    return libdeflate_crc32(crc, data, n);
}

bool lks__gunzip_whole(const void *data, size_t n, void **out, size_t *n_out)
{
    const unsigned char *bytes = data;
    struct libdeflate_decompressor *d;
    size_t length, used = 0, got = 0;
    void *memory;
    bool whole = false;

    if (n < 18) return false;
    length = lks__le32(bytes + n - 4);
    if (length / LKS_DEFLATE_RATIO > n) return false;
    memory = lks__malloc(length + 1);
    d = libdeflate_alloc_decompressor();
    if (memory != NULL && d != NULL)
        whole = libdeflate_gzip_decompress_ex(d, data, n, memory, length, &used, &got) == LIBDEFLATE_SUCCESS &&
                used == n && got == length;
    libdeflate_free_decompressor(d);
    if (!whole) {
        lks__free(memory);
        return false;
    }
    *out = memory;
    *n_out = length;
    return true;
}

#else
#include <zlib.h>

bool lks__gunzip_whole_helps(void)
{
    return false;
}

uint32_t lks__crc32(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (; n > 1u << 30; n -= 1u << 30, p += 1u << 30) crc = (uint32_t)crc32(crc, p, 1u << 30);
    return (uint32_t)crc32(crc, p, (unsigned)n);
}

bool lks__gunzip_whole(const void *data, size_t n, void **out, size_t *n_out)
{
    (void)data, (void)n, (void)out, (void)n_out;
    return false;
}
#endif
