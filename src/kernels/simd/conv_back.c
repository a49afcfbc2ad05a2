/* conv_back.c - see conv_back.h.
 *
 * Input i (counted along a row of d) is met by three neighbouring outputs: the first two kernel columns take it to a pair of
 * outputs, the third to the first output of the next pair. So each number of d is loaded once for three multiply-adds, and a
 * block makes a whole line of outputs.
 */
#include "conv_back.h"
#include "conv_steps.h"
#include "conv_store.h"

enum { LONGEST = 7, LINES = 8 }; /* pairs of a block: with seven, the weights of two columns stay in memory */

typedef void (*back_fn)(const conv_tile *t, int64_t lines);

/* One line of inputs, for one kernel row and channel: from right to left, since an output takes its columns in order. x: the one
 * before the first pair's; begins: there is none, the first pair is the row's first. */
LKS_INLINE void back_line(vf *sum, const float *x, int64_t x_step, const conv_steps *step, const float *w,
                          int64_t w_step, const int pairs, const int begins)
{
    const int64_t next = w_step * (int64_t)sizeof *w;
    vf v[3] = { vf_zero(), vf_zero(), vf_load(w + 2 * w_step) };

    if (pairs < LONGEST) v[0] = vf_load(w), v[1] = vf_load(w + w_step);
    LKS_UNROLL
    for (int i = pairs - 1; i >= -1 + begins; i--) {
        vf b;

        if (i >= 0 && i + 1 < pairs) {
            if (pairs < LONGEST)
                VF_ADD_PRODUCTS(sum[2 * i], sum[2 * i + 1], sum[2 * i + 2], v[0], v[1], v[2], x[(i + 1) * x_step]);
            else CONV_AT(VF_SPREAD_AT, x, step, i + 1, sum[2 * i], sum[2 * i + 1], sum[2 * i + 2], w, next, v[2]);
            continue;
        }
        CONV_AT(VF_SET_AT, x, step, i + 1, b);
        if (i < 0) VF_ADD_PRODUCT(sum[0], v[2], b);
        else if (pairs < LONGEST) {
            VF_ADD_PRODUCT(sum[2 * i], v[0], b);
            VF_ADD_PRODUCT(sum[2 * i + 1], v[1], b);
        } else {
            VF_ADD_PRODUCT_OF(sum[2 * i], b, w);
            VF_ADD_PRODUCT_OF(sum[2 * i + 1], b, w + w_step);
        }
    }
}

/* The same pairs of some lines. */
LKS_INLINE void back_block(const conv_tile *t, int64_t lines, const int pairs, const int begins)
{
    const int64_t x_step = t->x_position, w_step = t->w_col_tap, depth = t->depth, w_depth = t->w_depth;
    const int64_t row_taps = t->row_taps, x_row = t->x_row_tap, w_row = t->w_row_tap;
    const conv_steps step = conv_steps_of(t->x_position);
    const float *first = t->x - t->x_position;
    float *y = t->y;

    for (; lines > 0; lines--, first += t->x_line, y += t->y_line) {
        vf sum[2 * LONGEST];

        LKS_UNROLL
        for (int i = 0; i < 2 * pairs; i++) sum[i] = vf_zero();
        for (int64_t a = 0; a < row_taps; a++) {
            const float *x = first + a * x_row, *w = t->w + a * w_row;

            for (int64_t k = depth; k > 0; k--, x++, w += w_depth)
                back_line(sum, x, x_step, &step, w, w_step, pairs, begins);
        }
        conv_store_block(t, y, sum, 2 * pairs, 1);
    }
}

#define BLOCK(pairs, begins)                                               \
    static void back_##pairs##_##begins(const conv_tile *t, int64_t lines) \
    {                                                                      \
        back_block(t, lines, pairs, begins);                               \
    }
#define BLOCKS(begins) \
    BLOCK(1, begins)   \
    BLOCK(2, begins)   \
    BLOCK(3, begins)   \
    BLOCK(4, begins)   \
    BLOCK(5, begins)   \
    BLOCK(6, begins)   \
    BLOCK(7, begins)
