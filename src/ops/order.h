/* order.h - internal. The fixed orders in which ops sum, as plain C that any instruction set reproduces.
 *
 * Where the elements to be joined lie side by side, there are 16 lanes: lane l takes elements l, l + 16, l + 32, ... from a
 * start of +0 (-inf), and the lanes are joined by one tree: l with l + 8, then + 4, + 2, + 1. One AVX-512 register, two AVX2
 * registers, four NEON registers.
 */
#ifndef LKS_OPS_ORDER_H
#define LKS_OPS_ORDER_H

#include "ops/scalar_math.h"

enum { LKS_LANES = 16 };

static inline float lks__tree_sum16(float lane[LKS_LANES])
{
    for (int l = 0; l < 8; l++) lane[l] += lane[l + 8];
    for (int l = 0; l < 4; l++) lane[l] += lane[l + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

static inline float lks__tree_max16(float lane[LKS_LANES])
{
    for (int l = 0; l < 8; l++) lane[l] = lks__max_f(lane[l], lane[l + 8]);
    for (int l = 0; l < 4; l++) lane[l] = lks__max_f(lane[l], lane[l + 4]);
    return lks__max_f(lks__max_f(lane[0], lane[2]), lks__max_f(lane[1], lane[3]));
}

static inline float lks__sum16(const float *x, int64_t n)
{
    float lane[LKS_LANES] = { 0 };
    int64_t i = 0;

    for (; i + LKS_LANES <= n; i += LKS_LANES)
        for (int l = 0; l < LKS_LANES; l++) lane[l] += x[i + l];
    for (int l = 0; i + l < n; l++) lane[l] += x[i + l];
    return lks__tree_sum16(lane);
}

static inline float lks__max16(const float *x, int64_t n)
{
    float lane[LKS_LANES];
    int64_t i = 0;

    for (int l = 0; l < LKS_LANES; l++) lane[l] = -LKS_INFINITY_F;
    for (; i + LKS_LANES <= n; i += LKS_LANES)
        for (int l = 0; l < LKS_LANES; l++) lane[l] = lks__max_f(lane[l], x[i + l]);
    for (int l = 0; i + l < n; l++) lane[l] = lks__max_f(lane[l], x[i + l]);
    return lks__tree_max16(lane);
}

#endif
