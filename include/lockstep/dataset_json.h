/* dataset_json.h - pipelines written as JSON, for programs that measure and for trying things out: a list of stages,
 *
 *     [{"op": "tfrecord", "files": ["a.tfrecord", "b.tfrecord"], "num_parallel_reads": 2},
 *      {"op": "shuffle", "buffer_size": 1000, "seed": 7},
 *      {"op": "batch", "batch_size": 32},
 *      {"op": "prefetch", "buffer_size": -1}]
 *
 * with tf.data's names for stages and arguments (-1 is AUTOTUNE); an unknown word or argument is refused with the nearest one.
 * - Stages of several datasets have "inputs", a list of such lists; range has "args": [stop], [start, stop] or [start, stop, step].
 * - Numbers in messages and tables, "shuffle (stage 8)", count what is built, sources first: image_dataset_from_directory is five
 *   stages. "stage 4 of the pipeline" is the fourth of the list.
 * - Sources: range, random, from_tensors, from_tensor_slices ("value": an array [[1, 2], [3, 4]], {"array": ..., "dtype": "uint8"},
 *   {"tuple": [...]} or {"dict": {...}}), map_indexed, list_files, text_lines, csv, fixed_length, tfrecord, webdataset ("fields":
 *   ["cls:int64", "jpg;png", "txt?"]), tfds, image_dataset_from_directory ("image_size": [height, width]), cifar10, cifar100, idx,
 *   npy, npz, hdf5, mnist, fashion_mnist, zip, choose_from_datasets, sample_from_datasets.
 * - Stages: all of dataset.h, dataset_more.h and dataset_sampling.h by their names without lks_, and auto_shard.
 * - A function ("f": ...) is a word, {"fn": word, ...} with arguments, or a list of these, which run one after another: those of
 *   image_functions.h without lks_fn_ ({"fn": "resize", "height": 160, "width": 160, "component": 0}), cast_rescale,
 *   cast_rescale_onehot, read_text_lines, read_tfrecord, {"fn": "parse_example", "features": {"label": "int64", "x": {"kind":
 *   "ragged", "dtype": "float32"}}} and parse_sequence_example ("context", "sequence"), and for trying things out on int64
 *   numbers and windows add, double, square, mod, less, is_even, fail_on, running_sum, length, range_of, repeated, batch_window,
 *   batch_all (those with a number: "arg").
 * - A feature is its dtype (one value) or {"dtype", "kind": "fixed", "var", "ragged", "sequence" or "sparse", "shape", "default",
 *   "value_key"}; ragged ones have "partitions", a list of {"row_lengths": key}, {"row_splits": key}, {"row_starts": key},
 *   {"row_limits": key}, {"value_rowids": key} and {"uniform_row_length": 2}; sparse ones "index_key" (one or a list), "size",
 *   "already_sorted"; lists of a SequenceExample "allow_missing".
 */
#ifndef LOCKSTEP_DATASET_JSON_H
#define LOCKSTEP_DATASET_JSON_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_dataset_json_options {
    size_t struct_size;
    const char *folder; /* in front of relative file names; NULL: the working directory */
    /* Functions by name, before the library's own: fills *out, or returns 0 for an unknown name. */
    int (*function)(const char *name, lks_map_fn *out, void *user);
    void *user;
} lks_dataset_json_options;
/* Borrows the text. A failed dataset says which stage is not understood. */
LKS_API lks_dataset *lks_dataset_from_json_with(const char *text, const lks_dataset_json_options *options);
#ifndef __cplusplus
#define lks_dataset_from_json(...) LKS_CALL1(lks_dataset_from_json_with, lks_dataset_json_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
