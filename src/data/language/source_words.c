/* source_words.c - the words of sources, one line each in the table at the end. */
#include <string.h>

#include "base/alloc.h"
#include "language.h"
#include "lockstep/dataset_sampling.h"
#include "lockstep/image_folder.h"
#include "lockstep/image_functions.h"
#include "lockstep/sources.h"
#include "tensor/tensor.h"

#define UNUSED (void)input

enum {
    FILES_OF_LINES,
    FILES_OF_RECORDS,
    FILES_OF_BYTES,
    FILES_OF_PATTERN,
    FILES_OF_CIFAR10,
    FILES_OF_CIFAR100,
    FILES_OF_IDX
};
enum { MOST_COLUMNS = LKS_MOST_LIST };

static lks_files_options files_options(const lks_call *c)
{
    return (lks_files_options){ .struct_size = sizeof(lks_files_options),
                                .compression_type = lks__call_text(c, "compression_type"),
                                .buffer_size = lks__call_option(c, "buffer_size"),
                                .num_parallel_reads = lks__call_option(c, "num_parallel_reads"),
                                .allow_http = lks__call_truth(c, "allow_http") };
}

/* ---- lists of files ---- */

static lks_dataset *from_files(const lks_call *c, const lks_files_options *o, size_t n, const char *const *name)
{
    switch (c->tag) {
    case FILES_OF_LINES: return lks_text_lines_with(n, name, o);
    case FILES_OF_RECORDS: return lks_tfrecord_with(n, name, o);
    case FILES_OF_PATTERN:
        return lks_list_files(n, name, .shuffle = lks__call_truth(c, "shuffle"), .seed = lks__call_option(c, "seed"));
    case FILES_OF_CIFAR10: return lks_cifar10_with(n, name, o);
    case FILES_OF_CIFAR100: return lks_cifar100_with(n, name, lks__call_truth(c, "coarse_labels") == LKS_TRUE, o);
    case FILES_OF_IDX: return lks_idx_n(n, name);
    default:
        return lks_fixed_length(n, name, lks__call_int(c, "record_bytes", 0),
                                .header_bytes = lks__call_int(c, "header_bytes", 0),
                                .footer_bytes = lks__call_int(c, "footer_bytes", 0), .files = *o);
    }
}

static lks_dataset *files(const lks_call *c, lks_dataset *input)
{
    const lks_files_options o = files_options(c);
    lks_names l;
    lks_dataset *ds;

    UNUSED;
    if (lks__call_names(c, lks__call_value(c, "pattern") != NULL ? "pattern" : "files", &l) != LKS_OK)
        return lks__language_failed(lks__error_code());
    ds = from_files(c, &o, l.n, (const char *const *)l.text);
    lks__names_release(&l);
    return ds;
}

/* {"required": "float32"}, "float32", or {"default": 3, "dtype": "int32"} */
static lks_status read_column(const json_t *json, lks_dtype *dtype, lks_tensor **fallback)
{
    static const lks_word column = { .name = "column", .arguments = "required:s default:v dtype:s" };
    const json_t *value = json_object_get(json, "default"), *required = json_object_get(json, "required");

    if (json_is_object(json)) LKS_TRY(lks__call_check(&(lks_call){ .json = json, .word = "column" }, &column, ""));
    *dtype = lks__call_dtype(json_is_string(json) ? json
                             : required != NULL   ? required
                                                  : json_object_get(json, "dtype"));
    if (*dtype == 0) return LKS_E_ARG;
    if (value == NULL) return LKS_OK;
    *fallback = lks__read_value(value, *dtype);
    return *fallback == NULL ? lks__error_code() : LKS_OK;
}

