/* status.h - how every call of Lockstep reports success or failure.
 *
 * Rules that hold for every function of this library:
 *   - it returns lks_status unless it cannot fail or builds an object; outputs come last and are
 *     written only on LKS_OK;
 *   - it never exits, aborts or prints into the host process;
 *   - "borrows" = the callee keeps no pointer past the call,
 *     "shares"  = the callee takes a reference of its own,
 *     "steals"  = the caller must not use the argument again, also when the call fails.
 */
#ifndef LOCKSTEP_STATUS_H
#define LOCKSTEP_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LKS_API __attribute__((visibility("default")))
#define LKS_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define LKS_API
#define LKS_PRINTF(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Append-only: never renumbered, never reused. */
typedef enum lks_status {
    LKS_OK = 0,
    LKS_E_ARG = 1,         /* the caller broke the contract of this call */
    LKS_E_SHAPE = 2,       /* shapes or dtypes do not fit the layer or op */
    LKS_E_NOMEM = 3,       /* an allocation failed */
    LKS_E_IO = 4,          /* the operating system refused; see the text */
    LKS_E_NOTFOUND = 5,    /* a file, name or key does not exist */
    LKS_E_FORMAT = 6,      /* a file or message is not what it claims to be */
    LKS_E_STATE = 7,       /* right call, wrong moment or context (not compiled, ...) */
    LKS_E_UNSUPPORTED = 8, /* known, but not available in this build or version */
    LKS_E_LIMIT = 9,       /* over a stated limit */
    LKS_E_NONFINITE = 10,  /* a loss or gradient is NaN or infinite */
    LKS_E_PEER = 11,       /* another worker failed or went away */
    LKS_E_TIMEOUT = 12,    /* a wait passed its deadline */
    LKS_E_CANCELED = 13,   /* stopped on request */
    LKS_E_INTERNAL = 14,   /* a fault of Lockstep itself; please report it */
    LKS_END = 100          /* not an error: a dataset has no more elements */
} lks_status;

/* The enumerator's name, such as "LKS_E_SHAPE"; "LKS_?" for an unknown code. Never NULL. */
LKS_API const char *lks_status_name(lks_status status);

/* The sentence that belongs to this thread's last failed call: where, expected against found,
 * what to do. Empty when nothing has failed. Valid until this thread's next failing call. */
LKS_API const char *lks_last_error(void);

/* For your own callbacks (map functions, generators, layers): makes the printf text this thread's last error and
 * returns `code`: `return lks_fail(LKS_E_ARG, "label %d is not a digit", label);`. */
LKS_API lks_status lks_fail(lks_status code, const char *fmt, ...) LKS_PRINTF(2, 3);

/* ---- options: named arguments of builders ----
 * lks_dense(x, .units = 10) is lks_dense_with(x, &(const lks_dense_options){ sizeof..., .units = 10 }).
 * A field left out is zero and means the default; where zero is a meaningful value of its own it
 * is said with one of these. C++ and FFI callers fill the struct and call the _with form. These builders are macros: a compound
 * literal with a comma in it, given as an argument, needs parentheses of its own, as in lks_add(2, ((lks_node[]){ a, b })) or
 * lks_fit_arrays(model, (&(lks_arrays){ .x = x, .y = y }), .epochs = 2). */
typedef enum lks_tristate { LKS_DEFAULT = 0, LKS_TRUE = 1, LKS_FALSE = -1 } lks_tristate;

#define LKS_ZERO (-0.0)        /* an explicit 0 for an option of type double */
#define LKS_ZERO_INT INT64_MIN /* an explicit 0 for an option of type int64_t */
#define LKS_AUTOTUNE (-1)      /* a number that the library chooses and adapts, as tf.data */

#ifndef __cplusplus
#define LKS_CALL0(fn, type, ...) fn(&(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define LKS_CALL1(fn, type, a, ...) fn(a, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define LKS_CALL2(fn, type, a, b, ...) fn(a, b, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#endif

/* ---- memory ---- */

/* Every allocation of the library goes through these three. resize(NULL, n) allocates. */
typedef struct lks_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void *(*resize)(void *user, void *old, size_t bytes);
    void (*release)(void *user, void *old);
    void *user;
} lks_allocator;

/* Replaces the allocator of the whole process; NULL restores malloc. Call it before any other
 * function of the library, or when no object of the library is alive. Borrows `allocator` by
 * copying it. */
LKS_API void lks_set_allocator(const lks_allocator *allocator);

/* Frees memory that the library handed over and documents as "freed with lks_free". NULL is fine. */
LKS_API void lks_free(void *memory);

/* ---- output ----
 * The library prints only on request (.verbose, lks_summary to the hook). Text goes to this hook, or to
 * standard output while none is set. NULL restores standard output. `text` is UTF-8, not always a
 * whole line. */
typedef void (*lks_output_fn)(void *user, const char *text, size_t length);
LKS_API void lks_set_output(lks_output_fn fn, void *user);

/* Warnings (running out of data, ...): one sentence without a newline. Silent while none is set. */
typedef void (*lks_warning_fn)(void *user, const char *sentence);
LKS_API void lks_set_warnings(lks_warning_fn fn, void *user);

/* "0.1.0" */
LKS_API const char *lks_version(void);

#ifdef __cplusplus
}
#endif
#endif
