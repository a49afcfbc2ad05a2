/* conv_near.c - see conv_near.h. */
#include "conv_near.h"

LKS_INLINE void near_block(const conv_tile *t, int64_t at, const vf *w, const int rows, const int taps,
                           const int stride, const int tap, const int vector, const int length)
{
    const int64_t pixel = tap * t->x_col_tap;
    const float *x = t->x + at * t->x_position;
    float *y = t->y + at * t->y_position;
    vf sum[CONV_NEAR];

    LKS_UNROLL
    for (int p = 0; p < length; p++)
        sum[p] = vector == CONV_VECTOR && t->carry ? vf_load(y + p * t->y_position) : vf_zero();
    LKS_UNROLL
    for (int a = 0; a < rows; a++) {
        if (taps == 3) {
            conv_stream_line(x + a * t->x_row_tap, pixel, w + a * 3, sum, vector, 3, stride, tap, length, 1);
            continue;
        }
        LKS_UNROLL
        for (int b = 0; b < taps; b++)
            conv_plain_line(x + a * t->x_row_tap + b * t->x_col_tap, t->x_position, w + a * 3 + b, sum, vector, length,
                            1, vf_first(VF));
    }
    conv_store_line(t, y, sum, vector, length, 1);
}

LKS_INLINE void near_line(const conv_tile *t, int64_t count, const int rows, const int taps, const int stride,
                          const int tap, const int vector)
{
    int64_t i = 0;
    vf w[9];

    LKS_UNROLL
    for (int a = 0; a < rows; a++) {
        LKS_UNROLL
        for (int b = 0; b < taps; b++) w[a * 3 + b] = vf_load(t->w + a * t->w_row_tap + b * t->w_col_tap);
    }
    for (; i + CONV_NEAR <= count; i += CONV_NEAR) near_block(t, i, w, rows, taps, stride, tap, vector, CONV_NEAR);
    if (count - i >= 4) near_block(t, i, w, rows, taps, stride, tap, vector, 4), i += 4;
    if (count - i >= 2) near_block(t, i, w, rows, taps, stride, tap, vector, 2), i += 2;
    if (count > i) near_block(t, i, w, rows, taps, stride, tap, vector, 1);
}

#define NEAR(name, rows, taps, stride, tap, vector)                     \
    static void near_##name##_##rows(const conv_tile *t, int64_t count) \
    {                                                                   \
        near_line(t, count, rows, taps, stride, tap, vector);           \
    }
#define NEARS(rows)                            \
    NEAR(n_3, rows, 3, 1, 1, CONV_NUMBER)      \
    NEAR(n_stride, rows, 3, 2, 1, CONV_NUMBER) \
    NEAR(n_back, rows, 3, 1, -1, CONV_NUMBER)  \
    NEAR(n_2, rows, 2, 0, 0, CONV_NUMBER)      \
    NEAR(v_3, rows, 3, 1, 1, CONV_VECTOR)      \
    NEAR(v_stride, rows, 3, 2, 1, CONV_VECTOR) \
    NEAR(v_back, rows, 3, 1, -1, CONV_VECTOR)  \
    NEAR(v_2, rows, 2, 0, 0, CONV_VECTOR)
NEARS(2)
NEARS(3)

const conv_near_fn SIMD(conv_near)[2][4][2] = {
    { { near_n_3_2, near_n_3_3 },
      { near_n_stride_2, near_n_stride_3 },
      { near_n_back_2, near_n_back_3 },
      { near_n_2_2, near_n_2_3 } },
    { { near_v_3_2, near_v_3_3 },
      { near_v_stride_2, near_v_stride_3 },
      { near_v_back_2, near_v_back_3 },
      { near_v_2_2, near_v_2_3 } },
};