static lks_dataset *csv(const lks_call *c, lks_dataset *input)
{
    const json_t *columns = lks__call_value(c, "record_defaults");
    const char *delimiter = lks__call_text(c, "field_delim");
    size_t n = json_array_size(columns);
    lks_dtype dtype[MOST_COLUMNS];
    lks_tensor *fallback[MOST_COLUMNS] = { NULL };
    int64_t select[MOST_COLUMNS], exclude[MOST_COLUMNS];
    lks_names l = { .text = NULL };
    lks_dataset *ds;
    lks_status status = LKS_OK;

    UNUSED;
    if (delimiter != NULL && strlen(delimiter) != 1)
        status = lks__fail(LKS_E_ARG, "\"field_delim\" must be one byte, found \"%.20s\"", delimiter);
    else if (n > MOST_COLUMNS) status = lks__fail(LKS_E_ARG, "at most %d columns can be named", (int)MOST_COLUMNS);
    for (size_t i = 0; i < n && status == LKS_OK; i++) {
        status = read_column(json_array_get(columns, i), &dtype[i], &fallback[i]);
        if (status != LKS_OK) lks__context(status, "column %zu of \"record_defaults\"", i);
    }
    if (status == LKS_OK) status = lks__call_names(c, "files", &l);
    ds = status != LKS_OK
             ? lks__language_failed(status)
             : lks_csv(l.n, (const char *const *)l.text, .n_columns = n, .dtypes = dtype, .defaults = fallback,
                       .n_select_cols = lks__call_ints(c, "select_cols", select, MOST_COLUMNS), .select_cols = select,
                       .n_exclude_cols = lks__call_ints(c, "exclude_cols", exclude, MOST_COLUMNS),
                       .exclude_cols = exclude, .header = lks__call_truth(c, "header"),
                       .use_quote_delim = lks__call_truth(c, "use_quote_delim"),
                       .field_delim = delimiter == NULL ? '\0' : delimiter[0],
                       .na_value = lks__call_text(c, "na_value"), .files = files_options(c));
    lks__names_release(&l);
    for (size_t i = 0; i < n && i < MOST_COLUMNS; i++) lks_tensor_release(fallback[i]);
    return ds;
}

/* "fields": ["cls:int64", "jpg;png", "txt?"] */
static lks_dataset *webdataset(const lks_call *c, lks_dataset *input)
{
    enum { MOST = 64 };
    lks_names l, fields = { .text = NULL };
    lks_webdataset_field field[MOST];
    lks_dataset *ds = NULL;

    UNUSED;
    if (lks__call_names(c, "files", &l) != LKS_OK) return lks__language_failed(lks__error_code());
    if (lks__call_names(&(lks_call){ &(lks_language){ .depth = 0 }, c->json, c->word, 0 }, "fields", &fields) !=
            LKS_OK ||
        fields.n > MOST)
        ds = lks__language_failed(fields.n > MOST ? lks__fail(LKS_E_LIMIT, "at most %d fields", (int)MOST)
                                                  : lks__error_code());
    for (size_t i = 0; ds == NULL && i < fields.n; i++) {
        char *text = fields.text[i], *end = text + strlen(text);
        field[i] = (lks_webdataset_field){ .extensions = text };
        if (end > text && end[-1] == '?') {
            end[-1] = '\0';
            field[i].optional = LKS_TRUE;
        }
        end = strstr(text, ":int64");
        if (end == NULL) continue;
        *end = '\0';
        field[i].dtype = LKS_INT64;
    }
    if (ds == NULL)
        ds = lks_webdataset(l.n, (const char *const *)l.text, .n_fields = fields.n, .fields = field,
                            .url = lks__call_truth(c, "url"), .files = files_options(c));
    lks__names_release(&fields);
    lks__names_release(&l);
    return ds;
}

/* ---- one file or folder ---- */

enum { PATH_NPY, PATH_NPZ, PATH_HDF5, PATH_TFDS, PATH_FOLDER };

static lks_dataset *folder_of(const lks_call *c, const char *path)
{
    static const char *const name[] = { "height", "width" };
    int64_t size[3] = { lks__call_int(c, "height", 0), lks__call_int(c, "width", 0) };

    if (lks__call_value(c, "image_size") != NULL && lks__call_ints(c, "image_size", size, 3) != 2)
        return lks__language_failed(lks__fail(LKS_E_ARG, "image_size must be [height, width]"));
    for (int i = 0; i < 2; i++)
        if (size[i] < 1 && (lks__call_value(c, "image_size") != NULL || lks__call_value(c, name[i]) != NULL))
            return lks__language_failed(
                lks__fail(LKS_E_ARG, "the pictures' %s must be at least 1, found %lld", name[i], (long long)size[i]));
    return lks_image_dataset_from_directory(
        path, .labels = lks__call_text(c, "labels"), .label_mode = lks__call_text(c, "label_mode"),
        .color_mode = lks__call_text(c, "color_mode"), .batch_size = lks__call_option(c, "batch_size"),
        .height = size[0], .width = size[1], .shuffle = lks__call_truth(c, "shuffle"),
        .seed = lks__call_option(c, "seed"), .validation_split = lks__call_number(c, "validation_split", 0),
        .subset = lks__call_text(c, "subset"), .interpolation = lks__call_text(c, "interpolation"),
        .follow_links = lks__call_truth(c, "follow_links"),
        .crop_to_aspect_ratio = lks__call_truth(c, "crop_to_aspect_ratio"),
        .pad_to_aspect_ratio = lks__call_truth(c, "pad_to_aspect_ratio"),
        .reduced_jpeg = lks__call_truth(c, "reduced_jpeg"),
        .num_parallel_calls = lks__call_option(c, "num_parallel_calls"));
}

