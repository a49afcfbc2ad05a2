/* json_parse.c - reading JSON; see json.h. Nesting is counted before jansson sees the text, so its recursion is bounded
 * by our limit. */
#include <string.h>

#include "json.h"

static lks_status check_depth(const char *text, size_t n, const char *what)
{
    size_t depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\') i++;
            else if (c == '"') quoted = false;
            continue;
        }
        if (c == '"') quoted = true;
        else if (c == '[' || c == '{') depth++;
        else if ((c == ']' || c == '}') && depth > 0) depth--;
        if (depth > LKS_JSON_DEPTH)
            return lks__fail(LKS_E_LIMIT, "%s: nesting at byte %zu is deeper than the %d levels allowed", what, i,
                             LKS_JSON_DEPTH);
    }
    return LKS_OK;
}

lks_status lks__json_parse(const char *text, size_t n, const char *what, json_t **out)
{
    json_error_t e;
    json_t *json;

    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return lks__fail(LKS_E_FORMAT, "%s starts with a byte order mark; JSON must not", what);
    LKS_TRY(check_depth(text, n, what));
    json = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (json != NULL) {
        *out = json;
        return LKS_OK;
    }
    if (json_error_code(&e) == json_error_out_of_memory) return lks__fail(LKS_E_NOMEM, "%s: no memory", what);
    if (json_error_code(&e) == json_error_null_character)
        return lks__fail(LKS_E_FORMAT, "%s, line %d, column %d (byte %d): texts with \\u0000 in them are refused", what,
                         e.line, e.column, e.position);
    return lks__fail(LKS_E_FORMAT, "%s is not valid JSON at line %d, column %d (byte %d): %s", what, e.line, e.column,
                     e.position, e.text);
}

static const char *kind_of(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number with a fraction";
    case JSON_NULL: return "null";
    default: return "a truth value";
    }
}

/* The member, or NULL where it is missing or null. */
static lks_status member(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *v;

    if (!json_is_object(object))
        return lks__fail(LKS_E_FORMAT, "%s must be an object, it is %s", where, object ? kind_of(object) : "missing");
    v = json_object_get(object, key);
    *out = json_is_null(v) ? NULL : v;
    return LKS_OK;
}

static lks_status missing(const json_t *object, const char *where, const char *key)
{
    return lks__fail(LKS_E_FORMAT, "%s: '%s' is %s", where, key, json_object_get(object, key) ? "null" : "missing");
}

static lks_status wrong(const char *where, const char *key, const char *wanted, const json_t *v)
{
    return lks__fail(LKS_E_FORMAT, "%s: '%s' must be %s, it is %s", where, key, wanted, kind_of(v));
}

static lks_status as_string(const json_t *v, const char *where, const char *key, const char **out)
{
    if (!json_is_string(v)) return wrong(where, key, "a string", v);
    *out = json_string_value(v);
    return LKS_OK;
}

static lks_status as_int(const json_t *v, const char *where, const char *key, int64_t *out)
{
    if (!json_is_integer(v)) return wrong(where, key, "an integer", v);
    *out = json_integer_value(v);
    return LKS_OK;
}

static lks_status as_double(const json_t *v, const char *where, const char *key, double *out)
{
    if (!json_is_number(v)) return wrong(where, key, "a number", v);
    *out = json_number_value(v);
    return LKS_OK;
}

static lks_status as_bool(const json_t *v, const char *where, const char *key, bool *out)
{
    if (!json_is_boolean(v)) return wrong(where, key, "true or false", v);
    *out = json_is_true(v);
    return LKS_OK;
}

#define GETTERS(name, type)                                                                                  \
    lks_status lks__json_get_##name(const json_t *object, const char *where, const char *key, type *out)     \
    {                                                                                                        \
        const json_t *v;                                                                                     \
                                                                                                             \
        LKS_TRY(member(object, where, key, &v));                                                             \
        return v == NULL ? missing(object, where, key) : as_##name(v, where, key, out);                      \
    }                                                                                                        \
    lks_status lks__json_opt_##name(const json_t *object, const char *where, const char *key, type fallback, \
                                    type *out)                                                               \
    {                                                                                                        \
        const json_t *v;                                                                                     \
                                                                                                             \
        LKS_TRY(member(object, where, key, &v));                                                             \
        if (v != NULL) return as_##name(v, where, key, out);                                                 \
        *out = fallback;                                                                                     \
        return LKS_OK;                                                                                       \
    }

typedef const char *text;
GETTERS(string, text)
GETTERS(int, int64_t)
GETTERS(double, double)
GETTERS(bool, bool)

lks_status lks__json_get_array(const json_t *object, const char *where, const char *key, json_t **out)
{
    const json_t *v;

    LKS_TRY(member(object, where, key, &v));
    if (v == NULL) return missing(object, where, key);
    if (!json_is_array(v)) return wrong(where, key, "a list", v);
    *out = json_object_get(object, key);
    return LKS_OK;
}

lks_status lks__json_get_object(const json_t *object, const char *where, const char *key, json_t **out)
{
    const json_t *v;

    LKS_TRY(member(object, where, key, &v));
    if (v == NULL) return missing(object, where, key);
    if (!json_is_object(v)) return wrong(where, key, "an object", v);
    *out = json_object_get(object, key);
    return LKS_OK;
}
