/* folder.c - dataset_info.json, the version's folder, splits and their shards. 64-bit numbers are strings in these files. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "data/byte_stream.h"
#include "files/os_error.h"
#include "files/reader.h"
#include "tfds.h"

enum { LARGEST_JSON = 1 << 26, MAX_SHARDS = 100000 };

static char *join(const char *folder, const char *name)
{
    lks_text t = { 0 };
    char *out = NULL;

    lks__text_printf(&t, "%s/%s", folder, name);
    return lks__text_take(&t, &out) == LKS_OK ? out : NULL;
}

static bool exists(const char *folder, const char *name)
{
    char *path = join(folder, name);
    struct stat info;
    bool found = path != NULL && stat(path, &info) == 0;

    lks__free(path);
    return found;
}

/* ---- which folder ---- */

/* "1.20.3" as three numbers; false if the name is no version. */
static bool version_of(const char *name, long long v[3])
{
    for (int i = 0; i < 3; i++) {
        if (*name < '0' || *name > '9') return false;
        for (v[i] = 0; *name >= '0' && *name <= '9' && v[i] < 1000000; name++) v[i] = 10 * v[i] + (*name - '0');
        if (i < 2 && *name++ != '.') return false;
    }
    return *name == '\0';
}

static bool is_higher(const long long a[3], const long long b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] > b[i];
    return false;
}

/* The sub-folder to go on in: the highest version, else the only configuration. */
static lks_status choose(const char *folder, char **out)
{
    long long best[3] = { -1, -1, -1 }, v[3];
    lks_text configs = { 0 };
    char version[256] = "", config[256] = "";
    int n_configs = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat info;
    const char *name;

    if (dir == NULL)
        return lks__fail(errno == ENOENT || errno == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO,
                         "the folder '%s' can't be opened: %s", folder, lks__os_error(errno));
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof config) continue;
        if (fstatat(dirfd(dir), entry->d_name, &info, 0) != 0 || !S_ISDIR(info.st_mode)) continue;
        if (version_of(entry->d_name, v)) {
            if (is_higher(v, best)) {
                memcpy(best, v, sizeof best);
                memcpy(version, entry->d_name, strlen(entry->d_name) + 1);
            }
        } else {
            memcpy(config, entry->d_name, strlen(entry->d_name) + 1);
            lks__text_printf(&configs, "%s%s", n_configs > 0 ? ", " : "", config);
            n_configs++;
        }
    }
    closedir(dir);
    name = version[0] != '\0' ? version : n_configs == 1 ? config : NULL;
    if (name == NULL && n_configs > 1)
        lks__fail(LKS_E_ARG, "'%s' has no dataset_info.json but several folders: choose one of %s", folder,
                  configs.failed ? "them" : configs.data);
    else if (name == NULL) lks__fail(LKS_E_NOTFOUND, "'%s' has no dataset_info.json: is it a folder of TFDS?", folder);
    lks__text_free(&configs);
    if (name == NULL) return lks__error_code();
    *out = join(folder, name);
    return *out == NULL ? lks__fail(LKS_E_NOMEM, "no memory for a path") : LKS_OK;
}

static lks_status read_remote(const char *path, void **out, size_t *n)
{
    enum { STEP = 1 << 16 };
    lks_byte_stream s = { .open = false };
    lks_text text = { 0 };
    lks_status status = lks__stream_open(&s, path, LKS_PLAIN, STEP);
    char part[4096];
    size_t got = 1;

    while (status == LKS_OK && got > 0) {
        status = lks__stream_read(&s, part, sizeof part, &got);
        if (status == LKS_OK) lks__text_append(&text, part, got);
        if (status == LKS_OK && (text.failed || text.length > LARGEST_JSON))
            status = text.failed ? lks__fail(LKS_E_NOMEM, "no memory for '%s'", path)
                                 : lks__fail(LKS_E_LIMIT, "'%s' is too large", path);
    }
    lks__stream_free(&s);
    *n = text.length;
    if (status == LKS_OK && *n == 0) status = lks__fail(LKS_E_FORMAT, "'%s' is empty", path);
    *out = status == LKS_OK ? text.data : NULL;
    if (status != LKS_OK) lks__text_free(&text);
    return status;
}

