/* permutation.h - internal. A keyed permutation of [0, n), element by element and without a table: an alternating Feistel network on the
 * next power of two, walked until it lands inside. */
#ifndef LKS_DATA_PERMUTATION_H
#define LKS_DATA_PERMUTATION_H

#include "base/philox.h"

typedef struct lks_permutation {
    uint64_t n, key[8];
    int left, right; /* bits of the two halves */
} lks_permutation;

static inline lks_permutation lks__permutation(uint64_t n, uint64_t seed, uint64_t pass)
{
    lks_permutation p = { .n = n };
    int bits = 6; /* small sets walk a little longer for better mixing */

    while (bits < 63 && (uint64_t)1 << bits < n) bits++;
    p.left = bits / 2;
    p.right = bits - p.left;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t counter[4] = { i, (uint32_t)pass, (uint32_t)(pass >> 32), 0x5045524D };
        lks_philox_block b = lks__philox(seed, counter);
        p.key[2 * i] = (uint64_t)b.word[0] << 32 | b.word[1];
        p.key[2 * i + 1] = (uint64_t)b.word[2] << 32 | b.word[3];
    }
    return p;
}

static inline uint64_t lks__permutation_mix(uint64_t x, uint64_t key)
{
    x = (x ^ key) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

static inline uint64_t lks__permuted(const lks_permutation *p, uint64_t i)
{
    const uint64_t low = ((uint64_t)1 << p->right) - 1, high = ((uint64_t)1 << p->left) - 1;

    do {
        uint64_t r = i & low, l = i >> p->right;
        for (int k = 0; k < 8; k += 2) {
            l = (l ^ lks__permutation_mix(r, p->key[k])) & high;
            r = (r ^ lks__permutation_mix(l, p->key[k + 1])) & low;
        }
        i = l << p->right | r;
    } while (i >= p->n);
    return i;
}

#endif
