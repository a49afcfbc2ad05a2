/* png.c - see png.h: the checks and the arrays; a library does the format. Pictures are decoded to RGBA and reduced
 * here, so that both libraries give the same bytes. */
#include "png.h"

#include <string.h>

#include "base/alloc.h"
#include "image.h"
#include "lockstep/files.h"
#include "reader.h"
#include "save.h"
#include "tensor/tensor.h"

enum { MAX_PIXELS = 1 << 28 };

#if !defined(LKS_HAVE_SPNG) && !defined(LKS_HAVE_LIBPNG)
static lks_status no_library(void)
{
    return lks__fail(LKS_E_UNSUPPORTED, "this build has no PNG library (libspng or libpng)");
}

lks_status lks__png_library_encode(const void *pixels, uint32_t width, uint32_t height, int channels, void **out,
                                   size_t *n)
{
    (void)pixels, (void)width, (void)height, (void)channels, (void)out, (void)n;
    return no_library();
}

lks_status lks__png_library_info(const void *data, size_t n, lks_png_info *out)
{
    (void)data, (void)n, (void)out;
    return no_library();
}

lks_status lks__png_library_decode(const void *data, size_t n, const lks_png_info *info, int bits, void *pixels)
{
    (void)data, (void)n, (void)info, (void)bits, (void)pixels;
    return no_library();
}
#endif

lks_status lks__png_encode(const lks_tensor *picture, void **out, size_t *n)
{
    lks_shape s = lks_tensor_shape(picture);
    char text[LKS_SHAPE_TEXT];

    if (lks_tensor_dtype(picture) != LKS_UINT8 || s.rank != 3 || (s.dim[2] != 1 && s.dim[2] != 3 && s.dim[2] != 4))
        return lks__fail(LKS_E_SHAPE, "a picture is uint8 of shape (height, width, 1, 3 or 4), this is %s %s",
                         lks_dtype_name(lks_tensor_dtype(picture)), lks__shape_text(&s, text));
    if (s.dim[0] < 1 || s.dim[1] < 1 || s.dim[0] > LKS_PNG_MAX_SIDE || s.dim[1] > LKS_PNG_MAX_SIDE)
        return lks__fail(LKS_E_LIMIT, "a picture has sides of 1 to %d, this is %s", LKS_PNG_MAX_SIDE,
                         lks__shape_text(&s, text));
    return lks__png_library_encode(lks_tensor_cdata(picture), (uint32_t)s.dim[1], (uint32_t)s.dim[0], (int)s.dim[2],
                                   out, n);
}

/* RGBA to 1 (luma), 2 (luma, alpha), 3 or 4 channels. */
static void reduce8(const unsigned char *rgba, size_t n, int channels, unsigned char *out)
{
    for (size_t i = 0; i < n; i++, rgba += 4, out += channels) {
        if (channels < 3) out[0] = lks__luma8(rgba);
        else out[0] = rgba[0], out[1] = rgba[1], out[2] = rgba[2];
        if (channels % 2 == 0) out[channels - 1] = rgba[3];
    }
}

/* libpng's rounding differs with the depth. */
static uint16_t luma16(const uint16_t *p)
{
    if (p[0] == p[1] && p[1] == p[2]) return p[0];
    return (uint16_t)((p[0] * 9797u + p[1] * 19234u + p[2] * 3737u + 16384u) >> 15);
}

static void reduce16(const uint16_t *rgba, size_t n, int channels, uint16_t *out)
{
    for (size_t i = 0; i < n; i++, rgba += 4, out += channels) {
        if (channels < 3) out[0] = luma16(rgba);
        else out[0] = rgba[0], out[1] = rgba[1], out[2] = rgba[2];
        if (channels % 2 == 0) out[channels - 1] = rgba[3];
    }
}

/* 16-bit colour becomes grey before it loses its low bytes. */
static void luma_of_wide(const uint16_t *rgba, size_t n, int channels, unsigned char *out)
{
    for (size_t i = 0; i < n; i++, rgba += 4, out += channels) {
        out[0] = (unsigned char)(luma16(rgba) >> 8);
        if (channels == 2) out[1] = (unsigned char)(rgba[3] >> 8);
    }
}