BLOCKS(0)
BLOCKS(1)
#define LIST(begins)                                                                                                \
    {                                                                                                               \
        NULL, back_1_##begins, back_2_##begins, back_3_##begins, back_4_##begins, back_5_##begins, back_6_##begins, \
            back_7_##begins                                                                                         \
    }
static const back_fn back_blocks[2][LONGEST + 1] = { LIST(0), LIST(1) }; /* [begins][pairs] */

/* The vectors of channels of one line: pairs [first, end) of it. */
static void back_pairs(const conv_job *j, const conv_tile *whole, conv_tile *t, int64_t lines, int64_t first,
                       int64_t end)
{
    for (int c = 0; c < j->C; c++) {
        const float *x = whole->x + first * t->x_position;
        float *y = whole->y + c * VF;
        int64_t count = end - first, begins = first == 0;

        t->w = whole->w + c * VF;
        t->last = c + 1 < j->C ? VF : j->last;
        t->after.mean = conv_from(whole->after.mean, c * VF);
        t->after.factor = conv_from(whole->after.factor, c * VF);
        t->after.bias = conv_from(whole->after.bias, c * VF);
        for (int64_t blocks = (count + LONGEST - 1) / LONGEST, pairs; blocks > 0; blocks--, begins = 0) {
            pairs = (count + blocks - 1) / blocks;
            t->x = x;
            t->y = y;
            back_blocks[begins][pairs](t, lines);
            x += pairs * t->x_position;
            y += 2 * pairs * t->y_position;
            count -= pairs;
        }
    }
}

/* Pairs [first, end) of the rows of a run, all examples. Pair p begins at column 2 p - before. */
static void back_rows(const conv_job *j, const conv_run *r, int64_t first, int64_t end, const float *x, float *y)
{
    const int64_t x_row = j->cols.n_in * j->x_pixel, y_row = j->cols.n_out * j->y_pixel;
    const int64_t column = 2 * first - j->cols.before;
    conv_tile t = { .x_position = j->x_pixel,
                    .x_line = r->in_step * x_row,
                    .x_row_tap = r->in_tap * x_row,
                    .row_taps = r->k_count,
                    .depth = j->depth,
                    .w_row_tap = r->k_step * j->w_row,
                    .w_col_tap = j->w_col,
                    .w_depth = j->w_depth,
                    .y_position = j->y_pixel,
                    .y_line = r->step * y_row,
                    .safe = j->safe,
                    .after = j->after },
              whole;

    t.w = j->w + r->k_first * j->w_row;
    whole = t;
    for (int64_t n = 0; n < j->n; n++, x += j->rows.n_in * x_row, y += j->rows.n_out * y_row)
        for (int64_t i = 0; i < r->count; i += LINES) {
            whole.x = x + (r->in_first + i * r->in_step) * x_row;
            whole.y = y + (r->first + i * r->step) * y_row + column * j->y_pixel;
            back_pairs(j, &whole, &t, r->count - i < LINES ? r->count - i : LINES, first, end);
        }
}

bool SIMD(conv_back)(const conv_job *j, const float *x, float *y)
{
    const conv_axis *a = &j->cols;
    const int64_t first = (a->before + 1) / 2, last = (a->n_out - 2 + a->before) / 2;
    const int64_t end = last + 1 < a->n_in ? last + 1 : a->n_in;
    conv_run r = { .count = 0 };

    if (!a->backward || a->kernel != 3 || a->stride != 2 || a->dilation != 1 || a->before < 0) return false;
    if (a->n_out < 2 || end <= first || j->x_depth != 1) return false;
    while (conv_next_run(&j->rows, &r)) {
        conv_run c = { .step = 2, .count = 1 };

        back_rows(j, &r, first, end, x, y);
        for (c.first = 0; c.first < a->n_out; c.first++) { /* what is beside the pairs, column by column */
            if (c.first == 2 * first - a->before) c.first = 2 * end - a->before;
            if (c.first >= a->n_out) break;
            conv_taps(a, c.first, &c);
            conv_region(j, &r, &c, x, y);
        }
    }
    return true;
}
