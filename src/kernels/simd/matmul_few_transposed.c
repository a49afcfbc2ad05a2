/* matmul_few_transposed.c - rows of few numbers times a matrix of few columns transposed: the gradient towards the inputs of a
 * small dense layer. Two vectors along the matrix's rows times some rows stay in registers; the order is over the columns.
 */
#include "matmul_few.h"
#include "ops/scalar_math.h"

enum {
    ROWS = V_REGISTERS_32 ? 10 : 6, /* in a block, at most */
    VECTORS = 2,                    /* of the matrix's rows */
    STEP = VECTORS * VF,
    RUN = 128 / STEP /* such steps: short enough for L1, long enough for prefetching */
};

LKS_INLINE void transposed_block(int64_t m, const float *d, const float *p0, const float *p1, float *y, int64_t k,
                                 const float *mask, const int rows)
{
    vf sum[2 * ROWS];

    LKS_UNROLL
    for (int i = 0; i < rows * 2; i++) sum[i] = vf_zero();
    for (int64_t j = 0; j < m; j++) {
        vf c0 = vf_load(p0 + j * FEW_BLOCK), c1 = vf_load(p1 + j * FEW_BLOCK);

        LKS_ONCE(c0);
        LKS_ONCE(c1);
        LKS_UNROLL
        for (int i = 0; i < rows; i++) {
            const vf v = vf_set(d[i * m + j]);

            VF_ADD_PRODUCT(sum[2 * i], v, c0);
            VF_ADD_PRODUCT(sum[2 * i + 1], v, c1);
        }
    }
    if (mask != NULL) {
        LKS_UNROLL
        for (int i = 0; i < rows * 2; i++) sum[i] = vf_where_positive(vf_load(mask + i / 2 * k + i % 2 * VF), sum[i]);
    }
    LKS_UNROLL
    for (int i = 0; i < rows; i++) {
        vf_store(y + i * k, sum[2 * i]);
        vf_store(y + i * k + VF, sum[2 * i + 1]);
    }
}

/* k from `first` on, number by number. The mask may lie where the results go: each is made once. */
static void transposed_rest(int64_t rows, int64_t first, int64_t k, int64_t m, const float *d, const float *w, float *y,
                            const float *mask)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = first; c < k; c++) {
            float sum = 0.0f;

            for (int64_t j = 0; j < m; j++) sum = lks__fma_f(d[i * m + j], w[c * m + j], sum);
            y[i * k + c] = mask == NULL || mask[i * k + c] > 0.0f ? sum : 0.0f;
        }
}

typedef struct transposed_run {
    int64_t k, m, steps;
    const float *d, *packed;
    float *y;
    const float *mask;
} transposed_run;

LKS_INLINE void transposed_rows(const transposed_run *r, const int rows)
{
    for (int64_t s = 0; s < r->steps; s++) {
        const int64_t at = s * STEP;

        transposed_block(r->m, r->d, r->packed + few_at(r->m, at, 0), r->packed + few_at(r->m, at, 1), r->y + at, r->k,
                         r->mask != NULL ? r->mask + at : NULL, rows);
    }
}

static void transposed_some(const transposed_run *r, int64_t rows)
{
    switch (rows) {
#if V_REGISTERS_32
    case 10: transposed_rows(r, 10); break;
    case 9: transposed_rows(r, 9); break;
    case 8: transposed_rows(r, 8); break;
    case 7: transposed_rows(r, 7); break;
#endif
    case 6: transposed_rows(r, 6); break;
    case 5: transposed_rows(r, 5); break;
    case 4: transposed_rows(r, 4); break;
    case 3: transposed_rows(r, 3); break;
    case 2: transposed_rows(r, 2); break;
    default: transposed_rows(r, 1); break;
    }
}

void SIMD(matmul_few_transposed)(int64_t rows, int64_t k, int64_t m, const float *d, const float *w,
                                 const float *packed, float *y, const float *mask)
{
    const int64_t blocks = k / FEW_BLOCK, whole = blocks * FEW_BLOCK / STEP * STEP;
    float near[RUN * STEP * FEW_COLUMNS];

    for (int64_t first = 0; first < whole; first += RUN * STEP) {
        const int64_t steps = (whole - first) / STEP < RUN ? (whole - first) / STEP : RUN;
        int64_t i = 0;

        if (packed == NULL)
            SIMD(few_pack)(steps * STEP / FEW_BLOCK + (steps * STEP % FEW_BLOCK > 0), m, w + first * m, near);
        for (int64_t left = (rows + ROWS - 1) / ROWS, n; left > 0; left--, i += n) {
            const int64_t at = i * k + first;
            const transposed_run run = { .k = k,
                                         .m = m,
                                         .steps = steps,
                                         .d = d + i * m,
                                         .packed = packed != NULL ? packed + first * m : near,
                                         .y = y + at,
                                         .mask = mask != NULL ? mask + at : NULL };

            n = (rows - i + left - 1) / left;
            transposed_some(&run, n);
        }
    }
    transposed_rest(rows, whole, k, m, d, w, y, mask);
}
