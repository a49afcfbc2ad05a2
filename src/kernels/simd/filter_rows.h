/* filter_rows.h - internal. Blocks of conv2d_filter for three kernel rows of three where one side has a single channel. */
#ifndef LKS_KERNELS_SIMD_FILTER_ROWS_H
#define LKS_KERNELS_SIMD_FILTER_ROWS_H

#include "filter_tile.h"

/* Does the last output of a row miss its last tap? */
LKS_INLINE bool filter_ends_short(const lks_conv_attrs *a)
{
    return (a->out[1] - 1) * a->stride[1] - a->before[1] + 2 >= a->in[1];
}

/* Is there at most one column beside a row at either end, and no output that has both? */
LKS_INLINE bool filter_rows_suit(const lks_conv_attrs *a)
{
    return a->kernel[1] == 3 && a->dilation[1] == 1 && a->stride[1] <= 2 && a->before[1] <= 1 && a->out[1] >= 2 &&
           (a->out[1] - 1) * a->stride[1] - a->before[1] + 1 < a->in[1] &&
           (a->out[1] - 2) * a->stride[1] - a->before[1] + 2 < a->in[1];
}

typedef void (*filter_fn)(const filter_tile *t);

/* [vectors of d rather than of x][stride - 1][partial]. */
extern const filter_fn SIMD(filter_rows)[2][2][2];

#endif
