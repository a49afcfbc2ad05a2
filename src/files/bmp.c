/* bmp.c - Windows bitmaps: 1, 4 and 8 bits with a palette, 24 and 32 bits, rows from the bottom or the top, not compressed.
 *
 * A palette of greys in order is a grey picture (one channel); other palettes give colour. */
#include <string.h>

#include "base/alloc.h"
#include "endian.h"
#include "image.h"

typedef struct bmp {
    int64_t height, width;
    bool top_down;
    unsigned bits, colors;
    size_t pixels, palette, row;
    bool grey;
} bmp;

enum { FILE_HEADER = 14, OS2_HEADER = 12, HEADER = 40 };

static const unsigned char *palette_entry(const bmp *b, const unsigned char *data, unsigned i)
{
    return data + b->palette + 4 * (size_t)i;
}

static bool grey_palette(const bmp *b, const unsigned char *data)
{
    for (unsigned i = 0; i < b->colors; i++) {
        const unsigned char *p = palette_entry(b, data, i);
        if (b->bits != 8 || p[0] != i || p[1] != i || p[2] != i) return false;
    }
    return true;
}

static lks_status read_palette(bmp *b, const unsigned char *data, size_t n, uint32_t used)
{
    b->colors = used == 0 || used > 1u << b->bits ? 1u << b->bits : used;
    if (b->palette + 4 * (size_t)b->colors > n || b->palette + 4 * (size_t)b->colors > b->pixels) {
        b->colors = 0; /* none stored: grey, as TensorFlow takes all of them */
        if (b->bits != 8) return lks__fail(LKS_E_FORMAT, "the palette does not fit into the file");
    }
    b->grey = grey_palette(b, data);
    return LKS_OK;
}

static lks_status check_kind(const bmp *b, uint32_t compression, const unsigned char *masks, size_t n)
{
    bool usual = n >= FILE_HEADER + HEADER + 12 && lks__le32(masks) == 0xFF0000 && lks__le32(masks + 4) == 0xFF00 &&
                 lks__le32(masks + 8) == 0xFF;

    if (b->bits != 1 && b->bits != 4 && b->bits != 8 && b->bits != 24 && b->bits != 32)
        return lks__fail(LKS_E_UNSUPPORTED, "pictures of %u bits a pixel are not read", b->bits);
    if (compression != 0 && !(compression == 3 && b->bits == 32 && usual))
        return lks__fail(LKS_E_UNSUPPORTED, "compressed pictures (kind %u) are not read", (unsigned)compression);
    return LKS_OK;
}

static lks_status read_header(const unsigned char *data, size_t n, bmp *b)
{
    uint32_t header;
    int32_t height;

    memset(b, 0, sizeof *b);
    if (n < FILE_HEADER + HEADER) return lks__fail(LKS_E_FORMAT, "the file ends inside the header (%zu bytes)", n);
    b->pixels = lks__le32(data + 10);
    header = lks__le32(data + 14);
    if (header < HEADER || header > n - FILE_HEADER)
        return lks__fail(header == OS2_HEADER ? LKS_E_UNSUPPORTED : LKS_E_FORMAT, "a header of %u bytes is not read",
                         (unsigned)header);
    b->width = (int32_t)lks__le32(data + 18);
    height = (int32_t)lks__le32(data + 22);
    b->top_down = height < 0;
    b->height = height < 0 ? -(int64_t)height : height;
    b->bits = data[28] | (unsigned)data[29] << 8;
    LKS_TRY(check_kind(b, lks__le32(data + 30), data + FILE_HEADER + HEADER, n));
    b->palette = FILE_HEADER + (size_t)header;
    if (b->pixels < FILE_HEADER + (size_t)header || b->pixels > n)
        return lks__fail(LKS_E_FORMAT, "the pixels are said to begin at byte %zu of %zu", b->pixels, n);
    if (b->width < 1 || b->height < 1)
        return lks__fail(LKS_E_FORMAT, "the header says %lld x %lld pixels", (long long)b->height, (long long)b->width);
    b->row = (size_t)((uint64_t)b->width * b->bits + 31) / 32 * 4;
    return b->bits <= 8 ? read_palette(b, data, n, lks__le32(data + 46)) : LKS_OK;
}

static int natural_channels(const bmp *b)
{
    return b->bits == 32 ? 4 : b->bits == 24 || !b->grey ? 3 : 1;
}

/* One row as 1, 3 or 4 channels, as the file has it. An index beyond the palette is black. */
static void read_row(const bmp *b, const unsigned char *data, const unsigned char *in, unsigned char *out)
{
    int channels = natural_channels(b);

    for (int64_t x = 0; x < b->width; x++, out += channels) {
        const unsigned char *p = in + x * (b->bits / 8);
        unsigned bit = (unsigned)x * b->bits;
        if (b->bits <= 8) {
            unsigned i = (in[bit / 8] >> (8 - b->bits - bit % 8)) & ((1u << b->bits) - 1);
            static const unsigned char black[3];
            if (channels == 1) {
                *out = (unsigned char)i;
                continue;
            }
            p = i < b->colors ? palette_entry(b, data, i) : black;
        }
        out[0] = p[2], out[1] = p[1], out[2] = p[0];
        if (channels == 4) out[3] = p[3];
    }
}

lks_status lks__bmp_header(const unsigned char *data, size_t n, lks_image_header *out)
{
    bmp b;

    LKS_TRY(read_header(data, n, &b));
    out->height = b.height;
    out->width = b.width;
    out->channels = natural_channels(&b);
    return LKS_OK;
}

lks_status lks__bmp_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink)
{
    bmp b;
    int natural, channels;
    unsigned char *pixels, *row;
    lks_shape shape;

    LKS_TRY(read_header(data, n, &b));
    natural = natural_channels(&b);
    channels = o->channels != 0 ? (int)o->channels : natural;
    LKS_TRY(lks__image_check_size(o, 1, b.height, b.width, channels > natural ? channels : natural, 1));
    if (b.row > (n - b.pixels) / (size_t)b.height)
        return lks__fail(LKS_E_FORMAT, "the file is cut short: %lld rows of %zu bytes do not fit into %zu",
                         (long long)b.height, b.row, n - b.pixels);
    row = lks__malloc((size_t)b.width * (size_t)natural);
    if (row == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a row of pixels");
    shape = (lks_shape){ 3, { b.height, b.width, channels } };
    pixels = sink->room(sink, LKS_UINT8, &shape);
    for (int64_t y = 0; pixels != NULL && y < b.height; y++) {
        read_row(&b, data, data + b.pixels + b.row * (size_t)(b.top_down ? y : b.height - 1 - y), row);
        lks__repixel(row, natural, pixels + y * b.width * channels, channels, (size_t)b.width);
    }
    lks__free(row);
    return pixels != NULL ? LKS_OK : lks__error_code();
}
