/* resize_rows.c - a picture is made smaller or larger while its rows still come from the decoder: two rows are kept and
 * never the whole, which would not stay in the cache. A row of the output is made as soon as the lower of its two rows
 * is there. The arithmetic is that of resize_rgb.c, so the bits are the same.
 */
#include <string.h>

#include "resize.h"

/* libjpeg-turbo writes rows that begin at a multiple of its vectors' bytes past the cache, and they would have to be
 * fetched from memory at once: so they begin elsewhere. */
enum { PIXEL = 4, LINE = 64, OFF_LINE = 16 };

lks_status lks__row_resizer_init(lks_row_resizer *r, const lks_row_resize *s, float *out, lks_scratch *scratch)
{
    const size_t row = (size_t)(s->width + 1) * PIXEL, stride = (row + LINE - 1) / LINE * LINE;
    size_t for_rows = lks__axis_bytes(s->part_height, s->to_height, LKS_RESIZE_BILINEAR, false);
    size_t for_columns = lks__axis_bytes(s->part_width, s->to_width, LKS_RESIZE_BILINEAR, false);
    uint8_t *memory = lks__scratch_room(scratch, LINE + OFF_LINE + 2 * stride + for_rows + for_columns);

    if (memory == NULL) return LKS_E_NOMEM;
    memory += LINE + OFF_LINE - (uintptr_t)memory % LINE;
    *r = (lks_row_resizer){ .top = s->top, .left = s->left, .kept = memory, .stride = stride, .out = out };
    memset(memory + row - PIXEL, 0, PIXEL); /* the pixel behind a row, whose share is 0 */
    memset(memory + stride + row - PIXEL, 0, PIXEL);
    lks__axis_build(&r->rows, s->part_height, s->to_height, LKS_RESIZE_BILINEAR, false, memory + 2 * stride);
    lks__axis_build(&r->columns, s->part_width, s->to_width, LKS_RESIZE_BILINEAR, false,
                    memory + 2 * stride + for_rows);
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

void lks__row_resizer_arrived(lks_row_resizer *r, int64_t y)
{
    const lks_axis *a = &r->rows;
    size_t first = (size_t)r->left * PIXEL;

    for (y -= r->top; r->next < a->n; r->next++) {
        int64_t above = a->start[r->next], below = above + a->count[r->next] - 1;
        if (below > y) return;
        lks__resize_rgbx_row(kept(r, above) + first, kept(r, below) + first, a->weight[r->next * a->taps + a->taps - 1],
                             &r->columns, r->out + 3 * r->next * r->columns.n);
    }
}
