/* conv_stride.c - convolutions with three kernel columns two apart into one vector of channels, down strips of lines.
 *
 * An input row in which one line of outputs ends and the next begins is read once for both: the sums of both stay in
 * registers and the weights in memory, so that a number is loaded once for four and a half multiply-adds instead of
 * twice. Order: as op_conv2d.c, kernel rows, then channels, then columns.
 */
#include "conv_steps.h"
#include "conv_store.h"
#include "conv_walk.h"
#include "entries.h"

enum { LONGEST = 7, SHORTEST = 4 }; /* positions of a strip: two lines of sums, and two registers */

/* A kernel row: x at the strip's first input, w at the row's weights. */
typedef struct stride_row {
    const float *x, *w;
} stride_row;

typedef struct stride_job {
    conv_steps pixel;
    int64_t far, w_col, w_depth, depth; /* far: eight pixels in floats */
} stride_job;

typedef void (*stride_fn)(const conv_tile *t, int64_t lines);

#define STRIDE_AT(OP, x, far, s, q, ...)                \
    do {                                                \
        if ((q) < 8) CONV_AT(OP, x, s, q, __VA_ARGS__); \
        else CONV_AT(OP, far, s, (q)-8, __VA_ARGS__);   \
    } while (0)

/* One kernel row of one line. behind: the strip's last input is none. */
LKS_INLINE void stride_one(const stride_job *j, stride_row r, vf *sum, const int length, const int behind)
{
    const int64_t w_col = j->w_col, w_depth = j->w_depth;
    const conv_steps s = j->pixel;
    const float *x = r.x, *far = r.x + j->far, *w = r.w;

    for (int64_t k = j->depth; k > 0; k--, x++, far++, w += w_depth) {
        const vf v[3] = { vf_load(w), vf_load(w + w_col), vf_load(w + 2 * w_col) };

        LKS_UNROLL
        for (int q = 0; q < 2 * length + 1 - behind; q++) {
            vf b;

            STRIDE_AT(VF_SET_AT, x, far, &s, q, b);
            if (q % 2 != 0) VF_ADD_PRODUCT(sum[q / 2], v[1], b);
            if (q % 2 == 0 && q > 0) VF_ADD_PRODUCT(sum[q / 2 - 1], v[2], b);
            if (q % 2 == 0 && q < 2 * length) VF_ADD_PRODUCT(sum[q / 2], v[0], b);
        }
    }
}

/* A row of inputs that is the last of one line and the first of the next. */
LKS_INLINE void stride_both(const stride_job *j, stride_row r, const float *first, vf *sum, vf *next, const int length,
                            const int behind)
{
    const int64_t w_col = j->w_col * (int64_t)sizeof(float), w_depth = j->w_depth;
    const conv_steps s = j->pixel;
    const float *x = r.x, *far = r.x + j->far, *w = r.w, *v = first;

    for (int64_t k = j->depth; k > 0; k--, x++, far++, w += w_depth, v += w_depth) {
        LKS_UNROLL
        for (int q = 0; q < 2 * length + 1 - behind; q++) {
            const int i = q / 2;

            if (q % 2 != 0) STRIDE_AT(VF_SPREAD_2_AT, x, far, &s, q, sum[i], next[i], w, v, w_col, 1, ",%[apart],1");
            else if (q == 0) STRIDE_AT(VF_SPREAD_2_AT, x, far, &s, q, sum[0], next[0], w, v, w_col, 0, "");
            else if (q == 2 * length)
                STRIDE_AT(VF_SPREAD_2_AT, x, far, &s, q, sum[i - 1], next[i - 1], w, v, w_col, 2, ",%[apart],2");
            else STRIDE_AT(VF_SPREAD_4_AT, x, far, &s, q, sum[i - 1], sum[i], next[i - 1], next[i], w, v, w_col);
        }
    }
}

/* Lines of one strip, all with three kernel rows. */
LKS_INLINE void stride_strip(const conv_tile *t, int64_t lines, const int length, const int behind)
{
    const stride_job j = { conv_steps_of(t->x_col_tap), 8 * t->x_col_tap, t->w_col_tap, t->w_depth, t->depth };
    const int64_t x_row = t->x_row_tap, w_row = t->w_row_tap;
    const float *x = t->x, *w = t->w;
    float *y = t->y;
    vf sum[LONGEST];

    LKS_UNROLL
    for (int i = 0; i < length; i++) sum[i] = vf_zero();
    stride_one(&j, (stride_row){ x, w }, sum, length, behind);
    for (;; y += t->y_line) {
        vf next[LONGEST];

        x += x_row;
        stride_one(&j, (stride_row){ x, w + w_row }, sum, length, behind);
        x += x_row;
        if (--lines == 0) break;
        LKS_UNROLL
        for (int i = 0; i < length; i++) next[i] = vf_zero();
        stride_both(&j, (stride_row){ x, w + 2 * w_row }, w, sum, next, length, behind);
        conv_store_block(t, y, sum, length, 1);
        LKS_UNROLL
        for (int i = 0; i < length; i++) sum[i] = next[i];
    }
    stride_one(&j, (stride_row){ x, w + 2 * w_row }, sum, length, behind);
    conv_store_block(t, y, sum, length, 1);
}

