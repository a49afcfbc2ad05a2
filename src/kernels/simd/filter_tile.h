/* filter_tile.h - internal. The blocks of conv2d_filter: sums for some kernel positions and channels stay in registers while
 * all positions of one example pass by, row by row; then they are added to the output.
 *
 * filter_tap takes one kernel position. filter_stream takes three adjacent kernel columns (and one or three kernel rows): an
 * input meets the gradients of up to three neighbouring outputs, which wait in registers, so that it is loaded once.
 */
#ifndef LKS_KERNELS_SIMD_FILTER_TILE_H
#define LKS_KERNELS_SIMD_FILTER_TILE_H

#include "ops/build.h"
#include "simd.h"

typedef struct filter_tile {
    const lks_conv_attrs *a;
    const float *x, *d;     /* an example */
    float *out;             /* of the first kernel position and channel */
    int64_t x_pixel, x_row; /* floats */
    int64_t d_pixel, d_row;
    int64_t k_row, k_col;                          /* first kernel position */
    int64_t out_row, out_col, out_depth, out_lane; /* floats from kernel row to row, column, input channel, lane */
    int64_t last;                                  /* lanes of a partial vector */
    int carry;                                     /* sums start from the output, not from +0 */
} filter_tile;

/* What is constant in a block. Vectors run over the channels of d, of x, or of both (depthwise). */
typedef struct filter_shape {
    int rows; /* kernel rows */
    int stride;
    int R, C; /* channels of x, vectors of d */
    int x_vector, d_vector;
    int partial;
} filter_shape;

LKS_INLINE vf filter_load(const float *p, const int vector, const int partial, vmask m)
{
    return !vector ? vf_set(*p) : partial ? vf_load_m(p, m) : vf_load(p);
}

LKS_INLINE void filter_load_d(const filter_shape *s, vf *d, const float *p, vmask m)
{
    LKS_UNROLL
    for (int c = 0; c < s->C; c++) d[c] = filter_load(p + c * VF, s->d_vector, s->partial, m);
}

/* One input pixel times one gradient pixel. */
LKS_INLINE void filter_fma(const filter_shape *s, vf *sum, const float *x, const vf *d, vmask m)
{
    LKS_UNROLL
    for (int r = 0; r < s->R; r++) {
        vf v = filter_load(x + r, s->x_vector, s->partial, m);

        LKS_UNROLL
        for (int c = 0; c < s->C; c++) sum[r * s->C + c] = vf_fma(v, d[c], sum[r * s->C + c]);
    }
}

LKS_INLINE void filter_store(const filter_tile *t, const filter_shape *s, const vf *sum, float *out, vmask m)
{
    LKS_UNROLL
    for (int r = 0; r < s->R; r++) {
        LKS_UNROLL
        for (int c = 0; c < s->C; c++) {
            float *o = out + r * t->out_depth + c * VF, lanes[VF];

            if (t->carry) {
                if (s->partial) vf_store_m(o, m, sum[r * s->C + c]);
                else vf_store(o, sum[r * s->C + c]);
            } else if (!s->partial && t->out_lane == 1) {
                vf_store(o, vf_add(vf_load(o), sum[r * s->C + c]));
            } else if (t->out_lane == 1) {
                vf_store_m(o, m, vf_add(vf_load_m(o, m), sum[r * s->C + c]));
            } else {
                vf_store(lanes, sum[r * s->C + c]);
                for (int64_t i = 0; i < t->last; i++) o[i * t->out_lane] += lanes[i];
            }
        }
    }
}

/* The first output (of n_out) whose tap is at an input >= 0, and the end of those with an input < n_in. */
LKS_INLINE int64_t filter_begin(int64_t tap, int64_t before, int64_t stride)
{
    return before > tap ? (before - tap + stride - 1) / stride : 0;
}

LKS_INLINE int64_t filter_end(int64_t tap, int64_t before, int64_t stride, int64_t n_in, int64_t n_out)
{
    int64_t room = n_in - 1 - tap + before, end = room < 0 ? 0 : room / stride + 1;

    return end < n_out ? end : n_out;
}

LKS_INLINE void filter_tap(const filter_tile *t, const int R, const int C, const int partial)
{
    const filter_shape s = { 1, 0, R, C, 0, 1, partial };
    const lks_conv_attrs *a = t->a;
    const int64_t row = t->k_row * a->dilation[0] - a->before[0], col = t->k_col * a->dilation[1] - a->before[1];
    const int64_t i0 = filter_begin(row, 0, a->stride[0]), i1 = filter_end(row, 0, a->stride[0], a->in[0], a->out[0]);
    const int64_t j0 = filter_begin(col, 0, a->stride[1]), j1 = filter_end(col, 0, a->stride[1], a->in[1], a->out[1]);
    const int64_t x_step = a->stride[1] * t->x_pixel;
    const vmask m = vf_first(t->last);
    vf sum[16], d[2];

    LKS_UNROLL
    for (int i = 0; i < R * C; i++) {
        const float *o = t->out + i / C * t->out_depth + i % C * VF;

        sum[i] = !t->carry ? vf_zero() : partial ? vf_load_m(o, m) : vf_load(o);
    }
    for (int64_t i = i0; i < i1; i++) {
        const float *x = t->x + (i * a->stride[0] + row) * t->x_row + (j0 * a->stride[1] + col) * t->x_pixel;
        const float *dp = t->d + i * t->d_row + j0 * t->d_pixel;

        for (int64_t j = j0; j < j1; j++) {
            filter_load_d(&s, d, dp, m);
            filter_fma(&s, sum, x, d, m);
            x += x_step;
            dp += t->d_pixel;
        }
    }
    filter_store(t, &s, sum, t->out, m);
}

