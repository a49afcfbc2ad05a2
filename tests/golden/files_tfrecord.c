/* files_tfrecord.c - TFRecord files and the Examples in them, as TensorFlow reads them. Where the library is meant to differ (a
 * file that ends inside a header is an error; everything that protocol buffers read is read) the index's other column counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "lockstep/records.h"
#include "support/shared.h"
#include "tensor/tensor.h"

/* ---- values in JSON ---- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c == '\0' ? NULL : strchr(digits, c);

    return p == NULL ? -1 : (int)(p - digits);
}

/* Into `out`, which holds at least 3/4 of the text. */
static size_t base64(const char *text, char *out)
{
    unsigned bits = 0, n_bits = 0;
    size_t n = 0;

    for (; base64_digit(*text) >= 0; text++) {
        bits = bits << 6 | (unsigned)base64_digit(*text);
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        out[n++] = (char)(bits >> n_bits);
    }
    return n;
}

static size_t hex(const char *text, char *out)
{
    size_t n = 0;
    unsigned byte;

    for (; sscanf(text, "%2x", &byte) == 1; text += 2) out[n++] = (char)byte;
    return n;
}

static int64_t integer(const json_t *value)
{
    return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10) : json_integer_value(value);
}

static void check_string(golden_report *r, const json_t *item, const lks_bytes *s)
{
    const char *text = json_string_value(item);
    char *want = malloc(strlen(text) + 1);
    size_t n = base64(text, want);

    if (n != s->size || memcmp(want, s->data, n) != 0) golden_fault(r, "a string of %zu bytes differs", s->size);
    free(want);
}

/* The elements [first, ...) of t are `want`: numbers, digits in strings, base64 (base64 = true) or plain text. */
static void check_list(golden_report *r, const json_t *want, const lks_tensor *t, int64_t first, bool as_base64)
{
    const void *data = lks_tensor_cdata(t);
    json_t *item;
    size_t i;

    json_array_foreach((json_t *)want, i, item)
    {
        int64_t k = first + (int64_t)i;
        if (!golden_running(r)) return;
        if (k >= lks_tensor_size(t)) golden_fault(r, "only %lld values", (long long)lks_tensor_size(t));
        else if (lks_tensor_dtype(t) == LKS_STRING && as_base64) check_string(r, item, (const lks_bytes *)data + k);
        else if (lks_tensor_dtype(t) == LKS_STRING) {
            const lks_bytes *s = (const lks_bytes *)data + k;
            if (s->size != json_string_length(item) || memcmp(s->data, json_string_value(item), s->size) != 0)
                golden_fault(r, "string %zu differs", i);
        } else if (lks_tensor_dtype(t) == LKS_INT64) {
            if (((const int64_t *)data)[k] != integer(item)) golden_fault(r, "integer %zu differs", i);
        } else {
            golden_number(r, "value", golden_element(t, k), golden_double(item), 0, 0);
        }
    }
}

static lks_dtype dtype_of(const char *name)
{
    if (strcmp(name, "int64") == 0) return LKS_INT64;
    return strncmp(name, "float", 5) == 0 ? LKS_FLOAT32 : LKS_STRING;
}

/* ---- one record through lks_parse_example ---- */

/* The only element of the dataset, parsed; NULL: failed. Released by the caller. */
static lks_element *one(lks_dataset *ds, const lks_map_fn *fn)
{
    lks_element *e = NULL;
    lks_iter *it = NULL;

    ds = lks_map(ds, fn);
    if (lks_iter_create(ds, &it) != LKS_OK || lks_iter_next(it, &e) != LKS_OK) e = NULL;
    lks_iter_release(it);
    lks_dataset_release(ds);
    return e;
}

static lks_dataset *record_of_bytes(const char *data, size_t n)
{
    lks_tensor *t = lks_tensor_create(LKS_STRING, lks_shape_of(0, NULL));
    lks_dataset *ds;

    lks__tensor_set_bytes(t, 0, data, n);
    ds = lks_from_tensors(t);
    lks_tensor_release(t);
    return ds;
}

static lks_dataset *record_of_file(const char *path, int64_t record)
{
    return lks_take(lks_skip(lks_tfrecord(1, &path), record), 1);
}

static lks_element *read_values(lks_dataset *ds, const char *key, lks_dtype dtype)
{
    return one(ds, lks_parse_example(lks_features_of({ .key = key, .dtype = dtype, .kind = LKS_RAGGED_FEATURE })));
}

/* {"kind": ..., "values" or "base64": [...]} */
static void check_feature(golden_folder *f, lks_dataset *ds, const char *key, const json_t *feature)
{
    const char *kind = golden_text(feature, "kind");
    const json_t *values = json_object_get(feature, "values");
    lks_element *e = read_values(ds, key, kind == NULL ? LKS_INT64 : dtype_of(kind));

    if (values == NULL) values = json_object_get(feature, "base64");
    if (e == NULL) {
        golden_fault(f->report, "feature '%s': %s", key, lks_last_error());
        return;
    }
    if (lks_tensor_size(lks_element_tensor(e, 0)) != (int64_t)json_array_size(values))
        golden_fault(f->report, "feature '%s' has %lld values", key,
                     (long long)lks_tensor_size(lks_element_tensor(e, 0)));
    else check_list(f->report, values, lks_element_tensor(e, 0), 0, true);
    lks_element_release(e);
}

