/* tar.c - see tar.h. A header is believed only if its checksum is right; sizes are compared with the file before anything is
 * made for them. */
#include "tar.h"

#include <string.h>

enum { BLOCK = 512, NAME = 100, PREFIX = 345, PREFIX_SIZE = 155, SIZE = 124, CHECKSUM = 148, TYPE = 156, MAGIC = 257 };
enum { LONGEST_NAME = 1 << 16, LARGEST_PAX = 1 << 20 };

void lks__tar_begin(lks_tar *t, const lks_byte_stream *s)
{
    t->name.length = t->pax_name.length = 0;
    t->size = t->left = t->padding = 0;
    t->pax_size = -1;
    t->unclosed = false;
    t->limit = s->compressed ? UINT64_MAX : lks__stream_size(s);
}

void lks__tar_free(lks_tar *t)
{
    lks__text_free(&t->name);
    lks__text_free(&t->pax_name);
}

static lks_status cut_off(void)
{
    return lks__fail(LKS_E_FORMAT, "the archive ends inside a member: it is cut off");
}

/* Octal digits between blanks, or GNU's binary form. False if it is neither or above 63 bits. */
static bool read_number(const unsigned char *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;

    if (p[0] & 0x80) {
        v = p[0] & 0x7f;
        for (i = 1; i < n; i++) {
            if (v >> 55 != 0) return false;
            v = v << 8 | p[i];
        }
        *out = v;
        return true;
    }
    while (i < n && p[i] == ' ') i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) v = v << 3 | (uint64_t)(p[i] - '0');
    for (; i < n; i++)
        if (p[i] != ' ' && p[i] != '\0') return false;
    *out = v;
    return true;
}

static bool checksum_is_right(const unsigned char *header)
{
    uint64_t want, sum = 0, as_signed = 0; /* old archivers summed signed bytes */

    for (int i = 0; i < BLOCK; i++) {
        unsigned char c = i >= CHECKSUM && i < CHECKSUM + 8 ? ' ' : header[i];
        sum += c;
        as_signed += (uint64_t)(int64_t)(signed char)c;
    }
    return read_number(header + CHECKSUM, 8, &want) && (want == sum || want == as_signed);
}

static bool is_zero(const unsigned char *header)
{
    for (int i = 0; i < BLOCK; i++)
        if (header[i] != 0) return false;
    return true;
}

static lks_status pass(lks_byte_stream *s, uint64_t n)
{
    uint64_t done;

    LKS_TRY(lks__stream_pass(s, n, &done));
    return done < n ? cut_off() : LKS_OK;
}

/* "25 path=some/name\n": length, key, value. Others than path and size are passed over. */
static lks_status read_pax(lks_tar *t, const char *p, size_t n)
{
    while (n > 0) {
        size_t length = 0, i = 0;
        const char *equals;
        while (i < n && p[i] >= '0' && p[i] <= '9' && length < n) length = 10 * length + (size_t)(p[i++] - '0');
        if (i == 0 || length <= i + 1 || length > n || p[i] != ' ' || p[length - 1] != '\n')
            return lks__fail(LKS_E_FORMAT, "a pax header is malformed");
        equals = memchr(p + i + 1, '=', length - i - 1);
        if (equals == NULL) return lks__fail(LKS_E_FORMAT, "a pax header is malformed");
        if ((size_t)(equals - (p + i + 1)) == 4 && memcmp(p + i + 1, "path", 4) == 0) {
            t->pax_name.length = 0;
            lks__text_append(&t->pax_name, equals + 1, (size_t)(p + length - 1 - (equals + 1)));
        } else if ((size_t)(equals - (p + i + 1)) == 4 && memcmp(p + i + 1, "size", 4) == 0) {
            int64_t size = 0;
            for (const char *d = equals + 1; d < p + length - 1; d++) {
                if (*d < '0' || *d > '9' || size > (INT64_MAX - 9) / 10)
                    return lks__fail(LKS_E_FORMAT, "the size in a pax header is malformed");
                size = 10 * size + (*d - '0');
            }
            t->pax_size = size;
        }
        p += length;
        n -= length;
    }
    return LKS_OK;
}

