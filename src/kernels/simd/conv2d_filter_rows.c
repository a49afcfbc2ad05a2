/* conv2d_filter_rows.c - nine sums of conv2d_filter, of three kernel rows and columns, where images or gradients have a single
 * channel: vectors run over the channels of the other.
 *
 * An output does nine multiply-adds a vector, so what else is done for it decides: sums never move, an output beside which no
 * tap is left out is asked nothing, and each vector or number is loaded once, or is an operand in memory where it has one use.
 */
#include "filter_rows.h"

#include "conv_tile.h"

/* A row of outputs. */
typedef struct rows_line {
    int64_t x_pixel, d_pixel, n;   /* outputs */
    bool begins_short, ends_short; /* the first tap of the first output, the last one of the last, is beside the row */
} rows_line;

/* One kernel column b of the three rows: number times vector. */
LKS_INLINE void rows_add(vf *sum, const int b, const vf *v, vf d)
{
    LKS_UNROLL
    for (int h = 0; h < 3; h++) VF_ADD_PRODUCT(sum[h * 3 + b], v[h], d);
}

/* A column of the three rows of x, numbers or vectors. */
LKS_INLINE void rows_load(vf *v, const float *const *x, int64_t at, const filter_shape *s, vmask m)
{
    LKS_UNROLL
    for (int h = 0; h < 3; h++) {
        v[h] = filter_load(x[h] + at, s->x_vector, s->partial, m);
        LKS_ONCE(v[h]);
    }
}

/* A column and the gradients of the outputs whose taps 0, 1, 2 it is. */
LKS_INLINE void rows_three(vf *sum, const float *const *x, int64_t at, const filter_shape *s, vf d0, vf d1, vf d2,
                           vmask m)
{
    LKS_UNROLL
    for (int h = 0; h < 3; h++) {
        vf v = filter_load(x[h] + at, s->x_vector, s->partial, m);

        LKS_ONCE(v);
        VF_ADD_PRODUCT(sum[h * 3], v, d0);
        VF_ADD_PRODUCT(sum[h * 3 + 1], v, d1);
        VF_ADD_PRODUCT(sum[h * 3 + 2], v, d2);
    }
}

LKS_INLINE void rows_two(vf *sum, const float *const *x, int64_t at, const filter_shape *s, vf d0, vf d2, vmask m)
{
    LKS_UNROLL
    for (int h = 0; h < 3; h++) {
        vf v = filter_load(x[h] + at, s->x_vector, s->partial, m);

        LKS_ONCE(v);
        VF_ADD_PRODUCT(sum[h * 3], v, d0);
        VF_ADD_PRODUCT(sum[h * 3 + 2], v, d2);
    }
}

LKS_INLINE void rows_next(const float **x, int64_t distance)
{
    LKS_UNROLL
    for (int h = 0; h < 3; h++) CONV_NEXT(x[h], distance);
}

/* All outputs of a row. Vectors of gradients, stride 1: a number of x meets those of three outputs, which stay in registers. */
LKS_INLINE void rows_d_1(const rows_line *l, const filter_shape *s, vf *sum, const float *const *rows, const float *d,
                         vmask m)
{
    const float *x[3] = { rows[0], rows[1], rows[2] };
    const int64_t d_pixel = l->d_pixel, d_next = 3 * d_pixel;
    int64_t n = l->n - 2;
    vf a, b, c, v[3];

    a = filter_load(d, 1, s->partial, m);
    b = filter_load(d + d_pixel, 1, s->partial, m);
    if (!l->begins_short) {
        rows_load(v, x, 0, s, m);
        rows_add(sum, 0, v, a);
    }
    rows_load(v, x, 1, s, m);
    rows_add(sum, 0, v, b);
    rows_add(sum, 1, v, a);
    CONV_NEXT(d, 2 * d_pixel);
    for (; n >= 3; n -= 3) {
        c = filter_load(d, 1, s->partial, m);
        rows_three(sum, x, 2, s, c, b, a, m);
        a = filter_load(d + d_pixel, 1, s->partial, m);
        rows_three(sum, x, 3, s, a, c, b, m);
        b = filter_load(d + 2 * d_pixel, 1, s->partial, m);
        rows_three(sum, x, 4, s, b, a, c, m);
        rows_next(x, 3);
        CONV_NEXT(d, d_next);
    }
    for (; n > 0; n--) {
        c = filter_load(d, 1, s->partial, m);
        rows_three(sum, x, 2, s, c, b, a, m);
        a = b;
        b = c;
        rows_next(x, 1);
        CONV_NEXT(d, d_pixel);
    }
    rows_load(v, x, 2, s, m);
    rows_add(sum, 1, v, b);
    rows_add(sum, 2, v, a);
    if (l->ends_short) return;
    rows_load(v, x, 3, s, m);
    rows_add(sum, 2, v, b);
}

