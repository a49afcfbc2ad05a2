/* error.h - internal. How a failure is made, enriched and passed up. */
#ifndef LKS_BASE_ERROR_H
#define LKS_BASE_ERROR_H

#include "lockstep/status.h"

enum { LKS_ERROR_TEXT = 1024 };

/* Call where the failure is first understood: sets this thread's text, returns `code`. */
lks_status lks__fail(lks_status code, const char *fmt, ...) LKS_PRINTF(2, 3);

/* A failure is never LKS_OK. Said where the compiler sees it, so that it knows: behind LKS_TRY the outputs are written. */
static inline lks_status lks__not_ok(lks_status code)
{
    return code == LKS_OK ? LKS_E_INTERNAL : code;
}
#define lks__fail(...) lks__not_ok(lks__fail(__VA_ARGS__))

/* Call on the way up to say where: puts "<text>: " before the present text, returns `code`. */
lks_status lks__context(lks_status code, const char *fmt, ...) LKS_PRINTF(2, 3);

/* How often lks__fail ran in this thread: tells whether a callback that failed left a text of its own. */
unsigned lks__error_serial(void);
/* The code of this thread's last lks__fail: for functions that return NULL on failure. */
lks_status lks__error_code(void);

/* Failure objects: an error kept in an object (a failed layer, stage, model) or carried from a pool
 * thread to its caller. */
typedef struct lks_error {
    lks_status code; /* LKS_OK = none */
    char text[LKS_ERROR_TEXT];
} lks_error;

void lks__error_capture(lks_error *e, lks_status code); /* copies this thread's text; keeps the first */
lks_status lks__error_raise(const lks_error *e);        /* makes it this thread's error, returns its code */

/* One sentence to the warning hook, if any. */
void lks__warn(const char *fmt, ...) LKS_PRINTF(1, 2);
/* Text to the output hook or standard output. */
void lks__print(const char *text, size_t length);
void lks__printf(const char *fmt, ...) LKS_PRINTF(1, 2);

/* Pass a failure up unchanged. Only in functions with nothing to undo. */
#define LKS_TRY(expr)                            \
    do {                                         \
        lks_status lks_try_ = (expr);            \
        if (lks_try_ != LKS_OK) return lks_try_; \
    } while (0)

#endif