/* The contents of a member that speaks of the next one: a long name ('L') or pax entries ('x'). */
static lks_status read_extra(lks_tar *t, lks_byte_stream *s, char type, uint64_t size)
{
    lks_text text = { 0 };
    lks_status status = LKS_OK;
    char part[BLOCK];

    if (size > (type == 'L' ? LONGEST_NAME : LARGEST_PAX))
        return lks__fail(LKS_E_FORMAT, "a header of %llu bytes is above the limit", (unsigned long long)size);
    for (uint64_t left = size; left > 0 && status == LKS_OK;) {
        size_t n = left < sizeof part ? (size_t)left : sizeof part, got;
        status = lks__stream_read(s, part, n, &got);
        if (status == LKS_OK && got < n) status = cut_off();
        lks__text_append(&text, part, n);
        left -= n;
    }
    if (status == LKS_OK && text.failed) status = lks__fail(LKS_E_NOMEM, "no memory for a header");
    if (status == LKS_OK && type == 'x') status = read_pax(t, text.data, text.length);
    if (status == LKS_OK && type == 'L') {
        t->pax_name.length = 0;
        lks__text_append(&t->pax_name, text.data, strnlen(text.data == NULL ? "" : text.data, text.length));
    }
    lks__text_free(&text);
    return status == LKS_OK ? pass(s, (BLOCK - size % BLOCK) % BLOCK) : status;
}

/* The name of a header without extras: prefix/name. */
static void plain_name(lks_tar *t, const unsigned char *header)
{
    const char *name = (const char *)header, *prefix = name + PREFIX;
    bool ustar = memcmp(header + MAGIC, "ustar\0", 6) == 0;

    if (ustar && *prefix != '\0') {
        lks__text_append(&t->name, prefix, strnlen(prefix, PREFIX_SIZE));
        lks__text_append(&t->name, "/", 1);
    }
    lks__text_append(&t->name, name, strnlen(name, NAME));
}

static lks_status take_member(lks_tar *t, lks_byte_stream *s, const unsigned char *header, uint64_t size)
{
    t->name.length = 0;
    if (t->pax_size >= 0) size = (uint64_t)t->pax_size;
    if (t->pax_name.length > 0) lks__text_append(&t->name, t->pax_name.data, t->pax_name.length);
    else plain_name(t, header);
    t->pax_name.length = 0;
    t->pax_size = -1;
    if (t->name.failed || t->pax_name.failed) {
        lks__tar_free(t);
        t->name = t->pax_name = (lks_text){ 0 };
        return lks__fail(LKS_E_NOMEM, "no memory for a member's name");
    }
    if (size <= INT64_MAX - BLOCK && t->limit < s->offset + size)
        t->limit = lks__stream_size(s); /* it may have grown */
    if (size > INT64_MAX - BLOCK || t->limit < s->offset + size)
        return lks__fail(LKS_E_FORMAT, "member '%s' has %llu bytes, the archive is cut off before that",
                         t->name.data == NULL ? "" : t->name.data, (unsigned long long)size);
    t->size = t->left = size;
    t->padding = (BLOCK - size % BLOCK) % BLOCK;
    return LKS_OK;
}

static lks_status skip_rest(lks_tar *t, lks_byte_stream *s)
{
    uint64_t n = t->left + t->padding;

    t->left = t->padding = 0;
    return pass(s, n);
}

lks_status lks__tar_next(lks_tar *t, lks_byte_stream *s)
{
    for (;;) {
        unsigned char header[BLOCK];
        uint64_t size;
        size_t got;
        char type;
        LKS_TRY(skip_rest(t, s));
        LKS_TRY(lks__stream_read(s, header, BLOCK, &got));
        t->unclosed = got == 0 && s->offset > 0;
        if (got == 0) return LKS_END;
        if (got < BLOCK) return cut_off();
        if (is_zero(header)) return LKS_END;
        if (!checksum_is_right(header))
            return lks__fail(LKS_E_FORMAT, "the checksum of a member's header is wrong%s",
                             s->offset == BLOCK ? lks__stream_hint(s, header, BLOCK, "; is this a tar archive?") : "");
        if (!read_number(header + SIZE, 12, &size)) return lks__fail(LKS_E_FORMAT, "the size of a member is malformed");
        type = (char)header[TYPE];
        if (type == 'L' || type == 'x') {
            LKS_TRY(read_extra(t, s, type, size));
            continue;
        }
        LKS_TRY(take_member(t, s, header, type >= '1' && type <= '6' ? 0 : size));
        if (type == '0' || type == '\0' || type == '7') return LKS_OK;
        /* folders, links, devices and what is unknown are passed over */
    }
}

lks_status lks__tar_read(lks_tar *t, lks_byte_stream *s, void *data, size_t n)
{
    size_t got;

    LKS_TRY(lks__stream_read(s, data, n, &got));
    t->left -= got;
    return got < n ? cut_off() : LKS_OK;
}
