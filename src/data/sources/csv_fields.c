/* csv_fields.c - one record into fields, one field into a value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/sources/csv.h"
#include "tensor/tensor.h"

lks_status lks__csv_fault(csv_cursor *c, const char *fmt, ...)
{
    char text[LKS_ERROR_TEXT];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    c->base.go_on = true;
    return lks__fail(LKS_E_ARG, "'%s', line %lld, record %lld, offset %llu: %s", c->base.stream.path,
                     (long long)c->record_line, (long long)c->base.record, (unsigned long long)c->record_offset, text);
}

lks_status lks__csv_byte(csv_cursor *c, int *byte)
{
    LKS_TRY(lks__stream_byte(&c->base.stream, byte));
    c->line += *byte == '\n' || *byte == '\r';
    return LKS_OK;
}

static lks_status advance(csv_scan *s)
{
    return lks__csv_byte(s->c, &s->byte);
}

static bool ends_record(const csv_scan *s)
{
    return s->byte < 0 || s->byte == '\n' || s->byte == '\r';
}

static void keep(csv_scan *s)
{
    char byte = (char)s->byte;

    lks__text_append(&s->c->text, &byte, 1);
}

static void wrong(csv_scan *s, const char *what)
{
    if (s->fault == NULL) s->fault = what;
}

/* Behind the opening quote. A quote that is neither doubled nor followed by the field's end is reported and ends the quoted part;
 * the line ends where it would without quotes. */
static lks_status quoted(csv_scan *s)
{
    for (;;) {
        LKS_TRY(advance(s));
        if (s->byte < 0) {
            wrong(s, "the file ends inside a quoted field");
            return LKS_OK;
        }
        if (s->byte == '"') {
            LKS_TRY(advance(s));
            if (s->byte != '"') break;
        }
        keep(s);
    }
    if (!ends_record(s) && s->byte != s->d->delimiter)
        wrong(s, "a quote stands inside a quoted field, it must be doubled");
    while (!ends_record(s) && s->byte != s->d->delimiter) LKS_TRY(advance(s));
    return LKS_OK;
}

static lks_status plain(csv_scan *s)
{
    while (!ends_record(s) && s->byte != s->d->delimiter) {
        if (s->byte == '"' && s->d->quotes) wrong(s, "a quote stands inside a field that does not begin with one");
        keep(s);
        LKS_TRY(advance(s));
    }
    return LKS_OK;
}

lks_status lks__csv_split(csv_scan *s)
{
    csv_cursor *c = s->c;

    for (;;) {
        csv_field f = { c->text.length, 0 };
        LKS_TRY(s->byte == '"' && s->d->quotes ? quoted(s) : plain(s));
        f.size = c->text.length - f.at;
        LKS_TRY(lks__grow(&c->field, &c->room, c->n_fields + 1, sizeof *c->field));
        c->field[c->n_fields++] = f;
        if (ends_record(s)) break;
        LKS_TRY(advance(s)); /* the delimiter */
    }
    c->after_cr = s->byte == '\r';
    return LKS_OK;
}

/* The field as text with an end, without blanks around it; NULL if it is too long for a number. */
static const char *number_text(const csv_cursor *c, const csv_field *f, char buffer[128])
{
    const char *from = c->text.data + f->at;
    size_t n = f->size;

    for (; n > 0 && (*from == ' ' || *from == '\t'); n--) from++;
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t')) n--;
    if (n == 0 || n >= 128 || memchr(from, '\0', n) != NULL) return NULL;
    memcpy(buffer, from, n);
    buffer[n] = '\0';
    return buffer;
}

/* "column 2", with its name where the file has a header line. */
static const char *column_text(const csv_cursor *c, size_t column, char text[96])
{
    const char *name = c->names.data == NULL ? "" : c->names.data, *end = name + c->names.length;

    for (size_t i = 0; i < column && name < end; i++) name += strlen(name) + 1;
    if (name < end) snprintf(text, 96, "column %zu ('%.60s')", column, name);
    else snprintf(text, 96, "column %zu", column);
    return text;
}

static lks_status bad_number(csv_cursor *c, size_t column, const csv_field *f, lks_dtype dtype)
{
    char text[96];

    return lks__csv_fault(c, "%s is no %s: '%.*s'%s", column_text(c, column, text), lks_dtype_name(dtype),
                          (int)(f->size < 60 ? f->size : 60), f->size == 0 ? "" : c->text.data + f->at,
                          f->size > 0 && memchr(c->text.data + f->at, ',', f->size) != NULL ? " (decimals need a point)"
                                                                                            : "");
}

static lks_status convert_number(csv_cursor *c, lks_tensor *t, size_t column, const csv_field *f)
{
    char buffer[128];
    const char *text = number_text(c, f, buffer);
    lks_dtype dtype = lks_tensor_dtype(t);
    void *p = lks_tensor_data(t);
    double d = 0;
    int64_t i = 0;
    bool ok = text != NULL &&
              (dtype == LKS_INT32 || dtype == LKS_INT64 ? lks__parse_int(text, &i) : lks__parse_double(text, &d));

    if (!ok || (dtype == LKS_INT32 && (i < INT32_MIN || i > INT32_MAX))) return bad_number(c, column, f, dtype);
    switch (dtype) {
    case LKS_INT32: *(int32_t *)p = (int32_t)i; return LKS_OK;
    case LKS_INT64: *(int64_t *)p = i; return LKS_OK;
    case LKS_FLOAT32: *(float *)p = (float)d; return LKS_OK;
    default: *(double *)p = d; return LKS_OK;
    }
}

lks_status lks__csv_convert(csv_cursor *c, lks_element *e, size_t i)
{
    const csv_dataset *d = (const csv_dataset *)c->base.base.dataset;
    size_t column = d->column[i];
    const csv_field *f = &c->field[column];
    const char *text = f->size == 0 ? "" : c->text.data + f->at;
    bool empty = f->size == 0 || (f->size == strlen(d->na) && memcmp(text, d->na, f->size) == 0);
    lks_tensor *t;
    char name[96];

    if (empty && d->fallback[i] != NULL) return lks_element_set(e, i, d->fallback[i]);
    if (empty)
        return lks__csv_fault(c, "%s is required and %s: give it a default", column_text(c, column, name),
                              f->size == 0 ? "is empty" : "holds na_value");
    t = lks_element_output(e, i);
    if (t == NULL) return LKS_E_NOMEM;
    if (d->dtype[i] == LKS_STRING) return lks__tensor_set_bytes(t, 0, text, f->size);
    return convert_number(c, t, column, f);
}