/* Output (i, j) by the taps that are inside the input. */
LKS_INLINE void filter_edge(const filter_tile *t, const filter_shape *s, vf *sum, int64_t i, int64_t j, vmask m)
{
    const lks_conv_attrs *a = t->a;
    vf d[2];

    filter_load_d(s, d, t->d + i * t->d_row + j * t->d_pixel, m);
    LKS_UNROLL
    for (int h = 0; h < s->rows; h++) {
        int64_t row = i * a->stride[0] - a->before[0] + (t->k_row + h) * a->dilation[0];

        if (row < 0 || row >= a->in[0]) continue;
        LKS_UNROLL
        for (int b = 0; b < 3; b++) {
            int64_t col = j * s->stride - a->before[1] + b;

            if (col < 0 || col >= a->in[1]) continue;
            filter_fma(s, sum + (h * 3 + b) * s->R * s->C, t->x + row * t->x_row + col * t->x_pixel, d, m);
        }
    }
}

/* Where an input column stands to the waiting gradients: d[b] belongs to tap b; taps in [from, to) take part. */
LKS_INLINE void filter_column(const filter_tile *t, const filter_shape *s, vf *sum, const float *x,
                              int64_t x_kernel_row, const vf *d0, const vf *d1, const vf *d2, vmask m)
{
    const int size = s->R * s->C;

    (void)t;
    LKS_UNROLL
    for (int h = 0; h < s->rows; h++) {
        LKS_UNROLL
        for (int r = 0; r < s->R; r++) {
            vf v = filter_load(x + h * x_kernel_row + r, s->x_vector, s->partial, m);
            vf *to = sum + h * 3 * size + r * s->C;

            LKS_UNROLL
            for (int c = 0; c < s->C; c++) {
                if (d0) to[c] = vf_fma(v, d0[c], to[c]);
                if (d1) to[size + c] = vf_fma(v, d1[c], to[size + c]);
                if (d2) to[2 * size + c] = vf_fma(v, d2[c], to[2 * size + c]);
            }
        }
    }
}

/* Outputs [lo, hi) of a row, hi - lo >= 2, all of whose taps are inside; x: the first tap of output lo. */
LKS_INLINE void filter_row(const filter_tile *t, const filter_shape *s, vf *sum, const float *x, const float *d,
                           int64_t n, vmask m)
{
    const int64_t row = t->a->dilation[0] * t->x_row, pixel = t->x_pixel;
    vf a[2], b[2], c[2];

    if (s->stride == 1) {
        filter_load_d(s, b, d, m);
        filter_column(t, s, sum, x, row, b, NULL, NULL, m);
        filter_load_d(s, c, d += t->d_pixel, m);
        filter_column(t, s, sum, x += pixel, row, c, b, NULL, m);
        for (int64_t j = 2; j < n; j++) {
            LKS_UNROLL
            for (int i = 0; i < s->C; i++) a[i] = b[i], b[i] = c[i];
            filter_load_d(s, c, d += t->d_pixel, m);
            filter_column(t, s, sum, x += pixel, row, c, b, a, m);
        }
        filter_column(t, s, sum, x += pixel, row, NULL, c, b, m);
        filter_column(t, s, sum, x + pixel, row, NULL, NULL, c, m);
    } else {
        filter_load_d(s, c, d, m);
        filter_column(t, s, sum, x, row, c, NULL, NULL, m);
        filter_column(t, s, sum, x += pixel, row, NULL, c, NULL, m);
        for (int64_t j = 1; j < n; j++) {
            LKS_UNROLL
            for (int i = 0; i < s->C; i++) b[i] = c[i];
            filter_load_d(s, c, d += t->d_pixel, m);
            filter_column(t, s, sum, x += pixel, row, c, NULL, b, m);
            filter_column(t, s, sum, x += pixel, row, NULL, c, NULL, m);
        }
        filter_column(t, s, sum, x + pixel, row, NULL, NULL, c, m);
    }
}

LKS_INLINE void filter_stream(const filter_tile *t, const filter_shape *s)
{
    const lks_conv_attrs *a = t->a;
    const int64_t lo = filter_begin(0, a->before[1], s->stride);
    const int64_t hi = filter_end(2, a->before[1], s->stride, a->in[1], a->out[1]);
    const vmask m = vf_first(t->last);
    vf sum[12];

    LKS_UNROLL
    for (int i = 0; i < s->rows * 3 * s->R * s->C; i++) sum[i] = vf_zero();
    for (int64_t i = 0; i < a->out[0]; i++) {
        int64_t row = i * a->stride[0] - a->before[0] + t->k_row * a->dilation[0];
        int64_t last_row = row + (s->rows - 1) * a->dilation[0];
        const int64_t inner = row >= 0 && last_row < a->in[0] && hi - lo >= 2 ? lo : -1;

        if (last_row < 0 || row >= a->in[0]) continue;
        for (int64_t j = 0; j < a->out[1]; j++) {
            if (j == inner) {
                filter_row(t, s, sum, t->x + row * t->x_row + (lo * s->stride - a->before[1]) * t->x_pixel,
                           t->d + i * t->d_row + lo * t->d_pixel, hi - lo, m);
                j = hi;
                if (j >= a->out[1]) break;
            }
            filter_edge(t, s, sum, i, j, m);
        }
    }
    LKS_UNROLL
    for (int h = 0; h < s->rows; h++) {
        LKS_UNROLL
        for (int b = 0; b < 3; b++)
            filter_store(t, s, sum + (h * 3 + b) * s->R * s->C, t->out + h * t->out_row + b * t->out_col, m);
    }
}

#endif
