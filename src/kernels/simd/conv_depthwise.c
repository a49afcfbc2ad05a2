/* conv_depthwise.c - depthwise 3x3 convolutions: a few positions of a line at a time, all channels of each.
 *
 * Pixels are read and written from end to end, where one vector of channels of a whole line would leave half of every cache line for
 * later; weights come from the first cache. A line has a border on each side where two kernel columns are inside, and
 * between them blocks of at most eight positions. Order: as op_conv2d.c, kernel rows, then columns.
 */
#include "conv_walk.h"
#include "entries.h"

enum { LONGEST = 8 };

/* A row of inputs against three columns of weights, which lie a pixel apart like the inputs. */
LKS_INLINE void depthwise_row(const float *x, const float *w, int64_t pixel, vf *sum, const int stride,
                              const int length)
{
    const int inputs = (length - 1) * stride + 3;
    const vf wv[3] = { vf_load(w), vf_load(w + pixel), vf_load(w + 2 * pixel) };

    LKS_UNROLL
    for (int q = 0; q < inputs; q++) {
        const vf v = vf_load(x + q % 3 * pixel);

        LKS_UNROLL
        for (int b = 0; b < 3; b++) {
            const int i = q - b;

            if (i >= 0 && i % stride == 0 && i / stride < length) sum[i / stride] = vf_fma(v, wv[b], sum[i / stride]);
        }
        if (q % 3 == 2) CONV_NEXT(x, 3 * pixel);
    }
}

/* `length` positions, `vectors` vectors of channels. The tile's row_taps and col_taps are `rows` and `taps`. */
LKS_INLINE void depthwise_block(const conv_tile *tile, int64_t vectors, const int rows, const int taps,
                                const int stride, const int length)
{
    conv_tile t = *tile;

    for (; vectors > 0; vectors--) {
        vf sum[LONGEST];
        const float *x = t.x, *w = t.w;
        float *y = t.y;

        LKS_UNROLL
        for (int i = 0; i < length; i++) sum[i] = vf_zero();
        LKS_UNROLL
        for (int a = 0; a < rows; a++) {
            if (taps == 3) depthwise_row(x, w, t.x_col_tap, sum, stride, length);
            LKS_UNROLL
            for (int b = 0; taps < 3 && b < taps; b++) {
                const vf wv = vf_load(w + b * t.w_col_tap);

                conv_plain_line(x + b * t.x_col_tap, t.x_position, &wv, sum, CONV_VECTOR, length, 1, vf_first(VF));
            }
            CONV_NEXT(x, t.x_row_tap);
            CONV_NEXT(w, t.w_row_tap);
        }
        conv_do_after(&t, t.y, sum, length, 1, true);
        LKS_UNROLL
        for (int i = 0; i < length; i++) {
            vf_store(y, sum[i]);
            CONV_NEXT(y, t.y_position);
        }
        t.x += VF, t.y += VF, t.w += VF;
        if (t.after.mean != NULL) t.after.mean += VF, t.after.factor += VF;
        if (t.after.bias != NULL) t.after.bias += VF;
    }
}

typedef void (*depthwise_fn)(const conv_tile *tile, int64_t vectors);

#define BLOCK(rows, taps, stride, length)                                                           \
    static void block_##rows##_##taps##_##stride##_##length(const conv_tile *tile, int64_t vectors) \
    {                                                                                               \
        depthwise_block(tile, vectors, rows, taps, stride, length);                                 \
    }
#define BLOCKS(rows, stride)  \
    BLOCK(rows, 3, stride, 1) \
    BLOCK(rows, 3, stride, 2) \
    BLOCK(rows, 3, stride, 3) \
    BLOCK(rows, 3, stride, 4) \
    BLOCK(rows, 3, stride, 5) \
    BLOCK(rows, 3, stride, 6) \
    BLOCK(rows, 3, stride, 7) \
    BLOCK(rows, 3, stride, 8)
#define NAME(rows, stride, length) block_##rows##_3_##stride##_##length
#define LIST(rows, stride)                                                                                \
    {                                                                                                     \
        NULL, NAME(rows, stride, 1), NAME(rows, stride, 2), NAME(rows, stride, 3), NAME(rows, stride, 4), \
            NAME(rows, stride, 5), NAME(rows, stride, 6), NAME(rows, stride, 7), NAME(rows, stride, 8)    \
    }
BLOCKS(2, 1)
BLOCKS(2, 2)
BLOCKS(3, 1)
BLOCKS(3, 2)
BLOCK(2, 2, 1, 1)
BLOCK(3, 2, 1, 1)

