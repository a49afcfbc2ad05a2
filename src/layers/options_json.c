/* options_json.c - see options.h: one option from and to JSON, as Keras spells it. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "initializers/initializer.h"
#include "lockstep/layers.h"
#include "options.h"
#include "schedules/schedule.h"
#include "weights.h"

/* A short form of what was found, for messages. */
static lks_status unexpected(const lks_field *f, const char *wanted, const json_t *found)
{
    lks_text text = { 0 };

    lks__json_text(found, &text);
    lks__fail(LKS_E_FORMAT, "%s: expected %s, found %.60s", f->key, wanted,
              text.data != NULL ? text.data : "something else");
    lks__text_free(&text);
    return LKS_E_FORMAT;
}

static lks_status read_int(const lks_field *f, const json_t *value, int64_t *to)
{
    if (!json_is_integer(value)) return unexpected(f, "an integer", value);
    *to = json_integer_value(value);
    return LKS_OK;
}

/* n integers from a list of n, or from one number that stands for all. */
static lks_status read_ints(const lks_field *f, const json_t *value, int64_t *to, size_t n)
{
    if (json_is_null(value)) {
        for (size_t i = 0; i < n; i++) to[i] = LKS_NONE_INT;
        return LKS_OK;
    }
    if (json_is_array(value) && json_array_size(value) != n) return unexpected(f, "one number for each axis", value);
    for (size_t i = 0; i < n; i++) {
        LKS_TRY(read_int(f, json_is_array(value) ? json_array_get(value, i) : value, to + i));
    }
    return LKS_OK;
}

/* Two sides of two axes: one number, one for each axis, or one for each side. */
static lks_status read_sides(const lks_field *f, const json_t *value, int64_t *to)
{
    if (json_is_array(value) && json_array_size(value) != 2) return unexpected(f, "two entries", value);
    for (size_t i = 0; i < 2; i++) {
        LKS_TRY(read_ints(f, json_is_array(value) ? json_array_get(value, i) : value, to + 2 * i, 2));
    }
    return LKS_OK;
}

static lks_status read_list(const lks_field *f, const json_t *value, int64_t *to)
{
    size_t n = json_is_array(value) ? json_array_size(value) : 1;

    memset(to, 0, LKS_MAX_RANK * sizeof *to);
    to[0] = LKS_NONE_INT;
    if (json_is_null(value)) return LKS_OK;
    if (n == 0 || n > LKS_MAX_RANK) return unexpected(f, "a list of 1 to 8 numbers", value);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        to[i] = -1;
        if (!json_is_null(item)) LKS_TRY(read_int(f, item, to + i));
        if (to[i] == 0) to[i] = LKS_ZERO_INT; /* 0 ends the list */
    }
    return LKS_OK;
}

static lks_status read_float(const lks_field *f, const json_t *value, double *to)
{
    if (json_is_null(value)) {
        *to = (double)NAN;
        return LKS_OK;
    }
    if (!json_is_number(value)) return unexpected(f, "a number", value);
    *to = json_number_value(value);
    if (!isfinite(*to)) return unexpected(f, "a finite number", value);
    return LKS_OK;
}

