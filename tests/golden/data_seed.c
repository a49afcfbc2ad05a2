/* data_seed.c - Python's generator (MT19937, seeded by init_by_array as CPython does for an integer), of which TensorFlow takes
 * op seeds: randint(0, 2^31 - 1) is the first 32-bit draw below 2^31. */
#include "data.h"

enum { N = 624, M = 397 };

typedef struct twister {
    uint32_t state[N];
    int at;
} twister;

static void seed_one(twister *t, uint32_t s)
{
    t->state[0] = s;
    for (int i = 1; i < N; i++) t->state[i] = 1812433253u * (t->state[i - 1] ^ t->state[i - 1] >> 30) + (uint32_t)i;
}

static void seed_key(twister *t, const uint32_t *key, int n)
{
    int i = 1, j = 0;

    seed_one(t, 19650218u);
    for (int k = N > n ? N : n; k > 0; k--) {
        t->state[i] = (t->state[i] ^ (t->state[i - 1] ^ t->state[i - 1] >> 30) * 1664525u) + key[j] + (uint32_t)j;
        if (++i >= N) {
            t->state[0] = t->state[N - 1];
            i = 1;
        }
        if (++j >= n) j = 0;
    }
    for (int k = N - 1; k > 0; k--) {
        t->state[i] = (t->state[i] ^ (t->state[i - 1] ^ t->state[i - 1] >> 30) * 1566083941u) - (uint32_t)i;
        if (++i >= N) {
            t->state[0] = t->state[N - 1];
            i = 1;
        }
    }
    t->state[0] = 0x80000000u;
    t->at = N;
}

static uint32_t draw(twister *t)
{
    uint32_t y;

    if (t->at == N) {
        for (int i = 0; i < N; i++) {
            y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % N] & 0x7fffffffu);
            t->state[i] = t->state[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        t->at = 0;
    }
    y = t->state[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

int64_t data_python_seed(int64_t seed)
{
    uint64_t magnitude = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    const uint32_t key[2] = { (uint32_t)magnitude, (uint32_t)(magnitude >> 32) };
    twister t;
    uint32_t y;

    seed_key(&t, key, key[1] != 0 ? 2 : 1);
    do y = draw(&t);
    while (y >= 0x80000000u);
    return (int64_t)y;
}
