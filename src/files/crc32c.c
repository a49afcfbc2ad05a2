/* crc32c.c - the processor's own instruction where it has one (three independent lanes, since each step waits for the one
 * before it), else eight bytes a step through eight tables. Tables are made at the first use. */
#include "crc32c.h"

#include <pthread.h>
#include <string.h>

enum { LANE = 512 }; /* bytes */

static uint32_t table[8][256];
static uint32_t shift[4][256]; /* what a checksum becomes behind LANE zero bytes, by its bytes */
static uint32_t (*run)(uint32_t c, const unsigned char *p, size_t n);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t by_tables(uint32_t c, const unsigned char *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        c = table[7][c & 255] ^ table[6][c >> 8 & 255] ^ table[5][c >> 16 & 255] ^ table[4][c >> 24] ^ table[3][p[4]] ^
            table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; n > 0; n--, p++) c = c >> 8 ^ table[0][(c ^ *p) & 255];
    return c;
}

#if defined(__x86_64__)
static uint32_t behind_lane(uint32_t c)
{
    return shift[0][c & 255] ^ shift[1][c >> 8 & 255] ^ shift[2][c >> 16 & 255] ^ shift[3][c >> 24];
}

static inline uint64_t word(const unsigned char *p)
{
    uint64_t w;

    memcpy(&w, p, 8);
    return w;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t c, const unsigned char *p, size_t n)
{
    uint64_t a = c, b, d;

    for (; n >= 3 * LANE; n -= 3 * LANE, p += 3 * LANE) {
        b = d = 0;
        for (size_t i = 0; i < LANE; i += 8) {
            a = __builtin_ia32_crc32di(a, word(p + i));
            b = __builtin_ia32_crc32di(b, word(p + LANE + i));
            d = __builtin_ia32_crc32di(d, word(p + 2 * LANE + i));
        }
        a = behind_lane(behind_lane((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)d;
    }
    for (; n >= 8; n -= 8, p += 8) a = __builtin_ia32_crc32di(a, word(p));
    for (; n > 0; n--, p++) a = __builtin_ia32_crc32qi((uint32_t)a, *p);
    return (uint32_t)a;
}

static void choose(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2")) run = by_instruction;
}
#else
static void choose(void) {}
#endif

/* The shift is linear: it follows from what it does to each bit. */
static void make_shift(void)
{
    for (int k = 0; k < 4; k++)
        for (int bit = 0; bit < 8; bit++) {
            uint32_t c = 1u << (8 * k + bit);
            for (int i = 0; i < LANE; i++) c = c >> 8 ^ table[0][c & 255];
            shift[k][1 << bit] = c;
        }
    for (int k = 0; k < 4; k++)
        for (int i = 1; i < 256; i++) shift[k][i] = shift[k][i & (i - 1)] ^ shift[k][i & -i];
}

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0x82F63B78u : 0);
        table[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    make_shift();
    run = by_tables;
    choose();
}

uint32_t lks__crc32c(uint32_t crc, const void *data, size_t n)
{
    pthread_once(&once, make_tables);
    return ~run(~crc, data, n);
}

uint32_t lks__crc32c_plain(uint32_t crc, const void *data, size_t n)
{
    pthread_once(&once, make_tables);
    return ~by_tables(~crc, data, n);
}
