/* sources.h - datasets over the files that people have: arrays, CIFAR, WebDataset shards, TFDS folders. */
#ifndef LOCKSTEP_SOURCES_H
#define LOCKSTEP_SOURCES_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- columns of arrays: element i is row i of each. The files are read now, into memory (but for large HDF5 datasets) ----
 * One column is a single component, several are a tuple in the order of their names. All must have as many rows. */

/* The array of an .npy file. */
LKS_API lks_dataset *lks_npy(const char *path);
/* Arrays `keys` of an .npz archive; n = 0: all of them, as a dict. */
LKS_API lks_dataset *lks_npz_n(const char *path, size_t n, const char *const *keys);
/* Datasets of an HDF5 file by their paths ("train/x"). Up to 16 MiB in all are read now; of larger ones the file stays open, and a
 * pass holds a block of rows: about 1 MiB, or the rows that a chunk of the file packs together. lks_shuffle_indexed reads a row at
 * a time where the file stores rows by themselves; of packed chunks it keeps the last few, so shuffle those by lks_shuffle. */
LKS_API lks_dataset *lks_hdf5_n(const char *path, size_t n, const char *const *names);
/* n IDX files, plain or gzip (images, labels). */
LKS_API lks_dataset *lks_idx_n(size_t n, const char *const *paths);
#ifndef __cplusplus
/* lks_npz("mnist.npz", "x_train", "y_train") */
#define lks_npz(path, ...) \
    lks_npz_n(path, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ __VA_ARGS__ })
#define lks_hdf5(path, ...)                                                         \
    lks_hdf5_n(path, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), \
               (const char *const[]){ __VA_ARGS__ })
#define lks_idx(...) \
    lks_idx_n(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ __VA_ARGS__ })
#endif

/* ---- CIFAR: the binary files, opened one after another when they are reached ---- */

/* data_batch_1.bin ...: (uint8 image [32, 32, 3], int64 label of 10 classes). */
LKS_API lks_dataset *lks_cifar10(size_t n, const char *const *files);
/* train.bin or test.bin of CIFAR-100: the label is the fine one (100 classes), or the coarse one (20). */
LKS_API lks_dataset *lks_cifar100(size_t n, const char *const *files, int coarse_labels);
/* The same with options of lks_files_options (NULL: defaults). */
LKS_API lks_dataset *lks_cifar10_with(size_t n, const char *const *files, const lks_files_options *options);
LKS_API lks_dataset *lks_cifar100_with(size_t n, const char *const *files, int coarse_labels,
                                       const lks_files_options *options);

/* ---- WebDataset: samples in tar files ---- */

/* A member of each sample. */
typedef struct lks_webdataset_field {
    const char
        *extensions; /* "jpg", or several of which the first that a sample has counts: "jpg;jpeg;png". The first names
                               the component. */
    lks_dtype dtype; /* default LKS_STRING, the bytes; LKS_INT64: a number written in text ("cls") */
    lks_tristate optional; /* default false: a sample without it is an error. true: "" or -1 then */
} lks_webdataset_field;

typedef struct lks_webdataset_options {
    size_t struct_size;
    size_t n_fields; /* at least 1 */
    const lks_webdataset_field *fields;
    lks_files_options
        files;        /* compression_type "GZIP" for .tar.gz; num_parallel_reads: samples of so many shards in turn */
    lks_tristate url; /* default false; true: "__url__" too, the name of the sample's shard as it was given */
} lks_webdataset_options;
/* Consecutive members with the same name up to the first dot of their base name are a sample: a dict of the fields and
 * "__key__". Names of shards may have ranges: "train-{000..146}.tar". Members that no field asks for are passed over. */
LKS_API lks_dataset *lks_webdataset_with(size_t n, const char *const *shards, const lks_webdataset_options *options);

/* ---- TFDS: folders as TensorFlow Datasets writes them ---- */

typedef struct lks_tfds_options {
    size_t struct_size;
    lks_tristate decode_images; /* default true: uint8 [height, width, channels]; false: the encoded bytes */
    lks_tristate
        as_supervised; /* default false: a dict of all features; true: the tuple that the folder calls supervised */
    int64_t num_parallel_calls; /* of parsing and decoding; default LKS_AUTOTUNE, LKS_ZERO_INT = 0 */
    int64_t num_parallel_reads; /* 0 = shard after shard; N = 16 elements of each of N shards in turn */
    lks_tristate allow_http;    /* default false: the folder may begin with https://, http:// is refused */
} lks_tfds_options;
/* `folder` has dataset_info.json and features.json, or folders of versions (or of configurations and versions) of which the
 * highest counts; behind an https:// address it is the folder with the two files itself. `split`: "train", "test[:100]", "train[10%:20%]", "train[-500:]". Elements come in the order of the shards.
 * Nested features are dicts; a feature of a kind that is not known here is LKS_E_UNSUPPORTED and named. */
LKS_API lks_dataset *lks_tfds_with(const char *folder, const char *split, const lks_tfds_options *options);

#ifndef __cplusplus
#define lks_webdataset(...) LKS_CALL2(lks_webdataset_with, lks_webdataset_options, __VA_ARGS__, )
#define lks_tfds(...) LKS_CALL2(lks_tfds_with, lks_tfds_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
