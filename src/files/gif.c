/* gif.c - GIF pictures: frames put together on the screen as they are shown. No library, since a decoder is this short.
 *
 * A first walk counts the frames and checks every size; the second decodes. Transparent pixels keep what the frame before
 * left there, black at first. */
#include <string.h>

#include "gif_lzw.h"
#include "image.h"

typedef struct gif {
    const unsigned char *data;
    size_t n, at;
    int64_t height, width;
    const unsigned char *palette; /* the global one, or NULL */
    unsigned colors;
    int transparent; /* of the next frame; -1: none */
    int disposal;
} gif;

typedef struct gif_frame {
    int64_t top, left, height, width;
    bool interlaced;
    const unsigned char *palette;
    unsigned colors;
} gif_frame;

static lks_status cut_short(const char *where)
{
    return lks__fail(LKS_E_FORMAT, "the file ends inside %s", where);
}

static unsigned le16(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static lks_status read_palette(gif *g, unsigned flags, const unsigned char **palette, unsigned *colors)
{
    if ((flags & 0x80) == 0) return LKS_OK;
    *colors = 2u << (flags & 7);
    if (g->n - g->at < 3 * (size_t)*colors) return cut_short("a palette");
    *palette = g->data + g->at;
    g->at += 3 * (size_t)*colors;
    return LKS_OK;
}

static lks_status read_screen(gif *g, const unsigned char *data, size_t n)
{
    *g = (gif){ .data = data, .n = n, .at = 13, .transparent = -1 };
    if (n < 13 || (memcmp(data, "GIF87a", 6) != 0 && memcmp(data, "GIF89a", 6) != 0))
        return lks__fail(LKS_E_FORMAT, "the header is damaged");
    g->width = le16(data + 6);
    g->height = le16(data + 8);
    if (g->width < 1 || g->height < 1)
        return lks__fail(LKS_E_FORMAT, "the header says %lld x %lld pixels", (long long)g->height, (long long)g->width);
    return read_palette(g, data[10], &g->palette, &g->colors);
}

/* Passes over sub-blocks up to the empty one. */
static lks_status skip_blocks(gif *g)
{
    while (g->at < g->n) {
        size_t size = g->data[g->at++];
        if (size == 0) return LKS_OK;
        if (size > g->n - g->at) break;
        g->at += size;
    }
    return cut_short("a block of data");
}

static lks_status read_extension(gif *g)
{
    if (g->n - g->at < 2) return cut_short("an extension");
    if (g->data[g->at] == 0xF9 && g->n - g->at >= 6 && g->data[g->at + 1] == 4) {
        unsigned flags = g->data[g->at + 2];
        g->transparent = flags & 1 ? g->data[g->at + 5] : -1;
        g->disposal = (int)(flags >> 2 & 7);
    }
    g->at++;
    return skip_blocks(g);
}

static lks_status read_frame_header(gif *g, gif_frame *f)
{
    const unsigned char *p = g->data + g->at;

    if (g->n - g->at < 9) return cut_short("a frame's header");
    *f = (gif_frame){ .left = le16(p),
                      .top = le16(p + 2),
                      .width = le16(p + 4),
                      .height = le16(p + 6),
                      .interlaced = p[8] & 0x40,
                      .palette = g->palette,
                      .colors = g->colors };
    g->at += 9;
    LKS_TRY(read_palette(g, p[8], &f->palette, &f->colors));
    if (f->palette == NULL) return lks__fail(LKS_E_FORMAT, "a frame has no palette");
    if (f->width < 1 || f->height < 1 || f->left + f->width > g->width || f->top + f->height > g->height)
        return lks__fail(LKS_E_FORMAT,
                         "a frame of %lld x %lld at (%lld, %lld) lies outside of the picture of %lld x %lld",
                         (long long)f->height, (long long)f->width, (long long)f->top, (long long)f->left,
                         (long long)g->height, (long long)g->width);
    return LKS_OK;
}

/* To the next frame: *found false at the end. A file whose frames are whole but whose end mark is missing passes. */
static lks_status next_frame(gif *g, gif_frame *f, bool *found)
{
    *found = false;
    while (g->at < g->n) {
        unsigned char kind = g->data[g->at++];
        if (kind == 0x3B) return LKS_OK;
        if (kind == 0x2C) {
            LKS_TRY(read_frame_header(g, f));
            *found = true;
            return LKS_OK;
        }
        if (kind == 0x21) LKS_TRY(read_extension(g));
        else if (kind != 0) return lks__fail(LKS_E_FORMAT, "unknown block %02X at byte %zu", kind, g->at - 1);
    }
    return LKS_OK;
}

static lks_status count_frames(gif g, bool all, int64_t *frames)
{
    gif_frame f;
    bool found = true;

    for (*frames = 0; found && (all || *frames < 1);) {
        LKS_TRY(next_frame(&g, &f, &found));
        if (!found) break;
        ++*frames;
        g.at++; /* the code size */
        LKS_TRY(skip_blocks(&g));
    }
    if (*frames == 0) return lks__fail(LKS_E_FORMAT, "there is no frame in the file");
    return LKS_OK;
}

/* ---- drawing ---- */

typedef struct canvas {
    unsigned char *pixels;
    int channels;
    const gif *g;
    const gif_frame *f;
    int64_t x, y, pass;
} canvas;

static void put_pixel(const canvas *c, unsigned index)
{
    unsigned char *to = c->pixels + ((c->f->top + c->y) * c->g->width + c->f->left + c->x) * c->channels;

    lks__repixel(c->f->palette + 3 * (size_t)index, 3, to, c->channels, 1);
}

static void next_row(canvas *c)
{
    static const unsigned char first[] = { 0, 4, 2, 1 }, step[] = { 8, 8, 4, 2 };

    c->x = 0;
    if (!c->f->interlaced) {
        c->y++;
        return;
    }
    c->y += step[c->pass];
    while (c->y >= c->f->height && c->pass < 3) c->y = first[++c->pass];
}

static lks_status put(void *user, const unsigned char *indices, size_t n)
{
    canvas *c = user;

    for (size_t i = 0; i < n && c->y < c->f->height; i++) {
        if (indices[i] == c->g->transparent) { /* may lie beyond the palette */
        } else if (indices[i] < c->f->colors) {
            put_pixel(c, indices[i]);
        } else {
            return lks__fail(LKS_E_FORMAT, "colour %u of a palette of %u", indices[i], c->f->colors);
        }
        if (++c->x == c->f->width) next_row(c);
    }
    return LKS_OK;
}

/* What a frame leaves behind for the next one. */
static void dispose(const gif *g, const gif_frame *f, int channels, unsigned char *next)
{
    if (g->disposal != 2) return;
    for (int64_t y = 0; y < f->height; y++)
        memset(next + ((f->top + y) * g->width + f->left) * channels, 0, (size_t)(f->width * channels));
}

static lks_status draw_frame(gif *g, const gif_frame *f, unsigned char *pixels, int channels)
{
    canvas c = { pixels, channels, g, f, 0, 0, 0 };

    LKS_TRY(lks__gif_lzw(g->data, g->n, &g->at, f->width * f->height, put, &c));
    return LKS_OK;
}

static lks_status draw(gif *g, int64_t frames, int channels, unsigned char *pixels)
{
    size_t bytes = (size_t)(g->height * g->width * channels);
    gif_frame f;
    bool found;

    memset(pixels, 0, bytes);
    for (int64_t k = 0; k < frames; k++) {
        unsigned char *now = pixels + (size_t)k * bytes, *next = k + 1 < frames ? now + bytes : NULL;
        LKS_TRY(next_frame(g, &f, &found));
        if (!found) return cut_short("its frames");
        if (next != NULL && g->disposal == 3) memcpy(next, now, bytes);
        LKS_TRY(draw_frame(g, &f, now, channels));
        if (next != NULL && g->disposal != 3) memcpy(next, now, bytes);
        if (next != NULL) dispose(g, &f, channels, next);
        g->transparent = -1;
        g->disposal = 0;
    }
    return LKS_OK;
}

lks_status lks__gif_header(const unsigned char *data, size_t n, lks_image_header *out)
{
    gif g;

    LKS_TRY(read_screen(&g, data, n));
    out->height = g.height;
    out->width = g.width;
    out->channels = 3;
    return LKS_OK;
}

lks_status lks__gif_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink)
{
    bool all = o->expand_animations == LKS_TRUE;
    int channels = o->channels != 0 ? (int)o->channels : 3;
    int64_t frames = 1;
    unsigned char *pixels;
    lks_shape shape;
    gif g;

    LKS_TRY(read_screen(&g, data, n));
    LKS_TRY(count_frames(g, all, &frames));
    LKS_TRY(lks__image_check_size(o, frames, g.height, g.width, channels, 1));
    if ((uint64_t)g.height * (uint64_t)g.width / LKS_GIF_RATIO > n)
        return lks__fail(LKS_E_FORMAT, "the header says %lld x %lld pixels, more than the file of %zu bytes holds",
                         (long long)g.height, (long long)g.width, n);
    shape = all ? (lks_shape){ 4, { frames, g.height, g.width, channels } }
                : (lks_shape){ 3, { g.height, g.width, channels } };
    pixels = sink->room(sink, LKS_UINT8, &shape);
    return pixels != NULL ? draw(&g, frames, channels, pixels) : lks__error_code();
}
