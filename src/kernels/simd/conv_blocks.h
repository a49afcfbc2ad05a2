/* conv_blocks.h - internal. The compiled blocks of conv_tile.h, by kind, vectors of channels, lines and length. */
#ifndef LKS_KERNELS_SIMD_CONV_BLOCKS_H
#define LKS_KERNELS_SIMD_CONV_BLOCKS_H

#include "conv_tile.h"

typedef void (*conv_block_fn)(const conv_tile *t);

enum { CONV_LONGEST = 12 };

/* Blocks of one or two lines with 1 to longest[lines - 1] positions each; more would not fit into the registers. */
typedef struct conv_blocks {
    int longest[2];
    conv_block_fn block[2][CONV_LONGEST + 1];
} conv_blocks;

extern const conv_blocks SIMD(conv_blocks)[CONV_KINDS][2]; /* [kind][C - 1] */

/* CONV_PLAIN with vectors of x, and with partial ones. */
extern const conv_blocks SIMD(conv_vector_blocks)[2];

#endif
