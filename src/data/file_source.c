/* file_source.c - walking a list of files. Whatever goes wrong with one, its opening included, the next call is at the next file. */
#include "file_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error_file.h"
#include "base/text.h"
#include "clone.h"
#include "function.h"
#include "lockstep/dataset_distribute.h"
#include "tensor/tensor.h"

enum { DEFAULT_BUFFER = 262144, MAX_BUFFER = 1 << 30 };

static lks_status parse_compression(const char *word, lks_compression *out)
{
    *out = LKS_PLAIN;
    if (word == NULL || word[0] == '\0') return LKS_OK;
    *out = strcmp(word, "GZIP") == 0 ? LKS_GZIP : LKS_ZLIB;
    if (*out == LKS_GZIP || strcmp(word, "ZLIB") == 0) return LKS_OK;
    return lks__fail(LKS_E_ARG, "compression_type must be \"\", \"GZIP\" or \"ZLIB\", found \"%s\"", word);
}

lks_status lks__file_list_init(lks_file_list *list, size_t n, const char *const *files, const lks_files_options *o)
{
    int64_t buffer = lks__option_int(o->buffer_size, DEFAULT_BUFFER);

    LKS_TRY(parse_compression(o->compression_type, &list->compression));
    if (buffer < 0) return lks__fail(LKS_E_ARG, "buffer_size must not be negative, found %lld", (long long)buffer);
    if (buffer < 16) buffer = 16; /* less would only be slow */
    list->buffer_size = (size_t)(buffer < MAX_BUFFER ? buffer : MAX_BUFFER);
    list->path = lks__calloc(n, sizeof *list->path);
    if (list->path == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu file names", n);
    list->n = n;
    for (size_t i = 0; i < n; i++) {
        if (files[i] == NULL) return lks__fail(LKS_E_ARG, "file name %zu is NULL", i);
        if (lks__starts_with(files[i], "http://") && o->allow_http != LKS_TRUE)
            return lks__fail(LKS_E_ARG,
                             "'%s' would travel unprotected: use https://, or set .allow_http = LKS_TRUE for a server "
                             "that you trust",
                             files[i]);
        list->path[i] = lks__strdup(files[i]);
        if (list->path[i] == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu file names", n);
    }
    return LKS_OK;
}

void lks__file_list_destroy(lks_dataset *ds)
{
    lks_file_list *list = (lks_file_list *)ds;

    for (size_t i = 0; i < list->n; i++) lks__free(list->path[i]);
    lks__free(list->path);
}

void lks__file_list_describe(const lks_dataset *ds, lks_recipe *r)
{
    const lks_file_list *list = (const lks_file_list *)ds;

    for (size_t i = 0; i < list->n; i++) lks__recipe_text(r, list->path[i]);
    lks__recipe_int(r, (int64_t)list->compression);
}

lks_status lks__file_fail(const lks_file_cursor *c, lks_status code, const char *fmt, ...)
{
    char text[LKS_ERROR_TEXT];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return lks__fail(code, "'%s', record %lld, offset %llu: %s", c->stream.path, (long long)c->record,
                     (unsigned long long)c->stream.offset, text);
}

lks_status lks__file_place(const lks_file_cursor *c, uint64_t offset, const char *hint)
{
    lks_error error = { .code = LKS_OK };

    lks__error_capture(&error, LKS_E_FORMAT);
    if (error.text[0] == '\'') return lks__context(LKS_E_FORMAT, "record %lld", (long long)c->record);
    return lks__fail(LKS_E_FORMAT, "'%s', record %lld, offset %llu: %s%s", c->stream.path, (long long)c->record,
                     (unsigned long long)offset, error.text, hint);
}

/* Without memory for the name the element has none. */
static void note_origin(lks_file_cursor *c, lks_element *e, uint64_t offset)
{
    if (e == NULL) return;
    if (c->name == NULL) c->name = lks__buffers_name(c->base.buffers, c->stream.path);
    e->origin = (lks_origin){ .file = c->name, .record = c->record, .offset = offset };
}

lks_status lks__file_next(lks_file_cursor *c, lks_status (*begin)(lks_file_cursor *c), lks_record_fn record,
                          lks_element **out)
{
    const lks_file_list *list = (const lks_file_list *)c->base.dataset;

    while (c->file < list->n) {
        lks_status status = LKS_OK;
        uint64_t offset;
        if (!c->stream.open) {
            status = lks__stream_open(&c->stream, list->path[c->file], list->compression, list->buffer_size);
            c->record = 0;
            c->name = NULL;
            if (status == LKS_OK && begin != NULL) status = begin(c);
        }
        offset = c->stream.offset;
        if (status == LKS_OK) status = record(c, out);
        if (status == LKS_OK) note_origin(c, *out, offset);
        c->record++;
        if (status == LKS_OK) return LKS_OK;
        if (status != LKS_END) lks__error_set_file(list->path[c->file]);
        if (c->go_on) {
            c->go_on = false;
            return lks__context(status, "%s (stage %d)", c->base.stage->name, c->base.dataset->number);
        }
        lks__stream_close(&c->stream);
        c->file++;
        if (status != LKS_END)
            return lks__context(status, "%s (stage %d)", c->base.stage->name, c->base.dataset->number);
    }
    return LKS_END;
}

lks_status lks__file_skip(lks_file_cursor *c, lks_status (*begin)(lks_file_cursor *c), lks_record_fn pass,
                          int64_t count, int64_t *done)
{
    for (; *done < count; ++*done) {
        lks_element *e = NULL;
        if (lks__cancelled(c->base.place.scope)) return lks__fail(LKS_E_CANCELED, "the iterator was cancelled");
        if (lks__file_next(c, begin, pass, &e) == LKS_END) break;
    }
    return LKS_OK;
}

void lks__file_close(lks_cursor *n)
{
    lks__stream_free(&((lks_file_cursor *)n)->stream);
}

lks_status lks__string_element(lks_cursor *n, const void *data, size_t size, lks_element **out)
{
    lks_element *e = lks__cursor_element(n);
    lks_tensor *t = e == NULL ? NULL : lks_element_output(e, 0);
    lks_status status = t == NULL ? LKS_E_NOMEM : lks__tensor_set_bytes(t, 0, data, size);

    if (status == LKS_OK) *out = e;
    else lks_element_release(e);
    return status;
}

lks_dataset *lks__file_list_shard(lks_dataset *of, int64_t num, int64_t index)
{
    const lks_file_list *all = (const lks_file_list *)of;
    lks_dataset *ds = lks__dataset_clone(of, NULL, LKS_UNKNOWN_CARDINALITY);
    lks_file_list *list = (lks_file_list *)ds;

    if (!lks__dataset_ok(ds)) return ds;
    list->path = ds->extra = lks__calloc(all->n, sizeof *list->path);
    if (list->path == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for %zu names", all->n));
    list->n = 0;
    for (size_t i = (size_t)index; i < all->n; i += (size_t)num) list->path[list->n++] = all->path[i];
    return ds;
}

/* The source over the one file of this name. */
static lks_dataset *one_file(lks_dataset *of, const char *name)
{
    lks_dataset *ds = lks__dataset_clone(of, NULL, LKS_UNKNOWN_CARDINALITY);
    lks_file_list *list = (lks_file_list *)ds;
    size_t n = strlen(name) + 1;

    if (!lks__dataset_ok(ds)) return ds;
    ds->extra = lks__calloc(1, sizeof *list->path + n);
    if (ds->extra == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for a file name"));
    list->path = ds->extra;
    list->path[0] = memcpy(list->path + 1, name, n);
    list->n = 1;
    return ds;
}

/* ---- parallel reads: interleave over the names ---- */

static lks_spec *open_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in;
    return lks_spec_dataset(lks_spec_retain(((const lks_dataset *)user)->spec));
}

static lks_status open_file(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context;
    return lks_element_set_dataset(out, 0, one_file(user, name->data)); /* our strings end with a zero byte */
}

static void release_source(void *user)
{
    lks_dataset_release(user);
}

lks_dataset *lks__parallel_reads(lks_dataset *ds, int64_t reads)
{
    const lks_file_list *list = (const lks_file_list *)ds;
    const lks_map_fn fn = { .struct_size = sizeof fn,
                            .name = "read_file",
                            .output_spec = open_spec,
                            .apply = open_file,
                            .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES,
                            .user = ds,
                            .release = release_source };
    lks_tensor *names;
    lks_dataset *files;
    lks_status status;

    if (reads == 0 || !lks__dataset_ok(ds)) return ds;
    status = lks__option_parallel("num_parallel_reads", reads);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    names = lks_tensor_create(LKS_STRING, (lks_shape){ .rank = 1, .dim = { (int64_t)list->n } });
    if (names == NULL) status = LKS_E_NOMEM;
    for (size_t i = 0; status == LKS_OK && i < list->n; i++)
        status = lks__tensor_set_bytes(names, (int64_t)i, list->path[i], strlen(list->path[i]));
    files = status == LKS_OK ? lks_from_tensor_slices_n(1, &names) : NULL;
    lks_tensor_release(names);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    return lks_interleave(files, &fn, .cycle_length = reads, .num_parallel_calls = reads);
}

lks_dataset *lks__string_files(const lks_stage *stage, size_t n, const char *const *files,
                               const lks_files_options *options)
{
    lks_dataset *ds = lks__dataset_begin(stage, 0, NULL);
    lks_files_options o;
    lks_status status;

    if (ds == NULL) return NULL;
    lks__options(&o, sizeof o, options);
    status = lks__file_list_init((lks_file_list *)ds, n, files, &o);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds = lks__dataset_spec_is(ds, lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }));
    return lks__parallel_reads(ds, o.num_parallel_reads);
}
