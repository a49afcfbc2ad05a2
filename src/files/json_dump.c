/* json_dump.c - writing JSON as Python does, so that our config.json and Keras' are the same text; see json.h. jansson's
 * own dump prints 17 digits, which no reader of Keras files expects. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "json.h"

/* The digits (up to 17, no point) and the decimal exponent of the first one. */
typedef struct decimal {
    char digits[20];
    int n, exponent;
} decimal;

/* printf writes the host's decimal point, so the text of "%.*e" is taken apart: digits, whatever the point is, digits,
 * exponent. */
static void to_decimal(double v, int precision, decimal *d)
{
    char text[64], *e;

    snprintf(text, sizeof text, "%.*e", precision - 1, v);
    e = strrchr(text, 'e');
    d->n = 0;
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9' && d->n < 17) d->digits[d->n++] = *p;
    d->digits[d->n] = '\0';
    for (d->exponent = 0, e += 2; *e >= '0' && *e <= '9'; e++) d->exponent = d->exponent * 10 + (*e - '0');
    if (strrchr(text, 'e')[1] == '-') d->exponent = -d->exponent;
}

static bool reads_back(const decimal *d, double v)
{
    char text[40];
    double back;

    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - (d->n - 1));
    return lks__parse_double(text, &back) && back == v;
}

/* Python's repr: an exponent below 1e-4 and from 1e16 on, else a point with at least one digit after it. */
static void lay_out(const decimal *d, char *out)
{
    int e = d->exponent;

    if (e < -4 || e >= 16) {
        *out++ = d->digits[0];
        if (d->n > 1) *out++ = '.';
        memcpy(out, d->digits + 1, (size_t)(d->n - 1));
        snprintf(out + d->n - 1, 8, "e%c%02u", e < 0 ? '-' : '+', (unsigned)abs(e) % 1000u);
        return;
    }
    if (e < 0) {
        memcpy(out, "0.0000", 6);
        memcpy(out + 1 - e, d->digits, (size_t)d->n + 1);
        return;
    }
    for (int i = 0; i < d->n || i <= e + 1; i++) {
        if (i == e + 1) *out++ = '.';
        *out++ = i < d->n ? d->digits[i] : '0';
    }
    *out = '\0';
}

const char *lks__number_text(double v, char *buffer)
{
    decimal d;
    char *out = buffer;

    if (signbit(v)) *out++ = '-';
    v = fabs(v);
    if (!isfinite(v)) {
        memcpy(out, isnan(v) ? "nan" : "inf", 4);
        return buffer;
    }
    for (int precision = 1; precision <= 17; precision++) {
        to_decimal(v, precision, &d);
        if (reads_back(&d, v)) break;
    }
    lay_out(&d, out);
    return buffer;
}

/* The next code point of valid UTF-8 (jansson holds nothing else). */
static unsigned next_character(const unsigned char **p)
{
    unsigned c = *(*p)++, more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

    if (more > 0) c &= 0x3fu >> more;
    for (; more > 0; more--) c = c << 6 | (*(*p)++ & 0x3f);
    return c;
}

static void dump_string(const char *s, size_t n, lks_text *t)
{
    static const char plain[] = "\"\\\n\r\t\b\f", escaped[] = "\"\\nrtbf";
    const unsigned char *p = (const unsigned char *)s, *end = p + n;

    lks__text_puts(t, "\"");
    while (p < end) {
        unsigned c = next_character(&p);
        const char *at = c != 0 && c < 128 ? strchr(plain, (int)c) : NULL;
        char one = (char)c;
        if (at != NULL) lks__text_printf(t, "\\%c", escaped[at - plain]);
        else if (c >= 0x20 && c <= 0x7e) lks__text_append(t, &one, 1);
        else if (c < 0x10000) lks__text_printf(t, "\\u%04x", c);
        else lks__text_printf(t, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    }
    lks__text_puts(t, "\"");
}

static lks_status dump(const json_t *v, int depth, lks_text *t);

static lks_status dump_object(const json_t *v, int depth, lks_text *t)
{
    const char *comma = "";
    void *at;

    lks__text_puts(t, "{");
    for (at = json_object_iter((json_t *)(uintptr_t)v); at; at = json_object_iter_next((json_t *)(uintptr_t)v, at)) {
        const char *key = json_object_iter_key(at);
        lks__text_puts(t, comma);
        dump_string(key, strlen(key), t);
        lks__text_puts(t, ": ");
        LKS_TRY(dump(json_object_iter_value(at), depth, t));
        comma = ", ";
    }
    lks__text_puts(t, "}");
    return LKS_OK;
}

static lks_status dump_array(const json_t *v, int depth, lks_text *t)
{
    lks__text_puts(t, "[");
    for (size_t i = 0; i < json_array_size(v); i++) {
        if (i > 0) lks__text_puts(t, ", ");
        LKS_TRY(dump(json_array_get(v, i), depth, t));
    }
    lks__text_puts(t, "]");
    return LKS_OK;
}

static lks_status dump(const json_t *v, int depth, lks_text *t)
{
    char number[LKS_NUMBER_TEXT];

    if (depth > LKS_JSON_DEPTH) return lks__fail(LKS_E_LIMIT, "JSON nested deeper than %d levels", LKS_JSON_DEPTH);
    switch (json_typeof(v)) {
    case JSON_OBJECT: return dump_object(v, depth + 1, t);
    case JSON_ARRAY: return dump_array(v, depth + 1, t);
    case JSON_STRING: dump_string(json_string_value(v), json_string_length(v), t); break;
    case JSON_INTEGER: lks__text_printf(t, "%lld", (long long)json_integer_value(v)); break;
    case JSON_REAL: lks__text_puts(t, lks__number_text(json_real_value(v), number)); break;
    case JSON_TRUE: lks__text_puts(t, "true"); break;
    case JSON_FALSE: lks__text_puts(t, "false"); break;
    default: lks__text_puts(t, "null"); break;
    }
    return LKS_OK;
}

lks_status lks__json_dump(const json_t *json, char **out)
{
    lks_text t = { 0 };
    lks_status status;

    if (json == NULL) return lks__fail(LKS_E_NOMEM, "no memory to build a JSON text");
    status = dump(json, 1, &t);
    if (status != LKS_OK) {
        lks__text_free(&t);
        return status;
    }
    return lks__text_take(&t, out);
}
