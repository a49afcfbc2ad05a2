/* conv_dot.h - internal. Blocks of convolutions that make few channels of many (conv_dot.c): lanes are summed channels. */
#ifndef LKS_KERNELS_SIMD_CONV_DOT_H
#define LKS_KERNELS_SIMD_CONV_DOT_H

#include "conv_line.h"

enum { DOT_LONGEST = 7, DOT_NEAR = 4 }; /* positions of a block; with so many at least, weights may stay in registers */

/* One vector of channels (the first lanes of m) of some lines of blocks of positions, side by side. */
typedef struct dot_part {
    const float *x, *w; /* first taps; weights are vectors, three side by side */
    int64_t x_row, w_row, rows;
    int64_t pixel, far, block; /* to the next input in the order of the taps, to the third, to the next block's */
    int64_t lines, line, blocks;
    int before, behind; /* as in conv_line */
    bool carry;         /* sums begin with what is in lanes, not with +0 */
    float *lanes;
    vmask m;
} dot_part;

typedef void (*dot_fn)(const dot_part *d);

/* Whole vectors, two or three kernel rows: [backwards][rows - 2][length - DOT_NEAR]. */
extern const dot_fn SIMD(conv_dot_near)[2][2][DOT_LONGEST - DOT_NEAR + 1];

#endif
