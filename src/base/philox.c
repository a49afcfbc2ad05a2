/* philox.c - ten rounds, no state. */
#include "philox.h"

lks_philox_block lks__philox(uint64_t key, const uint32_t counter[4])
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    lks_philox_block c = { { counter[0], counter[1], counter[2], counter[3] } };

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)LKS_PHILOX_M0 * c.word[0], p1 = (uint64_t)LKS_PHILOX_M1 * c.word[2];
        lks_philox_block next = { { (uint32_t)(p1 >> 32) ^ c.word[1] ^ k0, (uint32_t)p1,
                                    (uint32_t)(p0 >> 32) ^ c.word[3] ^ k1, (uint32_t)p0 } };
        c = next;
        k0 += LKS_PHILOX_W0;
        k1 += LKS_PHILOX_W1;
    }
    return c;
}

uint32_t lks__philox_stream(const char *path, const char *purpose)
{
    uint32_t h = 2166136261u;

    for (; *path != '\0'; path++) h = (h ^ (uint8_t)*path) * 16777619u;
    h = (h ^ 0u) * 16777619u;
    for (; *purpose != '\0'; purpose++) h = (h ^ (uint8_t)*purpose) * 16777619u;
    return h;
}
