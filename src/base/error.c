/* error.c - the thread's last error, kept in a fixed buffer so that "no memory" needs none. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error_file.h"
#include "text.h"

/* The sentence, and from SENTENCE on the file's name. */
static _Thread_local char last_error[LKS_ERROR_TEXT];
enum { SENTENCE = LKS_ERROR_TEXT - LKS_ERROR_FILE };
static _Thread_local unsigned serial;
static _Thread_local lks_status last_code;

static struct {
    lks_output_fn output;
    void *output_user;
    lks_warning_fn warning;
    void *warning_user;
} hooks;

static const struct {
    lks_status code;
    const char *name;
} names[] = {
    { LKS_OK, "LKS_OK" },
    { LKS_E_ARG, "LKS_E_ARG" },
    { LKS_E_SHAPE, "LKS_E_SHAPE" },
    { LKS_E_NOMEM, "LKS_E_NOMEM" },
    { LKS_E_IO, "LKS_E_IO" },
    { LKS_E_NOTFOUND, "LKS_E_NOTFOUND" },
    { LKS_E_FORMAT, "LKS_E_FORMAT" },
    { LKS_E_STATE, "LKS_E_STATE" },
    { LKS_E_UNSUPPORTED, "LKS_E_UNSUPPORTED" },
    { LKS_E_LIMIT, "LKS_E_LIMIT" },
    { LKS_E_NONFINITE, "LKS_E_NONFINITE" },
    { LKS_E_PEER, "LKS_E_PEER" },
    { LKS_E_TIMEOUT, "LKS_E_TIMEOUT" },
    { LKS_E_CANCELED, "LKS_E_CANCELED" },
    { LKS_E_INTERNAL, "LKS_E_INTERNAL" },
    { LKS_END, "LKS_END" },
};

const char *lks_status_name(lks_status status)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == status) return names[i].name;
    return "LKS_?";
}

const char *lks_last_error(void)
{
    return last_error;
}

static lks_status fail(lks_status code, const char *fmt, va_list args)
{
    char text[SENTENCE]; /* arguments may point into last_error */

    vsnprintf(text, sizeof text, fmt, args);
    memcpy(last_error, text, strlen(text) + 1);
    last_error[SENTENCE] = '\0';
    serial++;
    last_code = code;
    return code;
}

lks_status(lks__fail)(lks_status code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    code = fail(code, fmt, args);
    va_end(args);
    return code;
}

lks_status lks_fail(lks_status code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    code = fail(code, fmt, args);
    va_end(args);
    return code;
}

unsigned lks__error_serial(void)
{
    return serial;
}

lks_status lks__error_code(void)
{
    return last_code;
}

void lks__error_set_file(const char *path)
{
    size_t n = path == NULL ? 0 : strlen(path), cut = n < LKS_ERROR_FILE ? 0 : n - LKS_ERROR_FILE + 1;

    memmove(last_error + SENTENCE, n == 0 ? "" : path + cut, n - cut + 1);
}

const char *lks__error_file(void)
{
    return last_error + SENTENCE;
}

lks_status lks__context(lks_status code, const char *fmt, ...)
{
    char text[SENTENCE];
    va_list args;
    size_t n, rest;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    n = strlen(text);
    if (n + 2 >= sizeof text) n = sizeof text - 3;
    rest = strlen(last_error);
    if (rest > sizeof text - n - 3) rest = sizeof text - n - 3;
    text[n] = ':';
    text[n + 1] = ' ';
    memcpy(text + n + 2, last_error, rest);
    text[n + 2 + rest] = '\0';
    memcpy(last_error, text, sizeof text);
    return code;
}

void lks__error_capture(lks_error *e, lks_status code)
{
    if (e->code != LKS_OK || code == LKS_OK) return;
    e->code = code;
    memcpy(e->text, last_error, sizeof e->text);
}

lks_status lks__error_raise(const lks_error *e)
{
    if (e->code != LKS_OK) memmove(last_error, e->text, sizeof last_error);
    return e->code;
}

void lks_set_output(lks_output_fn fn, void *user)
{
    hooks.output = fn;
    hooks.output_user = user;
}

void lks_set_warnings(lks_warning_fn fn, void *user)
{
    hooks.warning = fn;
    hooks.warning_user = user;
}

void lks__print(const char *text, size_t length)
{
    if (hooks.output != NULL) {
        hooks.output(hooks.output_user, text, length);
        return;
    }
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

void lks__printf(const char *fmt, ...)
{
    char text[4096];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0) lks__print(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void lks__warn(const char *fmt, ...)
{
    char text[LKS_ERROR_TEXT];
    va_list args;

    if (hooks.warning == NULL) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hooks.warning(hooks.warning_user, text);
}

const char *lks_version(void)
{
    return "0.1.0";
}