static void check_examples(golden_folder *f)
{
    char path[2048];
    json_t *item, *feature;
    const char *key;
    size_t i;

    snprintf(path, sizeof path, "%s/examples.tfrecord", f->path);
    json_array_foreach(json_object_get(f->index, "examples (in examples.tfrecord, .gz and .z)"), i, item)
    {
        char name[40];
        snprintf(name, sizeof name, "example %zu", i);
        if (!golden_begin(f->report, name)) continue;
        json_object_foreach(json_object_get(item, "features"), key, feature)
            check_feature(f, record_of_file(path, (int64_t)i), key, feature);
        golden_end(f->report);
    }
}

static void check_encodings(golden_folder *f)
{
    json_t *item, *feature;
    const char *key;
    char bytes[256];
    size_t i, n;

    json_array_foreach(json_object_get(f->index, "other_encodings"), i, item)
    {
        const json_t *want = json_object_get(item, "protobuf");
        if (!golden_begin(f->report, golden_text(item, "name"))) continue;
        n = hex(golden_text(item, "hex"), bytes);
        json_object_foreach((json_t *)want, key, feature) check_feature(f, record_of_bytes(bytes, n), key, feature);
        if (json_is_string(want)) {
            lks_element *e = read_values(record_of_bytes(bytes, n), "k", LKS_INT64);
            if (e != NULL) golden_fault(f->report, "was read, must be refused");
            else if (f->report->verbose) printf("  %s: %s\n", f->report->name, lks_last_error());
            lks_element_release(e);
        }
        golden_end(f->report);
    }
}

/* ---- lengths of records ---- */

static void check_reading(golden_folder *f, const json_t *item)
{
    const char *file = golden_text(item, "file"), *path = in_folder(f->path, file);
    const json_t *want = json_object_get(item, "record_lengths_or_error");
    bool died = strstr(file, "length_1_tib") != NULL, failed = false; /* TensorFlow does not survive this one */
    bool cut = died || strstr(file, "truncated") != NULL || strstr(file, "three_bytes") != NULL;
    size_t n = 0;
    lks_dataset *ds = lks_tfrecord(1, &path, .compression_type = golden_text(item, "compression_type"));
    lks_iter *it = NULL;
    lks_status status = lks_iter_create(ds, &it);

    while (status != LKS_END && golden_running(f->report)) {
        lks_element *e = NULL;
        const json_t *expected = json_array_get(want, n++);
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) {
            int64_t size = (int64_t)((const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 0)))->size;
            if (!died && (!json_is_integer(expected) || json_integer_value(expected) != size))
                golden_fault(f->report, "result %zu is a record of %lld bytes", n, (long long)size);
            lks_element_release(e);
            continue;
        }
        if (status == LKS_END) break;
        failed = true;
        if (f->report->verbose) printf("  %s: %s\n", f->report->name, lks_last_error());
        if (strstr(lks_last_error(), file) == NULL || strstr(lks_last_error(), "offset") == NULL)
            golden_fault(f->report, "the sentence lacks file or offset: %s", lks_last_error());
        if ((!died && !json_is_string(expected)) || (!cut && strcmp(json_string_value(expected), "END") == 0))
            golden_fault(f->report, "result %zu: %s", n, lks_last_error());
    }
    if (!failed && (json_array_size(want) != n || cut)) golden_fault(f->report, "no failure, %zu results", n);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

/* ---- parse_single_example ---- */

static lks_feature feature_of(const json_t *spec)
{
    static const char *const kinds[] = { "FixedLen", "VarLen", "Ragged", "FixedLenSequence" };
    json_t *shape = json_object_get(spec, "shape"), *value = json_object_get(spec, "default");
    lks_feature f = { .key = golden_text(spec, "key"), .dtype = dtype_of(golden_text(spec, "dtype")) };
    size_t n = json_array_size(value);

    for (int k = 0; k < 4; k++)
        if (strcmp(kinds[k], golden_text(spec, "feature")) == 0) f.kind = (lks_feature_kind)k;
    for (size_t k = 0; k < json_array_size(shape); k++)
        f.shape.dim[f.shape.rank++] = json_integer_value(json_array_get(shape, k));
    if (value == NULL) return f;
    f.default_value = lks_tensor_create(f.dtype, f.shape);
    for (size_t k = 0; k < (n == 0 ? 1 : n); k++) {
        const json_t *v = n == 0 ? value : json_array_get(value, k);
        if (f.dtype == LKS_INT64) ((int64_t *)lks_tensor_data(f.default_value))[k] = json_integer_value(v);
        else ((float *)lks_tensor_data(f.default_value))[k] = (float)json_number_value(v);
    }
    return f;
}

/* Flattens lists of lists. */
static void flatten(const json_t *value, json_t *out)
{
    json_t *item;
    size_t i;

    if (!json_is_array(value)) {
        json_array_append(out, (json_t *)value);
        return;
    }
    json_array_foreach((json_t *)value, i, item) flatten(item, out);
}

