/* set.c - the set that always exists: no kernel overrides an op's own, elementwise blocks are plain C. */
#include "kernels/kernels.h"
#include "ops/scalar_math.h"

static void add(float *acc, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) acc[i] += x[i];
}

static void add_rows(float *acc, const float *x, int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++, x += n) add(acc, x, n);
}

/* x - x is 0 for finite numbers and NaN for all others. */
static int all_finite(const float *x, int64_t n)
{
    int bad = 0;

    for (int64_t i = 0; i < n; i++) bad |= !(x[i] - x[i] == 0.0f);
    return !bad;
}

/* Chains that converge to 1, as the sets' own. */
static double fma_burst(int64_t n)
{
    float chain[16];

    for (int i = 0; i < 16; i++) chain[i] = (float)i;
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < 16; i++) chain[i] = lks__fma_f(chain[i], 0.5f, 0.5f);
    for (int i = 1; i < 16; i++) chain[0] += chain[i];
    return chain[0] > 0 ? 32.0 * (double)n : 0;
}

const lks_kernel_set lks__kernels_ref = { .isa = LKS_ISA_REF,
                                          .elementwise = lks__ew_ref,
                                          .add = add,
                                          .add_rows = add_rows,
                                          .all_finite = all_finite,
                                          .fma_burst = fma_burst };