static lks_status decode_pixels(const void *data, size_t n, const lks_png_info *info, int channels, bool wide,
                                void *out)
{
    size_t pixels = (size_t)info->width * info->height;
    bool fine = info->wide && channels < 3, big = wide || fine;
    void *rgba;
    lks_status status;

    if (channels == 4) return lks__png_library_decode(data, n, info, wide ? 16 : 8, out);
    rgba = lks__malloc(pixels * (big ? 8 : 4));
    if (rgba == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu pixels", pixels);
    status = lks__png_library_decode(data, n, info, big ? 16 : 8, rgba);
    if (status == LKS_OK && wide) reduce16(rgba, pixels, channels, out);
    else if (status == LKS_OK && fine) luma_of_wide(rgba, pixels, channels, out);
    else if (status == LKS_OK) reduce8(rgba, pixels, channels, out);
    lks__free(rgba);
    return status;
}

static lks_status read_info(const void *data, size_t n, lks_png_info *info)
{
    if (n < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0) return lks__fail(LKS_E_FORMAT, "not a PNG file");
    LKS_TRY(lks__png_library_info(data, n, info));
    if (info->width < 1 || info->height < 1 || info->width > LKS_PNG_MAX_SIDE || info->height > LKS_PNG_MAX_SIDE ||
        (uint64_t)info->width * info->height / 8 / LKS_DEFLATE_RATIO > n)
        return lks__fail(LKS_E_FORMAT, "the header says %u x %u pixels, more than the file of %zu bytes holds",
                         info->width, info->height, n);
    return LKS_OK;
}

lks_status lks__png_header(const unsigned char *data, size_t n, lks_image_header *out)
{
    lks_png_info info = { 0 };

    LKS_TRY(read_info(data, n, &info));
    out->height = info.height;
    out->width = info.width;
    out->channels = info.samples;
    return LKS_OK;
}

lks_status lks__png_decode_image(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink)
{
    bool wide = o->dtype == LKS_UINT16;
    lks_png_info info = { 0 };
    int channels;
    void *out;

    LKS_TRY(read_info(data, n, &info));
    channels = o->channels != 0 ? (int)o->channels : info.samples;
    LKS_TRY(lks__image_check_size(o, 1, info.height, info.width, 4, wide ? 2 : 1)); /* RGBA on the way */
    out = sink->room(sink, wide ? LKS_UINT16 : LKS_UINT8, &(lks_shape){ 3, { info.height, info.width, channels } });
    return out != NULL ? decode_pixels(data, n, &info, channels, wide, out) : lks__error_code();
}

lks_status lks__png_decode(const void *data, size_t n, int channels, lks_tensor **out)
{
    lks_png_info info = { 0 };
    lks_tensor *t;
    lks_status status;

    LKS_TRY(read_info(data, n, &info));
    if ((uint64_t)info.width * info.height > MAX_PIXELS)
        return lks__fail(LKS_E_LIMIT, "the picture has %u x %u pixels, at most %d are decoded", info.width, info.height,
                         MAX_PIXELS);
    if (channels == 0) channels = info.channels;
    t = lks_tensor_create(LKS_UINT8, lks_shape(info.height, info.width, channels));
    if (t == NULL) return LKS_E_NOMEM;
    status = decode_pixels(data, n, &info, channels, false, lks_tensor_data(t));
    if (status != LKS_OK) {
        lks_tensor_release(t);
        return status;
    }
    *out = t;
    return LKS_OK;
}

lks_status lks_write_png(const char *path, const lks_tensor *picture)
{
    void *bytes;
    size_t n;
    lks_status status;

    if (path == NULL || picture == NULL)
        return lks__fail(LKS_E_ARG, "lks_write_png: path and picture must not be NULL");
    LKS_TRY(lks__png_encode(picture, &bytes, &n));
    status = lks__save_file(path, bytes, n);
    lks__free(bytes);
    return status;
}

lks_status lks_read_png(const char *path, int channels, lks_tensor **out)
{
    void *bytes;
    size_t n;
    lks_status status;

    if (path == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_read_png: path and out must not be NULL");
    if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
        return lks__fail(LKS_E_ARG, "lks_read_png: channels must be 0, 1, 3 or 4, not %d", channels);
    LKS_TRY(lks__read_file(path, UINT64_MAX, &bytes, &n));
    status = lks__png_decode(bytes, n, channels, out);
    lks__free(bytes);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}
