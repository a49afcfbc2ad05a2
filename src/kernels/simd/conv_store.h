/* conv_store.h - internal. Sums of a block to memory, with what comes behind them: short where it is bias and relu, or the
 * mask of a relu, and vectors may be stored whole; out of line else.
 */
#ifndef LKS_KERNELS_SIMD_CONV_STORE_H
#define LKS_KERNELS_SIMD_CONV_STORE_H

#include "conv_tile.h"

/* What few calls need, position by position; and vectors that may not be stored whole. */
LKS_INLINE void conv_store_any(const conv_tile *t, float *y, vf *sum, int64_t length, const int C)
{
    for (int64_t i = 0; i < length; i++) conv_store_line(t, y + i * t->y_position, sum + i * C, CONV_NUMBER, 1, C);
}

static __attribute__((noinline, unused)) void conv_store_any_1(const conv_tile *t, float *y, vf *sum, int64_t length)
{
    conv_store_any(t, y, sum, length, 1);
}

static __attribute__((noinline, unused)) void conv_store_any_2(const conv_tile *t, float *y, vf *sum, int64_t length)
{
    conv_store_any(t, y, sum, length, 2);
}

LKS_INLINE void conv_store_whole(const conv_after *a, int64_t y_position, float *y, vf *sum, const int length,
                                 const int C)
{
    if (a->bias != NULL) {
        LKS_UNROLL
        for (int i = 0; i < length * C; i++) sum[i] = vf_add(sum[i], vf_load(a->bias + i % C * VF));
    }
    if (a->relu) {
        LKS_UNROLL
        for (int i = 0; i < length * C; i++) sum[i] = vf_relu(sum[i]);
    }
    if (a->masked) {
        const float *m = conv_mask(a, y);

        LKS_UNROLL
        for (int i = 0; i < length * C; i++) {
            sum[i] = vf_where_positive(vf_load(m + i % C * VF), sum[i]);
            if (i % C + 1 == C) CONV_NEXT(m, y_position);
        }
    }
    LKS_UNROLL
    for (int i = 0; i < length * C; i++) {
        vf_store(y + i % C * VF, sum[i]);
        if (i % C + 1 == C) CONV_NEXT(y, y_position);
    }
}

LKS_INLINE void conv_store_block(const conv_tile *t, float *y, vf *sum, const int length, const int C)
{
    const conv_after *a = &t->after;
    vf kept[16]; /* sums whose address is known elsewhere would not live in registers */

    if (a->mean == NULL && !a->adds && !(a->cap > 0) && y + (length - 1) * t->y_position + C * VF <= t->safe) {
        conv_store_whole(a, t->y_position, y, sum, length, C);
        return;
    }
    LKS_UNROLL
    for (int p = 0; p < length * C; p++) kept[p] = sum[p];
    if (C == 1) conv_store_any_1(t, y, kept, length);
    else conv_store_any_2(t, y, kept, length);
}

#endif