/* Lines at a border, which have fewer kernel rows. */
LKS_INLINE void stride_border(const conv_tile *t, int64_t lines, const int length, const int behind)
{
    const stride_job j = { conv_steps_of(t->x_col_tap), 8 * t->x_col_tap, t->w_col_tap, t->w_depth, t->depth };
    const float *x = t->x;
    float *y = t->y;

    for (; lines > 0; lines--, x += t->x_line, y += t->y_line) {
        vf sum[LONGEST];

        LKS_UNROLL
        for (int i = 0; i < length; i++) sum[i] = vf_zero();
        for (int64_t a = 0; a < t->row_taps; a++)
            stride_one(&j, (stride_row){ x + a * t->x_row_tap, t->w + a * t->w_row_tap }, sum, length, behind);
        conv_store_block(t, y, sum, length, 1);
    }
}

#define BLOCK(length, behind)                                                 \
    static void stride_##length##_##behind(const conv_tile *t, int64_t lines) \
    {                                                                         \
        if (t->row_taps == 3) stride_strip(t, lines, length, behind);         \
        else stride_border(t, lines, length, behind);                         \
    }
#define BLOCKS(behind) \
    BLOCK(4, behind)   \
    BLOCK(5, behind)   \
    BLOCK(6, behind)   \
    BLOCK(7, behind)
#define LIST(behind)                                                               \
    {                                                                              \
        stride_4_##behind, stride_5_##behind, stride_6_##behind, stride_7_##behind \
    }

BLOCKS(0)
BLOCKS(1)
static const stride_fn blocks_of[2][LONGEST - SHORTEST + 1] = { LIST(0), LIST(1) }; /* [behind][length - SHORTEST] */

/* The lines of one row run of one example, strip by strip. */
static void stride_lines(const conv_axis *cols, const conv_tile *whole, int64_t lines)
{
    const bool short_end = 2 * cols->n_out + 1 > cols->n_in;
    int64_t left = cols->n_out, strips = (left + LONGEST - 1) / LONGEST;
    conv_tile t = *whole;

    for (; strips > 0; strips--) {
        const int64_t length = (left + strips - 1) / strips;

        blocks_of[strips == 1 && short_end][length - SHORTEST](&t, lines);
        t.x += 2 * length * t.x_col_tap;
        t.y += length * t.y_position;
        left -= length;
    }
}

bool SIMD(conv_stride)(const conv_job *j, const float *x, float *y)
{
    const conv_axis *r = &j->rows, *c = &j->cols;
    const int64_t x_row = c->n_in * j->x_pixel, y_row = c->n_out * j->y_pixel;
    conv_run run = { .count = 0 };

    if (c->backward || j->C != 1 || j->x_depth != 1 || c->kernel != 3 || c->stride != 2 || c->dilation != 1)
        return false;
    if (r->kernel != 3 || r->stride != 2 || r->dilation != 1) return false;
    if (c->before != 0 || c->n_out < SHORTEST || 2 * c->n_out > c->n_in)
        return false; /* at most one input is missing */
    while (conv_next_run(r, &run)) {
        conv_tile t = { .x_line = run.in_step * x_row,
                        .x_row_tap = run.in_tap * x_row,
                        .x_col_tap = j->x_pixel,
                        .row_taps = run.k_count,
                        .depth = j->depth,
                        .w = j->w + run.k_first * j->w_row,
                        .w_row_tap = j->w_row,
                        .w_col_tap = j->w_col,
                        .w_depth = j->w_depth,
                        .y_position = j->y_pixel,
                        .y_line = y_row,
                        .last = j->last,
                        .safe = j->safe,
                        .after = j->after };

        for (int64_t i = 0; i < j->n; i++) {
            t.x = x + (i * r->n_in + run.in_first) * x_row;
            t.y = y + (i * r->n_out + run.first) * y_row;
            stride_lines(c, &t, run.count);
        }
    }
    return true;
}