static lks_status read_floats(const lks_field *f, const json_t *value, void *options)
{
    lks_numbers *list = lks__at(options, f->list);
    size_t n = json_array_size(value);
    double *values;

    if (!json_is_array(value)) return read_float(f, value, lks__at(options, f->offset));
    if (n == 0) return unexpected(f, "at least one number", value);
    values = lks__calloc(n, sizeof *values);
    if (values == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    list->values = values;
    list->n = (int64_t)n;
    for (size_t i = 0; i < n; i++) LKS_TRY(read_float(f, json_array_get(value, i), values + i));
    return LKS_OK;
}

static lks_status read_text(const lks_field *f, const json_t *value, const char **to)
{
    char *text = NULL;

    if (json_is_null(value)) {
        if (f->kind != LKS_FIELD_ACTIVATION) return LKS_OK;
        text = lks__strdup("linear");
        if (text == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    } else if (f->kind != LKS_FIELD_TEXT) {
        lks_status status = lks__spec_from_json(value, &text);
        if (status != LKS_OK) return lks__context(status, "%s", f->key);
    } else {
        if (!json_is_string(value)) return unexpected(f, "a string", value);
        if (strlen(json_string_value(value)) != json_string_length(value)) {
            return lks__fail(LKS_E_FORMAT, "%s: a NUL byte inside the string", f->key);
        }
        text = lks__strdup(json_string_value(value));
        if (text == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    }
    *to = text;
    return LKS_OK;
}

static lks_status read_rate(const lks_field *f, const json_t *value, void *options)
{
    char *spec;

    if (!json_is_object(value) && !json_is_string(value)) return read_float(f, value, lks__at(options, f->offset));
    LKS_TRY(lks__spec_from_json(value, &spec));
    *(const char **)lks__at(options, f->list) = spec;
    return LKS_OK;
}

static lks_status read_bool(const lks_field *f, const json_t *value, lks_tristate *to)
{
    if (!json_is_boolean(value)) return unexpected(f, "true or false", value);
    *to = json_is_true(value) ? LKS_TRUE : LKS_FALSE;
    return LKS_OK;
}

lks_status lks__option_read(const lks_field *f, const json_t *value, void *options)
{
    void *to = lks__at(options, f->offset);

    switch (f->kind) {
    case LKS_FIELD_INT: return read_ints(f, value, to, 1);
    case LKS_FIELD_INT2: return read_ints(f, value, to, 2);
    case LKS_FIELD_INT22: return read_sides(f, value, to);
    case LKS_FIELD_INTS: return read_list(f, value, to);
    case LKS_FIELD_FLOAT: return read_float(f, value, to);
    case LKS_FIELD_FLOATS: return read_floats(f, value, options);
    case LKS_FIELD_BOOL: return read_bool(f, value, to);
    case LKS_FIELD_RATE: return read_rate(f, value, options);
    case LKS_FIELD_NULL: return LKS_OK;
    default: return read_text(f, value, to);
    }
}

/* ---- writing ---- */

static json_int_t written(int64_t v)
{
    return v == LKS_ZERO_INT ? 0 : v;
}

static json_t *write_ints(const int64_t *v, size_t n, unsigned flags)
{
    json_t *list;

    if (v[0] == LKS_NONE_INT) return json_null();
    if (n == 1 && (flags & LKS_FIELD_ONE_INT) != 0) return json_integer(written(v[0]));
    list = json_array();
    for (size_t i = 0; list != NULL && i < n; i++) {
        bool null = v[i] == -1 && (flags & LKS_FIELD_NULLS) != 0;
        if (json_array_append_new(list, null ? json_null() : json_integer(written(v[i]))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static size_t list_length(const int64_t *v)
{
    size_t n = 0;

    while (n < LKS_MAX_RANK && v[n] != 0) n++;
    return n;
}

static json_t *write_float(double v, unsigned flags)
{
    if (isnan(v)) return json_null();
    if ((flags & LKS_FIELD_WHOLE) != 0 && v == floor(v) && fabs(v) < 1e15) return json_integer((json_int_t)v);
    return json_real(v);
}

static json_t *write_floats(const lks_numbers *list, double single)
{
    json_t *array;

    if (list->n == 0) return write_float(single, 0);
    array = json_array();
    for (int64_t i = 0; array != NULL && i < list->n; i++) {
        if (json_array_append_new(array, json_real(list->values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *write_text(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

/* Objects that stand as a spec: Keras writes them out. */
static lks_status write_object(const lks_field *f, const char *spec, json_t **out)
{
    if (spec == NULL) {
        *out = json_null();
        return LKS_OK;
    }
    if (f->kind == LKS_FIELD_SPEC) {
        *out = json_pack("{s:s, s:s, s:s, s:s}", "module", "builtins", "class_name", "function", "config", spec,
                         "registered_name", "function");
        return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
    }
    if (f->kind == LKS_FIELD_INITIALIZER) return lks__initializer_to_json(spec, out);
    if (f->kind == LKS_FIELD_REGULARIZER) return lks__regularizer_to_json(spec, out);
    if (f->kind == LKS_FIELD_CONSTRAINT) return lks__constraint_to_json(spec, out);
    return lks__activation_to_json(spec, out);
}

lks_status lks__option_write(const lks_field *f, const void *options, json_t **out)
{
    const void *from = lks__cat(options, f->offset);
    json_t *value = NULL;

    switch (f->kind) {
    case LKS_FIELD_INT: value = write_ints(from, 1, LKS_FIELD_ONE_INT); break;
    case LKS_FIELD_INT2: value = write_ints(from, 2, f->flags); break;
    case LKS_FIELD_INT22: {
        const int64_t *v = from;
        value = json_pack("[[I, I], [I, I]]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2], (json_int_t)v[3]);
        break;
    }
    case LKS_FIELD_INTS: value = write_ints(from, list_length(from), f->flags); break;
    case LKS_FIELD_FLOAT: value = write_float(*(const double *)from, f->flags); break;
    case LKS_FIELD_FLOATS: value = write_floats(lks__cat(options, f->list), *(const double *)from); break;
    case LKS_FIELD_BOOL: value = json_boolean(*(const lks_tristate *)from == LKS_TRUE); break;
    case LKS_FIELD_TEXT: value = write_text(*(const char *const *)from); break;
    case LKS_FIELD_RATE: {
        const char *schedule = *(const char *const *)lks__cat(options, f->list);
        if (schedule != NULL) return lks__schedule_to_json(schedule, out);
        value = json_real(*(const double *)from);
        break;
    }
    case LKS_FIELD_NULL: value = json_null(); break;
    default: return write_object(f, *(const char *const *)from, out);
    }
    if (value == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    *out = value;
    return LKS_OK;
}
