/* image.h - pictures: JPEG, PNG, BMP and GIF bytes to tensors.
 *
 * Values are those of TensorFlow's decode_image: JPEG with the fast integer DCT and fancy upsampling, EXIF rotation and
 * colour profiles ignored, alpha dropped where three channels are wanted. Where TensorFlow refuses a number of channels
 * for a format (four of a JPEG, one of a BMP), the picture is converted. The format is told by the bytes, never by a name.
 */
#ifndef LOCKSTEP_IMAGE_H
#define LOCKSTEP_IMAGE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lks_image_format {
    LKS_IMAGE_JPEG = 1,
    LKS_IMAGE_PNG = 2,
    LKS_IMAGE_BMP = 3,
    LKS_IMAGE_GIF = 4
} lks_image_format;

/* How bytes become pixels; what is left out is zero. */
typedef struct lks_decode_options {
    size_t struct_size;
    int64_t channels; /* 1, 3, 4; default: as the file has it (grey 1, grey with alpha 2, colour 3, with alpha 4) */
    lks_dtype dtype;  /* default LKS_UINT8; LKS_UINT16 (16-bit PNGs keep their precision); LKS_FLOAT32 from 0 to 1 */
    lks_tristate expand_animations;     /* default false: (height, width, channels), the first frame of a GIF.
                                           True: a GIF becomes (frames, height, width, channels) */
    int64_t ratio;                      /* JPEG: decoded at 1/1 (default), 1/2, 1/4 or 1/8 of the size */
    int64_t at_least_height;            /* JPEG: instead of ratio, the smallest of these sizes that is still at least */
    int64_t at_least_width;             /*   this high and wide; faster where small pictures are wanted */
    lks_tristate fancy_upscaling;       /* JPEG: smooth colour between samples; default true */
    lks_tristate try_recover_truncated; /* JPEG: default false: a file that ends too early is an error */
    double acceptable_fraction;         /* of the lines that must be there then; default 1 */
    const char *dct_method;             /* JPEG: "INTEGER_FAST" (default) or "INTEGER_ACCURATE" */
    int64_t max_bytes;                  /* refuses larger decoded pictures; default and limit 2^29 */
} lks_decode_options;

/* What the header says, without decoding. */
typedef struct lks_image_header {
    size_t struct_size;
    lks_image_format format;
    int64_t height, width, channels; /* channels as in lks_decode_options */
} lks_image_header;

/* Borrows bytes. LKS_E_FORMAT if they are no picture that is known; LKS_E_UNSUPPORTED for formats that are known but not
 * read (WebP, ...). Set out->struct_size before. */
LKS_API lks_status lks_image_read_header(const void *bytes, size_t size, lks_image_header *out);

/* The picture in memory as a tensor; the caller owns *out. Borrows bytes. Damaged and truncated files are LKS_E_FORMAT, too
 * large ones LKS_E_LIMIT; LKS_E_UNSUPPORTED in a build without the library for the format. options NULL: all defaults. */
LKS_API lks_status lks_image_decode_with(const void *bytes, size_t size, lks_tensor **out,
                                         const lks_decode_options *options);
/* The same from a file. */
LKS_API lks_status lks_read_image_with(const char *path, lks_tensor **out, const lks_decode_options *options);

/* uint8 [height, width, 1 or 3] as a JPEG file. quality 1 to 100 (0: 95, TensorFlow's default). Borrows picture.
 * LKS_E_UNSUPPORTED in a build without libjpeg. */
LKS_API lks_status lks_write_jpeg(const char *path, const lks_tensor *picture, int64_t quality);

#ifndef __cplusplus
/* lks_image_decode(bytes, size, &picture, .channels = 3) */
#define lks_image_decode(...) LKS_IMAGE_CALL3(lks_image_decode_with, lks_decode_options, __VA_ARGS__, )
/* lks_read_image("cat.jpg", &picture, .channels = 3) */
#define lks_read_image(...) LKS_CALL2(lks_read_image_with, lks_decode_options, __VA_ARGS__, )
#define LKS_IMAGE_CALL3(fn, type, a, b, c, ...) fn(a, b, c, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
