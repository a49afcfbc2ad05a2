/* records.h - tf.train.Example and TFRecord files: parsing, building, writing.
 *
 *   lks_features *features = lks_features_of({ .key = "image", .dtype = LKS_STRING },
 *                                            { .key = "label", .dtype = LKS_INT64 },
 *                                            { .key = "tags", .dtype = LKS_STRING, .kind = LKS_RAGGED_FEATURE });
 *   ds = lks_map(lks_tfrecord(n, files), lks_parse_example(features), .num_parallel_calls = LKS_AUTOTUNE);
 *   ds = lks_map(lks_batch(lks_tfrecord(n, files), 256), lks_parse_example(features)); // a batch at a time: faster
 */
#ifndef LOCKSTEP_RECORDS_H
#define LOCKSTEP_RECORDS_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to read from an Example ---- */

typedef enum lks_feature_kind {
    LKS_FIXED_LEN_FEATURE = 0,          /* exactly the values of `shape` */
    LKS_VAR_LEN_FEATURE = 1,            /* any number, as a sparse tensor: dict of dense_shape, indices, values */
    LKS_RAGGED_FEATURE = 2,             /* any number: a vector; in a batch a ragged tensor */
    LKS_FIXED_LEN_SEQUENCE_FEATURE = 3, /* any number of rows of `shape`; in a batch padded with the default */
    LKS_SPARSE_FEATURE = 4,             /* values at places that other features hold, as a sparse tensor of `shape` */
} lks_feature_kind;

/* How the values of a RAGGED feature are cut into rows: by the int64 values of another feature, or evenly. */
typedef enum lks_partition_kind {
    LKS_ROW_SPLITS = 1,         /* where each row begins, and the end of the last */
    LKS_ROW_LENGTHS = 2,        /* values of each row */
    LKS_ROW_STARTS = 3,         /* where each row begins */
    LKS_ROW_LIMITS = 4,         /* where each row ends */
    LKS_VALUE_ROWIDS = 5,       /* the row of each value, rising */
    LKS_UNIFORM_ROW_LENGTH = 6, /* rows of `length` values: an axis of its own, dense where no other one is inside it */
} lks_partition_kind;

typedef struct lks_partition {
    lks_partition_kind kind;
    const char *key; /* the feature that holds it; not for UNIFORM_ROW_LENGTH */
    int64_t length;  /* UNIFORM_ROW_LENGTH only, at least 1 */
} lks_partition;

/* One feature. What is left out is zero: a scalar of fixed length. */
typedef struct lks_feature {
    const char *key; /* in the dict that comes out, and in the Example if there is no value_key */
    lks_dtype dtype; /* LKS_INT64, LKS_FLOAT32 or LKS_STRING (bytes): the kinds that an Example can hold */
    lks_feature_kind kind;
    lks_shape shape; /* all sizes known; not for VAR_LEN and RAGGED */
    lks_tensor
        *default_value; /* shared. FIXED_LEN: of `shape`, for Examples without the feature (NULL: an error there).
                                  FIXED_LEN_SEQUENCE: one value, the padding (NULL: 0 or "") */
    lks_tristate
        allow_missing;     /* feature lists of a SequenceExample only: default false, except for VAR_LEN and RAGGED */
    const char *value_key; /* which feature of the Example holds the values; NULL: `key` */
    size_t n_partitions;   /* RAGGED: rows within rows, outermost first; always checked against the values */
    const lks_partition *partitions; /* copied */
    size_t n_index_keys;             /* SPARSE: one for each axis of `shape` */
    const char *const *index_keys;   /* features with as many int64 indices as there are values; copied */
    lks_tristate already_sorted;     /* SPARSE: default false, the entries are sorted by their indices */
} lks_feature;

/* A list of features compiled for reading; counted, immutable. */
typedef struct lks_features lks_features;

/* Copies n features of feature_size = sizeof(lks_feature) each. NULL on failure: lks_last_error names the feature. */
LKS_API lks_features *lks_features_create(size_t n, size_t feature_size, const lks_feature *features);
LKS_API lks_features *lks_features_retain(lks_features *features); /* NULL gives NULL */
LKS_API void lks_features_release(lks_features *features);         /* NULL is fine */
#ifndef __cplusplus
#define lks_features_of(...)                                                                                     \
    lks_features_create(sizeof((const lks_feature[]){ __VA_ARGS__ }) / sizeof(lks_feature), sizeof(lks_feature), \
                        (const lks_feature[]){ __VA_ARGS__ })
#endif

