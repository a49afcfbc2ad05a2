/* dataset_more.h - the rest of tf.data's stages; included by dataset.h. The rules of dataset.h hold: datasets given are stolen,
 * failures stick, functions and options are copied. */
#ifndef LOCKSTEP_DATASET_MORE_H
#define LOCKSTEP_DATASET_MORE_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- picking and counting ---- */

/* Every num_shards-th element, from `index` on (0 <= index < num_shards). Shard file names, before any shuffle. */
LKS_API lks_dataset *lks_shard(lks_dataset *dataset, int64_t num_shards, int64_t index);
LKS_API lks_dataset *lks_take_while(lks_dataset *dataset, const lks_map_fn *predicate);
/* (int64 number counting from start, element) */
LKS_API lks_dataset *lks_enumerate(lks_dataset *dataset, int64_t start);
/* First occurrences of int32, int64 or string tensors. */
LKS_API lks_dataset *lks_unique(lks_dataset *dataset);
/* Passes over failed elements. */
LKS_API lks_dataset *lks_ignore_errors(lks_dataset *dataset);
/* States the number of elements; a pass with fewer or more fails with LKS_E_STATE. */
LKS_API lks_dataset *lks_assert_cardinality(lks_dataset *dataset, int64_t cardinality);
/* (state, element) -> (state, output): fn's input is the tuple (initial state, element), its output the same tuple with the
 * new state. The state's n tensors (shared) are a single component for n = 1, else a tuple; shapes must stay the same. */
LKS_API lks_dataset *lks_scan(lks_dataset *dataset, size_t n, lks_tensor *const *initial, const lks_map_fn *fn);

/* ---- batches ---- */

typedef struct lks_padded_batch_options {
    size_t struct_size;
    lks_tristate drop_remainder;
    const lks_shape *padded_shapes;    /* one a component: -1 = the largest in the batch; NULL = all unknown sizes */
    lks_tensor *const *padding_values; /* one scalar a component of its dtype (NULL: 0 or ""); shared */
    lks_tensor *padding_value;         /* the same scalar for all components */
} lks_padded_batch_options;
LKS_API lks_dataset *lks_padded_batch_with(lks_dataset *dataset, int64_t batch_size,
                                           const lks_padded_batch_options *options);
/* Axes of unknown size become ragged. */
LKS_API lks_dataset *lks_ragged_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options);
/* Batches back to their rows. */
LKS_API lks_dataset *lks_unbatch(lks_dataset *dataset);
/* Batches of other sizes, cycling through n sizes (copied); 0 gives an empty batch. */
LKS_API lks_dataset *lks_rebatch_with(lks_dataset *dataset, size_t n, const int64_t *sizes,
                                      const lks_batch_options *options);

/* ---- functions that make datasets: their output is one nested dataset (lks_spec_dataset) ---- */

/* All of the dataset that fn makes of the first element, then of the second, ... */
LKS_API lks_dataset *lks_flat_map(lks_dataset *dataset, const lks_map_fn *fn);

typedef struct lks_interleave_options {
    size_t struct_size;
    int64_t
        cycle_length; /* default 16, or the number of inputs where that is known and smaller; LKS_AUTOTUNE = default */
    int64_t block_length; /* default 1 */
    int64_t
        num_parallel_calls; /* not 0: every open input is read ahead by a thread of its own. The order is the same */
    lks_tristate deterministic;
} lks_interleave_options;
LKS_API lks_dataset *lks_interleave_with(lks_dataset *dataset, const lks_map_fn *fn,
                                         const lks_interleave_options *options);

typedef struct lks_window_options {
    size_t struct_size;
    int64_t shift;  /* default: size. LKS_ZERO_INT is refused */
    int64_t stride; /* default 1 */
    lks_tristate drop_remainder;
} lks_window_options;
/* Each component becomes a nested dataset of `size` elements. */
LKS_API lks_dataset *lks_window_with(lks_dataset *dataset, int64_t size, const lks_window_options *options);

typedef struct lks_group_by_window_options {
    size_t struct_size;
    int64_t window_size;                /* exactly one of these two; LKS_ZERO_INT = 0, an error in each pass */
    const lks_map_fn *window_size_func; /* int64 key -> int64 size */
} lks_group_by_window_options;
/* key_func: element -> int64; reduce_func: (int64 key, dataset of the window's elements) -> dataset. */
LKS_API lks_dataset *lks_group_by_window_with(lks_dataset *dataset, const lks_map_fn *key_func,
                                              const lks_map_fn *reduce_func,
                                              const lks_group_by_window_options *options);

