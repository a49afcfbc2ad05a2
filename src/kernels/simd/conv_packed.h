/* conv_packed.h - internal. Blocks of 1x1 convolutions whose weights lie packed: rows of positions times 1, 2 or 3 vectors of
 * channels in registers while the terms of a depth pass by.
 */
#ifndef LKS_KERNELS_SIMD_CONV_PACKED_H
#define LKS_KERNELS_SIMD_CONV_PACKED_H

#include "conv_tile.h"

/* Rows of the largest block of C vectors; with the vectors of weights and an operand they fill the registers. */
enum {
    PACKED_ROWS_1 = 8,
    PACKED_ROWS_2 = V_REGISTERS_32 ? 12 : 6,
    PACKED_ROWS_3 = V_REGISTERS_32 ? 8 : 4,
    PACKED_MOST_ROWS = PACKED_ROWS_2 > 8 ? PACKED_ROWS_2 : 8
};

/* y, y_position, last, safe, after: as in conv_tile.h. x and x_position: of the positions. depth: terms. w: packed. carry: start
 * from y. row_taps: 0 where more terms follow, so that what comes after the sums must wait. */
typedef struct packed_tile {
    conv_tile t;
    const float *ahead; /* weights that will be read next: this block asks for its share of them, */
    int64_t ahead_step; /* so many floats further for every term */
} packed_tile;

/* So many blocks, one behind the other. */
typedef void (*packed_fn)(const packed_tile *p, int64_t blocks);

/* [vectors - 1][rows]. */
extern const packed_fn SIMD(packed_blocks)[3][PACKED_MOST_ROWS + 1];

#endif
