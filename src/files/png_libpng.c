/* png_libpng.c - png.h on libpng, for systems without libspng: writing and the header through its simplified interface,
 * pixels through the old one, because the simplified one applies gamma. Its memory is its own. */
#include "png.h"

#if defined(LKS_HAVE_LIBPNG) && !defined(LKS_HAVE_SPNG)
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/alloc.h"
#include "endian.h"

static lks_status failure(png_image *image, const char *doing)
{
    lks_status code = strstr(image->message, "memory") != NULL ? LKS_E_NOMEM : LKS_E_FORMAT;
    char text[sizeof image->message];

    memcpy(text, image->message, sizeof text);
    png_image_free(image);
    return lks__fail(code, "%s: %s", doing, text);
}

lks_status lks__png_library_encode(const void *pixels, uint32_t width, uint32_t height, int channels, void **out,
                                   size_t *n)
{
    png_image image = { .version = PNG_IMAGE_VERSION, .width = width, .height = height };
    png_alloc_size_t size;
    void *bytes;

    image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
    size = PNG_IMAGE_PNG_SIZE_MAX(image);
    bytes = lks__malloc(size);
    if (bytes == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write a picture");
    if (!png_image_write_to_memory(&image, bytes, &size, 0, pixels, 0, NULL)) {
        lks__free(bytes);
        return failure(&image, "the picture cannot be encoded");
    }
    *out = bytes;
    *n = size;
    return LKS_OK;
}

lks_status lks__png_library_info(const void *data, size_t n, lks_png_info *out)
{
    png_image image = { .version = PNG_IMAGE_VERSION };

    if (!png_image_begin_read_from_memory(&image, data, n)) return failure(&image, "the PNG header is damaged");
    out->width = image.width;
    out->height = image.height;
    out->channels = image.format & PNG_FORMAT_FLAG_ALPHA ? 4 : image.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1;
    png_image_free(&image);
    /* The simplified interface hides what is stored; depth and colour type follow the sizes in the first chunk. */
    out->wide = ((const unsigned char *)data)[24] == 16;
    switch (((const unsigned char *)data)[25]) {
    case PNG_COLOR_TYPE_GRAY: out->samples = 1; break;
    case PNG_COLOR_TYPE_GRAY_ALPHA: out->samples = 2; break;
    case PNG_COLOR_TYPE_RGB_ALPHA: out->samples = 4; break;
    case PNG_COLOR_TYPE_PALETTE: out->samples = out->channels == 4 ? 4 : 3; break;
    default: out->samples = 3;
    }
    return LKS_OK;
}

typedef struct decoding {
    const unsigned char *data;
    size_t left;
    char message[128];
    png_structp png;
    png_infop info;
} decoding;

static void take_bytes(png_structp png, png_bytep out, size_t n)
{
    decoding *d = png_get_io_ptr(png);

    if (n > d->left) png_error(png, "the file ends too early");
    memcpy(out, d->data, n);
    d->data += n;
    d->left -= n;
}

static void on_error(png_structp png, png_const_charp text)
{
    decoding *d = png_get_error_ptr(png);
    size_t n = strlen(text) < sizeof d->message ? strlen(text) : sizeof d->message - 1;

    memcpy(d->message, text, n);
    d->message[n] = '\0';
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

/* Jumps back to the caller's setjmp on any error. */
static void decode_rows(decoding *d, const lks_png_info *info, int bits, unsigned char *pixels)
{
    size_t row_bytes = (size_t)info->width * (size_t)bits / 2;
    int passes;

    png_set_read_fn(d->png, d, take_bytes);
    png_read_info(d->png, d->info);
    if (bits == 8) png_set_strip_16(d->png);
    png_set_expand(d->png);
    if (bits == 16) png_set_expand_16(d->png);
    if (bits == 16 && lks__host_is_little()) png_set_swap(d->png);
    png_set_gray_to_rgb(d->png);
    png_set_filler(d->png, bits == 16 ? 65535 : 255, PNG_FILLER_AFTER);
    passes = png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    if (png_get_rowbytes(d->png, d->info) != row_bytes || png_get_image_height(d->png, d->info) != info->height)
        png_error(d->png, "the header changed");
    for (; passes > 0; passes--)
        for (uint32_t y = 0; y < info->height; y++) png_read_row(d->png, pixels + y * row_bytes, NULL);
    png_read_end(d->png, NULL);
}

lks_status lks__png_library_decode(const void *data, size_t n, const lks_png_info *info, int bits, void *pixels)
{
    decoding d = { .data = data, .left = n };

    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
    if (d.png != NULL) d.info = png_create_info_struct(d.png);
    if (d.info == NULL) {
        png_destroy_read_struct(&d.png, NULL, NULL);
        return lks__fail(LKS_E_NOMEM, "no memory to read a picture");
    }
    if (setjmp(png_jmpbuf(d.png)) != 0) {
        png_destroy_read_struct(&d.png, &d.info, NULL);
        return lks__fail(LKS_E_FORMAT, "the picture is damaged: %s", d.message);
    }
    decode_rows(&d, info, bits, pixels);
    png_destroy_read_struct(&d.png, &d.info, NULL);
    return LKS_OK;
}
#endif
