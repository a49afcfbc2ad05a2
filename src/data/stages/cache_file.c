/* cache_file.c - a cache in a file. It appears under its name only when a pass has ended (written beside it, synced, renamed), so
 * there are no locks and nothing half-written to find. Its first frame carries the fingerprint of what it was made from: a cache of
 * another pipeline is made anew, with a warning. The last frame holds the number of elements. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "data/cache_file.h"
#include "data/codec.h"
#include "data/frames.h"
#include "data/stages.h"
#include "files/endian.h"
#include "files/os_error.h"
#include "files/save.h"

enum { BUFFER = 1 << 18 };
static const char magic[] = "lockstep element cache 1";

typedef struct cache_dataset {
    lks_dataset base;
    char *path;
    bool rewrite; /* write whatever is there */
} cache_dataset;

typedef struct cache_cursor {
    lks_cursor base;
    bool reading, writing, ended;
    int64_t n;
    lks_byte_stream stream;
    lks_frame frame;
    lks_saving saving;
    lks_text out, one; /* not written yet; one element */
    uint64_t written;
} cache_cursor;

static const cache_dataset *recipe(const cache_cursor *c)
{
    return (const cache_dataset *)c->base.dataset;
}

/* The first frame: magic and fingerprint. */
static void header(const cache_cursor *c, char out[sizeof magic + 8])
{
    uint64_t print = c->base.dataset->n_inputs == 0 ? 0 : lks__recipe_fingerprint(c->base.dataset->input[0]);

    memcpy(out, magic, sizeof magic);
    for (int i = 0; i < 8; i++) out[sizeof magic + (size_t)i] = (char)(print >> 8 * i);
}

/* Files of others are not overwritten. */
static const char no_cache[] =
    "no file that lks_cache, lks_snapshot or lks_dataset_save wrote, or a damaged one: delete it "
    "or give another name";

/* Starts reading; LKS_E_NOTFOUND where there is nothing to read. */
static lks_status start_reading(cache_cursor *c)
{
    char want[sizeof magic + 8];
    unsigned char bytes[12];
    lks_status status;

    LKS_TRY(lks__stream_open(&c->stream, recipe(c)->path, LKS_PLAIN, BUFFER));
    lks__frame_begin(&c->frame, &c->stream);
    lks__frame_look(&c->frame, &c->stream);
    status = lks__frame_read(&c->frame, &c->stream, bytes);
    if (status == LKS_END) return lks__fail(LKS_E_FORMAT, "the file is empty, %s", no_cache);
    if (status == LKS_E_FORMAT) return lks__context(status, "this is %s", no_cache);
    if (status != LKS_OK) return status;
    header(c, want);
    if (c->base.dataset->n_inputs == 0 && c->frame.size == sizeof want &&
        memcmp(c->frame.payload, magic, sizeof magic) == 0)
        return LKS_OK; /* a saved dataset is read whatever it was made from */
    if (c->frame.size == sizeof want && memcmp(c->frame.payload, want, sizeof want) == 0) return LKS_OK;
    if (c->frame.size == sizeof want && memcmp(c->frame.payload, magic, sizeof magic) == 0) {
        lks__warn("cache (stage %d): '%s' was made by another pipeline and is made anew", c->base.dataset->number,
                  recipe(c)->path);
        return LKS_E_NOTFOUND;
    }
    return lks__fail(LKS_E_FORMAT, "this is %s", no_cache);
}

static lks_status open_cursor(lks_cursor *n)
{
    cache_cursor *c = (cache_cursor *)n;
    lks_status status = recipe(c)->rewrite ? LKS_E_NOTFOUND : start_reading(c);

    if (status == LKS_OK) {
        c->reading = true;
        return LKS_OK;
    }
    lks__stream_close(&c->stream);
    if (status != LKS_E_NOTFOUND || n->dataset->n_inputs == 0)
        return lks__context(status, "cache (stage %d), '%s'", n->dataset->number, recipe(c)->path);
    status = lks__save_begin(recipe(c)->path, &c->saving);
    if (status != LKS_OK) return lks__context(status, "cache (stage %d)", n->dataset->number);
    c->writing = true;
    {
        char first[sizeof magic + 8];
        header(c, first);
        lks__frame_append(&c->out, first, sizeof first);
    }
    return lks__cursor_open_inputs(n);
}

static lks_status flush(cache_cursor *c)
{
    if (c->out.failed || c->one.failed)
        return lks__cursor_fail(&c->base, LKS_E_NOMEM, "no memory to write '%s'", recipe(c)->path);
    LKS_TRY(lks__save_write_at(&c->saving, c->written, c->out.data, c->out.length));
    c->written += c->out.length;
    c->out.length = 0;
    return LKS_OK;
}

static lks_status finish(cache_cursor *c)
{
    unsigned char count[9] = { 'n' };

    for (int i = 0; i < 8; i++) count[1 + i] = (unsigned char)((uint64_t)c->n >> 8 * i);
    lks__frame_append(&c->out, count, sizeof count);
    LKS_TRY(flush(c));
    c->writing = false;
    c->ended = true;
    LKS_TRY(lks__save_commit(&c->saving));
    return LKS_END;
}

