/* matmul_few_filter.c - the gradient for a matrix of few columns: w (k, m) += a (rows, k) transposed times d (rows, m), rows in order.
 *
 * Lanes run over k, so that a number of d is spread over a whole vector by its load: two vectors of k times up to five columns
 * stay in registers while all rows pass by. The sums stay in the packed order (matmul_few.h) until all shards' sums have been
 * joined (lks_kernel.settle); those of other shards are added while they are in registers.
 */
#include "matmul_few.h"
#include "ops/scalar_math.h"

enum {
    COLUMNS = 5,     /* at most, together */
    STEP = 2 * VF,   /* rows of w */
    AHEAD = 4 * STEP /* to ask memory for beforehand */
};

typedef struct few_filter {
    const lks_op_call *call;
    int64_t rows, k, m;
    const float *a, *d;
    float *w;
} few_filter;

/* What later steps read and write: asked for row by row, so that memory has time for each. */
LKS_INLINE void few_ask(const few_filter *f, const float *a, int64_t first, int64_t r)
{
    const int64_t at = (first + AHEAD) * f->m + r * 16;

    __builtin_prefetch(a + AHEAD);
    if (r * 16 >= STEP * f->m) return;
    __builtin_prefetch(f->w + at, 1);
    if (f->call->n_join > 0) __builtin_prefetch(f->call->join[0] + at);
}

/* C columns from column `c` of STEP rows of w from `first`. ask: of the rows that come later. */
LKS_INLINE void few_columns(const few_filter *f, int64_t first, int64_t c, const bool ask, const int C)
{
    const int64_t at[2] = { few_at(f->m, first, 0) + c * FEW_BLOCK, few_at(f->m, first, 1) + c * FEW_BLOCK };
    const float *a = f->a + first, *d = f->d + c;
    vf sum[2 * COLUMNS];

    LKS_UNROLL
    for (int i = 0; i < 2 * C; i++) sum[i] = vf_zero();
    if (!f->call->fresh) {
        LKS_UNROLL
        for (int i = 0; i < 2 * C; i++) sum[i] = vf_load(f->w + at[i % 2] + i / 2 * FEW_BLOCK);
    }
    for (int64_t r = 0; r < f->rows; r++, a += f->k, d += f->m) {
        vf a0 = vf_load(a), a1 = vf_load(a + VF);

        LKS_ONCE(a0);
        LKS_ONCE(a1);
        if (ask) few_ask(f, a, first, r);
        LKS_UNROLL
        for (int i = 0; i < C; i++) {
            const vf v = vf_set(d[i]);

            VF_ADD_PRODUCT(sum[2 * i], a0, v);
            VF_ADD_PRODUCT(sum[2 * i + 1], a1, v);
        }
    }
    for (int s = 0; s < f->call->n_join; s++) {
        LKS_UNROLL
        for (int i = 0; i < 2 * C; i++)
            sum[i] = vf_add(sum[i], vf_load(f->call->join[s] + at[i % 2] + i / 2 * FEW_BLOCK));
    }
    LKS_UNROLL
    for (int i = 0; i < 2 * C; i++) vf_store(f->w + at[i % 2] + i / 2 * FEW_BLOCK, sum[i]);
}

static void few_step(const few_filter *f, int64_t first)
{
    bool ask = first + AHEAD + STEP <= f->k;

    for (int64_t groups = (f->m + COLUMNS - 1) / COLUMNS, c = 0, n; groups > 0; groups--, c += n, ask = false) {
        n = (f->m - c + groups - 1) / groups;
        switch (n) {
        case 5:
            if (ask) few_columns(f, first, c, true, 5);
            else few_columns(f, first, c, false, 5);
            break;
        case 4: few_columns(f, first, c, false, 4); break;
        case 3: few_columns(f, first, c, false, 3); break;
        case 2: few_columns(f, first, c, false, 2); break;
        default: few_columns(f, first, c, false, 1); break;
        }
    }
}

/* Rows of w from `first` on, number by number: k below `packed` are in the packed order. */
static void few_rest(const few_filter *f, int64_t first, int64_t packed)
{
    for (int64_t k = first; k < f->k; k++)
        for (int64_t j = 0; j < f->m; j++) {
            const int64_t at = k < packed ? few_at(f->m, k, 0) + j * FEW_BLOCK : k * f->m + j;
            float sum = f->call->fresh ? 0.0f : f->w[at];

            for (int64_t r = 0; r < f->rows; r++) sum = lks__fma_f(f->a[r * f->k + k], f->d[r * f->m + j], sum);
            for (int s = 0; s < f->call->n_join; s++) sum += f->call->join[s][at];
            f->w[at] = sum;
        }
}

void SIMD(matmul_filter_few)(const lks_op_call *call)
{
    const few_filter f = { .call = call,
                           .rows = call->n,
                           .k = call->out_type->shape.dim[0],
                           .m = call->out_type->shape.dim[1],
                           .a = call->in[0],
                           .d = call->in[1],
                           .w = call->out };
    const int64_t packed = f.k / FEW_BLOCK * FEW_BLOCK, whole = packed / STEP * STEP;

    for (int64_t first = 0; first < whole; first += STEP) few_step(&f, first);
    few_rest(&f, whole, packed);
}
