/* conv_packed_blocks.c - see conv_packed.h. */
#include "conv_packed.h"

/* One term. Rows are reached from every third one, which leaves the compiler two distances to keep. */
LKS_INLINE void packed_term(const float *const *x, int64_t step, const float *w, vf *sum, const int k, const int rows,
                            const int C)
{
    vf wv[3];

    LKS_UNROLL
    for (int c = 0; c < C; c++) {
        wv[c] = vf_load(w + (k * C + c) * VF);
        LKS_ONCE(wv[c]);
    }
    LKS_UNROLL
    for (int i = 0; i < rows; i++) {
        const vf v = vf_set(x[i / 3][i % 3 * step + k]);

        LKS_UNROLL
        for (int c = 0; c < C; c++) VF_ADD_PRODUCT(sum[i * C + c], v, wv[c]);
    }
}

LKS_INLINE void packed_sums(const packed_tile *p, const float *from, const float *ahead, vf *sum, const int rows,
                            const int C)
{
    const int unrolled = C == 3 ? 1 : 2; /* more makes compilers move sums about */
    const conv_tile *t = &p->t;
    const int64_t step = t->x_position;
    const float *w = t->w, *x[4];
    int64_t k = t->depth;

    LKS_UNROLL
    for (int i = 0; i < rows; i += 3) x[i / 3] = from + i * step;
    for (; k >= unrolled; k -= unrolled) {
        __builtin_prefetch(ahead);
        ahead += unrolled * p->ahead_step;
        LKS_UNROLL
        for (int l = 0; l < unrolled; l++) packed_term(x, step, w, sum, l, rows, C);
        LKS_UNROLL
        for (int i = 0; i < rows; i += 3) x[i / 3] += unrolled;
        w += unrolled * C * VF;
    }
    for (; k > 0; k--) {
        packed_term(x, step, w, sum, 0, rows, C);
        LKS_UNROLL
        for (int i = 0; i < rows; i += 3) x[i / 3]++;
        w += C * VF;
    }
}

/* Sums to y: of the last vector only what belongs there. */
LKS_INLINE void packed_store(const packed_tile *p, float *to, const vf *sum, const int rows, const int C)
{
    LKS_UNROLL
    for (int i = 0; i < rows * C; i++) {
        float *y = to + i / C * p->t.y_position + i % C * VF;

        if (i % C + 1 < C || p->t.last == VF) vf_store(y, sum[i]);
        else vf_store_part(y, p->t.last, sum[i]);
    }
}

LKS_INLINE void packed_block(const packed_tile *p, int64_t blocks, const int rows, const int C)
{
    const conv_tile *t = &p->t;
    const float *x = t->x, *ahead = p->ahead;
    float *to = t->y;
    vf sum[24];

    for (; blocks > 0; blocks--) {
        LKS_UNROLL
        for (int i = 0; i < rows * C; i++) {
            const float *y = to + i / C * t->y_position + i % C * VF;

            sum[i] = !t->carry                        ? vf_zero()
                     : i % C + 1 < C || t->last == VF ? vf_load(y)
                                                      : vf_load_m(y, vf_first(t->last));
        }
        packed_sums(p, x, ahead, sum, rows, C);
        if (t->row_taps != 0) conv_do_after(t, to, sum, rows, C, t->last == VF);
        packed_store(p, to, sum, rows, C);
        x += rows * t->x_position;
        to += rows * t->y_position;
        ahead += t->depth * p->ahead_step;
    }
}

#define BLOCK(C, rows)                                                   \
    static void block_##C##_##rows(const packed_tile *p, int64_t blocks) \
    {                                                                    \
        packed_block(p, blocks, rows, C);                                \
    }
BLOCK(1, 1)
BLOCK(1, 2)
BLOCK(1, 3)
BLOCK(1, 4)
BLOCK(1, 5)
BLOCK(1, 6)
BLOCK(1, 7)
BLOCK(1, 8)
BLOCK(2, 1)
BLOCK(2, 2)
BLOCK(2, 3)
BLOCK(2, 4)
BLOCK(2, 5)
BLOCK(2, 6)
BLOCK(3, 1)
BLOCK(3, 2)
BLOCK(3, 3)
BLOCK(3, 4)
#if V_REGISTERS_32
BLOCK(2, 7)
BLOCK(2, 8)
BLOCK(2, 9)
BLOCK(2, 10)
BLOCK(2, 11)
BLOCK(2, 12)
BLOCK(3, 5)
BLOCK(3, 6)
BLOCK(3, 7)
BLOCK(3, 8)
#endif

const packed_fn SIMD(packed_blocks)[3][PACKED_MOST_ROWS + 1] = {
    { NULL, block_1_1, block_1_2, block_1_3, block_1_4, block_1_5, block_1_6, block_1_7, block_1_8 },
#if V_REGISTERS_32
    { NULL, block_2_1, block_2_2, block_2_3, block_2_4, block_2_5, block_2_6, block_2_7, block_2_8, block_2_9,
      block_2_10, block_2_11, block_2_12 },
    { NULL, block_3_1, block_3_2, block_3_3, block_3_4, block_3_5, block_3_6, block_3_7, block_3_8 },
#else
    { NULL, block_2_1, block_2_2, block_2_3, block_2_4, block_2_5, block_2_6 },
    { NULL, block_3_1, block_3_2, block_3_3, block_3_4 },
#endif
};