/* Names that are no files: the folder does not belong in front of them. */
static lks_dataset *keyed(const lks_call *c, const char *path, bool npz)
{
    const lks_call plain = { &(lks_language){ .depth = 0 }, c->json, c->word, 0 };
    lks_names keys = { .text = NULL };
    lks_dataset *ds;

    if (lks__call_value(c, "keys") != NULL && lks__call_names(&plain, "keys", &keys) != LKS_OK)
        return lks__language_failed(lks__error_code());
    ds = npz ? lks_npz_n(path, keys.n, (const char *const *)keys.text)
             : lks_hdf5_n(path, keys.n, (const char *const *)keys.text);
    lks__names_release(&keys);
    return ds;
}

static lks_dataset *path(const lks_call *c, lks_dataset *input)
{
    lks_names l;
    lks_dataset *ds;

    UNUSED;
    if (lks__call_names(c, c->tag == PATH_FOLDER ? "directory" : "path", &l) != LKS_OK || l.n != 1) {
        lks__names_release(&l);
        return lks__language_failed(
            lks__fail(LKS_E_ARG, "\"%s\" must have one \"%s\"", c->word, c->tag == PATH_FOLDER ? "directory" : "path"));
    }
    if (c->tag == PATH_NPY) ds = lks_npy(l.text[0]);
    else if (c->tag == PATH_NPZ || c->tag == PATH_HDF5) ds = keyed(c, l.text[0], c->tag == PATH_NPZ);
    else if (c->tag == PATH_FOLDER) ds = folder_of(c, l.text[0]);
    else
        ds = lks_tfds(l.text[0], lks__call_text(c, "split"), .decode_images = lks__call_truth(c, "decode_images"),
                      .as_supervised = lks__call_truth(c, "as_supervised"),
                      .num_parallel_calls = lks__call_option(c, "num_parallel_calls"),
                      .num_parallel_reads = lks__call_option(c, "num_parallel_reads"),
                      .allow_http = lks__call_truth(c, "allow_http"));
    lks__names_release(&l);
    return ds;
}

/* ---- in memory ---- */

static lks_dataset *range(const lks_call *c, lks_dataset *input)
{
    int64_t v[4] = { 0, 0, 1, 0 };
    size_t n = lks__call_ints(c, "args", v, 4);
    lks_dtype dtype = lks__call_value(c, "dtype") == NULL ? (lks_dtype)0 : lks__call_dtype(lks__call_value(c, "dtype"));
    lks_dataset *ds;

    UNUSED;
    if (n == 0 || n > 3)
        return lks__language_failed(
            lks__fail(LKS_E_ARG, "\"range\" needs \"args\": 1 to 3 whole numbers, found %zu", n));
    if (lks__call_value(c, "dtype") != NULL && dtype == 0) return lks__language_failed(LKS_E_ARG);
    ds = n == 1 ? lks_range(0, v[0], 1) : lks_range(v[0], v[1], v[2]);
    return dtype == 0 ? ds : lks_map(ds, lks_fn_cast(dtype));
}

static lks_dataset *value(const lks_call *c, lks_dataset *input)
{
    UNUSED;
    return lks__value_dataset(c, lks__call_value(c, "value"), strcmp(c->word, "from_tensor_slices") == 0, 0);
}

static lks_dataset *random_numbers(const lks_call *c, lks_dataset *input)
{
    UNUSED;
    return lks_random(.seed = lks__call_option(c, "seed"),
                      .rerandomize_each_iteration = lks__call_truth(c, "rerandomize_each_iteration"));
}

static lks_dataset *digits(const lks_call *c, lks_dataset *input)
{
    const char *split = lks__call_text(c, "split") != NULL ? lks__call_text(c, "split") : "train";

    UNUSED;
    return strcmp(c->word, "mnist") == 0 ? lks_mnist(split) : lks_fashion_mnist(split);
}

static lks_dataset *map_indexed(const lks_call *c, lks_dataset *input)
{
    lks_map_fn f;

    UNUSED;
    if (!lks__call_function(c, "f", &f)) return lks__language_failed(lks__error_code());
    return lks_map_indexed(lks__call_int(c, "n", 0), &f,
                           .num_parallel_calls = lks__call_option(c, "num_parallel_calls"),
                           .seed = lks__call_option(c, "seed"));
}

/* ---- several datasets ---- */

