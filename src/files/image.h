/* image.h - internal. Pictures of any known format into memory that the caller provides. */
#ifndef LKS_FILES_IMAGE_H
#define LKS_FILES_IMAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "lockstep/image.h"

/* Who takes a picture row by row, from above to below, and never holds the whole of it. */
typedef struct lks_image_rows lks_image_rows;
struct lks_image_rows {
    lks_status (*begin)(lks_image_rows *rows, int64_t height, int64_t width);
    /* Where row y goes: red, green, blue and a byte of any value for each pixel. */
    unsigned char *(*place)(lks_image_rows *rows, int64_t y);
    void (*arrived)(lks_image_rows *rows, int64_t y);
};

/* Where pixels go. */
typedef struct lks_image_sink lks_image_sink;
struct lks_image_sink {
    /* Called once, when dtype and shape are known and checked. NULL after a failure. */
    void *(*room)(lks_image_sink *sink, lks_dtype dtype, const lks_shape *shape);
    /* May be NULL. A decoder that comes by its rows one after another may give those of uint8 in three channels here, and
     * then asks for no room. */
    lks_image_rows *rows;
};

enum { LKS_IMAGE_MAX_BYTES = 1 << 29 };

/* The options with defaults filled in; LKS_E_ARG for what has no meaning. */
lks_status lks__decode_options(const lks_decode_options *options, lks_decode_options *out);
/* *o comes from lks__decode_options. */
lks_status lks__image_decode(const void *bytes, size_t size, const lks_decode_options *o, lks_image_sink *sink);

/* LKS_OK if the first bytes (16 do) are those of a picture that is known. */
lks_status lks__image_sniff(const void *bytes, size_t size);

/* ---- formats: one file each. All give uint8 but a PNG whose o->dtype is LKS_UINT16. ---- */
typedef lks_status (*lks_image_decoder)(const unsigned char *data, size_t n, const lks_decode_options *o,
                                        lks_image_sink *sink);
typedef lks_status (*lks_image_header_reader)(const unsigned char *data, size_t n, lks_image_header *out);
lks_status lks__jpeg_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink);
lks_status lks__png_decode_image(const unsigned char *data, size_t n, const lks_decode_options *o,
                                 lks_image_sink *sink);
lks_status lks__bmp_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink);
lks_status lks__gif_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink);
lks_status lks__jpeg_header(const unsigned char *data, size_t n, lks_image_header *out);
lks_status lks__png_header(const unsigned char *data, size_t n, lks_image_header *out);
lks_status lks__bmp_header(const unsigned char *data, size_t n, lks_image_header *out);
lks_status lks__gif_header(const unsigned char *data, size_t n, lks_image_header *out);

/* ---- helpers for them (image_pixels.c) ---- */

/* LKS_E_LIMIT if frames x height x width x channels x bytes an item passes the limit; sizes must be positive. */
lks_status lks__image_check_size(const lks_decode_options *o, int64_t frames, int64_t height, int64_t width,
                                 int64_t channels, int64_t item);
/* Luma as ITU-R BT.601 weighs it, in 15-bit integers as libpng does. */
unsigned char lks__luma8(const unsigned char *rgb);
/* n pixels of `from` channels (1, 3, 4) to `to` (1, 3, 4): grey spreads, colour becomes luma, new alpha is 255. */
void lks__repixel(const unsigned char *in, int from, unsigned char *out, int to, size_t n);

#endif
