/* matmul_few.c - rows times a matrix of few columns, in the order of op_matmul.c: 16 lanes over k, joined by the tree of order.h.
 *
 * Of the packed matrix up to five columns times some rows of x stay in registers, one vector of the 16 lanes at a time: lanes
 * never meet before the end. A part of the matrix stays in L1 while a block of rows passes by.
 */
#include "matmul_few.h"
#include "ops/order.h"

enum {
    ROWS = 8,   /* of x in a block */
    CHUNK = 24, /* blocks of the matrix that they meet before the next ones do */
    COLUMNS = 5 /* at most, together */
};

/* ---- packing ---- */

LKS_INLINE void pack_block(const float *w, float *to, const int64_t m)
{
    for (int64_t j = 0; m < 4 && j < m; j++)
        for (int64_t l = 0; l < FEW_BLOCK; l++) to[j * FEW_BLOCK + l] = w[l * m + j];
    LKS_UNROLL
    for (int64_t j = 0; m >= 4 && j < m; j += 4) {
        const int64_t from = j + 4 <= m ? j : m - 4;

        LKS_UNROLL
        for (int h = 0; h < VP; h++) {
            vf c[4];

            vf_load_columns(w + h * VF * m + from, m, c);
            LKS_UNROLL
            for (int l = 0; l < 4; l++) vf_store(to + (from + l) * FEW_BLOCK + h * VF, c[l]);
        }
    }
}

void SIMD(few_pack)(int64_t blocks, int64_t m, const float *w, float *to)
{
    const int64_t step = m * FEW_BLOCK;

    for (int64_t b = 0; b < blocks; b++, w += step, to += step) {
        if (m == 10) pack_block(w, to, 10); /* ten classes are what most programs have */
        else pack_block(w, to, m);
    }
}

/* The last columns of more than VF come from one vector that overlaps the one before: the numbers are the same. */
LKS_INLINE void unpack_block(const float *from, float *w, const int64_t m)
{
    const vmask mask = vf_first(m);
    float columns[FEW_COLUMNS * FEW_BLOCK]; /* w may be `from` */

    memcpy(columns, from, (size_t)(m * FEW_BLOCK) * sizeof *columns);
    LKS_UNROLL
    for (int h = 0; h < VP; h++) {
        LKS_UNROLL
        for (int64_t j = 0; j < m; j += VF) {
            const int64_t first = j + VF <= m || m < VF ? j : m - VF;
            float *to = w + h * VF * m + first;
            vf row[VF];

            LKS_UNROLL
            for (int l = 0; l < VF; l++)
                row[l] = first + l < m ? vf_load(columns + (first + l) * FEW_BLOCK + h * VF) : vf_zero();
            vf_transpose(row);
            LKS_UNROLL
            for (int l = 0; l < VF; l++) {
                if (m < VF) vf_store_m(to + l * m, mask, row[l]);
                else vf_store(to + l * m, row[l]);
            }
        }
    }
}

void SIMD(few_unpack)(int64_t blocks, int64_t m, const float *from, float *w)
{
    const int64_t step = m * FEW_BLOCK;

    for (int64_t b = 0; b < blocks; b++, from += step, w += step) {
        if (m == 10) unpack_block(from, w, 10);
        else unpack_block(from, w, m);
    }
}

/* ---- the product ---- */

typedef struct few {
    int64_t k, m, blocks;
    const float *a, *w; /* w: packed */
    float *lanes;       /* [row][m][16] */
} few;

/* E rows times C columns; H vectors of the 16 lanes, from `half` on. */
LKS_INLINE void few_sums(const few *f, const int E, const int C, const int H, int half)
{
    const float *w = f->w + half * VF, *a = f->a + half * VF;
    float *lanes = f->lanes + half * VF;
    vf sum[12 * VP];

    LKS_UNROLL
    for (int i = 0; i < E * C * H; i++)
        sum[i] = vf_load(lanes + (i / (C * H) * f->m + i / H % C) * FEW_BLOCK + i % H * VF);
    for (int64_t b = 0; b < f->blocks; b++, a += FEW_BLOCK, w += f->m * FEW_BLOCK) {
        vf x[8 * VP];

        LKS_UNROLL
        for (int i = 0; i < E * H; i++) {
            x[i] = vf_load(a + i / H * f->k + i % H * VF);
            LKS_ONCE(x[i]);
        }
        LKS_UNROLL
        for (int i = 0; i < C * H; i++) {
            vf v = vf_load(w + i / H * FEW_BLOCK + i % H * VF);

            if (E > 1) LKS_ONCE(v);
            LKS_UNROLL
            for (int e = 0; e < E; e++) VF_ADD_PRODUCT(sum[e * C * H + i], x[e * H + i % H], v);
        }
    }
    LKS_UNROLL
    for (int i = 0; i < E * C * H; i++)
        vf_store(lanes + (i / (C * H) * f->m + i / H % C) * FEW_BLOCK + i % H * VF, sum[i]);
}

