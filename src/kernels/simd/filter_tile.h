/* filter_tile.h - internal. The blocks of conv2d_filter: sums for some kernel positions and channels stay in registers while
 * all positions of one example pass by, row by row; then they are added to the output.
 *
 * filter_tap takes one kernel position. filter_stream takes three adjacent kernel columns (and one or three kernel rows):
 * an input column meets the gradients of up to three neighbouring outputs, which wait in registers, so that it is loaded
 * once. Gradients beside the row and inputs above or below the image are zeros there: the products are zeros, which
 * change no sum but the sign of one that underflowed to -0, and that is lost when it is added to the output.
 */
#ifndef LKS_KERNELS_SIMD_FILTER_TILE_H
#define LKS_KERNELS_SIMD_FILTER_TILE_H

#include "ops/build.h"
#include "simd.h"

typedef struct filter_tile {
    const lks_conv_attrs *a;
    const float *x, *d;     /* an example */
    const float *zeros;     /* a row of x */
    float *out;             /* of the first kernel position and channel */
    int64_t x_pixel, x_row; /* floats */
    int64_t d_pixel, d_row;
    int64_t k_row, k_col;                          /* first kernel position */
    int64_t out_row, out_col, out_depth, out_lane; /* floats from kernel row to row, column, input channel, lane */
    int64_t last;                                  /* lanes of a partial vector */
    int carry;                                     /* sums start from the output, not from +0 */
    int64_t begin, end; /* rows of d; sums of a block wait in `part` between one run of rows and the next */
    float *part;
    bool fresh; /* of this example's sums: what lies in the output counts as +0 */
    int n_join; /* and these are added behind them: of the same shape as the whole output at `base` */
    const float *const *join;
    const float *base;
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

/* The output at o with one more sum, all lanes or those of m. */
LKS_INLINE vf filter_added(const filter_tile *t, const float *o, vf sum, vmask m, const int partial)
{
    vf v = t->fresh ? vf_zero() : partial ? vf_load_m(o, m) : vf_load(o);

    v = vf_add(v, sum);
    for (int i = 0; i < t->n_join; i++) {
        const float *x = t->join[i] + (o - t->base);

        v = vf_add(v, partial ? vf_load_m(x, m) : vf_load(x));
    }
    return v;
}

/* One number of it. */
LKS_INLINE float filter_added_one(const filter_tile *t, const float *o, float sum)
{
    float v = t->fresh ? 0.0f : *o;

    v += sum;
    for (int i = 0; i < t->n_join; i++) v += t->join[i][o - t->base];
    return v;
}

/* Adds the sums of `taps` kernel positions (rows of three, or one) to the output, or puts them there. Out of line and general:
 * once a block and example. */
static void filter_store(const filter_tile *t, const filter_shape *s, int taps, const float *sums)
{
    const vmask m = vf_first(t->last);

    for (int tap = 0; tap < taps; tap++)
        for (int r = 0; r < s->R; r++)
            for (int c = 0; c < s->C; c++, sums += VF) {
                float *o = t->out + tap / 3 * t->out_row + tap % 3 * t->out_col + r * t->out_depth + c * VF;

                if (t->out_lane != 1)
                    for (int64_t l = 0; l < t->last; l++)
                        o[l * t->out_lane] = filter_added_one(t, o + l * t->out_lane, sums[l]);
                else if (s->partial)
                    vf_store_m(o, m, t->carry ? vf_load(sums) : filter_added(t, o, vf_load(sums), m, 1));
                else vf_store(o, t->carry ? vf_load(sums) : filter_added(t, o, vf_load(sums), m, 0));
            }
}

/* Registers to memory for it; `sum` itself must not have its address taken. */
LKS_INLINE void filter_put(const filter_tile *t, const filter_shape *s, const vf *sum, const int taps)
{
    float sums[12 * VF];

    if (t->end < t->a->out[0]) {
        LKS_UNROLL
        for (int i = 0; i < taps * s->R * s->C; i++) vf_store(t->part + i * VF, sum[i]);
        return;
    }
    if (taps == 1 && !s->partial && t->out_lane == 1 && !t->carry) { /* few positions: this is half of the work */
        LKS_UNROLL
        for (int i = 0; i < s->R * s->C; i++) {
            float *o = t->out + i / s->C * t->out_depth + i % s->C * VF;

            vf_store(o, filter_added(t, o, sum[i], vf_first(VF), 0));
        }
        return;
    }

    LKS_UNROLL
    for (int i = 0; i < taps * s->R * s->C; i++) vf_store(sums + i * VF, sum[i]);
    filter_store(t, s, taps, sums);
}

/* The first output (of n_out) whose tap is at an input >= 0, and the end of those with an input < n_in. */
LKS_INLINE int64_t filter_begin(int64_t tap, int64_t stride)
{
    return tap < 0 ? (stride - 1 - tap) / stride : 0;
}

LKS_INLINE int64_t filter_end(int64_t tap, int64_t stride, int64_t n_in, int64_t n_out)
{
    int64_t room = n_in - 1 - tap, end = room < 0 ? 0 : room / stride + 1;

    return end < n_out ? end : n_out;
}

LKS_INLINE void filter_tap(const filter_tile *t, const int R, const int C, const int partial)
{
    const filter_shape s = { 1, 0, R, C, 0, 1, partial };
    const lks_conv_attrs *a = t->a;
    const int64_t row = t->k_row * a->dilation[0] - a->before[0], col = t->k_col * a->dilation[1] - a->before[1];
    const int64_t first = filter_begin(row, a->stride[0]), i0 = first > t->begin ? first : t->begin;
    const int64_t last = filter_end(row, a->stride[0], a->in[0], a->out[0]), i1 = last < t->end ? last : t->end;
    const int64_t j0 = filter_begin(col, a->stride[1]), j1 = filter_end(col, a->stride[1], a->in[1], a->out[1]);
    const vmask m = vf_first(t->last);
    vf sum[12], d[2];

    LKS_UNROLL
    for (int i = 0; i < R * C; i++) {
        const float *o = t->out + i / C * t->out_depth + i % C * VF;

        if (t->begin > 0) sum[i] = vf_load(t->part + i * VF);
        else sum[i] = !t->carry ? vf_zero() : partial ? vf_load_m(o, m) : vf_load(o);
    }
    for (int64_t i = i0; i < i1; i++) {
        const float *x = t->x + (i * a->stride[0] + row) * t->x_row + (j0 * a->stride[1] + col) * t->x_pixel;
        const float *dp = t->d + i * t->d_row + j0 * t->d_pixel;

        for (int64_t j = j0; j < j1; j++) {
            filter_load_d(&s, d, dp, m);
            LKS_UNROLL
            for (int r = 0; r < R; r++) {
                const vf v = vf_set(x[r]);

                LKS_UNROLL
                for (int c = 0; c < C; c++) sum[r * C + c] = vf_fma(v, d[c], sum[r * C + c]);
            }
            x += a->stride[1] * t->x_pixel;
            dp += t->d_pixel;
        }
    }
    filter_put(t, &s, sum, 1);
}

/* An input column and the gradients d0, d1, d2 that its taps 0, 1, 2 belong to (NULL: no such output). */
LKS_INLINE void filter_column(const filter_shape *s, vf *sum, const float *const *x, int64_t at, const vf *d0,
                              const vf *d1, const vf *d2, vmask m)
{
    const int size = s->R * s->C;

    LKS_UNROLL
    for (int h = 0; h < s->rows; h++) {
        LKS_UNROLL
        for (int r = 0; r < s->R; r++) {
            vf v = filter_load(x[h] + at + r, s->x_vector, s->partial, m);
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

/* The gradient of output j of a row, zeros outside. */
LKS_INLINE void filter_output(const filter_tile *t, const filter_shape *s, vf *d, const float *row, int64_t j, vmask m)
{
    if (j >= 0 && j < t->a->out[1]) {
        filter_load_d(s, d, row + j * t->d_pixel, m);
        return;
    }
    LKS_UNROLL
    for (int c = 0; c < s->C; c++) d[c] = vf_zero();
}

/* All columns of one row of x (or of three): column q belongs to tap b of output (q + before - b) / stride. Inside the row
 * three columns at a time, so that the gradients of three outputs change their parts without being moved. */
LKS_INLINE void filter_row(const filter_tile *t, const filter_shape *s, vf *sum, const float *const *x, const float *d,
                           vmask m)
{
    const int64_t before = t->a->before[1], n = t->a->in[1], left = t->a->out[1] - before, inner = left < n ? left : n;
    const float *next = d + before * t->d_pixel;
    int64_t at = 0, q = 0;
    vf a[2], b[2], c[2];

    filter_output(t, s, b, d, before - 2, m);
    filter_output(t, s, c, d, before - 1, m);
    for (; q + 3 <= inner; q += 3, at += t->x_pixel) {
        filter_load_d(s, a, next, m);
        filter_column(s, sum, x, at, a, c, b, m);
        filter_load_d(s, b, next + t->d_pixel, m);
        filter_column(s, sum, x, at += t->x_pixel, b, a, c, m);
        filter_load_d(s, c, next + 2 * t->d_pixel, m);
        filter_column(s, sum, x, at += t->x_pixel, c, b, a, m);
        next += 3 * t->d_pixel;
    }
    for (; q < n; q++) {
        LKS_UNROLL
        for (int i = 0; i < s->C; i++) a[i] = b[i], b[i] = c[i];
        filter_output(t, s, c, d, q + before, m);
        filter_column(s, sum, x, at, c, b, a, m);
        at += t->x_pixel;
    }
}

/* The same for stride 2: an even column (counted from the padding) belongs to taps 0 and 2, an odd one to tap 1. */
LKS_INLINE void filter_row_2(const filter_tile *t, const filter_shape *s, vf *sum, const float *const *x,
                             const float *d, vmask m)
{
    const int64_t before = t->a->before[1], n = t->a->in[1], out = t->a->out[1];
    int64_t at = 0;
    int64_t q = 0, j = (before + 1) / 2;
    vf b[2], c[2];

    filter_output(t, s, c, d, j - 1, m);
    if (before % 2 != 0 && n > 0) filter_column(s, sum, x, 0, NULL, c, NULL, m), q = 1, at = t->x_pixel;
    d += j * t->d_pixel;
    for (; q + 4 <= n && j + 2 <= out; q += 4, j += 2) {
        filter_load_d(s, b, d, m);
        filter_column(s, sum, x, at, b, NULL, c, m);
        filter_column(s, sum, x, at += t->x_pixel, NULL, b, NULL, m);
        filter_load_d(s, c, d + t->d_pixel, m);
        filter_column(s, sum, x, at += t->x_pixel, c, NULL, b, m);
        filter_column(s, sum, x, at += t->x_pixel, NULL, c, NULL, m);
        at += t->x_pixel;
        d += 2 * t->d_pixel;
    }
    for (; q + 2 <= n && j < out; q += 2, j++) {
        LKS_UNROLL
        for (int i = 0; i < s->C; i++) b[i] = c[i];
        filter_load_d(s, c, d, m);
        filter_column(s, sum, x, at, c, NULL, b, m);
        filter_column(s, sum, x, at + t->x_pixel, NULL, c, NULL, m);
        at += 2 * t->x_pixel;
        d += t->d_pixel;
    }
    if (q >= n) return;
    LKS_UNROLL
    for (int i = 0; i < s->C; i++) b[i] = c[i];
    filter_output(t, s, c, d - j * t->d_pixel, j, m);
    filter_column(s, sum, x, at, c, NULL, b, m);
}

LKS_INLINE void filter_stream(const filter_tile *t, const filter_shape *s)
{
    const lks_conv_attrs *a = t->a;
    const vmask m = vf_first(t->last);
    vf sum[12];

    LKS_UNROLL
    for (int i = 0; i < s->rows * 3 * s->R * s->C; i++) sum[i] = t->begin > 0 ? vf_load(t->part + i * VF) : vf_zero();
    for (int64_t i = t->begin; i < t->end; i++) {
        int64_t row = i * a->stride[0] - a->before[0] + t->k_row * a->dilation[0];
        const float *x[3];

        if (s->rows == 1 && (row < 0 || row >= a->in[0])) continue;
        LKS_UNROLL
        for (int h = 0; h < s->rows; h++, row += a->dilation[0])
            x[h] = row < 0 || row >= a->in[0] ? t->zeros : t->x + row * t->x_row;
        if (s->stride == 1) filter_row(t, s, sum, x, t->d + i * t->d_row, m);
        else filter_row_2(t, s, sum, x, t->d + i * t->d_row, m);
    }
    filter_put(t, s, sum, s->rows * 3);
}

/* One row of gradients for all channels, nine sums of each vector of channels kept in `sums`: an image too large for the first
 * caches passes by once, not once for each vector. Depthwise, three rows of three. */
LKS_INLINE void filter_depthwise_row(const filter_tile *t, int64_t i, int64_t channels, float *sums, const int stride)
{
    const lks_conv_attrs *a = t->a;
    const float *x[3], *line[3];
    int64_t row = i * stride - a->before[0];

    for (int h = 0; h < 3; h++, row++) line[h] = row < 0 || row >= a->in[0] ? t->zeros : t->x + row * t->x_row;
    for (int64_t c = 0; c < channels; c += VF, sums += 9 * VF) {
        const filter_shape whole = { 3, stride, 1, 1, 1, 1, 0 }, part = { 3, stride, 1, 1, 1, 1, 1 };
        const filter_shape *s = c + VF <= channels ? &whole : &part;
        const float *d = t->d + i * t->d_row + c;
        const vmask m = vf_first(channels - c);
        vf sum[9];

        for (int h = 0; h < 3; h++) x[h] = line[h] + (line[h] == t->zeros ? 0 : c);
        LKS_UNROLL
        for (int k = 0; k < 9; k++) sum[k] = vf_load(sums + k * VF);
        if (stride == 1 && s == &whole) filter_row(t, &whole, sum, x, d, m);
        else if (stride == 1) filter_row(t, &part, sum, x, d, m);
        else if (s == &whole) filter_row_2(t, &whole, sum, x, d, m);
        else filter_row_2(t, &part, sum, x, d, m);
        LKS_UNROLL
        for (int k = 0; k < 9; k++) vf_store(sums + k * VF, sum[k]);
    }
}

#endif
