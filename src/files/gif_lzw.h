/* gif_lzw.h - internal. GIF's variable-width LZW. */
#ifndef LKS_FILES_GIF_LZW_H
#define LKS_FILES_GIF_LZW_H

#include "base/error.h"

/* No more pixels than this come out of one byte. */
enum { LKS_GIF_RATIO = 4096 };

/* Decodes from *at (the code size, then sub-blocks) and moves *at behind the last block. Exactly `count` indices reach `put`
 * in pieces; LKS_E_FORMAT if the data end before. */
lks_status lks__gif_lzw(const unsigned char *data, size_t n, size_t *at, int64_t count,
                        lks_status (*put)(void *user, const unsigned char *indices, size_t n), void *user);

#endif