typedef struct lks_bucket_options {
    size_t struct_size;
    size_t n_boundaries;
    const int64_t *boundaries;        /* n_boundaries, rising */
    const int64_t *batch_sizes;       /* n_boundaries + 1 */
    size_t n_batch_sizes;             /* to be checked against it; 0 = n_boundaries + 1 */
    lks_padded_batch_options padding; /* shapes, values, drop_remainder */
    lks_tristate pad_to_bucket_boundary;
    lks_tristate no_padding;
} lks_bucket_options;
/* length_func: element -> int32 or int64 length. */
LKS_API lks_dataset *lks_bucket_by_sequence_length_with(lks_dataset *dataset, const lks_map_fn *length_func,
                                                        const lks_bucket_options *options);

/* ---- elements on disk, in a form of our own; nested datasets can't be written ---- */

/* One pass over the dataset (borrowed) into a file that appears when it is complete. */
LKS_API lks_status lks_dataset_save(lks_dataset *dataset, const char *path);
/* What was saved. Steals the element spec, which every element is checked against. */
LKS_API lks_dataset *lks_dataset_load(const char *path, lks_spec *spec);
/* The first whole pass writes the elements to a file in `folder` (made if missing), named after the fingerprint of the pipeline;
 * later runs read it. A changed pipeline gets a file of its own. */
LKS_API lks_dataset *lks_snapshot(lks_dataset *dataset, const char *folder);

/* ---- several datasets: n of them, stolen ---- */

/* Tuples of one element of each; ends with the shortest. */
LKS_API lks_dataset *lks_zip_n(size_t n, lks_dataset *const *datasets);
/* The same as a dict with these names. */
LKS_API lks_dataset *lks_zip_named(size_t n, const char *const *names, lks_dataset *const *datasets);

typedef struct lks_choose_options {
    size_t struct_size;
    lks_tristate stop_on_empty_dataset; /* default true */
} lks_choose_options;
/* `choice` yields int64 scalars: the dataset that gives the next element. */
LKS_API lks_dataset *lks_choose_from_datasets_with(lks_dataset *choice, size_t n, lks_dataset *const *datasets,
                                                   const lks_choose_options *options);

typedef struct lks_sample_options {
    size_t struct_size;
    const double *weights; /* NULL = equal; entries <= 0 leave their dataset out */
    size_t n_weights;      /* to be checked against n; 0 = n */
    int64_t seed;          /* as lks_shuffle_options */
    int64_t global_seed;
    lks_tristate stop_on_empty_dataset;      /* default false: the mix goes on without it */
    lks_tristate rerandomize_each_iteration; /* default false: every pass chooses alike */
} lks_sample_options;
LKS_API lks_dataset *lks_sample_from_datasets_with(size_t n, lks_dataset *const *datasets,
                                                   const lks_sample_options *options);

/* ---- sources ---- */

typedef struct lks_random_options {
    size_t struct_size;
    int64_t seed; /* as lks_shuffle_options */
    int64_t global_seed;
    lks_tristate rerandomize_each_iteration; /* default false: every pass repeats the sequence */
} lks_random_options;
/* Endless int64 scalars in [0, 2^32), TensorFlow's for the same seed. */
LKS_API lks_dataset *lks_random_with(const lks_random_options *options);

/* ---- sources over files: n names (copied), opened one after another when they are reached ----
 * A name may be an https:// address: it is read by ranges, with retries after growing pauses.
 * A file that can't be opened or read gives one error; the next element comes from the next file. */

typedef struct lks_files_options {
    size_t struct_size;
    const char *compression_type; /* NULL or "" = none, "GZIP", "ZLIB"; never guessed */
    int64_t buffer_size;          /* bytes, default 262144 */
    int64_t
        num_parallel_reads;  /* 0 = file after file; N = N files open, one record of each in turn; LKS_AUTOTUNE = 16 */
    lks_tristate allow_http; /* default false: names may begin with https://, http:// is refused */
} lks_files_options;

/* Lines as strings, without their ends; every carriage return is left out. */
LKS_API lks_dataset *lks_text_lines_with(size_t n, const char *const *files, const lks_files_options *options);
/* The records of TFRecord files as strings; checksums are verified. */
LKS_API lks_dataset *lks_tfrecord_with(size_t n, const char *const *files, const lks_files_options *options);