/* [rows - 2][stride - 1][length]; [rows - 2]. */
static const depthwise_fn inner[2][2][LONGEST + 1] = { { LIST(2, 1), LIST(2, 2) }, { LIST(3, 1), LIST(3, 2) } };
static const depthwise_fn border[2] = { block_2_2_1_1, block_3_2_1_1 };

/* Kernel places [*first, *end) of output `at` that lie inside. */
static void places(const conv_axis *a, int64_t at, int64_t *first, int64_t *end)
{
    const int64_t in = at * a->stride - a->before;

    *first = in < 0 ? -in : 0;
    *end = a->n_in - in < 3 ? a->n_in - in : 3;
}

/* At least two of three places are inside, wherever one looks. */
static bool suits(const conv_axis *a)
{
    const int64_t ends[2] = { 0, a->n_out - 1 };

    if (a->backward || a->kernel != 3 || a->dilation != 1 || a->stride > 2 || a->n_in < 3 || a->n_out < 1) return false;
    for (int i = 0; i < 2; i++) {
        int64_t first, end;

        places(a, ends[i], &first, &end);
        if (end - first < 2) return false;
    }
    return true;
}

/* One line of output: its kernel rows are [k, k + t->row_taps), t->x the first of them at input column 0. */
static void depthwise_line(const conv_job *j, const conv_tile *line, int64_t vectors)
{
    const conv_axis *c = &j->cols;
    const depthwise_fn *blocks = inner[line->row_taps - 2][c->stride - 1];
    int64_t at = 0, left, first, end;
    conv_tile t = *line;

    for (places(c, at, &first, &end); at < c->n_out && first > 0; at++, places(c, at, &first, &end)) {
        t.x = line->x;
        t.w = line->w + first * line->w_col_tap;
        t.y = line->y + at * line->y_position;
        border[line->row_taps - 2](&t, vectors);
    }
    left = (c->n_in - 3 + c->before) / c->stride + 1 - at; /* of outputs with all places inside */
    if (left > c->n_out - at) left = c->n_out - at;
    t.w = line->w;
    for (int64_t n = (left + LONGEST - 1) / LONGEST, length; n > 0; n--, at += length, left -= length) {
        length = (left + n - 1) / n;
        t.x = line->x + (at * c->stride - c->before) * line->x_col_tap;
        t.y = line->y + at * line->y_position;
        blocks[length](&t, vectors);
    }
    for (; at < c->n_out; at++) {
        t.x = line->x + (at * c->stride - c->before) * line->x_col_tap;
        t.y = line->y + at * line->y_position;
        border[line->row_taps - 2](&t, vectors);
    }
}

/* Whole vectors of the job's channels. Returns the first channel that is left. */
int64_t SIMD(conv_depthwise)(const conv_job *j, const float *w)
{
    const int64_t pixel = j->groups, vectors = (j->end - j->first) / VF;
    const int64_t x_row = j->cols.n_in * pixel, y_row = j->cols.n_out * pixel;
    conv_tile t;

    if (vectors == 0 || !suits(&j->rows) || !suits(&j->cols) || j->rows.stride != j->cols.stride) return j->first;
    memset(&t, 0, sizeof t);
    t.x_position = j->cols.stride * pixel;
    t.x_row_tap = x_row;
    t.x_col_tap = pixel;
    t.w_row_tap = 3 * pixel;
    t.w_col_tap = pixel;
    t.y_position = pixel;
    t.last = VF;
    t.after = j->after;
    if (j->what_after != NULL && j->what_after->mean != NULL) {
        t.after.mean = j->what_after->mean + j->first;
        t.after.factor = j->what_after->factor + j->first;
    }
    if (j->what_after != NULL && j->what_after->bias != NULL) t.after.bias = j->what_after->bias + j->first;
    for (int64_t i = 0; i < j->n * j->rows.n_out; i++) {
        const int64_t example = i / j->rows.n_out, row = i % j->rows.n_out;
        int64_t first, end;

        places(&j->rows, row, &first, &end);
        t.row_taps = end - first;
        t.x = j->x + (example * j->rows.n_in + row * j->rows.stride - j->rows.before + first) * x_row + j->first;
        t.y = j->y + i * y_row + j->first;
        t.w = w + first * t.w_row_tap + j->first;
        depthwise_line(j, &t, vectors);
    }
    return j->first + vectors * VF;
}
