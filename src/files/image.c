/* image.c - see image.h: tells formats apart by their first bytes and converts what is decoded to the dtype asked for. */
#include "image.h"

#include <string.h>

#include "base/alloc.h"
#include "reader.h"
#include "tensor/tensor.h"

typedef struct format {
    lks_image_format format;
    const char *name, *magic;
    size_t n;
    lks_image_decoder decode;
    lks_image_header_reader header;
} format;

static const format formats[] = {
    { LKS_IMAGE_JPEG, "JPEG", "\xFF\xD8\xFF", 3, lks__jpeg_decode, lks__jpeg_header },
    { LKS_IMAGE_PNG, "PNG", "\x89PNG\r\n\x1a\n", 8, lks__png_decode_image, lks__png_header },
    { LKS_IMAGE_GIF, "GIF", "GIF8", 4, lks__gif_decode, lks__gif_header },
    { LKS_IMAGE_BMP, "BMP", "BM", 2, lks__bmp_decode, lks__bmp_header },
};

/* What else such files turn out to be, and what helps. */
static const struct {
    const char *magic;
    size_t at, n;
    lks_status code;
    const char *text;
} others[] = {
    { "WEBP", 8, 4, LKS_E_UNSUPPORTED, "this is a WebP picture; convert it to JPEG or PNG" },
    { "\x1F\x8B", 0, 2, LKS_E_FORMAT, "this is gzip-compressed; decompress the file first (gunzip)" },
    { "\xFF\x0A", 0, 2, LKS_E_UNSUPPORTED, "this is a JPEG XL picture; convert it to JPEG or PNG" },
    { "ftyp", 4, 4, LKS_E_UNSUPPORTED, "this is a HEIF, AVIF or video file; convert it to JPEG or PNG" },
    { "II*\0", 0, 4, LKS_E_UNSUPPORTED, "this is a TIFF picture; convert it to JPEG or PNG" },
    { "MM\0*", 0, 4, LKS_E_UNSUPPORTED, "this is a TIFF picture; convert it to JPEG or PNG" },
    { "%PDF", 0, 4, LKS_E_FORMAT, "this is a PDF document" },
    { "\0\x05\x16\x07", 0, 4, LKS_E_FORMAT, "this is a macOS side file (AppleDouble), not a picture; delete it" },
    { "<", 0, 1, LKS_E_FORMAT, "this is text, perhaps a web page that was saved in place of a picture" },
};