typedef struct lks_fixed_length_options {
    size_t struct_size;
    int64_t header_bytes, footer_bytes; /* left out of each file; default 0 */
    lks_files_options files;
} lks_fixed_length_options;
/* Records of record_bytes each as strings. */
LKS_API lks_dataset *lks_fixed_length_with(size_t n, const char *const *files, int64_t record_bytes,
                                           const lks_fixed_length_options *options);

typedef struct lks_csv_options {
    size_t struct_size;
    size_t n_columns;            /* of the result */
    const lks_dtype *dtypes;     /* one a column: int32, int64, float32, float64, string */
    lks_tensor *const *defaults; /* one scalar a column, NULL = the column is required; NULL = all are. Shared */
    size_t n_select_cols;        /* which columns of the file, rising; 0 = all */
    const int64_t *select_cols;
    size_t n_exclude_cols; /* or which are left out */
    const int64_t *exclude_cols;
    lks_tristate header;          /* default false: true leaves out the first line of each file */
    lks_tristate use_quote_delim; /* default true */
    char field_delim;             /* default ',' */
    const char *na_value;         /* as good as an empty field */
    lks_files_options files;
} lks_csv_options;
LKS_API lks_dataset *lks_csv_with(size_t n, const char *const *files, const lks_csv_options *options);

typedef struct lks_list_files_options {
    size_t struct_size;
    lks_tristate shuffle; /* default true: a new order in every pass; false = sorted */
    int64_t seed, global_seed;
} lks_list_files_options;
/* Names that match any of n patterns (* and ? do not cross '/', [..], \\ escapes), sorted bytewise, overlaps kept. Looks at
 * the disk now; no match at all is LKS_E_ARG. Names starting with a dot match only a pattern that does. */
LKS_API lks_dataset *lks_list_files_with(size_t n, const char *const *patterns, const lks_list_files_options *options);

#ifndef __cplusplus
#define LKS_CALL3(fn, type, a, b, c, ...) fn(a, b, c, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define lks_padded_batch(...) LKS_CALL2(lks_padded_batch_with, lks_padded_batch_options, __VA_ARGS__, )
#define lks_ragged_batch(...) LKS_CALL2(lks_ragged_batch_with, lks_batch_options, __VA_ARGS__, )
#define lks_rebatch(...) LKS_CALL3(lks_rebatch_with, lks_batch_options, __VA_ARGS__, )
#define lks_interleave(...) LKS_CALL2(lks_interleave_with, lks_interleave_options, __VA_ARGS__, )
#define lks_window(...) LKS_CALL2(lks_window_with, lks_window_options, __VA_ARGS__, )
#define lks_group_by_window(...) LKS_CALL3(lks_group_by_window_with, lks_group_by_window_options, __VA_ARGS__, )
#define lks_bucket_by_sequence_length(...) \
    LKS_CALL2(lks_bucket_by_sequence_length_with, lks_bucket_options, __VA_ARGS__, )
#define lks_choose_from_datasets(...) LKS_CALL3(lks_choose_from_datasets_with, lks_choose_options, __VA_ARGS__, )
#define lks_sample_from_datasets(...) LKS_CALL2(lks_sample_from_datasets_with, lks_sample_options, __VA_ARGS__, )
#define lks_random(...) \
    lks_random_with(&(const lks_random_options){ .struct_size = sizeof(lks_random_options), __VA_ARGS__ })
#define lks_text_lines(...) LKS_CALL2(lks_text_lines_with, lks_files_options, __VA_ARGS__, )
#define lks_tfrecord(...) LKS_CALL2(lks_tfrecord_with, lks_files_options, __VA_ARGS__, )
#define lks_fixed_length(...) LKS_CALL3(lks_fixed_length_with, lks_fixed_length_options, __VA_ARGS__, )
#define lks_csv(...) LKS_CALL2(lks_csv_with, lks_csv_options, __VA_ARGS__, )
#define lks_list_files(...) LKS_CALL2(lks_list_files_with, lks_list_files_options, __VA_ARGS__, )
#define lks_zip(...)                                                                 \
    lks_zip_n(sizeof((lks_dataset *const[]){ __VA_ARGS__ }) / sizeof(lks_dataset *), \
              (lks_dataset *const[]){ __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