typedef void (*few_fn)(const few *f);

#define FEW_SUMS(E, C)                                                  \
    static void one_##C(const few *f)                                   \
    {                                                                   \
        few_sums(f, 1, C, VP <= 2 ? VP : 1, 0);                         \
        for (int h = 1; VP > 2 && h < VP; h++) few_sums(f, 1, C, 1, h); \
    }                                                                   \
    static void rows_##C(const few *f)                                  \
    {                                                                   \
        for (int h = 0; h < VP; h++) few_sums(f, E, C, 1, h);           \
    }
FEW_SUMS(6, 1)
FEW_SUMS(4, 2)
FEW_SUMS(3, 3)
FEW_SUMS(2, 4)
FEW_SUMS(2, 5)

static const struct {
    int together;
    few_fn one, rows;
} few_of[COLUMNS + 1] = {
    [1] = { 6, one_1, rows_1 }, [2] = { 4, one_2, rows_2 }, [3] = { 3, one_3, rows_3 },
    [4] = { 2, one_4, rows_4 }, [5] = { 2, one_5, rows_5 },
};

/* All columns of a chunk, for `rows` rows from a. */
static void few_chunk(few *f, const float *a, const float *w, float *lanes, int64_t rows)
{
    for (int64_t groups = (f->m + COLUMNS - 1) / COLUMNS, left = f->m, n; groups > 0; groups--, left -= n) {
        int64_t i = 0;

        n = (left + groups - 1) / groups;
        f->w = w + (f->m - left) * FEW_BLOCK;
        while (i < rows) {
            const bool several = i + few_of[n].together <= rows;

            f->a = a + i * f->k;
            f->lanes = lanes + (i * f->m + f->m - left) * FEW_BLOCK;
            if (several) few_of[n].rows(f);
            else few_of[n].one(f);
            i += several ? few_of[n].together : 1;
        }
    }
}

/* k behind the last block, then the tree. */
static void few_finish(const few *f, int64_t rows, const float *a, const float *w, float *lanes, float *y)
{
    const int64_t m = f->m, first = f->k / FEW_BLOCK * FEW_BLOCK;
    int64_t i = 0;

    for (int64_t e = 0; e < rows; e++)
        for (int64_t k = first; k < f->k; k++)
            for (int64_t j = 0; j < m; j++) {
                float *lane = lanes + (e * m + j) * FEW_BLOCK + k - first;

                *lane = lks__fma_f(a[e * f->k + k], w[k * m + j], *lane);
            }
    for (; i + VF <= rows * m; i += VF) vf_store(y + i, vf_join_rows(lanes + i * FEW_BLOCK));
    for (; i < rows * m; i++) y[i] = lks__tree_sum16(lanes + i * FEW_BLOCK);
}

void SIMD(matmul_few)(int64_t rows, int64_t k, int64_t m, const float *a, const float *w, const float *packed, float *y)
{
    float lanes[ROWS * FEW_COLUMNS * FEW_BLOCK], near[CHUNK * FEW_COLUMNS * FEW_BLOCK];
    few f = { .k = k, .m = m };
    const int64_t blocks = k / FEW_BLOCK;

    for (int64_t i = 0; i < rows; i += ROWS, a += ROWS * k, y += ROWS * m) {
        const int64_t n = rows - i < ROWS ? rows - i : ROWS;

        memset(lanes, 0, (size_t)(n * m * FEW_BLOCK) * sizeof *lanes);
        for (int64_t first = 0; first < blocks; first += CHUNK) {
            const int64_t at = first * FEW_BLOCK * m;

            f.blocks = blocks - first < CHUNK ? blocks - first : CHUNK;
            if (packed == NULL) SIMD(few_pack)(f.blocks, m, w + at, near);
            few_chunk(&f, a + first * FEW_BLOCK, packed != NULL ? packed + at : near, lanes, n);
        }
        few_finish(&f, n, a, w, lanes, y);
    }
}
