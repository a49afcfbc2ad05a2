/* conv_near.h - internal. Lines of 3x3 convolutions with a single summed channel: all weights stay in registers.
 * Most go by lines (conv_line.h); what remains are groups and two columns. */
#ifndef LKS_KERNELS_SIMD_CONV_NEAR_H
#define LKS_KERNELS_SIMD_CONV_NEAR_H

#include "conv_tile.h"

enum { CONV_NEAR = 6 }; /* positions at once: with nine weights and an input, 16 registers */

typedef void (*conv_near_fn)(const conv_tile *t, int64_t count);

/* [vector][kind - CONV_3, or 3 for two columns of any kind][row_taps - 2]: one line, one vector of channels. */
extern const conv_near_fn SIMD(conv_near)[2][4][2];

LKS_INLINE bool conv_is_near(const conv_tile *t, conv_kind kind)
{
    return t->depth == 1 && t->row_taps >= 2 && t->row_taps <= 3 &&
           ((kind >= CONV_3 && kind <= CONV_3_BACK) || t->col_taps == 2);
}

LKS_INLINE void conv_near_line(const conv_tile *t, conv_kind kind, int vector, int64_t count)
{
    SIMD(conv_near)[vector][t->col_taps == 2 ? 3 : kind - CONV_3][t->row_taps - 2](t, count);
}

#endif