/* Stride 2: an even column belongs to taps 0 and 2 of two outputs, an odd one to tap 1. */
LKS_INLINE void rows_d_2(const rows_line *l, const filter_shape *s, vf *sum, const float *const *rows, const float *d,
                         vmask m)
{
    const float *x[3] = { rows[0], rows[1], rows[2] };
    const int64_t d_pixel = l->d_pixel;
    int64_t n = l->n - 1;
    vf a, b, v[3];

    a = filter_load(d, 1, s->partial, m);
    if (!l->begins_short) {
        rows_load(v, x, 0, s, m);
        rows_add(sum, 0, v, a);
    }
    rows_load(v, x, 1, s, m);
    rows_add(sum, 1, v, a);
    for (; n >= 2; n -= 2) {
        CONV_NEXT(d, d_pixel);
        b = filter_load(d, 1, s->partial, m);
        rows_two(sum, x, 2, s, b, a, m);
        rows_load(v, x, 3, s, m);
        rows_add(sum, 1, v, b);
        CONV_NEXT(d, d_pixel);
        a = filter_load(d, 1, s->partial, m);
        rows_two(sum, x, 4, s, a, b, m);
        rows_load(v, x, 5, s, m);
        rows_add(sum, 1, v, a);
        rows_next(x, 4);
    }
    if (n > 0) {
        b = filter_load(d + d_pixel, 1, s->partial, m);
        rows_two(sum, x, 2, s, b, a, m);
        rows_load(v, x, 3, s, m);
        rows_add(sum, 1, v, b);
        a = b;
        rows_next(x, 2);
    }
    if (l->ends_short) return;
    rows_load(v, x, 2, s, m);
    rows_add(sum, 2, v, a);
}

/* Vectors of images: a number of d meets those of its taps [from, to), which stay in memory. `at`: of tap 0. */
LKS_INLINE void rows_number(int64_t pixel, const filter_shape *s, vf *sum, const float *const *x, const int at, vf d,
                            vmask m, const int from, const int to)
{
    LKS_UNROLL
    for (int i = from * 3; i < to * 3; i++) {
        const float *p = x[i % 3] + (at + i / 3) * pixel;

        if (s->partial) VF_ADD_PRODUCT(sum[i % 3 * 3 + i / 3], d, vf_load_m(p, m));
        else VF_ADD_PRODUCT_OF(sum[i % 3 * 3 + i / 3], d, p);
    }
}

/* Three outputs at stride 1; what all of them meet is loaded. */
LKS_INLINE void rows_numbers(int64_t pixel, int64_t d_pixel, const filter_shape *s, vf *sum, const float *const *x,
                             const float *d, vmask m)
{
    vf n[3], v[3];

    LKS_UNROLL
    for (int j = 0; j < 3; j++) n[j] = vf_set(d[j * d_pixel]);
    rows_number(pixel, s, sum, x, 0, n[0], m, 0, 2);
    rows_number(pixel, s, sum, x, 1, n[1], m, 0, 1);
    rows_load(v, x, 2 * pixel, s, m);
    rows_add(sum, 2, v, n[0]);
    rows_add(sum, 1, v, n[1]);
    rows_add(sum, 0, v, n[2]);
    rows_number(pixel, s, sum, x, 1, n[1], m, 2, 3);
    rows_number(pixel, s, sum, x, 2, n[2], m, 1, 3);
}

LKS_INLINE void rows_x(const rows_line *l, const filter_shape *s, vf *sum, const float *const *rows, const float *d,
                       vmask m)
{
    const float *x[3] = { rows[0], rows[1], rows[2] };
    const int64_t pixel = l->x_pixel, step = s->stride * pixel, step3 = 3 * pixel, d_pixel = l->d_pixel,
                  d_next = 3 * d_pixel;
    int64_t n = l->n - l->begins_short - l->ends_short;

    if (l->begins_short) {
        rows_number(pixel, s, sum, x, 0, vf_set(*d), m, 1, 3);
        rows_next(x, step);
        CONV_NEXT(d, d_pixel);
    }
    for (; s->stride == 1 && n >= 3; n -= 3) {
        rows_numbers(pixel, d_pixel, s, sum, x, d, m);
        rows_next(x, step3);
        CONV_NEXT(d, d_next);
    }
    for (; n > 0; n--) {
        rows_number(pixel, s, sum, x, 0, vf_set(*d), m, 0, 3);
        rows_next(x, step);
        CONV_NEXT(d, d_pixel);
    }
    if (l->ends_short) rows_number(pixel, s, sum, x, 0, vf_set(*d), m, 0, 2);
}