/* The function for lks_map that reads serialized Examples: string scalar -> dict by key; string vector (batch before map)
 * -> dict of batches. The stage that takes the function takes over the reference to `features` (NULL fails that stage with
 * lks_last_error), so give the function to one stage. An Example that lacks a feature, holds another kind or number of
 * values, or is broken gives LKS_E_ARG or LKS_E_FORMAT with the key, what was wanted and what is there. All of what protocol
 * buffers allow is read: packed and unpacked lists, lists in pieces, unknown fields; of equal keys the last one counts. */
LKS_API const lks_map_fn *lks_parse_example(lks_features *features);

/* The same for SequenceExamples: string scalar -> (dict of the context, dict of the feature lists). Of the feature lists,
 * FIXED_LEN_SEQUENCE gives [steps] + shape, VAR_LEN a sparse matrix, RAGGED a row for each step. Either may be NULL: none.
 * String vector (batch before map) -> (dict of the context, dict of the lists, dict of lengths): FIXED_LEN_SEQUENCE lists give
 * [batch, most steps] + shape, zeros (or "") behind their end, and int64 [batch] lengths in steps; VAR_LEN lists a sparse
 * [batch, steps, values], RAGGED ones rows of rows. Partitions of a RAGGED list are lists themselves, step by step. */
LKS_API const lks_map_fn *lks_parse_sequence_example(lks_features *context, lks_features *sequence);

/* ---- building Examples ---- */

/* A tf.train.Example (and, once a step was added, SequenceExample) under construction. */
typedef struct lks_example lks_example;

LKS_API lks_example *lks_example_create(void); /* NULL on failure */
LKS_API void lks_example_release(lks_example *example);
LKS_API void lks_example_clear(lks_example *example); /* no features again; memory is kept */

/* Sets feature `key` to these n values (copied); an earlier one of that key is replaced. n = 0 is an empty list. */
LKS_API lks_status lks_example_set_int64(lks_example *example, const char *key, size_t n, const int64_t *values);
LKS_API lks_status lks_example_set_float(lks_example *example, const char *key, size_t n, const float *values);
LKS_API lks_status lks_example_set_bytes(lks_example *example, const char *key, size_t n, const lks_bytes *values);
/* All elements of a tensor, borrowed: strings as bytes, integers and bools as int64, floats as float32. */
LKS_API lks_status lks_example_set_tensor(lks_example *example, const char *key, const lks_tensor *tensor);

/* Adds one step of n values to feature list `key`; the context is what the functions above set. */
LKS_API lks_status lks_example_add_int64(lks_example *example, const char *key, size_t n, const int64_t *values);
LKS_API lks_status lks_example_add_float(lks_example *example, const char *key, size_t n, const float *values);
LKS_API lks_status lks_example_add_bytes(lks_example *example, const char *key, size_t n, const lks_bytes *values);

/* The serialized message, keys sorted bytewise so that equal Examples are equal bytes; *bytes is freed with lks_free.
 * With feature lists it is a SequenceExample. */
LKS_API lks_status lks_example_encode(lks_example *example, void **bytes, size_t *size);

/* ---- writing TFRecord files ---- */

typedef struct lks_record_writer_options {
    size_t struct_size;
    const char *compression_type; /* NULL or "" = none, "GZIP", "ZLIB" */
    int64_t compression_level;    /* 1 to 9; default zlib's (6) */
    int64_t num_shards;           /* default 1. More: PATH-00000-of-00008 and so on, records dealt out in turn */
} lks_record_writer_options;

typedef struct lks_record_writer lks_record_writer;

/* The files appear under their names when the writer is closed; before that they have temporary names beside them. */
LKS_API lks_status lks_record_writer_open_with(const char *path, const lks_record_writer_options *options,
                                               lks_record_writer **out);
/* One record. After a failure the writer can only be closed or dropped. */
LKS_API lks_status lks_record_writer_write(lks_record_writer *writer, const void *data, size_t size);
LKS_API lks_status lks_record_writer_write_example(lks_record_writer *writer, lks_example *example);
/* Finishes, syncs and renames the files; frees the writer also when that fails (then none of the files that were not
 * renamed yet remains). NULL is fine. */
LKS_API lks_status lks_record_writer_close(lks_record_writer *writer);
/* Gives up: removes what was written. NULL is fine. */
LKS_API void lks_record_writer_drop(lks_record_writer *writer);

#ifndef __cplusplus
/* lks_record_writer_open(&writer, "train.tfrecord", .num_shards = 8) */
#define lks_record_writer_open(writer, ...) LKS_RECORD_WRITER_OPEN(writer, __VA_ARGS__, )
#define LKS_RECORD_WRITER_OPEN(writer, path, ...)                                                                  \
    lks_record_writer_open_with(                                                                                   \
        path, &(const lks_record_writer_options){ .struct_size = sizeof(lks_record_writer_options), __VA_ARGS__ }, \
        writer)
#endif

#ifdef __cplusplus
}
#endif
#endif
