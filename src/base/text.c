/* text.c - see text.h. Numbers are read and written as in the "C" locale whatever the host has set. */
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

int lks__ascii_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool lks__same_word(const char *a, const char *b)
{
    while (*a != '\0' && lks__ascii_lower(*a) == lks__ascii_lower(*b)) a++, b++;
    return lks__ascii_lower(*a) == lks__ascii_lower(*b);
}

bool lks__starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* strtod reads the host's decimal point, so the text's '.' is replaced by it in a copy. */
bool lks__parse_double(const char *text, double *out)
{
    char copy[128], *end;
    const char *point = localeconv()->decimal_point;
    size_t n = 0;
    double v;

    if (*text == '\0' || *text == ' ') return false;
    for (; *text != '\0'; text++) {
        size_t k = *text == '.' ? strlen(point) : 1;
        if (n + k >= sizeof copy) return false;
        memcpy(copy + n, *text == '.' ? point : text, k);
        n += k;
    }
    copy[n] = '\0';
    v = strtod(copy, &end);
    if (end == copy || *end != '\0') return false;
    *out = v;
    return true;
}

bool lks__parse_int(const char *text, int64_t *out)
{
    char *end;
    long long v;

    if (*text == '\0' || *text == ' ') return false;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text) return false;
    *out = v;
    return true;
}

static bool reserve(lks_text *t, size_t more)
{
    size_t want = t->length + more + 1, capacity = t->capacity ? t->capacity : 64;
    char *data;

    if (t->failed) return false;
    if (want <= t->capacity) return true;
    while (capacity < want) capacity *= 2;
    data = lks__realloc(t->data, capacity);
    if (data == NULL) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void lks__text_append(lks_text *t, const char *bytes, size_t n)
{
    if (!reserve(t, n)) return;
    if (n > 0) memcpy(t->data + t->length, bytes, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void lks__text_puts(lks_text *t, const char *s)
{
    lks__text_append(t, s, strlen(s));
}

void lks__text_printf(lks_text *t, const char *fmt, ...)
{
    va_list args, again;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && reserve(t, (size_t)n)) {
        vsnprintf(t->data + t->length, (size_t)n + 1, fmt, again);
        t->length += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void lks__text_free(lks_text *t)
{
    lks__free(t->data);
    memset(t, 0, sizeof *t);
}

lks_status lks__text_take(lks_text *t, char **out)
{
    lks__text_append(t, "", 0);
    if (t->failed) {
        lks__text_free(t);
        return lks__fail(LKS_E_NOMEM, "no memory for a text");
    }
    *out = t->data;
    memset(t, 0, sizeof *t);
    return LKS_OK;
}