/* `shape` is a copy: a value whose address is known elsewhere would be looked up again behind every multiply-add. */
LKS_INLINE void rows_store(const filter_tile *t, const filter_shape *s, vf *sum, vmask m)
{
    const int64_t row = t->out_row, col = t->out_col;
    float *o = t->out;

    if (t->end < t->a->out[0] || t->out_lane != 1) {
        const filter_shape shape = *s;

        filter_put(t, &shape, sum, 9);
        return;
    }
    if (t->fresh) {
        LKS_UNROLL
        for (int i = 0; i < 9; i++) sum[i] = vf_add(vf_zero(), sum[i]);
    } else {
        LKS_UNROLL
        for (int i = 0; i < 9; i++)
            sum[i] = vf_add(filter_load(o + i / 3 * row + i % 3 * col, 1, s->partial, m), sum[i]);
    }
    for (int k = 0; k < t->n_join; k++) {
        const float *x = t->join[k] + (o - t->base);

        LKS_UNROLL
        for (int i = 0; i < 9; i++)
            sum[i] = vf_add(sum[i], filter_load(x + i / 3 * row + i % 3 * col, 1, s->partial, m));
    }
    LKS_UNROLL
    for (int i = 0; i < 9; i++) {
        if (s->partial) vf_store_m(o + i / 3 * row + i % 3 * col, m, sum[i]);
        else vf_store(o + i / 3 * row + i % 3 * col, sum[i]);
    }
}

LKS_INLINE void rows_block(const filter_tile *t, const filter_shape *s)
{
    const lks_conv_attrs *a = t->a;
    const int64_t x_row = t->x_row, above = t->k_row * a->dilation[0] - a->before[0], next = a->dilation[0] * x_row;
    const rows_line l = { t->x_pixel, t->d_pixel, a->out[1], a->before[1] > 0, filter_ends_short(a) };
    const vmask m = vf_first(t->last);
    const float *d = t->d + t->begin * t->d_row;
    vf sum[9];

    LKS_UNROLL
    for (int i = 0; i < 9; i++) sum[i] = vf_zero();
    if (t->begin > 0) {
        LKS_UNROLL
        for (int i = 0; i < 9; i++) sum[i] = vf_load(t->part + i * VF);
    }
    for (int64_t i = t->begin; i < t->end; i++, d += t->d_row) {
        int64_t row = i * a->stride[0] + above;
        const float *first = t->x + row * x_row, *x[3] = { first, first + next, first + 2 * next };

        if (row < 0 || row + 2 * a->dilation[0] >= a->in[0]) {
            LKS_UNROLL
            for (int h = 0; h < 3; h++, row += a->dilation[0])
                if (row < 0 || row >= a->in[0]) x[h] = t->zeros;
        }
        LKS_UNROLL
        for (int h = 0; h < 3; h++) x[h] -= a->before[1] * l.x_pixel;
        if (s->x_vector) rows_x(&l, s, sum, x, d, m);
        else if (s->stride == 1) rows_d_1(&l, s, sum, x, d, m);
        else rows_d_2(&l, s, sum, x, d, m);
    }
    rows_store(t, s, sum, m);
}

#define BLOCK(name, stride, x_vector, partial)                                      \
    static void rows_##name##_##stride##_##partial(const filter_tile *t)            \
    {                                                                               \
        const filter_shape s = { 3, stride, 1, 1, x_vector, !(x_vector), partial }; \
                                                                                    \
        rows_block(t, &s);                                                          \
    }
BLOCK(d, 1, 0, 0)
BLOCK(d, 1, 0, 1)
BLOCK(d, 2, 0, 0)
BLOCK(d, 2, 0, 1)
BLOCK(x, 1, 1, 0)
BLOCK(x, 1, 1, 1)
BLOCK(x, 2, 1, 0)
BLOCK(x, 2, 1, 1)

const filter_fn SIMD(filter_rows)[2][2][2] = { { { rows_x_1_0, rows_x_1_1 }, { rows_x_2_0, rows_x_2_1 } },
                                               { { rows_d_1_0, rows_d_1_1 }, { rows_d_2_0, rows_d_2_1 } } };
