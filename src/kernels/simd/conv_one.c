/* conv_one.c - convolutions with a single summed channel (images of one channel; the gradient of a layer that makes one):
 * lanes are the made channels, one or two vectors of them. Order: as op_conv2d.c, kernel rows, then columns.
 *
 * Such layers do nine multiply-adds an output: what else is done for one decides. So blocks of many outputs run without a
 * call between them, and what few calls need is out of line.
 */
#include "conv_line.h"
#include "conv_store.h"
#include "entries.h"

/* Kernel row by kernel row, half or all of its weights in registers. An input is loaded once for all that meet it. */
LKS_INLINE void one_rows(const conv_tile *t, const float *x, vf *sum, int begin, int end, const int stride,
                         const int tap, const int length, const int C)
{
    const int inputs = (length - 1) * stride + 3, held = length * C + 3 * C + 1 <= 16 || V_REGISTERS_32 ? 3 * C : 3;
    const float *w = t->w;

    for (int64_t a = t->row_taps; a > 0; a--, x += t->x_row_tap, w += t->w_row_tap) {
        const float *p[6];
        vf wv[6];

        LKS_UNROLL
        for (int i = 0; i < 3 * C; i++) {
            p[i] = w + i / C * t->w_col_tap + i % C * VF;
            if (i < held) wv[i] = vf_load(p[i]);
        }
        LKS_UNROLL
        for (int q = 0; q < inputs; q++) {
            vf v;

            if (!conv_line_has(q, inputs, begin, end)) continue;
            v = vf_set(x[tap * q]);
            LKS_UNROLL
            for (int b = 0; b < 3; b++) {
                const int i = conv_line_position(q, b, stride, tap, length);

                LKS_UNROLL
                for (int c = 0; i >= 0 && c < C; c++) {
                    if (b * C + c < held) VF_ADD_PRODUCT(sum[i * C + c], v, wv[b * C + c]);
                    else VF_ADD_PRODUCT_OF(sum[i * C + c], v, p[b * C + c]);
                }
            }
        }
    }
}

LKS_INLINE void one_blocks(const conv_line *l, const int stride, const int tap, const int length, const int C)
{
    const int inputs = (length - 1) * stride + 3;
    const conv_tile *t = &l->t;
    const int64_t x_position = t->x_position, y_position = t->y_position, blocks = l->blocks;

    for (int64_t i = 0; i < l->lines; i++) {
        const float *x = t->x + i * t->x_line;
        float *y = t->y + i * t->y_line;

        for (int64_t k = 0; k < blocks; k++, x += x_position, y += length * y_position) {
            const int before = k == 0 ? l->before : 0, behind = k + 1 == blocks ? l->behind : 0;
            int begin, end;
            vf sum[16];

            LKS_UNROLL
            for (int p = 0; p < length * C; p++) sum[p] = vf_zero();
            if (conv_line_inside(before, behind, tap, inputs, &begin, &end))
                one_rows(t, x, sum, 0, inputs, stride, tap, length, C);
            else one_rows(t, x, sum, begin, end, stride, tap, length, C);
            conv_store_block(t, y, sum, length, C);
        }
    }
}

#define BLOCK(name, stride, tap, length, C)                       \
    static void block_##name##_##length##_##C(const conv_line *l) \
    {                                                             \
        one_blocks(l, stride, tap, length, C);                    \
    }
#define BLOCKS4(name, stride, tap, C) \
    BLOCK(name, stride, tap, 1, C)    \
    BLOCK(name, stride, tap, 2, C)    \
    BLOCK(name, stride, tap, 3, C)    \
    BLOCK(name, stride, tap, 4, C)
#define BLOCKS10(name, stride, tap, C) \
    BLOCKS4(name, stride, tap, C)      \
    BLOCK(name, stride, tap, 5, C)     \
    BLOCK(name, stride, tap, 6, C)     \
    BLOCK(name, stride, tap, 7, C)     \
    BLOCK(name, stride, tap, 8, C)     \
    BLOCK(name, stride, tap, 9, C)     \
    BLOCK(name, stride, tap, 10, C)
#define BLOCKS6(name, stride, tap, C) \
    BLOCKS4(name, stride, tap, C)     \
    BLOCK(name, stride, tap, 5, C)    \
    BLOCK(name, stride, tap, 6, C)
#define LIST4(name, C) NULL, block_##name##_1_##C, block_##name##_2_##C, block_##name##_3_##C, block_##name##_4_##C
#define LIST6(name, C) LIST4(name, C), block_##name##_5_##C, block_##name##_6_##C
#define LIST10(name, C)                                                                                     \
    LIST4(name, C), block_##name##_5_##C, block_##name##_6_##C, block_##name##_7_##C, block_##name##_8_##C, \
        block_##name##_9_##C, block_##name##_10_##C

BLOCKS10(plain, 1, 1, 1)
BLOCKS10(stride, 2, 1, 1)
BLOCKS10(back, 1, -1, 1)
BLOCKS6(plain, 1, 1, 2)
BLOCKS6(stride, 2, 1, 2)
BLOCKS6(back, 1, -1, 2)

static const conv_line_blocks blocks[2] = { { 10,
                                              { { LIST10(plain, 1) }, { LIST10(stride, 1) }, { LIST10(back, 1) } } },
                                            { 6, { { LIST6(plain, 2) }, { LIST6(stride, 2) }, { LIST6(back, 2) } } } };

bool SIMD(conv_one)(const conv_job *j, const float *x, float *y)
{
    conv_line l;

    if (j->groups != 1 || j->depth != 1 || !conv_line_suits(&j->cols)) return false;
    memset(&l, 0, sizeof l);
    l.t.x_col_tap = j->cols.backward ? -1 : 1;
    l.t.w_col_tap = j->w_col;
    l.t.y_position = j->y_pixel;
    l.t.last = j->last;
    l.t.safe = j->safe;
    l.t.after = j->after;
    return conv_line_walk(j, &l, x, y, &blocks[j->C - 1]);
}
