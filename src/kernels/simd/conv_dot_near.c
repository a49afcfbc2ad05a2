/* conv_dot_near.c - blocks of conv_dot.c whose weights, of at most three kernel rows, all stay in registers.
 *
 * With nine weights seven sums are left, and no register for an input: it stays in memory, one instruction a multiply-add.
 * Where registers are 32, an input is loaded once for the three columns that meet it.
 */
#include "conv_dot.h"
#include "conv_steps.h"

LKS_INLINE void near_rows(const float *x, int64_t x_row, const conv_steps *step, const vf *w, vf *sum, int begin,
                          int end, const int rows, const int tap, const int length)
{
    const int inputs = length + 2;

    LKS_UNROLL
    for (int a = 0; a < rows; a++, x += x_row) {
#if V_REGISTERS_32
        LKS_UNROLL
        for (int q = 0; q < inputs; q++) {
            vf v;

            if (!conv_line_has(q, inputs, begin, end)) continue;
            v = vf_load(x + q * (step->one / (int64_t)sizeof *x));
            LKS_UNROLL
            for (int b = 0; b < 3; b++) {
                const int i = conv_line_position(q, b, 1, tap, length);

                if (i >= 0) VF_ADD_PRODUCT(sum[i], v, w[a * 3 + b]);
            }
        }
#else
        LKS_UNROLL
        for (int b = 0; b < 3; b++) {
            LKS_UNROLL
            for (int i = 0; i < length; i++) {
                const int q = tap > 0 ? i + b : length - 1 - i + b;

                if (conv_line_has(q, inputs, begin, end)) CONV_AT(VF_ADD_PRODUCT_AT, x, step, q, sum[i], w[a * 3 + b]);
            }
        }
#endif
    }
}

/* Blocks of one line. At its ends most often one input is outside: worth a copy of the code without branches. */
LKS_INLINE void near_line(const dot_part *d, const vf *w, const float *x, float *lanes, const conv_steps *step,
                          const int rows, const int tap, const int length)
{
    const int64_t x_row = d->x_row, block = d->block, inputs = length + 2;
    int before = d->before;

    for (int64_t k = d->blocks; k > 0; k--, x += block, lanes += length * VF, before = 0) {
        const int behind = k == 1 ? d->behind : 0, outside = before * 4 + behind;
        int begin, end;
        vf sum[DOT_LONGEST];

        conv_line_inside(before, behind, tap, inputs, &begin, &end);
        if (d->carry) {
            LKS_UNROLL
            for (int i = 0; i < length; i++) sum[i] = vf_load(lanes + i * VF);
        } else {
            LKS_UNROLL
            for (int i = 0; i < length; i++) sum[i] = vf_zero();
        }
        if (outside == 0) near_rows(x, x_row, step, w, sum, 0, inputs, rows, tap, length);
        else if (outside == (tap > 0 ? 4 : 1)) near_rows(x, x_row, step, w, sum, 1, inputs, rows, tap, length);
        else if (outside == (tap > 0 ? 1 : 4)) near_rows(x, x_row, step, w, sum, 0, inputs - 1, rows, tap, length);
        else near_rows(x, x_row, step, w, sum, begin, end, rows, tap, length);
        LKS_UNROLL
        for (int i = 0; i < length; i++) vf_store(lanes + i * VF, sum[i]);
    }
}

LKS_INLINE void near_lines(const dot_part *d, const int rows, const int tap, const int length)
{
    const conv_steps step = conv_steps_of(d->pixel);
    const float *x = d->x;
    float *lanes = d->lanes;
    vf w[9];

    LKS_UNROLL
    for (int i = 0; i < 3 * rows; i++) w[i] = vf_load(d->w + i / 3 * d->w_row + i % 3 * VF);
    for (int64_t l = d->lines; l > 0; l--, x += d->line, lanes += d->blocks * length * VF)
        near_line(d, w, x, lanes, &step, rows, tap, length);
}

#define BLOCK(name, rows, tap, length)                             \
    static void near_##name##_##rows##_##length(const dot_part *d) \
    {                                                              \
        near_lines(d, rows, tap, length);                          \
    }
#define BLOCKS(name, rows, tap) \
    BLOCK(name, rows, tap, 4)   \
    BLOCK(name, rows, tap, 5)   \
    BLOCK(name, rows, tap, 6)   \
    BLOCK(name, rows, tap, 7)
#define LIST(name, rows)                                                                                       \
    {                                                                                                          \
        near_##name##_##rows##_4, near_##name##_##rows##_5, near_##name##_##rows##_6, near_##name##_##rows##_7 \
    }

BLOCKS(plain, 2, 1)
BLOCKS(plain, 3, 1)
BLOCKS(back, 2, -1)
BLOCKS(back, 3, -1)

const dot_fn SIMD(conv_dot_near)[2][2][DOT_LONGEST - DOT_NEAR + 1] = { { LIST(plain, 2), LIST(plain, 3) },
                                                                       { LIST(back, 2), LIST(back, 3) } };
