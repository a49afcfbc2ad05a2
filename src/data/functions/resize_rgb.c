/* resize_rgb.c - the common case of resizing: bytes of three channels, bilinear without antialiasing. Rows and columns are mixed at once, since
 * a smaller picture needs only some of the pixels; a pixel's three channels and a fourth number that nobody looks at are one vector. Where there is no
 * second pixel to mix with, its share is 0.
 * The arithmetic is that of resize.c, so the bits are the same.
 */
#include <string.h>

#include "base/cpu.h"
#include "resize.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_WIDER 1
#endif

/* What a row of the output is made of. */
typedef struct rgb_rows {
    const uint8_t *above, *below;
    float share; /* of the row below */
    const lks_axis *columns;
} rgb_rows;

static inline __attribute__((always_inline)) void mix_pixels(const rgb_rows *r, int64_t n, float *restrict out)
{
    const uint8_t *restrict above = r->above, *restrict below = r->below;
    const int32_t *restrict start = r->columns->start;
    const float *restrict weight = r->columns->weight + r->columns->taps - 1;
    int64_t taps = r->columns->taps;
    float share = r->share;

    for (int64_t x = 0; x < n; x++, out += 3) {
        float left[4], right[4], w = weight[x * taps];
        const uint8_t *top = above + 3 * (int64_t)start[x], *bottom = below + 3 * (int64_t)start[x];
        for (int k = 0; k < 4; k++) left[k] = (float)(int)top[k] + ((float)(int)bottom[k] - (float)(int)top[k]) * share;
        for (int k = 0; k < 4; k++)
            right[k] = (float)(int)top[k + 3] + ((float)(int)bottom[k + 3] - (float)(int)top[k + 3]) * share;
        for (int k = 0; k < 4; k++) left[k] += (right[k] - left[k]) * w;
        memcpy(out, left, sizeof left);
    }
}

static void mix_plain(const rgb_rows *r, int64_t n, float *out)
{
    mix_pixels(r, n, out);
}

#ifdef HAS_WIDER
__attribute__((target("avx2"))) static void mix_avx2(const rgb_rows *r, int64_t n, float *out)
{
    mix_pixels(r, n, out);
}
#endif

/* The pixels at the end of a row, with nothing read or written beside them. */
static void mix_last(const rgb_rows *r, int64_t first, float *out)
{
    const lks_axis *c = r->columns;

    for (int64_t x = first; x < c->n; x++) {
        const int64_t a = 3 * (int64_t)c->start[x], b = a + 3 * (c->count[x] - 1);
        float w = c->weight[x * c->taps + c->taps - 1];
        for (int k = 0; k < 3; k++) {
            float left = (float)(int)r->above[a + k], right = (float)(int)r->above[b + k];
            left += ((float)(int)r->below[a + k] - left) * r->share;
            right += ((float)(int)r->below[b + k] - right) * r->share;
            out[3 * x + k] = left + (right - left) * w;
        }
    }
}

/* Outputs whose first pixel has seven bytes from its own on, which are read, and which are not the last themselves. */
static int64_t inner_pixels(const lks_axis *columns, int64_t width)
{
    int64_t n = columns->n - 1;

    while (n > 0 && columns->start[n - 1] + 3 > width) n--;
    return n;
}

void lks__resize_rgb(const lks_pixels *in, const lks_axis *rows, const lks_axis *columns, float *out)
{
    void (*mix)(const rgb_rows *r, int64_t n, float *out) = mix_plain;
    int64_t n = inner_pixels(columns, in->width);

#ifdef HAS_WIDER
    if (lks__isa_available(LKS_ISA_AVX2)) mix = mix_avx2;
#endif
    for (int64_t y = 0; y < rows->n; y++, out += 3 * columns->n) {
        const rgb_rows r = { lks__pixel(in, rows->start[y], 0), lks__pixel(in, rows->start[y] + rows->count[y] - 1, 0),
                             rows->weight[y * rows->taps + rows->taps - 1], columns };
        mix(&r, n, out);
        mix_last(&r, n, out);
    }
}
