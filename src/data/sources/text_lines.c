/* text_lines.c - the lines of text files. Bytes are what they are; every carriage return is left out, as in tf.data. */
#include <string.h>

#include "base/text.h"
#include "data/file_source.h"
#include "data/stages.h"

typedef struct text_cursor {
    lks_file_cursor base;
    lks_text line;
} text_cursor;

static void append(lks_text *line, const unsigned char *data, size_t n)
{
    while (n > 0) {
        const unsigned char *cr = memchr(data, '\r', n);
        size_t part = cr == NULL ? n : (size_t)(cr - data);
        lks__text_append(line, (const char *)data, part);
        data += part + (cr != NULL);
        n -= part + (cr != NULL);
    }
}

static lks_status record(lks_file_cursor *c, lks_element **out)
{
    text_cursor *t = (text_cursor *)c;
    bool any = false;

    t->line.length = 0;
    for (;;) {
        const unsigned char *data, *end;
        size_t n;
        LKS_TRY(lks__stream_peek(&c->stream, &data, &n));
        if (n == 0) break;
        any = true;
        end = memchr(data, '\n', n);
        if (end != NULL) n = (size_t)(end - data);
        append(&t->line, data, n);
        lks__stream_take(&c->stream, n + (end != NULL));
        if (end != NULL) break;
    }
    if (!any) return LKS_END;
    if (t->line.failed) {
        lks__text_free(&t->line);
        t->line = (lks_text){ 0 };
        return lks__file_fail(c, LKS_E_NOMEM, "no memory for a line");
    }
    return lks__string_element(&c->base, t->line.data, t->line.length, out);
}

/* Any bytes are lines; those of an archive are hardly wanted. */
static lks_status begin(lks_file_cursor *c)
{
    const unsigned char *data;
    const char *hint;
    size_t n;

    LKS_TRY(lks__stream_peek(&c->stream, &data, &n));
    hint = n > 0 && data[0] != 'x' ? lks__stream_hint(&c->stream, data, n, NULL) : NULL;
    if (hint != NULL) lks__warn("text_lines: '%s' is read as plain text%s", c->stream.path, hint);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

static void close_cursor(lks_cursor *n)
{
    lks__text_free(&((text_cursor *)n)->line);
    lks__file_close(n);
}

const lks_stage lks__stage_text_lines = { .name = "text_lines",
                                          .dataset_size = sizeof(lks_file_list),
                                          .cursor_size = sizeof(text_cursor),
                                          .next = next,
                                          .close = close_cursor,
                                          .destroy = lks__file_list_destroy,
                                          .describe = lks__file_list_describe,
                                          .is_files = true };

lks_dataset *lks_text_lines_with(size_t n, const char *const *files, const lks_files_options *options)
{
    return lks__string_files(&lks__stage_text_lines, n, files, options);
}
