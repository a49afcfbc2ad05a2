/* options.c - see config.h: normalised options from a user's struct or from JSON, and back.
 *
 * Invariant: a normalised struct owns every string and list that its table names, so that it can be freed by the table
 * alone, also when it is only half filled.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/words.h"
#include "lockstep/layers.h"
#include "options.h"

static bool is_text(lks_field_kind kind)
{
    switch (kind) {
    case LKS_FIELD_TEXT:
    case LKS_FIELD_ACTIVATION:
    case LKS_FIELD_INITIALIZER:
    case LKS_FIELD_REGULARIZER:
    case LKS_FIELD_CONSTRAINT:
    case LKS_FIELD_SPEC: return true;
    default: return false;
    }
}

/* Strings and lists of the user are borrowed: they are taken out of the copy before anything can fail. */
static void disown(const lks_field *fields, void *options)
{
    for (const lks_field *f = fields; f->key != NULL; f++) {
        if (is_text(f->kind)) *(const char **)lks__at(options, f->offset) = NULL;
        if (f->kind == LKS_FIELD_FLOATS) *(lks_numbers *)lks__at(options, f->list) = (lks_numbers){ 0 };
        if (f->kind == LKS_FIELD_RATE) *(const char **)lks__at(options, f->list) = NULL;
    }
}

void lks__options_free(const lks_field *fields, void *options)
{
    if (options == NULL) return;
    for (const lks_field *f = fields; f->key != NULL; f++) {
        if (is_text(f->kind)) lks__free(*(char **)lks__at(options, f->offset));
        if (f->kind == LKS_FIELD_FLOATS) lks__free((double *)((lks_numbers *)lks__at(options, f->list))->values);
        if (f->kind == LKS_FIELD_RATE) lks__free(*(char **)lks__at(options, f->list));
    }
    lks__free(options);
}

static lks_status copy_text(const char *from, const char **to)
{
    *to = lks__strdup(from);
    return *to != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
}

static int64_t integer_of(int64_t user)
{
    return user == LKS_ZERO_INT ? 0 : user;
}

/* True if the user gave integers in `n` places, now copied. */
static bool take_ints(const int64_t *user, int64_t *to, int n)
{
    bool given = false;

    for (int i = 0; i < n; i++) given = given || user[i] != 0;
    for (int i = 0; given && i < n; i++) to[i] = integer_of(user[i]);
    return given;
}

static bool take_list(const int64_t *user, int64_t *to)
{
    if (user[0] == 0) return false;
    memcpy(to, user, LKS_MAX_RANK * sizeof *to);
    return true;
}

static bool take_float(double user, double *to)
{
    if (user == 0 && !signbit(user)) return false;
    *to = user == 0 ? 0.0 : user;
    return true;
}

static lks_status take_text(const lks_field *f, const char *user, const char **to, bool *given)
{
    *given = user != NULL;
    if (user == NULL) return LKS_OK;
    if (lks__same_word(user, "none")) return f->kind == LKS_FIELD_ACTIVATION ? copy_text("linear", to) : LKS_OK;
    return copy_text(user, to);
}

