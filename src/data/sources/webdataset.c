/* webdataset.c - samples in tar files: consecutive members whose names agree up to the first dot of their base names. The header
 * of the member that begins the next sample has been read when a sample ends; it waits in the tar reader. */
#include <string.h>

#include "base/text.h"
#include "data/file_source.h"
#include "data/stages.h"
#include "data/tar.h"
#include "lockstep/sources.h"
#include "tensor/tensor.h"

enum { MAX_FIELDS = 64 };

typedef struct web_field {
    char *extensions;
    lks_dtype dtype;
    bool optional;
    size_t leaf; /* in the dict */
} web_field;

typedef struct web_dataset {
    lks_file_list list;
    size_t n, key_leaf, url_leaf;
    bool url;
    web_field field[MAX_FIELDS];
} web_dataset;

typedef struct web_cursor {
    lks_file_cursor base;
    lks_tar tar;
    bool waiting; /* the tar reader stands in a member that belongs to no sample yet */
    size_t dot;   /* where its extension begins */
    lks_text key, data;
} web_cursor;

static const web_dataset *recipe(const web_cursor *w)
{
    return (const web_dataset *)w->base.base.dataset;
}

/* ---- names ---- */

/* Where the extension begins: behind the first dot of the base name; 0: the member is no part of a sample. */
static size_t extension_of(const char *name, size_t n)
{
    const char *slash = n == 0 ? NULL : memrchr(name, '/', n);
    size_t base = slash == NULL ? 0 : (size_t)(slash - name) + 1;
    const char *dot = base < n ? memchr(name + base, '.', n - base) : NULL;

    if (dot == NULL || dot == name + base) return 0;
    /* "__meta__/..." and "__info__" are about the shard */
    if (n >= 4 && memcmp(name, "__", 2) == 0) {
        const char *first = memchr(name, '/', n), *end = first == NULL ? name + n : first;
        if (end - name >= 4 && end[-1] == '_' && end[-2] == '_') return 0;
    }
    return (size_t)(dot - name) + 1;
}

static bool same_extension(const char *a, size_t n, const char *b, size_t m)
{
    if (n != m) return false;
    for (size_t i = 0; i < n; i++)
        if (lks__ascii_lower((unsigned char)a[i]) != lks__ascii_lower((unsigned char)b[i])) return false;
    return true;
}

/* The rank of an extension in "jpg;jpeg;png", -1 if it is not there. */
static int rank_of(const char *list, const char *extension, size_t n)
{
    for (int rank = 0;; rank++) {
        size_t m = strcspn(list, ";");
        if (same_extension(list, m, extension, n)) return rank;
        if (list[m] == '\0') return -1;
        list += m + 1;
    }
}

/* ---- one sample ---- */

/* The next member that belongs to a sample, its name up to the extension in tar.name. */
static lks_status next_member(web_cursor *w)
{
    if (w->waiting) return LKS_OK;
    for (;;) {
        lks_status status = lks__tar_next(&w->tar, &w->base.stream);
        if (status == LKS_E_FORMAT) return lks__file_place(&w->base, w->base.stream.offset, "");
        if (status == LKS_END && w->tar.unclosed)
            lks__warn("webdataset: '%s' ends without the closing blocks of a tar archive: it may be cut off",
                      w->base.stream.path);
        if (status != LKS_OK) return status;
        w->dot = extension_of(w->tar.name.data == NULL ? "" : w->tar.name.data, w->tar.name.length);
        if (w->dot > 0) break;
    }
    w->waiting = true;
    return LKS_OK;
}

/* The whole member in w->data. Nothing is made for bytes that have not come. */
static lks_status read_member(web_cursor *w)
{
    enum { STEP = 1 << 20 };

    w->data.length = 0;
    if (w->tar.size > INT32_MAX)
        return lks__file_fail(&w->base, LKS_E_LIMIT, "member '%s' has more than 2 GiB", w->tar.name.data);
    while (w->tar.left > 0) {
        size_t n = w->tar.left < STEP ? (size_t)w->tar.left : STEP;
        lks_status status = lks__grow(&w->data.data, &w->data.capacity, w->data.length + n, 1);
        if (status == LKS_OK) status = lks__tar_read(&w->tar, &w->base.stream, w->data.data + w->data.length, n);
        if (status != LKS_OK) return lks__context(status, "'%s', member '%s'", w->base.stream.path, w->tar.name.data);
        w->data.length += n;
    }
    return LKS_OK;
}

static lks_status put_number(web_cursor *w, lks_element *e, const web_field *f)
{
    lks_tensor *t = lks_element_output(e, f->leaf);
    const char *text = w->data.data;
    size_t n = w->data.length;
    char copy[32];

    if (t == NULL) return LKS_E_NOMEM;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ' || text[n - 1] == '\r')) n--;
    if (n > 0 && n < sizeof copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
        if (lks__parse_int(copy, lks_tensor_data(t))) return LKS_OK;
    }
    w->base.go_on = true;
    return lks__file_fail(&w->base, LKS_E_FORMAT, "member '%s' of the sample is no whole number: \"%.*s\"",
                          w->tar.name.data, n < 40 ? (int)n : 40, n > 0 ? text : "");
}

