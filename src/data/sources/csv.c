/* csv.c - records of comma-separated files as tuples of scalars.
 *
 * Reading a record and understanding it are apart: the whole record is consumed into its fields first, so a field that can't be
 * understood costs one record. A byte-order mark before the first field of a file is left out.
 */
#include <string.h>

#include "base/text.h"
#include "data/sources/csv.h"
#include "data/stages.h"

/* Splits one record into fields. LKS_END at the end of the file. */
static lks_status split_record(csv_cursor *c)
{
    csv_scan s = { .c = c, .d = (const csv_dataset *)c->base.base.dataset };
    int byte;

    c->n_fields = 0;
    c->text.length = 0;
    c->record_line = c->line + 1;
    c->record_offset = c->base.stream.offset;
    LKS_TRY(lks__csv_byte(c, &byte));
    if (c->after_cr && byte == '\n') {
        c->record_line = --c->line + 1;
        c->record_offset = c->base.stream.offset;
        LKS_TRY(lks__csv_byte(c, &byte));
    }
    c->after_cr = false;
    if (byte < 0) return LKS_END;
    s.byte = byte;
    LKS_TRY(lks__csv_split(&s));
    if (c->text.failed) return lks__file_fail(&c->base, LKS_E_NOMEM, "no memory for a record");
    return s.fault == NULL ? LKS_OK : lks__csv_fault(c, "%s", s.fault);
}

/* One field alone most often means another delimiter. */
static lks_status wrong_count(csv_cursor *c)
{
    const csv_dataset *d = (const csv_dataset *)c->base.base.dataset;
    const bool other = c->n_fields == 1 && c->text.length > 0 &&
                       (memchr(c->text.data, ';', c->text.length) != NULL ||
                        memchr(c->text.data, '\t', c->text.length) != NULL ||
                        memchr(c->text.data, ',', c->text.length) != NULL);

    return lks__csv_fault(c, "%s%zu fields are expected, %zu found%s", d->file_columns > 0 ? "" : "at least ",
                          d->file_columns > 0 ? d->file_columns : d->min_columns, c->n_fields,
                          other ? "; is field_delim right?" : "");
}

static lks_status record(lks_file_cursor *base, lks_element **out)
{
    csv_cursor *c = (csv_cursor *)base;
    const csv_dataset *d = (const csv_dataset *)base->base.dataset;
    lks_element *e;
    lks_status status;

    LKS_TRY(split_record(c));
    if (d->file_columns > 0 ? c->n_fields != d->file_columns : c->n_fields < d->min_columns) return wrong_count(c);
    e = lks__cursor_element(&base->base);
    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < d->n; i++) {
        status = lks__csv_convert(c, e, i);
        if (status != LKS_OK) {
            lks_element_release(e);
            return status;
        }
    }
    *out = e;
    return LKS_OK;
}

/* Errors name columns by the header line. */
static lks_status keep_names(csv_cursor *c)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        const csv_field *f = &c->field[i];
        lks__text_append(&c->names, f->size == 0 ? "" : c->text.data + f->at, f->size);
        lks__text_append(&c->names, "", 1);
    }
    return c->names.failed ? lks__file_fail(&c->base, LKS_E_NOMEM, "no memory for the header line") : LKS_OK;
}

