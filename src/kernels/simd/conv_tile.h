/* conv_tile.h - internal. The blocks of convolution: `lines` x `length` output positions times C vectors of channels, held
 * in registers while all taps pass by. Each output is one sequence of multiply-adds over kernel rows, input channels and
 * kernel columns, whatever the block.
 *
 * An input that several kernel columns of neighbouring outputs need is loaded once (conv_stream): on AVX2 loads, not
 * multiply-adds, are what runs out. Elsewhere (conv_plain) each tap loads its own.
 */
#ifndef LKS_KERNELS_SIMD_CONV_TILE_H
#define LKS_KERNELS_SIMD_CONV_TILE_H

#include <stdbool.h>

#include "simd.h"

/* A pointer that the compiler takes as it is: else it keeps the distance of each access in memory, and loads that for every one. */
#define CONV_NEXT(p, distance) \
    do {                       \
        (p) += (distance);     \
        __asm__("" : "+r"(p)); \
    } while (0)

/* lks_after for vectors of channels. */
typedef struct conv_after {
    const float *mean, *factor, *bias; /* whole vectors from the first channel, or NULL */
    float cap;                         /* 0: none */
    bool relu, adds, masked;
    uintptr_t add, mask; /* bytes from an output to its number */
} conv_after;

typedef struct conv_tile {
    const float *x;             /* first tap of the first position */
    int64_t x_position, x_line; /* distances in floats, from position to position and line to line */
    int64_t x_row_tap, x_col_tap, x_depth;
    int64_t row_taps, col_taps, depth;
    const float *w;
    int64_t w_row_tap, w_col_tap, w_depth;
    float *y;
    int64_t y_position, y_line;
    int64_t last;      /* channels of the last vector */
    const float *safe; /* whole vectors may be stored up to here, though their last lanes belong to the next position */
    int carry;         /* vectors of x: start from y, not from +0 */
    conv_after after;
} conv_tile;

/* How taps meet positions; see conv_tile_kind. */
typedef enum conv_kind {
    CONV_PLAIN,    /* anything */
    CONV_1,        /* one kernel column */
    CONV_2,        /* two */
    CONV_3,        /* three adjacent columns, positions adjacent */
    CONV_3_STRIDE, /* the same, positions two apart */
    CONV_3_BACK,   /* three columns, from right to left */
    CONV_2_BACK,   /* two */
    CONV_KINDS
} conv_kind;

/* x: one number for all lanes, a vector of channels (depthwise, dot products), or the first channels of one. */
enum { CONV_NUMBER, CONV_VECTOR, CONV_MASKED };

LKS_INLINE vf conv_operand(const float *x, const int vector, vmask m)
{
    return vector == CONV_NUMBER ? vf_set(*x) : vector == CONV_VECTOR ? vf_load(x) : vf_load_m(x, m);
}

LKS_INLINE void conv_plain_line(const float *x, int64_t step, const vf *wv, vf *sum, const int vector, const int length,
                                const int C, vmask m)
{
    LKS_UNROLL
    for (int i = 0; i < length; i++) {
        vf v = conv_operand(x, vector, m);

        LKS_UNROLL
        for (int c = 0; c < C; c++) sum[i * C + c] = vf_fma(v, wv[c], sum[i * C + c]);
        x += step;
    }
}

/* taps: the number of kernel columns, 0 = t->col_taps. */
LKS_INLINE void conv_plain(const conv_tile *t, vf *sum, const int vector, const int taps, const int lines,
                           const int length, const int C)
{
    const vmask m = vf_first(vector == CONV_MASKED ? t->last : VF);

    for (int64_t a = 0; a < t->row_taps; a++) {
        const float *x = t->x + a * t->x_row_tap, *w = t->w + a * t->w_row_tap;

        for (int64_t k = t->depth; k > 0; k--) {
            for (int64_t b = 0; b < (taps ? taps : t->col_taps); b++) {
                vf wv[3];

                LKS_UNROLL
                for (int c = 0; c < C; c++) {
                    const float *p = w + b * t->w_col_tap + c * VF;

                    wv[c] = vector == CONV_MASKED ? vf_load_m(p, m) : vf_load(p);
                }
                conv_plain_line(x + b * t->x_col_tap, t->x_position, wv, sum, vector, length, C, m);
                if (lines == 2)
                    conv_plain_line(x + b * t->x_col_tap + t->x_line, t->x_position, wv, sum + length * C, vector,
                                    length, C, m);
            }
            x += t->x_depth;
            w += t->w_depth;
        }
    }
}

