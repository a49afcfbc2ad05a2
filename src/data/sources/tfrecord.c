/* tfrecord.c - the records of TFRecord files. */
#include "data/file_source.h"
#include "data/frames.h"
#include "data/stages.h"

typedef struct tfrecord_cursor {
    lks_file_cursor base;
    lks_frame frame;
} tfrecord_cursor;

static lks_status begin(lks_file_cursor *c)
{
    lks__frame_begin(&((tfrecord_cursor *)c)->frame, &c->stream);
    lks__frame_look(&((tfrecord_cursor *)c)->frame, &c->stream);
    return LKS_OK;
}

/* A likely cause, where the very first bytes show one. */
static const char *hint(const lks_file_cursor *c, const unsigned char header[12])
{
    return c->record > 0 ? "" : lks__stream_hint(&c->stream, header, 12, "; is this a TFRecord file?");
}

/* Reads or passes over the next record. */
static lks_status advance(lks_file_cursor *c, bool pass)
{
    lks_frame *f = &((tfrecord_cursor *)c)->frame;
    unsigned char header[12] = { 0 };
    uint64_t offset = c->stream.offset;
    lks_status status = pass ? lks__frame_pass(f, &c->stream, header) : lks__frame_read(f, &c->stream, header);

    return status == LKS_E_FORMAT ? lks__file_place(c, offset, hint(c, header)) : status;
}

static lks_status record(lks_file_cursor *c, lks_element **out)
{
    const lks_frame *f = &((tfrecord_cursor *)c)->frame;
    lks_status status = advance(c, false);

    return status != LKS_OK ? status : lks__string_element(&c->base, f->payload, f->size, out);
}

static lks_status pass(lks_file_cursor *c, lks_element **out)
{
    *out = NULL;
    return advance(c, true);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

/* Reads the headers alone; what is broken in a payload goes unnoticed, as in tf.data. */
static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    return lks__file_skip((lks_file_cursor *)n, begin, pass, count, done);
}

static lks_status pass_one(lks_cursor *n)
{
    lks_element *none;

    return lks__file_next((lks_file_cursor *)n, begin, pass, &none);
}

static void close_cursor(lks_cursor *n)
{
    lks__free(((tfrecord_cursor *)n)->frame.copy);
    lks__file_close(n);
}

const lks_stage lks__stage_tfrecord = { .name = "tfrecord",
                                        .dataset_size = sizeof(lks_file_list),
                                        .cursor_size = sizeof(tfrecord_cursor),
                                        .next = next,
                                        .skip = skip,
                                        .pass = pass_one,
                                        .close = close_cursor,
                                        .destroy = lks__file_list_destroy,
                                        .describe = lks__file_list_describe,
                                        .is_files = true };

lks_dataset *lks_tfrecord_with(size_t n, const char *const *files, const lks_files_options *options)
{
    return lks__string_files(&lks__stage_tfrecord, n, files, options);
}