/* Takes the present member into the field it belongs to, if any. rank[i]: of what field i has so far, -1 = nothing. */
static lks_status take_member(web_cursor *w, lks_element *e, int *rank)
{
    const web_dataset *d = recipe(w);
    const char *name = w->tar.name.data;

    for (size_t i = 0; i < d->n; i++) {
        const web_field *f = &d->field[i];
        int r = rank_of(f->extensions, name + w->dot, w->tar.name.length - w->dot);
        lks_tensor *t;
        if (r < 0 || (rank[i] >= 0 && r > rank[i])) continue;
        if (r == rank[i]) {
            return lks__file_fail(&w->base, LKS_E_FORMAT, "the sample has two members '%s'", name);
        }
        LKS_TRY(read_member(w));
        rank[i] = r;
        if (f->dtype == LKS_INT64) return put_number(w, e, f);
        t = lks_element_output(e, f->leaf);
        return t == NULL ? LKS_E_NOMEM : lks__tensor_set_bytes(t, 0, w->data.data, w->data.length);
    }
    return LKS_OK;
}

static bool belongs(const web_cursor *w)
{
    return w->dot - 1 == w->key.length && memcmp(w->key.data, w->tar.name.data, w->key.length) == 0;
}

/* What no member gave: a default for optional fields. */
static lks_status complete(web_cursor *w, lks_element *e, const int *rank)
{
    const web_dataset *d = recipe(w);

    for (size_t i = 0; i < d->n; i++) {
        const web_field *f = &d->field[i];
        lks_tensor *t;
        if (rank[i] >= 0) continue;
        if (!f->optional) {
            w->base.go_on = true;
            return lks__file_fail(&w->base, LKS_E_FORMAT, "sample '%s' has no member '.%s'", w->key.data,
                                  f->extensions);
        }
        t = lks_element_output(e, f->leaf);
        if (t == NULL) return LKS_E_NOMEM;
        if (f->dtype == LKS_INT64) *(int64_t *)lks_tensor_data(t) = -1;
        else LKS_TRY(lks__tensor_set_bytes(t, 0, "", 0));
    }
    return LKS_OK;
}

/* The members of the present sample. A sample that is broken is read to its end all the same. */
static lks_status gather(web_cursor *w, lks_element *e)
{
    int rank[MAX_FIELDS];
    lks_status status = LKS_OK, member;
    lks_error first = { .code = LKS_OK };

    for (size_t i = 0; i < recipe(w)->n; i++) rank[i] = -1;
    do {
        if (status == LKS_OK) status = take_member(w, e, rank);
        if (status != LKS_OK && !w->base.go_on) return status;
        lks__error_capture(&first, status);
        w->waiting = false;
        member = next_member(w);
    } while (member == LKS_OK && belongs(w));
    if (member != LKS_OK && member != LKS_END) {
        w->base.go_on = false;
        return member;
    }
    return status != LKS_OK ? lks__error_raise(&first) : complete(w, e, rank);
}

static lks_status put_text(lks_element *e, size_t leaf, const char *text, size_t n)
{
    lks_tensor *t = lks_element_output(e, leaf);

    return t == NULL ? LKS_E_NOMEM : lks__tensor_set_bytes(t, 0, text, n);
}

static lks_status record(lks_file_cursor *c, lks_element **out)
{
    web_cursor *w = (web_cursor *)c;
    const web_dataset *d = recipe(w);
    lks_element *e;
    lks_status status;

    LKS_TRY(next_member(w));
    w->key.length = 0;
    lks__text_append(&w->key, w->tar.name.data, w->dot - 1);
    e = lks__cursor_element(&c->base);
    if (e == NULL || w->key.failed) status = lks__fail(LKS_E_NOMEM, "no memory for a sample");
    else status = put_text(e, d->key_leaf, w->key.data, w->key.length);
    if (status == LKS_OK && d->url) status = put_text(e, d->url_leaf, c->stream.path, strlen(c->stream.path));
    if (status == LKS_OK) status = gather(w, e);
    if (status == LKS_OK) *out = e;
    else lks_element_release(e);
    return status;
}

/* Passes over a sample by its headers. */
static lks_status pass(lks_file_cursor *c, lks_element **out)
{
    web_cursor *w = (web_cursor *)c;
    lks_status status;

    *out = NULL;
    LKS_TRY(next_member(w));
    w->key.length = 0;
    lks__text_append(&w->key, w->tar.name.data, w->dot - 1);
    if (w->key.failed) return lks__fail(LKS_E_NOMEM, "no memory for a sample");
    do {
        w->waiting = false;
        status = next_member(w);
    } while (status == LKS_OK && belongs(w));
    return status == LKS_END ? LKS_OK : status;
}