/* The mark of UTF-8, then the header line. */
static lks_status begin(lks_file_cursor *base)
{
    csv_cursor *c = (csv_cursor *)base;
    const unsigned char *data;
    const char *hint;
    lks_status status;
    size_t n;

    c->after_cr = false;
    c->line = 0;
    c->names.length = 0;
    LKS_TRY(lks__stream_peek(&base->stream, &data, &n));
    hint = lks__stream_hint(&base->stream, data, n, NULL);
    if (hint != NULL && data[0] != 'x') /* zlib's first byte is a letter, which may well begin a name */
        return lks__file_fail(base, LKS_E_FORMAT, "this is no CSV file%s", hint);
    if (n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) lks__stream_take(&base->stream, 3);
    if (!((const csv_dataset *)base->base.dataset)->header) return LKS_OK;
    status = split_record(c);
    if (status == LKS_END) return lks__file_fail(base, LKS_E_FORMAT, "the file is empty, a header line was expected");
    base->go_on = false;
    return status == LKS_OK ? keep_names(c) : status;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

static void close_cursor(lks_cursor *n)
{
    csv_cursor *c = (csv_cursor *)n;

    lks__text_free(&c->text);
    lks__text_free(&c->names);
    lks__free(c->field);
    lks__file_close(n);
}

static void destroy(lks_dataset *ds)
{
    csv_dataset *d = (csv_dataset *)ds;

    for (size_t i = 0; d->fallback != NULL && i < d->n; i++) lks_tensor_release(d->fallback[i]);
    lks__free(d->fallback);
    lks__free(d->dtype);
    lks__free(d->column);
    lks__free(d->na);
    lks__file_list_destroy(ds);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const csv_dataset *d = (const csv_dataset *)ds;

    lks__file_list_describe(ds, r);
    for (size_t i = 0; i < d->n; i++) lks__recipe_int(r, (int64_t)d->column[i]);
    lks__recipe_int(r, d->header);
    lks__recipe_int(r, d->delimiter);
    lks__recipe_int(r, d->quotes);
    lks__recipe_text(r, d->na);
    for (size_t i = 0; i < d->n; i++) lks__recipe_tensor(r, d->fallback[i]);
}

const lks_stage lks__stage_csv = { .name = "csv",
                                   .dataset_size = sizeof(csv_dataset),
                                   .cursor_size = sizeof(csv_cursor),
                                   .next = next,
                                   .close = close_cursor,
                                   .destroy = destroy,
                                   .describe = describe,
                                   .is_files = true };

/* Which column of the file each component is. */
static lks_status choose_columns(csv_dataset *d, const lks_csv_options *o)
{
    size_t at = 0, x = 0;

    if (o->n_select_cols > 0 && o->n_exclude_cols > 0)
        return lks__fail(LKS_E_ARG, "select_cols and exclude_cols exclude each other");
    if (o->n_select_cols > 0 && o->n_select_cols != d->n)
        return lks__fail(LKS_E_ARG, "select_cols names %zu columns, there are %zu dtypes", o->n_select_cols, d->n);
    for (size_t i = 1; i < o->n_select_cols; i++)
        if (o->select_cols[i] <= o->select_cols[i - 1]) return lks__fail(LKS_E_ARG, "select_cols must rise strictly");
    for (size_t i = 1; i < o->n_exclude_cols; i++)
        if (o->exclude_cols[i] <= o->exclude_cols[i - 1])
            return lks__fail(LKS_E_ARG, "exclude_cols must rise strictly");
    for (size_t i = 0; i < d->n; i++, at++) {
        if (o->n_select_cols > 0) {
            if (o->select_cols[i] < 0) return lks__fail(LKS_E_ARG, "select_cols must not be negative");
            at = (size_t)o->select_cols[i];
        }
        for (; x < o->n_exclude_cols && (size_t)o->exclude_cols[x] == at; x++) at++;
        d->column[i] = at;
    }
    d->min_columns = at;
    if (o->n_select_cols == 0) d->file_columns = d->n + o->n_exclude_cols;
    return LKS_OK;
}

static lks_status take_defaults(csv_dataset *d, const lks_csv_options *o)
{
    for (size_t i = 0; i < d->n; i++) {
        lks_tensor *t = o->defaults == NULL ? NULL : o->defaults[i];
        lks_dtype type = o->dtypes[i];
        if (type != LKS_INT32 && type != LKS_INT64 && type != LKS_FLOAT32 && type != LKS_FLOAT64 && type != LKS_STRING)
            return lks__fail(LKS_E_ARG, "column %zu can't be %s; int32, int64, float32, float64 and string can", i,
                             lks_dtype_name(type));
        if (t != NULL && (lks_tensor_dtype(t) != type || lks_tensor_size(t) != 1))
            return lks__fail(LKS_E_ARG, "the default of column %zu must be one %s", i, lks_dtype_name(type));
        d->fallback[i] = lks_tensor_retain(t);
        d->dtype[i] = type;
    }
    return LKS_OK;
}

static lks_status set_up(csv_dataset *d, size_t n, const char *const *files, const lks_csv_options *o)
{
    LKS_TRY(lks__file_list_init(&d->list, n, files, &o->files));
    if (o->n_columns == 0 || o->dtypes == NULL) return lks__fail(LKS_E_ARG, "no column given");
    d->n = o->n_columns;
    d->dtype = lks__calloc(d->n, sizeof *d->dtype);
    d->fallback = lks__calloc(d->n, sizeof *d->fallback);
    d->column = lks__calloc(d->n, sizeof *d->column);
    d->na = lks__strdup(o->na_value == NULL ? "" : o->na_value);
    if (d->dtype == NULL || d->fallback == NULL || d->column == NULL || d->na == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for %zu columns", d->n);
    d->header = o->header == LKS_TRUE;
    d->quotes = o->use_quote_delim != LKS_FALSE;
    d->delimiter = o->field_delim == '\0' ? ',' : o->field_delim;
    LKS_TRY(take_defaults(d, o));
    return choose_columns(d, o);
}

static lks_spec *row_spec(const csv_dataset *d)
{
    lks_spec **child = lks__calloc(d->n, sizeof *child), *spec;

    if (child == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for an element spec");
        return NULL;
    }
    for (size_t i = 0; i < d->n; i++) child[i] = lks_spec_tensor(d->dtype[i], (lks_shape){ .rank = 0 });
    spec = lks_spec_tuple(d->n, child);
    lks__free(child);
    return spec;
}

lks_dataset *lks_csv_with(size_t n, const char *const *files, const lks_csv_options *options)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_csv, 0, NULL);
    lks_csv_options o;
    lks_status status;

    if (ds == NULL) return NULL;
    lks__options(&o, sizeof o, options);
    status = set_up((csv_dataset *)ds, n, files, &o);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds = lks__dataset_spec_is(ds, row_spec((csv_dataset *)ds));
    return lks__parallel_reads(ds, o.files.num_parallel_reads);
}
