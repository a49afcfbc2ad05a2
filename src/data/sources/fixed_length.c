/* fixed_length.c - records of one size behind a header; the footer is known by looking ahead, so that compressed files, whose
 * length nobody knows, are read alike. */
#include <string.h>

#include "data/file_source.h"
#include "data/stages.h"

typedef struct fixed_dataset {
    lks_file_list list;
    size_t record, header, footer;
} fixed_dataset;

typedef struct fixed_cursor {
    lks_file_cursor base;
    unsigned char *window; /* a record and the footer behind it */
    size_t have;
} fixed_cursor;

static const fixed_dataset *recipe(const lks_file_cursor *c)
{
    return (const fixed_dataset *)c->base.dataset;
}

static lks_status not_a_multiple(const lks_file_cursor *c, uint64_t body)
{
    const fixed_dataset *d = recipe(c);

    return lks__fail(LKS_E_FORMAT,
                     "'%s' has %llu bytes between its header of %zu and footer of %zu, no multiple of the record "
                     "length %zu: one of these sizes is wrong, or the file is cut off",
                     c->stream.path, (unsigned long long)body, d->header, d->footer, d->record);
}

static lks_status begin(lks_file_cursor *c)
{
    const fixed_dataset *d = recipe(c);
    fixed_cursor *f = (fixed_cursor *)c;
    uint64_t size;
    size_t left = d->header;

    f->have = 0;
    if (f->window == NULL && (f->window = lks__malloc(d->record + d->footer)) == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for a record of %zu bytes", d->record);
    size = c->stream.compressed ? UINT64_MAX : lks__stream_size(&c->stream);
    if (size != UINT64_MAX && size > 0) {
        if (size < (uint64_t)d->header + d->footer)
            return lks__fail(LKS_E_FORMAT, "'%s' has %llu bytes, fewer than its header of %zu and footer of %zu",
                             c->stream.path, (unsigned long long)size, d->header, d->footer);
        if ((size - d->header - d->footer) % d->record != 0) return not_a_multiple(c, size - d->header - d->footer);
    }
    while (left > 0) {
        const unsigned char *data;
        size_t n;
        LKS_TRY(lks__stream_peek(&c->stream, &data, &n));
        if (n == 0)
            return c->stream.offset == 0
                       ? LKS_END
                       : lks__fail(LKS_E_FORMAT, "'%s' ends after %llu bytes, inside its header of %zu", c->stream.path,
                                   (unsigned long long)c->stream.offset, d->header);
        if (n > left) n = left;
        lks__stream_take(&c->stream, n);
        left -= n;
    }
    return LKS_OK;
}

static lks_status record(lks_file_cursor *c, lks_element **out)
{
    const fixed_dataset *d = recipe(c);
    fixed_cursor *f = (fixed_cursor *)c;
    size_t want = d->record + d->footer - f->have, got;

    LKS_TRY(lks__stream_read(&c->stream, f->window + f->have, want, &got));
    f->have += got;
    if (got < want) {
        if (f->have == d->footer || (f->have == 0 && c->stream.offset == 0)) return LKS_END;
        return not_a_multiple(c, (uint64_t)c->record * d->record + (f->have > d->footer ? f->have - d->footer : 0));
    }
    LKS_TRY(lks__string_element(&c->base, f->window, d->record, out));
    f->have = d->footer;
    memmove(f->window, f->window + d->record, d->footer);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

static void close_cursor(lks_cursor *n)
{
    lks__free(((fixed_cursor *)n)->window);
    lks__file_close(n);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const fixed_dataset *d = (const fixed_dataset *)ds;

    lks__file_list_describe(ds, r);
    lks__recipe_int(r, (int64_t)d->record);
    lks__recipe_int(r, (int64_t)d->header);
    lks__recipe_int(r, (int64_t)d->footer);
}

const lks_stage lks__stage_fixed_length = { .name = "fixed_length",
                                            .dataset_size = sizeof(fixed_dataset),
                                            .cursor_size = sizeof(fixed_cursor),
                                            .next = next,
                                            .close = close_cursor,
                                            .destroy = lks__file_list_destroy,
                                            .describe = describe,
                                            .is_files = true };

lks_dataset *lks_fixed_length_with(size_t n, const char *const *files, int64_t record_bytes,
                                   const lks_fixed_length_options *options)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_fixed_length, 0, NULL);
    fixed_dataset *d = (fixed_dataset *)ds;
    lks_fixed_length_options o;
    lks_status status;

    if (ds == NULL) return NULL;
    lks__options(&o, sizeof o, options);
    status = lks__file_list_init(&d->list, n, files, &o.files);
    if (status == LKS_OK && (record_bytes < 1 || o.header_bytes < 0 || o.footer_bytes < 0))
        status = lks__fail(LKS_E_ARG,
                           "record_bytes must be at least 1, header and footer at least 0; found %lld, %lld, %lld",
                           (long long)record_bytes, (long long)o.header_bytes, (long long)o.footer_bytes);
    if (status == LKS_OK && (record_bytes > INT32_MAX || o.header_bytes > INT32_MAX || o.footer_bytes > INT32_MAX))
        status = lks__fail(LKS_E_LIMIT, "records, headers and footers must be below 2 GiB");
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->record = (size_t)record_bytes;
    d->header = (size_t)o.header_bytes;
    d->footer = (size_t)o.footer_bytes;
    ds = lks__dataset_spec_is(ds, lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }));
    return lks__parallel_reads(ds, o.files.num_parallel_reads);
}