static lks_status begin(lks_file_cursor *c)
{
    web_cursor *w = (web_cursor *)c;

    w->waiting = false;
    lks__tar_begin(&w->tar, &c->stream);
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    return lks__file_skip((lks_file_cursor *)n, begin, pass, count, done);
}

static void close_cursor(lks_cursor *n)
{
    web_cursor *w = (web_cursor *)n;

    lks__tar_free(&w->tar);
    lks__text_free(&w->key);
    lks__free(w->data.data);
    lks__file_close(n);
}

static void destroy(lks_dataset *ds)
{
    web_dataset *d = (web_dataset *)ds;

    for (size_t i = 0; i < d->n; i++) lks__free(d->field[i].extensions);
    lks__file_list_destroy(ds);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const web_dataset *d = (const web_dataset *)ds;

    lks__file_list_describe(ds, r);
    for (size_t i = 0; i < d->n; i++) lks__recipe_text(r, d->field[i].extensions);
    if (d->url) lks__recipe_text(r, "__url__");
}

const lks_stage lks__stage_webdataset = { .name = "webdataset",
                                          .dataset_size = sizeof(web_dataset),
                                          .cursor_size = sizeof(web_cursor),
                                          .next = next,
                                          .skip = skip,
                                          .close = close_cursor,
                                          .destroy = destroy,
                                          .describe = describe,
                                          .is_files = true };

/* ---- building ---- */

static lks_status add_field(web_dataset *d, const lks_webdataset_field *f)
{
    web_field *to = &d->field[d->n];

    if (f->extensions == NULL || f->extensions[0] == '\0' || f->extensions[0] == ';')
        return lks__fail(LKS_E_ARG, "field %zu has no extension", d->n);
    if (f->dtype != 0 && f->dtype != LKS_STRING && f->dtype != LKS_INT64)
        return lks__fail(LKS_E_ARG, "field '%s' must be of dtype string or int64, found %s", f->extensions,
                         lks_dtype_name(f->dtype));
    to->extensions = lks__strdup(f->extensions);
    if (to->extensions == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a field");
    to->dtype = f->dtype == 0 ? LKS_STRING : f->dtype;
    to->optional = f->optional == LKS_TRUE;
    d->n++;
    return LKS_OK;
}

/* The dict, and which leaf each field is. */
static lks_spec *make_spec(web_dataset *d)
{
    char name[MAX_FIELDS][32];
    const char *names[MAX_FIELDS + 2] = { NULL };
    lks_spec *part[MAX_FIELDS + 2] = { NULL }, *spec;
    const size_t n = d->n + (d->url ? 2 : 1);

    for (size_t i = 0; i < d->n; i++) {
        size_t length = strcspn(d->field[i].extensions, ";");
        if (length >= sizeof *name) {
            lks__fail(LKS_E_ARG, "the extension '%s' is too long", d->field[i].extensions);
            return NULL;
        }
        memcpy(name[i], d->field[i].extensions, length);
        name[i][length] = '\0';
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = i < d->n ? name[i] : i == d->n ? "__key__" : "__url__";
        part[i] = lks_spec_tensor(i < d->n ? d->field[i].dtype : LKS_STRING, lks_shape_of(0, NULL));
    }
    spec = lks_spec_dict(n, names, part);
    for (size_t i = 0; spec != NULL && i < n; i++) {
        const char *leaf = lks_spec_child_name(spec, i);
        if (strcmp(leaf, "__key__") == 0) d->key_leaf = i;
        if (strcmp(leaf, "__url__") == 0) d->url_leaf = i;
        for (size_t k = 0; k < d->n; k++)
            if (strcmp(leaf, name[k]) == 0) d->field[k].leaf = i;
    }
    return spec;
}

lks_dataset *lks_webdataset_with(size_t n, const char *const *shards, const lks_webdataset_options *options)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_webdataset, 0, NULL);
    web_dataset *d = (web_dataset *)ds;
    lks_webdataset_options o;
    lks_status status;

    if (ds == NULL) return NULL;
    lks__options(&o, sizeof o, options);
    status = lks__file_list_ranges(&d->list, n, shards, &o.files);
    if (status == LKS_OK && (o.n_fields < 1 || o.n_fields > MAX_FIELDS || o.fields == NULL))
        status = lks__fail(LKS_E_ARG, "n_fields must be 1 to %d, found %zu", MAX_FIELDS, o.n_fields);
    for (size_t i = 0; status == LKS_OK && i < o.n_fields; i++) status = add_field(d, &o.fields[i]);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->url = o.url == LKS_TRUE;
    ds = lks__dataset_spec_is(ds, make_spec(d));
    return lks__parallel_reads(ds, o.files.num_parallel_reads);
}