static lks_dataset *zip(const lks_call *c, lks_dataset *input)
{
    const json_t *names = lks__call_value(c, "dict");
    const char *name[LKS_MOST_INPUTS];
    lks_dataset *in[LKS_MOST_INPUTS];
    size_t n;

    UNUSED;
    if (!lks__call_inputs(c, in, &n)) return lks__language_failed(lks__error_code());
    if (names == NULL) return lks_zip_n(n, in);
    if (json_array_size(names) != n) {
        for (size_t i = 0; i < n; i++) lks_dataset_release(in[i]);
        return lks__language_failed(
            lks__fail(LKS_E_ARG, "\"dict\" of \"zip\" has %zu names for %zu inputs", json_array_size(names), n));
    }
    for (size_t i = 0; i < n; i++) name[i] = json_string_value(json_array_get(names, i));
    return lks_zip_named(n, name, in);
}

static lks_dataset *choose(const lks_call *c, lks_dataset *input)
{
    lks_dataset *in[LKS_MOST_INPUTS];
    size_t n;

    UNUSED;
    if (!lks__call_inputs(c, in, &n)) return lks__language_failed(lks__error_code());
    return lks_choose_from_datasets(in[0], n - 1, in + 1,
                                    .stop_on_empty_dataset = lks__call_truth(c, "stop_on_empty_dataset"));
}

static lks_dataset *sample(const lks_call *c, lks_dataset *input)
{
    double weights[LKS_MOST_LIST];
    size_t n_weights = lks__call_numbers(c, "weights", weights, LKS_MOST_LIST), n;
    lks_dataset *in[LKS_MOST_INPUTS];

    UNUSED;
    if (!lks__call_inputs(c, in, &n)) return lks__language_failed(lks__error_code());
    return lks_sample_from_datasets(n, in, .weights = lks__call_value(c, "weights") != NULL ? weights : NULL,
                                    .n_weights = n_weights, .seed = lks__call_option(c, "seed"),
                                    .stop_on_empty_dataset = lks__call_truth(c, "stop_on_empty_dataset"),
                                    .rerandomize_each_iteration = lks__call_truth(c, "rerandomize_each_iteration"));
}

#define FILES "files:N compression_type:s buffer_size:i num_parallel_reads:i allow_http:b"

const lks_word lks__source_words[] = {
    { "choose_from_datasets", "inputs:p stop_on_empty_dataset:b", choose, NULL, 0 },
    { "cifar10", FILES, files, NULL, FILES_OF_CIFAR10 },
    { "cifar100", FILES " coarse_labels:b", files, NULL, FILES_OF_CIFAR100 },
    { "csv",
      FILES " record_defaults:v header:b field_delim:s use_quote_delim:b na_value:s select_cols:l exclude_cols:l", csv,
      NULL, 0 },
    { "fashion_mnist", "split:s", digits, NULL, 0 },
    { "fixed_length", FILES " record_bytes:i header_bytes:i footer_bytes:i", files, NULL, FILES_OF_BYTES },
    { "from_tensor_slices", "value:v", value, NULL, 0 },
    { "from_tensors", "value:v", value, NULL, 0 },
    { "hdf5", "path:s keys:N", path, NULL, PATH_HDF5 },
    { "idx", "files:N", files, NULL, FILES_OF_IDX },
    { "image_dataset_from_directory",
      "directory:s labels:s label_mode:s color_mode:s batch_size:i image_size:l height:i width:i shuffle:b seed:i validation_split:n "
      "subset:s interpolation:s follow_links:b crop_to_aspect_ratio:b pad_to_aspect_ratio:b reduced_jpeg:b "
      "num_parallel_calls:i",
      path, NULL, PATH_FOLDER },
    { "list_files", "pattern:N shuffle:b seed:i", files, NULL, FILES_OF_PATTERN },
    { "map_indexed", "n:i f:f num_parallel_calls:i seed:i", map_indexed, NULL, 0 },
    { "mnist", "split:s", digits, NULL, 0 },
    { "npy", "path:s", path, NULL, PATH_NPY },
    { "npz", "path:s keys:N", path, NULL, PATH_NPZ },
    { "random", "seed:i rerandomize_each_iteration:b", random_numbers, NULL, 0 },
    { "range", "args:l dtype:s", range, NULL, 0 },
    { "sample_from_datasets", "inputs:p weights:m seed:i stop_on_empty_dataset:b rerandomize_each_iteration:b", sample,
      NULL, 0 },
    { "text_lines", FILES, files, NULL, FILES_OF_LINES },
    { "tfds", "path:s split:s decode_images:b as_supervised:b num_parallel_calls:i num_parallel_reads:i allow_http:b",
      path, NULL, PATH_TFDS },
    { "tfrecord", FILES, files, NULL, FILES_OF_RECORDS },
    { "webdataset", FILES " fields:N url:b", webdataset, NULL, 0 },
    { "zip", "inputs:p dict:N", zip, NULL, 0 },
    { NULL, NULL, NULL, NULL, 0 },
};
