/* json.h - internal. JSON through jansson, with what untrusted files and Keras need on top: a limit on nesting, no key
 * twice, numbers printed as Python prints them, and typed access with sentences.
 *
 * jansson's memory does not come from our allocator: its hook is one for the whole process, and the host may use
 * jansson too. Its failures are reported like ours.
 */
#ifndef LKS_FILES_JSON_H
#define LKS_FILES_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum { LKS_JSON_DEPTH = 256 };

/* `what` names the text in errors ("config.json"). Any value is allowed at the top. Give *out back with json_decref. */
lks_status lks__json_parse(const char *text, size_t n, const char *what, json_t **out);

/* As Python's json.dumps(value): keys in their order, ", " and ": ", ASCII with \u escapes, shortest numbers that
 * read back equal (0.0010000000474974513, 1e-07, 1.0). Freed with lks__free. */
lks_status lks__json_dump(const json_t *json, char **out);

/* Python's repr of a number, into at least LKS_NUMBER_TEXT bytes; returns it. */
enum { LKS_NUMBER_TEXT = 40 };
const char *lks__number_text(double v, char *buffer);

/* Members of an object, `where` naming it in errors ("layer 'conv1'"). The first form wants the key; the other gives
 * `fallback` where it is missing or null. A number with a fraction is not an int; an int is a fine double. */
lks_status lks__json_get_string(const json_t *object, const char *where, const char *key, const char **out);
lks_status lks__json_get_int(const json_t *object, const char *where, const char *key, int64_t *out);
lks_status lks__json_get_double(const json_t *object, const char *where, const char *key, double *out);
lks_status lks__json_get_bool(const json_t *object, const char *where, const char *key, bool *out);
lks_status lks__json_get_array(const json_t *object, const char *where, const char *key, json_t **out);  /* borrowed */
lks_status lks__json_get_object(const json_t *object, const char *where, const char *key, json_t **out); /* borrowed */
lks_status lks__json_opt_string(const json_t *object, const char *where, const char *key, const char *fallback,
                                const char **out);
lks_status lks__json_opt_int(const json_t *object, const char *where, const char *key, int64_t fallback, int64_t *out);
lks_status lks__json_opt_double(const json_t *object, const char *where, const char *key, double fallback, double *out);
lks_status lks__json_opt_bool(const json_t *object, const char *where, const char *key, bool fallback, bool *out);

#endif