static const format *find_format(const void *bytes, size_t size)
{
    if (size == 0) {
        lks__fail(LKS_E_FORMAT, "the picture is empty (0 bytes)");
        return NULL;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (size >= formats[i].n && memcmp(bytes, formats[i].magic, formats[i].n) == 0) return &formats[i];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (size >= others[i].at + others[i].n &&
            memcmp((const char *)bytes + others[i].at, others[i].magic, others[i].n) == 0) {
            lks__fail(others[i].code, "not a JPEG, PNG, BMP or GIF picture: %s", others[i].text);
            return NULL;
        }
    lks__fail(LKS_E_FORMAT, "not a JPEG, PNG, BMP or GIF picture (%zu bytes)", size);
    return NULL;
}

lks_status lks__image_sniff(const void *bytes, size_t size)
{
    return find_format(bytes, size) != NULL ? LKS_OK : lks__error_code();
}

lks_status lks_image_read_header(const void *bytes, size_t size, lks_image_header *out)
{
    lks_image_header header = { .struct_size = sizeof header };
    const format *f;
    lks_status status;

    if (bytes == NULL || out == NULL || out->struct_size == 0)
        return lks__fail(LKS_E_ARG, "lks_image_read_header: bytes and out must be given, with out->struct_size set");
    f = find_format(bytes, size);
    if (f == NULL) return lks__error_code();
    header.format = f->format;
    status = f->header(bytes, size, &header);
    if (status != LKS_OK) return lks__context(status, "%s", f->name);
    header.struct_size = out->struct_size < sizeof header ? out->struct_size : sizeof header;
    memcpy(out, &header, header.struct_size);
    return LKS_OK;
}

lks_status lks__decode_options(const lks_decode_options *options, lks_decode_options *out)
{
    lks_decode_options o = { 0 };

    if (options != NULL) memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
    if (o.channels != 0 && o.channels != 1 && o.channels != 3 && o.channels != 4)
        return lks__fail(LKS_E_ARG, "channels must be 0 (as the file has it), 1, 3 or 4, found %lld",
                         (long long)o.channels);
    if (o.dtype == 0) o.dtype = LKS_UINT8;
    if (o.dtype != LKS_UINT8 && o.dtype != LKS_UINT16 && o.dtype != LKS_FLOAT32)
        return lks__fail(LKS_E_ARG, "pictures decode to uint8, uint16 or float32, not %s", lks_dtype_name(o.dtype));
    if (o.ratio == 0) o.ratio = 1;
    if (o.ratio != 1 && o.ratio != 2 && o.ratio != 4 && o.ratio != 8)
        return lks__fail(LKS_E_ARG, "ratio must be 1, 2, 4 or 8, found %lld", (long long)o.ratio);
    if (o.at_least_height < 0 || o.at_least_width < 0)
        return lks__fail(LKS_E_ARG, "at_least_height and at_least_width must not be negative");
    if (o.acceptable_fraction == 0) o.acceptable_fraction = 1;
    if (!(o.acceptable_fraction >= 0 && o.acceptable_fraction <= 1))
        return lks__fail(LKS_E_ARG, "acceptable_fraction must lie between 0 and 1");
    if (o.dct_method != NULL && o.dct_method[0] != '\0' && strcmp(o.dct_method, "INTEGER_FAST") != 0 &&
        strcmp(o.dct_method, "INTEGER_ACCURATE") != 0)
        return lks__fail(LKS_E_ARG, "dct_method must be \"INTEGER_FAST\" or \"INTEGER_ACCURATE\", found \"%s\"",
                         o.dct_method);
    if (o.max_bytes <= 0 || o.max_bytes > LKS_IMAGE_MAX_BYTES) o.max_bytes = LKS_IMAGE_MAX_BYTES;
    *out = o;
    return LKS_OK;
}

/* ---- other dtypes: the picture is decoded at the end of the room for the wider items and widened from the front ---- */

typedef struct widening {
    lks_image_sink sink;
    lks_image_sink *final;
    lks_dtype want, have;
    unsigned char *room, *packed;
    int64_t n;
} widening;

static void *wide_room(lks_image_sink *sink, lks_dtype dtype, const lks_shape *shape)
{
    widening *w = (widening *)sink;
    size_t item = lks_dtype_size(dtype);

    w->have = dtype;
    w->n = lks_shape_size(shape);
    w->room = w->final->room(w->final, w->want, shape);
    if (w->room == NULL) return NULL;
    w->packed = w->room + (size_t)w->n * (lks_dtype_size(w->want) - item);
    return w->packed;
}

/* In place: item i is read before anything at or beyond its own place is written. */
static void widen(const widening *w)
{
    for (int64_t i = 0; i < w->n; i++) {
        uint16_t x = w->packed[i];
        if (w->have == LKS_UINT16) memcpy(&x, w->packed + 2 * i, 2);
        if (w->want == LKS_FLOAT32) {
            float y = (float)x * (w->have == LKS_UINT16 ? 1.0f / 65535.0f : 1.0f / 255.0f);
            memcpy(w->room + 4 * i, &y, 4);
        } else {
            x = (uint16_t)(x * 257u);
            memcpy(w->room + 2 * i, &x, 2);
        }
    }
}

lks_status lks__image_decode(const void *bytes, size_t size, const lks_decode_options *o, lks_image_sink *sink)
{
    const format *f = find_format(bytes, size);
    widening w = { { wide_room, NULL }, sink, o->dtype, LKS_UINT8, NULL, NULL, 0 };
    lks_decode_options inner = *o;
    bool direct = o->dtype == LKS_UINT8 || (o->dtype == LKS_UINT16 && f != NULL && f->format == LKS_IMAGE_PNG);
    lks_status status;

    if (f == NULL) return lks__error_code();
    if (o->dtype == LKS_FLOAT32 && f->format == LKS_IMAGE_PNG) inner.dtype = LKS_UINT16;
    inner.max_bytes /= o->dtype == LKS_FLOAT32 ? 4 : o->dtype == LKS_UINT16 && !direct ? 2 : 1;
    status = f->decode(bytes, size, &inner, direct ? sink : &w.sink);
    if (status != LKS_OK) return lks__context(status, "%s", f->name);
    if (!direct) widen(&w);
    return LKS_OK;
}

/* ---- as tensors ---- */

typedef struct tensor_sink {
    lks_image_sink sink;
    lks_tensor *tensor;
} tensor_sink;

static void *tensor_room(lks_image_sink *sink, lks_dtype dtype, const lks_shape *shape)
{
    tensor_sink *s = (tensor_sink *)sink;

    s->tensor = lks_tensor_create(dtype, *shape);
    return s->tensor != NULL ? lks_tensor_data(s->tensor) : NULL;
}

lks_status lks_image_decode_with(const void *bytes, size_t size, lks_tensor **out, const lks_decode_options *options)
{
    tensor_sink s = { { tensor_room, NULL }, NULL };
    lks_decode_options o;
    lks_status status;

    if ((bytes == NULL && size > 0) || out == NULL)
        return lks__fail(LKS_E_ARG, "lks_image_decode: bytes and out must not be NULL");
    LKS_TRY(lks__decode_options(options, &o));
    status = lks__image_decode(bytes, size, &o, &s.sink);
    if (status != LKS_OK) {
        lks_tensor_release(s.tensor);
        return status;
    }
    *out = s.tensor;
    return LKS_OK;
}

lks_status lks_read_image_with(const char *path, lks_tensor **out, const lks_decode_options *options)
{
    void *bytes;
    size_t n;
    lks_status status;

    if (path == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_read_image: path and out must not be NULL");
    LKS_TRY(lks__read_file(path, UINT64_MAX, &bytes, &n));
    status = lks_image_decode_with(bytes, n, out, options);
    lks__free(bytes);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}