/* One line of inputs against `taps` kernel columns held in wv. Tap b of position i is input i * stride + b * tap (tap is 1
 * or -1); inputs go in the order in which every position meets its taps in theirs. */
LKS_INLINE void conv_stream_line(const float *x, int64_t pixel, const vf *wv, vf *sum, const int vector, const int taps,
                                 const int stride, const int tap, const int length, const int C)
{
    const int inputs = (length - 1) * stride + taps;
    const float *p = tap > 0 ? x : x + (length - 1) * pixel;

    LKS_UNROLL
    for (int q = 0; q < inputs; q++) {
        vf v = conv_operand(p, vector, vf_first(VF));

        LKS_UNROLL
        for (int b = 0; b < taps; b++) {
            const int i = tap > 0 ? q - b : length - 1 - q + b;

            if (i < 0 || i % stride != 0 || i / stride >= length) continue;
            LKS_UNROLL
            for (int c = 0; c < C; c++) sum[i / stride * C + c] = vf_fma(v, wv[b * C + c], sum[i / stride * C + c]);
        }
        p += tap * pixel;
    }
}

LKS_INLINE void conv_stream(const conv_tile *t, vf *sum, const int vector, const int taps, const int stride,
                            const int tap, const int lines, const int length, const int C)
{
    const int64_t pixel = tap * t->x_col_tap;

    for (int64_t a = 0; a < t->row_taps; a++) {
        const float *x = t->x + a * t->x_row_tap, *w = t->w + a * t->w_row_tap;

        for (int64_t k = t->depth; k > 0; k--) {
            vf wv[9];

            LKS_UNROLL
            for (int b = 0; b < taps; b++) {
                LKS_UNROLL
                for (int c = 0; c < C; c++) wv[b * C + c] = vf_load(w + b * t->w_col_tap + c * VF);
            }
            conv_stream_line(x, pixel, wv, sum, vector, taps, stride, tap, length, C);
            if (lines == 2)
                conv_stream_line(x + t->x_line, pixel, wv, sum + length * C, vector, taps, stride, tap, length, C);
            x += t->x_depth;
            w += t->w_depth;
        }
    }
}

LKS_INLINE void conv_sums(const conv_tile *t, vf *sum, const int vector, const conv_kind kind, const int lines,
                          const int length, const int C)
{
    const vmask m = vf_first(t->last);

    LKS_UNROLL
    for (int i = 0; i < lines * length * C; i++) {
        const float *y = t->y + i * t->y_position;

        sum[i] = vector == CONV_NUMBER || !t->carry ? vf_zero() : vector == CONV_MASKED ? vf_load_m(y, m) : vf_load(y);
    }
    switch (kind) {
    case CONV_1: conv_plain(t, sum, vector, 1, lines, length, C); break;
    case CONV_2: conv_plain(t, sum, vector, 2, lines, length, C); break;
    case CONV_3: conv_stream(t, sum, vector, 3, 1, 1, lines, length, C); break;
    case CONV_3_STRIDE: conv_stream(t, sum, vector, 3, 2, 1, lines, length, C); break;
    case CONV_3_BACK: conv_stream(t, sum, vector, 3, 1, -1, lines, length, C); break;
    case CONV_2_BACK: conv_stream(t, sum, vector, 2, 1, -1, lines, length, C); break;
    default: conv_plain(t, sum, vector, 0, lines, length, C); break;
    }
}

LKS_INLINE const float *conv_mask(const conv_after *a, const float *y)
{
    return (const float *)((uintptr_t)y + a->mask);
}

