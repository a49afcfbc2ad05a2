/* conv_line.h - internal. Convolutions by whole lines, for kernels of three adjacent columns: a line is cut into blocks
 * from its first to its last position, and a block leaves out the inputs that lie outside of the line. So there are no
 * regions for the borders, whose lines would be too short to keep the multiply-adders busy.
 */
#ifndef LKS_KERNELS_SIMD_CONV_LINE_H
#define LKS_KERNELS_SIMD_CONV_LINE_H

#include "conv_walk.h"

/* Blocks of each of some lines, side by side: t.x is the first input of the first one in the order of the taps (of the
 * first kernel row), t.x_col_tap leads to the next input in that order, t.x_position to the next block, t.x_line to the
 * next line. */
typedef struct conv_line {
    conv_tile t;
    int64_t lines, blocks, length; /* length: positions of a block */
    int before, behind; /* inputs of the first block before the line, of the last one behind it: at most two */
} conv_line;

typedef void (*conv_line_fn)(const conv_line *l);

enum { CONV_LINE_LONGEST = 12, CONV_LINE_RUNS = 12 };

/* Blocks of up to `longest` positions, by stride - 1 (2: backwards) and length. */
typedef struct conv_line_blocks {
    int longest;
    conv_line_fn block[3][CONV_LINE_LONGEST + 1];
} conv_line_blocks;

/* In the order of the taps, a block's inputs from *begin up to *end lie inside. True: all do. */
LKS_INLINE bool conv_line_inside(int before, int behind, const int tap, const int inputs, int *begin, int *end)
{
    *begin = tap > 0 ? before : behind;
    *end = inputs - (tap > 0 ? behind : before);
    return before == 0 && behind == 0;
}

/* Input q of a block is inside. */
LKS_INLINE bool conv_line_has(const int q, const int inputs, int begin, int end)
{
    return !(q < 2 && q < begin) && !(q >= inputs - 2 && q >= end);
}

/* The position that input q meets with tap b (0 to 2), of `length`; -1: none. */
LKS_INLINE int conv_line_position(const int q, const int b, const int stride, const int tap, const int length)
{
    const int i = tap > 0 ? q - b : length - 1 - q + b;

    return i >= 0 && i % stride == 0 && i / stride < length ? i / stride : -1;
}

/* Three adjacent columns, of which at most two lie outside anywhere. */
LKS_INLINE bool conv_line_suits(const conv_axis *a)
{
    const int64_t end = a->backward ? a->n_out + a->before : (a->n_out - 1) * a->stride - a->before + 3;

    return a->kernel == 3 && a->dilation == 1 && (a->stride == 1 || (a->stride == 2 && !a->backward)) &&
           a->before >= 0 && a->before <= 2 && a->n_in > 0 && a->n_out > 0 && end <= a->n_in + 2;
}

/* Lines of positions in blocks of two lengths that differ by one. l->t: x and y at column 0 of the first. */
LKS_INLINE void conv_line_run(const conv_axis *a, conv_line *l, const conv_line_fn *block, int longest)
{
    const int64_t pixel = a->backward ? -l->t.x_col_tap : l->t.x_col_tap, n = a->n_out;
    const int64_t blocks = (n + longest - 1) / longest, length = (n + blocks - 1) / blocks;
    const int64_t longer = n - blocks * (length - 1); /* blocks of this length; the others are one shorter */
    const int64_t low = a->backward ? a->before - 2 : -a->before; /* inputs of the first and the last position */
    const int64_t high = a->backward ? n - 1 + a->before : (n - 1) * a->stride - a->before + 2;
    const int behind = (int)(high < a->n_in ? 0 : high - a->n_in + 1);
    const float *x = l->t.x;

    l->t.x_position = length * a->stride * pixel;
    l->t.x = x + (a->backward ? length - 1 + a->before : low) * pixel;
    l->before = (int)(low < 0 ? -low : 0);
    l->behind = longer == blocks ? behind : 0;
    l->blocks = longer;
    l->length = length;
    block[length](l);
    if (longer == blocks) return;
    l->t.x_position = (length - 1) * a->stride * pixel;
    l->t.x += longer * length * a->stride * pixel - (a->backward ? pixel : 0);
    l->t.y += longer * length * l->t.y_position;
    l->before = 0;
    l->behind = behind;
    l->blocks = blocks - longer;
    l->length = length - 1;
    block[length - 1](l);
}

/* All lines of all examples. False where the rows have too many different borders. */
LKS_INLINE bool conv_line_walk(const conv_job *j, conv_line *l, const float *x, float *y, const conv_line_blocks *b)
{
    const int64_t x_row = j->cols.n_in * j->x_pixel, y_row = j->cols.n_out * j->y_pixel;
    const conv_line_fn *blocks = b->block[j->cols.backward ? 2 : j->cols.stride - 1];
    conv_run r = { .count = 0 }, runs[CONV_LINE_RUNS];
    int n = 0;

    while (conv_next_run(&j->rows, &r)) {
        if (n == CONV_LINE_RUNS) return false;
        runs[n++] = r;
    }
    for (int64_t i = 0; i < j->n; i++, x += j->rows.n_in * x_row, y += j->rows.n_out * y_row)
        for (int k = 0; k < n; k++) {
            l->t.row_taps = runs[k].k_count;
            l->t.x_row_tap = runs[k].in_tap * x_row;
            l->t.w = j->w + runs[k].k_first * j->w_row;
            l->t.w_row_tap = runs[k].k_step * j->w_row;
            l->t.x = x + runs[k].in_first * x_row;
            l->t.y = y + runs[k].first * y_row;
            l->t.x_line = runs[k].in_step * x_row;
            l->t.y_line = runs[k].step * y_row;
            l->lines = runs[k].count;
            conv_line_run(&j->cols, l, blocks, b->longest);
        }
    return true;
}

#endif