static lks_status next_written(cache_cursor *c, lks_element **out)
{
    lks_element *e;
    lks_status status = lks__cursor_next(c->base.input[0], &e);

    if (status == LKS_END) return finish(c);
    if (status != LKS_OK) return status;
    c->one.length = 0;
    lks__text_append(&c->one, "e", 1);
    lks__element_encode(&c->one, e);
    if (!c->one.failed) lks__frame_append(&c->out, c->one.data, c->one.length);
    if (c->out.length >= BUFFER || c->out.failed || c->one.failed) status = flush(c);
    if (status != LKS_OK) {
        lks_element_release(e);
        return status;
    }
    c->n++;
    *out = e;
    return LKS_OK;
}

static lks_status next_read(cache_cursor *c, lks_element **out)
{
    unsigned char bytes[12];
    lks_status status = lks__frame_read(&c->frame, &c->stream, bytes);
    lks_element *e = NULL;

    if (status == LKS_OK && c->frame.size == 9 && c->frame.payload[0] == 'n' &&
        lks__le64(c->frame.payload + 1) == (uint64_t)c->n) {
        c->ended = true;
        return LKS_END;
    }
    if (status == LKS_END || (status == LKS_OK && (c->frame.size == 0 || c->frame.payload[0] != 'e')))
        status = lks__fail(LKS_E_FORMAT, "the cache ends after %lld elements without its last record", (long long)c->n);
    if (status == LKS_OK && (e = lks__cursor_element(&c->base)) == NULL) status = LKS_E_NOMEM;
    if (status == LKS_OK) status = lks__element_decode(c->frame.payload + 1, c->frame.size - 1, e);
    if (status != LKS_OK) {
        lks_element_release(e);
        c->ended = status == LKS_E_FORMAT;
        return lks__context(status, "cache (stage %d), '%s', element %lld; delete the file to make it anew",
                            c->base.dataset->number, recipe(c)->path, (long long)c->n);
    }
    c->n++;
    *out = e;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    cache_cursor *c = (cache_cursor *)n;

    if (c->ended) return LKS_END;
    return c->reading ? next_read(c, out) : next_written(c, out);
}

static void close_cursor(lks_cursor *n)
{
    cache_cursor *c = (cache_cursor *)n;

    if (c->writing) {
        lks__save_abort(&c->saving);
        if (c->n > 0 && n->place.meters == NULL) /* a measuring pass ends when it likes */
            lks__warn(
                "cache (stage %d): the pass ended before the end of the data, so '%s' is not written; put take below "
                "the cache: take(k), then cache",
                n->dataset->number, recipe(c)->path);
    }
    lks__stream_free(&c->stream);
    lks__free(c->frame.copy);
    lks__text_free(&c->out);
    lks__text_free(&c->one);
}

static void destroy(lks_dataset *ds)
{
    lks__free(((cache_dataset *)ds)->path);
}

const lks_stage lks__stage_cache_file = { .name = "cache",
                                          .dataset_size = sizeof(cache_dataset),
                                          .cursor_size = sizeof(cache_cursor),
                                          .open = open_cursor,
                                          .next = next,
                                          .close = close_cursor,
                                          .destroy = destroy };

lks_dataset *lks__cache_in_file(lks_dataset *dataset, const char *path)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_cache_file, dataset);
    cache_dataset *d = (cache_dataset *)ds;
    lks_status status;

    if (!lks__dataset_ok(ds)) return ds;
    status = lks__codec_check(ds->spec);
    if (status == LKS_OK && (d->path = lks__strdup(path)) == NULL)
        status = lks__fail(LKS_E_NOMEM, "no memory for a name");
    return status == LKS_OK ? ds : lks__dataset_fail(ds, status);
}

lks_status lks_dataset_save(lks_dataset *dataset, const char *path)
{
    lks_dataset *ds = lks__cache_in_file(lks_dataset_retain(dataset), path);
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = lks_dataset_status(ds);

    if (status == LKS_OK) {
        ((cache_dataset *)ds)->rewrite = true;
        status = lks_iter_create(ds, &it);
    }
    while (status == LKS_OK) {
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    return status == LKS_END ? LKS_OK : status;
}

lks_dataset *lks_dataset_load(const char *path, lks_spec *spec)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_cache_file, 0, NULL);
    cache_dataset *d = (cache_dataset *)ds;
    lks_status status = LKS_OK;

    if (ds == NULL) {
        lks_spec_release(spec);
        return NULL;
    }
    ds->spec = spec;
    if (spec == NULL) status = lks__context(LKS_E_ARG, "the element spec is NULL");
    if (status == LKS_OK && path == NULL) status = lks__fail(LKS_E_ARG, "the path is NULL");
    if (status == LKS_OK) status = lks__codec_check(spec);
    if (status == LKS_OK && (d->path = lks__strdup(path)) == NULL)
        status = lks__fail(LKS_E_NOMEM, "no memory for a name");
    return status == LKS_OK ? ds : lks__dataset_fail(ds, status);
}

lks_dataset *lks_snapshot(lks_dataset *dataset, const char *folder)
{
    lks_text path = { 0 };
    lks_dataset *ds;

    if (!lks__dataset_ok(dataset)) return dataset;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        lks_status status = lks__fail(LKS_E_IO, "cannot make the folder '%s': %s", folder, lks__os_error(errno));
        ds = lks__dataset_begin1(&lks__stage_cache_file, dataset);
        return ds == NULL ? NULL : lks__dataset_fail(ds, status);
    }
    lks__text_printf(&path, "%s/%016llx.snapshot", folder, (unsigned long long)lks__recipe_fingerprint(dataset));
    if (path.failed) {
        lks_dataset_release(dataset);
        lks__text_free(&path);
        return NULL;
    }
    ds = lks__cache_in_file(dataset, path.data);
    lks__text_free(&path);
    return ds;
}
