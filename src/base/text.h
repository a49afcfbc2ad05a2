/* text.h - internal. Strings without the C locale: growing buffers, ASCII case, number parsing. */
#ifndef LKS_BASE_TEXT_H
#define LKS_BASE_TEXT_H

#include <stdbool.h>

#include "error.h"

int lks__ascii_lower(int c);
bool lks__same_word(const char *a, const char *b); /* equal but for ASCII case */
bool lks__starts_with(const char *text, const char *prefix);

/* The whole of `text` as a number, locale-independent ('.' is the point). False if it is not one. */
bool lks__parse_double(const char *text, double *out);
bool lks__parse_int(const char *text, int64_t *out);

/* A growing string. Appending never fails visibly: the first failed allocation sets `failed`, later
 * calls do nothing, and lks__text_take reports it. Start from { 0 }. */
typedef struct lks_text {
    char *data; /* terminated once anything was appended */
    size_t length, capacity;
    bool failed;
} lks_text;

void lks__text_append(lks_text *t, const char *bytes, size_t n);
void lks__text_puts(lks_text *t, const char *s);
void lks__text_printf(lks_text *t, const char *fmt, ...) LKS_PRINTF(2, 3);
void lks__text_free(lks_text *t);
/* Hands the string to the caller (freed with lks__free) and empties the buffer. */
lks_status lks__text_take(lks_text *t, char **out);

#endif