static void check_flat(golden_report *r, const json_t *want, const lks_tensor *t)
{
    json_t *flat = json_array();

    flatten(want, flat);
    if ((int64_t)json_array_size(flat) != lks_tensor_size(t))
        golden_fault(r, "%lld values", (long long)lks_tensor_size(t));
    check_list(r, flat, t, 0, false);
    json_decref(flat);
}

static void check_parse(golden_folder *f, const json_t *item)
{
    const json_t *spec = json_object_get(item, "spec"), *want = json_object_get(item, "result");
    lks_feature feature = feature_of(spec);
    bool sparse = json_object_get(want, "indices") != NULL;
    char path[2048];
    lks_element *e;

    snprintf(path, sizeof path, "%s/examples.tfrecord", f->path);
    e = one(record_of_file(path, golden_int(spec, "record", 0)),
            lks_parse_example(lks_features_create(1, sizeof feature, &feature)));
    lks_tensor_release(feature.default_value);
    if (json_object_get(want, "error") != NULL) {
        if (e != NULL) golden_fault(f->report, "was read, must be refused");
        else if (strstr(lks_last_error(), feature.key) == NULL)
            golden_fault(f->report, "the sentence lacks the key: %s", lks_last_error());
        if (e == NULL && f->report->verbose) printf("  %s: %s\n", f->report->name, lks_last_error());
    } else if (e == NULL) {
        golden_fault(f->report, "%s", lks_last_error());
    } else {
        lks_tensor *values = lks_element_tensor(e, sparse ? 2 : 0);
        check_flat(f->report, json_object_get(want, "values"), values);
        if (sparse) {
            check_flat(f->report, json_object_get(want, "dense_shape"), lks_element_tensor(e, 0));
            check_flat(f->report, json_object_get(want, "indices"), lks_element_tensor(e, 1));
        } else {
            lks_shape have = lks_tensor_shape(values);
            json_t *shape = json_object_get(want, "shape");
            for (size_t k = 0; k < json_array_size(shape); k++)
                if (have.rank != (int64_t)json_array_size(shape) ||
                    have.dim[k] != json_integer_value(json_array_get(shape, k)))
                    golden_fault(f->report, "the shape differs");
        }
    }
    lks_element_release(e);
}

/* ---- SequenceExample ---- */

static void check_sequence(golden_folder *f)
{
    const json_t *want = json_object_get(f->index, "sequence.tfrecord"),
                 *lists = json_object_get(want, "feature_lists");
    char path[2048];
    json_t *list, *step;
    const char *key;
    size_t i;

    snprintf(path, sizeof path, "%s/sequence.tfrecord", f->path);
    json_object_foreach((json_t *)lists, key, list)
    {
        const char *kind = golden_text(json_array_get(list, 0), "kind");
        lks_element *e;
        lks_ragged *ragged;
        if (!golden_begin(f->report, key)) continue;
        e = one(
            record_of_file(path, 0),
            lks_parse_sequence_example(
                lks_features_of({ .key = "id", .dtype = LKS_INT64 }, { .key = "lang", .dtype = LKS_STRING }),
                lks_features_of(
                    { .key = key, .dtype = kind == NULL ? LKS_INT64 : dtype_of(kind), .kind = LKS_RAGGED_FEATURE })));
        if (e == NULL) golden_fault(f->report, "%s", lks_last_error());
        else {
            const int64_t *split;
            check_list(f->report, json_object_get(json_object_get(json_object_get(want, "context"), "id"), "values"),
                       lks_element_tensor(e, 0), 0, false);
            check_list(f->report, json_object_get(json_object_get(json_object_get(want, "context"), "lang"), "base64"),
                       lks_element_tensor(e, 1), 0, true);
            ragged = lks_element_ragged(e, 2);
            split = lks_tensor_cdata(lks_ragged_split(ragged, 0));
            if (lks_tensor_size(lks_ragged_split(ragged, 0)) != (int64_t)json_array_size(list) + 1)
                golden_fault(f->report, "the number of steps differs");
            json_array_foreach(list, i, step) if (golden_running(f->report))
                check_list(f->report, json_object_get(step, "values"), lks_ragged_values(ragged), split[i], false);
        }
        lks_element_release(e);
        golden_end(f->report);
    }
}

void golden_files_tfrecord(golden_folder *f)
{
    json_t *item;
    size_t i;
    char name[80];

    check_examples(f);
    check_encodings(f);
    json_array_foreach(json_object_get(f->index, "reading_each_file_with_TFRecordDataset"), i, item)
    {
        snprintf(name, sizeof name, "%s %s", golden_text(item, "file"), golden_text(item, "compression_type"));
        if (!golden_begin(f->report, name)) continue;
        check_reading(f, item);
        golden_end(f->report);
    }
    json_array_foreach(json_object_get(f->index, "parse_single_example"), i, item)
    {
        snprintf(name, sizeof name, "parse %zu", i);
        if (!golden_begin(f->report, name)) continue;
        check_parse(f, item);
        golden_end(f->report);
    }
    check_sequence(f);
}
