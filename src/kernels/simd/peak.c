/* peak.c - the limit that kernels are compared with: nothing but multiply-adds in registers. */
#include "entries.h"

enum { CHAINS = V_REGISTERS_32 ? 24 : 12 };

/* Each chain converges to 1 (x = x / 2 + 1 / 2), so no value ever gets slow. */
double SIMD(fma_burst)(int64_t n)
{
    vf chain[CHAINS], half = vf_set(0.5f), total = vf_zero();
    float lanes[VF];

    LKS_UNROLL
    for (int i = 0; i < CHAINS; i++) chain[i] = vf_set((float)i);
    for (int64_t k = 0; k < n; k++) {
        LKS_UNROLL
        for (int i = 0; i < CHAINS; i++) chain[i] = vf_fma(chain[i], half, half);
    }
    LKS_UNROLL
    for (int i = 0; i < CHAINS; i++) total = vf_add(total, chain[i]);
    vf_store(lanes, total);
    return lanes[0] > 0 ? 2.0 * VF * CHAINS * (double)n : 0; /* the sum is used: the loop stays */
}
