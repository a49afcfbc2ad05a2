/* dataset_json.h - pipelines written as JSON, for programs that measure and for trying things out: a list of stages,
 *
 *     [{"op": "tfrecord", "files": ["a.tfrecord", "b.tfrecord"], "num_parallel_reads": 2},
 *      {"op": "shuffle", "buffer_size": 1000, "seed": 7},
 *      {"op": "batch", "batch_size": 32},
 *      {"op": "prefetch", "buffer_size": -1}]
 *
 * with tf.data's names for stages and arguments (-1 is AUTOTUNE). Stages of several datasets have "inputs", a list of such lists.
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
    /* Functions by name, beside the library's own ("cast_rescale", "cast_rescale_onehot", "read_text_lines", "read_tfrecord"): fills
     * *out, or returns 0 for an unknown name. */
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
