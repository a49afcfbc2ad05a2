/* crc32c.c - eight bytes a step through eight tables, made at the first use. */
#include "crc32c.h"

#include <pthread.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0x82F63B78u : 0);
        table[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

uint32_t lks__crc32c(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t c = ~crc;

    pthread_once(&once, make_tables);
    for (; n >= 8; n -= 8, p += 8) {
        c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        c = table[7][c & 255] ^ table[6][c >> 8 & 255] ^ table[5][c >> 16 & 255] ^ table[4][c >> 24] ^ table[3][p[4]] ^
            table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; n > 0; n--, p++) c = c >> 8 ^ table[0][(c ^ *p) & 255];
    return ~c;
}