static lks_status read_json(const char *folder, const char *name, json_t **out)
{
    char *path = join(folder, name);
    void *text = NULL;
    size_t n = 0;
    lks_status status = path == NULL           ? lks__fail(LKS_E_NOMEM, "no memory for a path")
                        : lks__is_remote(path) ? read_remote(path, &text, &n)
                                               : lks__read_file(path, LARGEST_JSON, &text, &n);

    if (status == LKS_OK) status = lks__json_parse(text, n, path, out);
    lks__free(text);
    lks__free(path);
    return status;
}

lks_status lks__tfds_open(const char *folder, lks_tfds_folder *out)
{
    enum { DEEPEST = 3 };

    *out = (lks_tfds_folder){ .path = lks__strdup(folder) };
    if (out->path == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a path");
    for (int depth = 0; !lks__is_remote(folder) && !exists(out->path, "dataset_info.json"); depth++) {
        char *inner = NULL;
        if (depth == DEEPEST) return lks__fail(LKS_E_NOTFOUND, "'%s' has no dataset_info.json within", folder);
        LKS_TRY(choose(out->path, &inner));
        lks__free(out->path);
        out->path = inner;
    }
    LKS_TRY(read_json(out->path, "dataset_info.json", &out->info));
    return read_json(out->path, "features.json", &out->features);
}

void lks__tfds_close(lks_tfds_folder *f)
{
    json_decref(f->info);
    json_decref(f->features);
    lks__free(f->path);
    *f = (lks_tfds_folder){ .path = NULL };
}

/* ---- splits ---- */

static lks_status number_of(const json_t *value, int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return LKS_OK;
    }
    if (json_is_string(value) && lks__parse_int(json_string_value(value), out)) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "dataset_info.json: a number is neither a number nor digits in a string");
}

static lks_status find_split(const lks_tfds_folder *f, const char *name, size_t n, const json_t **out)
{
    const json_t *splits = json_object_get(f->info, "splits");
    lks_text names = { 0 };
    json_t *split;
    size_t i;

    json_array_foreach((json_t *)splits, i, split)
    {
        const char *have = json_string_value(json_object_get(split, "name"));
        if (have == NULL) continue;
        if (strlen(have) == n && memcmp(have, name, n) == 0) {
            lks__text_free(&names);
            *out = split;
            return LKS_OK;
        }
        lks__text_printf(&names, "%s%s", names.length > 0 ? ", " : "", have);
    }
    lks__fail(LKS_E_NOTFOUND, "'%s' has no split '%.*s'; there are: %s", f->path, (int)n, name,
              names.length > 0 && !names.failed ? names.data : "none");
    lks__text_free(&names);
    return LKS_E_NOTFOUND;
}

/* Replaces each "{WORD}" of the template. */
static lks_status shard_name(const lks_tfds_folder *f, const json_t *split, size_t shard, size_t of, char **out)
{
    const char *name = json_string_value(json_object_get(f->info, "name"));
    const char *split_name = json_string_value(json_object_get(split, "name"));
    const char *p = json_string_value(json_object_get(split, "filepathTemplate"));
    lks_text t = { 0 };

    if (name == NULL) return lks__fail(LKS_E_FORMAT, "dataset_info.json has no name");
    if (p == NULL || *p == '\0') p = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}";
    lks__text_printf(&t, "%s/", f->path);
    while (*p != '\0') {
        if (lks__starts_with(p, "{DATASET}")) lks__text_puts(&t, name);
        else if (lks__starts_with(p, "{SPLIT}")) lks__text_puts(&t, split_name);
        else if (lks__starts_with(p, "{FILEFORMAT}")) lks__text_puts(&t, "tfrecord");
        else if (lks__starts_with(p, "{SHARD_X_OF_Y}")) lks__text_printf(&t, "%05zu-of-%05zu", shard, of);
        else if (lks__starts_with(p, "{SHARD_INDEX}")) lks__text_printf(&t, "%05zu", shard);
        else if (lks__starts_with(p, "{NUM_SHARDS}")) lks__text_printf(&t, "%05zu", of);
        else {
            lks__text_append(&t, p++, 1);
            continue;
        }
        p = strchr(p, '}') + 1;
    }
    return lks__text_take(&t, out);
}

