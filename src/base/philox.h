/* philox.h - internal. Philox4x32-10, the counter-based generator behind every random number.
 *
 * Source of the constants: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
 * Keying: key = the 64-bit seed; counter = { block of elements, example index, step, stream }.
 */
#ifndef LKS_BASE_PHILOX_H
#define LKS_BASE_PHILOX_H

#include <stdint.h>

/* Multipliers and key increments of a round. */
#define LKS_PHILOX_M0 0xD2511F53u
#define LKS_PHILOX_M1 0xCD9E8D57u
#define LKS_PHILOX_W0 0x9E3779B9u
#define LKS_PHILOX_W1 0xBB67AE85u

typedef struct lks_philox_block {
    uint32_t word[4];
} lks_philox_block;

lks_philox_block lks__philox(uint64_t key, const uint32_t counter[4]);

/* A stream number from names, such as ("model/dropout", "mask"). FNV-1a over both. */
uint32_t lks__philox_stream(const char *path, const char *purpose);

/* 24 bits of `word` as a float in [0, 1). */
static inline float lks__unit_float(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

#endif
