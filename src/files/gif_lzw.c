/* gif_lzw.c - a code is the string of an earlier code and one more index; strings come out backwards through `text`. */
#include "gif_lzw.h"

#include <stdbool.h>

enum { CODES = 4096 };

typedef struct lzw {
    const unsigned char *data;
    size_t n, at, block; /* bytes left in the sub-block */
    uint32_t bits;
    int n_bits;
    unsigned clear, next, size; /* size: bits of a code */
    uint16_t before[CODES];
    unsigned char last[CODES], text[CODES];
} lzw;

/* The next code; false where the data end. */
static bool take_code(lzw *z, unsigned *code)
{
    while (z->n_bits < (int)z->size) {
        if (z->block == 0) {
            if (z->at >= z->n || z->data[z->at] == 0) return false;
            z->block = z->data[z->at++];
        }
        if (z->at >= z->n) return false;
        z->bits |= (uint32_t)z->data[z->at++] << z->n_bits;
        z->n_bits += 8;
        z->block--;
    }
    *code = z->bits & ((1u << z->size) - 1);
    z->bits >>= z->size;
    z->n_bits -= (int)z->size;
    return true;
}

static void reset(lzw *z, unsigned least)
{
    z->size = least + 1;
    z->next = z->clear + 2;
}

/* The string of a known code, at the end of text; returns where it begins. */
static unsigned spell(lzw *z, unsigned code)
{
    unsigned at = CODES;

    for (;;) {
        z->text[--at] = z->last[code];
        if (code < z->clear || at == 0) return at;
        code = z->before[code];
    }
}

static void learn(lzw *z, unsigned before, unsigned char last)
{
    if (z->next >= CODES) return;
    z->before[z->next] = (uint16_t)before;
    z->last[z->next] = last;
    z->next++;
    if (z->next == 1u << z->size && z->size < 12) z->size++;
}

/* To the end of the sub-blocks, whatever is in them. */
static lks_status finish(lzw *z)
{
    size_t at = z->at + z->block;

    while (at < z->n && z->data[at] != 0) at += 1 + (size_t)z->data[at];
    if (at >= z->n) return lks__fail(LKS_E_FORMAT, "the file ends inside a frame");
    z->at = at + 1;
    return LKS_OK;
}

lks_status lks__gif_lzw(const unsigned char *data, size_t n, size_t *at, int64_t count,
                        lks_status (*put)(void *user, const unsigned char *indices, size_t n), void *user)
{
    enum { NONE = CODES };
    lzw z = { .data = data, .n = n, .at = *at + 1 };
    unsigned least = *at < n ? data[*at] : 0, code, before = NONE;

    if (least < 1 || least > 8) return lks__fail(LKS_E_FORMAT, "a frame with codes of %u bits", least);
    z.clear = 1u << least;
    for (unsigned i = 0; i < z.clear; i++) z.last[i] = (unsigned char)i;
    reset(&z, least);
    while (count > 0) {
        unsigned first;
        size_t length;
        if (!take_code(&z, &code) || code == z.clear + 1)
            return lks__fail(LKS_E_FORMAT, "the file ends inside a frame: %lld pixels are missing", (long long)count);
        if (code == z.clear) {
            reset(&z, least);
            before = NONE;
            continue;
        }
        if (code > z.next || (code == z.next && (before == NONE || z.next >= CODES)) ||
            (before == NONE && code > z.clear))
            return lks__fail(LKS_E_FORMAT, "a frame's data are damaged (code %u of %u)", code, z.next);
        if (before != NONE && z.next < CODES) {
            /* The string in making ends with the first index of this one, also where this one is itself. */
            unsigned start = spell(&z, code == z.next ? before : code);
            learn(&z, before, z.text[start]);
        }
        first = spell(&z, code);
        length = CODES - first;
        if ((int64_t)length > count) length = (size_t)count;
        LKS_TRY(put(user, z.text + first, length));
        count -= (int64_t)length;
        before = code;
    }
    LKS_TRY(finish(&z));
    *at = z.at;
    return LKS_OK;
}