static lks_status list_shards(const lks_tfds_folder *f, const json_t *split, lks_tfds_part *out, int64_t *records)
{
    const json_t *lengths = json_object_get(split, "shardLengths");
    size_t n = json_array_size(lengths);
    int64_t bytes = 0;

    if (json_object_get(split, "numBytes") != NULL) LKS_TRY(number_of(json_object_get(split, "numBytes"), &bytes));
    *records = 0;
    if (n == 0 && bytes > 0) /* protocol buffers leave empty lists out: of a split without records, that is */
        return lks__fail(LKS_E_FORMAT, "dataset_info.json: a split of %lld bytes has no \"shardLengths\"",
                         (long long)bytes);
    if (n > MAX_SHARDS) return lks__fail(LKS_E_LIMIT, "a split has %zu shards, at most %d are read", n, MAX_SHARDS);
    out->file = lks__calloc(n, sizeof *out->file);
    out->length = lks__calloc(n, sizeof *out->length);
    if (out->file == NULL || out->length == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu file names", n);
    for (size_t i = 0; i < n; i++) {
        int64_t length;
        LKS_TRY(number_of(json_array_get(lengths, i), &length));
        if (length < 0 || length > INT64_MAX / MAX_SHARDS)
            return lks__fail(LKS_E_FORMAT, "dataset_info.json: the length of shard %zu is %lld", i, (long long)length);
        LKS_TRY(shard_name(f, split, i, n, &out->file[i]));
        out->length[out->n++] = length;
        *records += length;
    }
    return LKS_OK;
}

/* One end of "[10%:-5]": percentages are rounded to the nearest record; empty = the default. */
static lks_status read_bound(const char *text, size_t n, int64_t records, int64_t when_empty, int64_t *out)
{
    char copy[24];
    bool percent = n > 0 && text[n - 1] == '%';
    int64_t v;

    *out = when_empty;
    if (n == 0) return LKS_OK;
    if (percent) n--;
    if (n == 0 || n >= sizeof copy) return lks__fail(LKS_E_ARG, "the slice of a split is malformed");
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (!lks__parse_int(copy, &v)) return lks__fail(LKS_E_ARG, "the slice of a split has \"%s\" for a number", copy);
    if (percent && (v < -100 || v > 100))
        return lks__fail(LKS_E_ARG, "the slice of a split has %s%%, which is not within 100%%", copy);
    if (percent) v = (int64_t)((double)records * (double)v / 100.0 + (v < 0 ? -0.5 : 0.5));
    if (v < 0) v = v < -records ? 0 : v + records;
    *out = v < records ? v : records;
    return LKS_OK;
}

lks_status lks__tfds_split(const lks_tfds_folder *f, const char *text, size_t n, lks_tfds_part *out)
{
    const char *open = memchr(text, '[', n), *colon, *end = text + n;
    const json_t *split = NULL;
    const char *format = json_string_value(json_object_get(f->info, "fileFormat"));
    int64_t records = 0;

    *out = (lks_tfds_part){ .file = NULL };
    if (format != NULL && *format != '\0' && strcmp(format, "tfrecord") != 0)
        return lks__fail(LKS_E_UNSUPPORTED, "'%s' is in the format '%s'; tfrecord is the one that is read", f->path,
                         format);
    LKS_TRY(find_split(f, text, open == NULL ? n : (size_t)(open - text), &split));
    LKS_TRY(list_shards(f, split, out, &records));
    out->end = records;
    if (open == NULL) return LKS_OK;
    colon = memchr(open, ':', (size_t)(end - open));
    if (end[-1] != ']' || colon == NULL)
        return lks__fail(LKS_E_ARG, "the slice of a split must read [begin:end], found \"%.*s\"", (int)(end - open),
                         open);
    LKS_TRY(read_bound(open + 1, (size_t)(colon - open - 1), records, 0, &out->begin));
    LKS_TRY(read_bound(colon + 1, (size_t)(end - 1 - colon - 1), records, records, &out->end));
    if (out->end < out->begin) out->end = out->begin;
    return LKS_OK;
}

void lks__tfds_part_free(lks_tfds_part *p)
{
    for (size_t i = 0; p->file != NULL && i < p->n; i++) lks__free(p->file[i]);
    lks__free(p->file);
    lks__free(p->length);
    *p = (lks_tfds_part){ .file = NULL };
}