LKS_INLINE void conv_do_add(const conv_tile *t, const float *y, vf *sum, const int length, const int C,
                            const bool whole)
{
    LKS_UNROLL
    for (int i = 0; i < length * C; i++) {
        const float *p = (const float *)((uintptr_t)(y + i / C * t->y_position + i % C * VF) + t->after.add);

        sum[i] = vf_add(sum[i], whole || i % C + 1 < C ? vf_load(p) : vf_load_m(p, vf_first(t->last)));
    }
}

/* The ops behind the convolution, for `length` positions from y of C vectors. whole: of the last vector, too. */
LKS_INLINE void conv_do_after(const conv_tile *t, const float *y, vf *sum, const int length, const int C,
                              const bool whole)
{
    const conv_after *a = &t->after;

    if (a->mean != NULL) {
        LKS_UNROLL
        for (int i = 0; i < length * C; i++)
            sum[i] = vf_mul(vf_sub(sum[i], vf_load(a->mean + i % C * VF)), vf_load(a->factor + i % C * VF));
    }
    if (a->bias != NULL) {
        LKS_UNROLL
        for (int i = 0; i < length * C; i++) sum[i] = vf_add(sum[i], vf_load(a->bias + i % C * VF));
    }
    if (a->adds) conv_do_add(t, y, sum, length, C, whole);
    if (a->relu) {
        LKS_UNROLL
        for (int i = 0; i < length * C; i++) sum[i] = vf_relu(sum[i]);
    }
    if (a->cap > 0) {
        const vf cap = vf_set(a->cap);

        LKS_UNROLL
        for (int i = 0; i < length * C; i++) sum[i] = vf_cap(cap, sum[i]);
    }
    if (!a->masked) return;
    LKS_UNROLL
    for (int i = 0; i < length * C; i++) {
        const float *m = conv_mask(a, y + i / C * t->y_position + i % C * VF);

        sum[i] = vf_where_positive(whole || i % C + 1 < C ? vf_load(m) : vf_load_m(m, vf_first(t->last)), sum[i]);
    }
}

LKS_INLINE void conv_store_line(const conv_tile *t, float *y, vf *sum, const int vector, const int length, const int C)
{
    if (vector == CONV_VECTOR || (vector == CONV_NUMBER && y + (length - 1) * t->y_position + C * VF <= t->safe)) {
        conv_do_after(t, y, sum, length, C, true);
        LKS_UNROLL
        for (int i = 0; i < length * C; i++) vf_store(y + i / C * t->y_position + i % C * VF, sum[i]);
        return;
    }
    conv_do_after(t, y, sum, length, C, false);
    LKS_UNROLL
    for (int i = 0; i < length * C; i++) {
        float *p = y + i / C * t->y_position + i % C * VF;

        if (i % C + 1 < C) vf_store(p, sum[i]);
        else vf_store_part(p, t->last, sum[i]);
    }
}

LKS_INLINE void conv_block(const conv_tile *t, const int vector, const conv_kind kind, const int lines,
                           const int length, const int C)
{
    vf sum[24];

    conv_sums(t, sum, vector, kind, lines, length, C);
    conv_store_line(t, t->y, sum, vector, length, C);
    if (lines == 2) conv_store_line(t, t->y + t->y_line, sum + length * C, vector, length, C);
}

/* What the taps of a run allow: positions `step` inputs apart, taps `tap` inputs apart, along the lines of a tile. */
LKS_INLINE conv_kind conv_tile_kind(int64_t taps, int64_t step, int64_t tap)
{
    if (taps == 1) return CONV_1;
    if (taps == 3 && tap == 1 && step == 1) return CONV_3;
    if (taps == 3 && tap == 1 && step == 2) return CONV_3_STRIDE;
    if (taps == 3 && tap == -1 && step == 1) return CONV_3_BACK;
    if (taps == 2 && tap == -1 && step == 1) return CONV_2_BACK;
    return CONV_PLAIN;
}

#endif