static lks_status take_numbers(const lks_field *f, const void *user, void *to, bool *given)
{
    const lks_numbers *list = lks__cat(user, f->list);
    lks_numbers *out = lks__at(to, f->list);

    *given = take_float(*(const double *)lks__cat(user, f->offset), lks__at(to, f->offset));
    if (list->n == 0) return LKS_OK;
    if (list->n < 0 || list->values == NULL) return lks__fail(LKS_E_ARG, "%s: a list without values", f->key);
    out->values = lks__memdup(list->values, (size_t)list->n * sizeof *list->values);
    if (out->values == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    out->n = list->n;
    *given = true;
    return LKS_OK;
}

static lks_status take_rate(const lks_field *f, const void *user, void *to, bool *given)
{
    const char *schedule = *(const char *const *)lks__cat(user, f->list);

    *given = take_float(*(const double *)lks__cat(user, f->offset), lks__at(to, f->offset));
    if (schedule == NULL) return LKS_OK;
    *given = true;
    return copy_text(schedule, lks__at(to, f->list));
}

/* What the user says about one option; *given = false leaves the default to be filled in. */
static lks_status take(const lks_field *f, const void *user, void *to, bool *given)
{
    const void *from = lks__cat(user, f->offset);
    void *into = lks__at(to, f->offset);

    *given = true;
    switch (f->kind) {
    case LKS_FIELD_INT: *given = take_ints(from, into, 1); return LKS_OK;
    case LKS_FIELD_INT2:
        *given = take_ints(from, into, 2);
        if (*given && ((const int64_t *)from)[1] == 0) ((int64_t *)into)[1] = ((int64_t *)into)[0];
        return LKS_OK;
    case LKS_FIELD_INT22: *given = take_ints(from, into, 4); return LKS_OK;
    case LKS_FIELD_INTS: *given = take_list(from, into); return LKS_OK;
    case LKS_FIELD_FLOAT: *given = take_float(*(const double *)from, into); return LKS_OK;
    case LKS_FIELD_FLOATS: return take_numbers(f, user, to, given);
    case LKS_FIELD_BOOL:
        *given = *(const lks_tristate *)from != LKS_DEFAULT;
        if (*given) *(lks_tristate *)into = *(const lks_tristate *)from;
        return LKS_OK;
    case LKS_FIELD_RATE: return take_rate(f, user, to, given);
    case LKS_FIELD_NULL: return LKS_OK;
    default: return take_text(f, *(const char *const *)from, into, given);
    }
}

static lks_status fill_default(const lks_field *f, void *options)
{
    json_t *value;
    lks_status status;

    if (f->kind == LKS_FIELD_NULL) return LKS_OK;
    if (f->fallback == NULL) return lks__fail(LKS_E_ARG, "%s is missing: it has no default", f->key);
    value = lks__spec_value(f->fallback);
    if (value == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    status = lks__option_read(f, value, options);
    json_decref(value);
    return status;
}

/* Keras keeps some numbers as float32, and so do files. */
static lks_status settle(const lks_field *f, void *options)
{
    if (f->kind == LKS_FIELD_RATE || (f->flags & LKS_FIELD_ROUNDED) != 0) {
        double *v = lks__at(options, f->offset);
        *v = (double)(float)*v;
    }
    return lks__option_check(f, options);
}

/* A copy of the user's struct at its full size; NULL if there is no memory. */
static void *full_copy(size_t size, const void *user)
{
    void *copy = lks__calloc(1, size);
    size_t given = user != NULL ? *(const size_t *)user : 0;

    if (copy != NULL && given > 0) memcpy(copy, user, given < size ? given : size);
    return copy;
}

lks_status lks__options_create(const lks_field *fields, size_t size, const void *user, void **out)
{
    void *given = full_copy(size, user), *options = full_copy(size, user);
    lks_status status = LKS_OK;

    if (given == NULL || options == NULL) {
        lks__free(given);
        lks__free(options);
        return lks__fail(LKS_E_NOMEM, "out of memory");
    }
    disown(fields, options);
    *(size_t *)options = size;
    for (const lks_field *f = fields; status == LKS_OK && f->key != NULL; f++) {
        bool found;
        status = take(f, given, options, &found);
        if (status == LKS_OK && !found) status = fill_default(f, options);
        if (status == LKS_OK) status = settle(f, options);
    }
    lks__free(given);
    if (status == LKS_OK) *out = options;
    else lks__options_free(fields, options);
    return status;
}

static lks_status refuse_unknown(const lks_field *fields, const json_t *config)
{
    const char *names[128], *key;
    size_t n = 0;
    json_t *value;

    for (const lks_field *f = fields; f->key != NULL && n < 127; f++) names[n++] = f->key;
    names[n] = NULL;
    json_object_foreach((json_t *)config, key, value)
    {
        for (n = 0; names[n] != NULL && strcmp(names[n], key) != 0; n++) {}
        if (names[n] == NULL) return lks__no_such(LKS_E_ARG, "option", key, names);
    }
    return LKS_OK;
}

lks_status lks__options_from_json(const lks_field *fields, size_t size, const json_t *config, bool strict, void **out)
{
    void *options;
    lks_status status = LKS_OK;

    if (!json_is_object(config)) return lks__fail(LKS_E_FORMAT, "config: expected an object");
    if (strict) LKS_TRY(refuse_unknown(fields, config));
    options = lks__calloc(1, size);
    if (options == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    *(size_t *)options = size;
    for (const lks_field *f = fields; status == LKS_OK && f->key != NULL; f++) {
        const json_t *value = json_object_get(config, f->key);
        status = value == NULL ? fill_default(f, options) : lks__option_read(f, value, options);
        if (status == LKS_OK) status = settle(f, options);
    }
    if (status == LKS_OK) *out = options;
    else lks__options_free(fields, options);
    return status;
}

static bool is_default(const lks_field *f, const json_t *value)
{
    json_t *fallback = lks__spec_value(f->fallback);
    bool same = json_is_number(value) && json_is_number(fallback)
                    ? json_number_value(value) == json_number_value(fallback)
                    : json_equal((json_t *)value, fallback);

    json_decref(fallback);
    return same;
}

static bool is_left_out(const lks_field *f, const json_t *value)
{
    if ((f->flags & LKS_FIELD_OMIT_NONE) != 0 && json_is_null(value)) return true;
    return (f->flags & LKS_FIELD_CHANGED) != 0 && is_default(f, value);
}

lks_status lks__options_to_json(const lks_field *fields, const void *options, json_t *into)
{
    for (const lks_field *f = fields; f->key != NULL; f++) {
        json_t *value;
        if ((f->flags & LKS_FIELD_UNWRITTEN) != 0) continue;
        LKS_TRY(lks__option_write(f, options, &value));
        if (is_left_out(f, value)) {
            json_decref(value);
        } else if (json_object_set_new(into, f->key, value) != 0) {
            return lks__fail(LKS_E_NOMEM, "out of memory");
        }
    }
    return LKS_OK;
}
