/* resize_rows.c - a picture is made smaller or larger while its rows still come from the decoder: two rows are kept and
 * never the whole, which would not stay in the cache. A row of the output is made as soon as the lower of its two rows
 * is there: first the pixels on the left and on the right of each output, mixed along the columns (eight numbers that lie
 * together, of which two nobody looks at), then these with each other. Where there is no second pixel, its share is 0.
 * The arithmetic is that of resize.c, so the bits are the same.
 */
#include <string.h>

#include "base/cpu.h"
#include "resize.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_WIDER 1
#endif

/* libjpeg-turbo writes rows that begin at a multiple of its vectors' bytes past the cache, and they would have to be
 * fetched from memory at once: so they begin elsewhere. */
enum { PIXEL = 4, LINE = 64, OFF_LINE = 16 };

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

lks_status lks__row_resizer_init(lks_row_resizer *r, const lks_row_resize *s, float *out, lks_scratch *scratch)
{
    const size_t row = (size_t)(s->width + 1) * PIXEL, stride = whole_lines(row);
    size_t for_pairs = whole_lines((size_t)s->to_width * 2 * PIXEL * sizeof(float));
    size_t for_rows = lks__axis_bytes(s->part_height, s->to_height, LKS_RESIZE_BILINEAR, false);
    size_t for_columns = lks__axis_bytes(s->part_width, s->to_width, LKS_RESIZE_BILINEAR, false);
    uint8_t *memory = lks__scratch_room(scratch, LINE + for_pairs + OFF_LINE + 2 * stride + for_rows + for_columns);

    if (memory == NULL) return LKS_E_NOMEM;
    memory += LINE - (uintptr_t)memory % LINE;
    *r = (lks_row_resizer){ .top = s->top, .left = s->left, .pairs = (float *)memory, .stride = stride, .out = out };
    r->kept = memory += for_pairs + OFF_LINE;
    memset(memory + row - PIXEL, 0, PIXEL); /* the pixel behind a row */
    memset(memory + stride + row - PIXEL, 0, PIXEL);
    memory += 2 * stride;
    lks__axis_build(&r->rows, s->part_height, s->to_height, LKS_RESIZE_BILINEAR, false, memory);
    lks__axis_build(&r->columns, s->part_width, s->to_width, LKS_RESIZE_BILINEAR, false, memory + for_rows);
    return LKS_OK;
}

static uint8_t *kept(const lks_row_resizer *r, int64_t y)
{
    return r->kept + (size_t)(y & 1) * r->stride;
}

uint8_t *lks__row_resizer_place(lks_row_resizer *r, int64_t y)
{
    return kept(r, y - r->top);
}

/* share: of the row below. */
static inline __attribute__((always_inline)) void mix_rows(const lks_row_resizer *r, const uint8_t *restrict above,
                                                           const uint8_t *restrict below, float share,
                                                           float *restrict out)
{
    const int32_t *restrict start = r->columns.start;
    const float *restrict weight = r->columns.weight + r->columns.taps - 1;
    float *restrict pair = r->pairs;
    int64_t n = r->columns.n, taps = r->columns.taps;

    for (int64_t x = 0; x < n; x++, pair += 8) {
        const uint8_t *top = above + PIXEL * (int64_t)start[x], *bottom = below + PIXEL * (int64_t)start[x];
        for (int k = 0; k < 8; k++) pair[k] = (float)(int)top[k] + ((float)(int)bottom[k] - (float)(int)top[k]) * share;
    }
    pair = r->pairs;
    for (int64_t x = 0; x < n; x++, pair += 8, out += 3) {
        float pixel[4], w = weight[x * taps];
        for (int k = 0; k < 4; k++) pixel[k] = pair[k] + (pair[k + 4] - pair[k]) * w;
        memcpy(out, pixel, x < n - 1 ? 4 * sizeof *out : 3 * sizeof *out);
    }
}

static void mix_rows_plain(const lks_row_resizer *r, const uint8_t *above, const uint8_t *below, float share,
                           float *out)
{
    mix_rows(r, above, below, share, out);
}

#ifdef HAS_WIDER
__attribute__((target("avx2"))) static void mix_rows_avx2(const lks_row_resizer *r, const uint8_t *above,
                                                          const uint8_t *below, float share, float *out)
{
    mix_rows(r, above, below, share, out);
}
#endif

void lks__row_resizer_arrived(lks_row_resizer *r, int64_t y)
{
    void (*mix)(const lks_row_resizer *r, const uint8_t *above, const uint8_t *below, float share,
                float *out) = mix_rows_plain;
    const lks_axis *a = &r->rows;
    size_t first = (size_t)r->left * PIXEL;

#ifdef HAS_WIDER
    if (lks__isa_available(LKS_ISA_AVX2)) mix = mix_rows_avx2;
#endif
    for (y -= r->top; r->next < a->n; r->next++) {
        int64_t above = a->start[r->next], below = above + a->count[r->next] - 1;
        if (below > y) return;
        mix(r, kept(r, above) + first, kept(r, below) + first, a->weight[r->next * a->taps + a->taps - 1],
            r->out + 3 * r->next * r->columns.n);
    }
}
