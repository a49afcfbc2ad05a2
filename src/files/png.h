/* png.h - internal. PNG pictures in memory, through libspng, else libpng, else not at all. */
#ifndef LKS_FILES_PNG_H
#define LKS_FILES_PNG_H

#include <stdbool.h>

#include "lockstep/tensor.h"

enum { LKS_PNG_MAX_SIDE = 1 << 16 };

/* uint8 [H, W, 1|3|4] to a file's bytes, freed with lks__free. */
lks_status lks__png_encode(const lks_tensor *picture, void **out, size_t *n);

/* channels 1, 3 or 4, or 0: as the file has it (grey 1, colour 3, anything with transparency 4). 16-bit samples keep
 * their high byte. */
lks_status lks__png_decode(const void *data, size_t n, int channels, lks_tensor **out);

/* ---- what a library behind it provides (png_spng.c, png_libpng.c) ---- */
typedef struct lks_png_info {
    uint32_t width, height;
    int channels; /* 1, 3 or 4, see above */
    int samples;  /* as stored: grey 1, grey with alpha 2, colour 3, with alpha or a palette with transparency 4 */
    bool wide;    /* 16 bits a sample */
} lks_png_info;

lks_status lks__png_library_encode(const void *pixels, uint32_t width, uint32_t height, int channels, void **out,
                                   size_t *n);
lks_status lks__png_library_info(const void *data, size_t n, lks_png_info *out);
/* All pixels as 4 items of 8 or 16 bits (in the host's order): red, green, blue, alpha. The whole file must be sound, its
 * end mark included. */
lks_status lks__png_library_decode(const void *data, size_t n, const lks_png_info *info, int bits, void *pixels);

#endif
