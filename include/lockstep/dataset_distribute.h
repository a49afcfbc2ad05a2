/* dataset_distribute.h - one dataset for several workers and replicas: who reads what, and which rows of a batch go where.
 *
 * Rows of a global batch are dealt by one rule: contiguous pieces in replica order, the first (rows mod n) of them one row longer.
 * The last, short batch is cut by the rows it really has, so pieces may be empty; every element comes exactly once.
 */
#ifndef LOCKSTEP_DATASET_DISTRIBUTE_H
#define LOCKSTEP_DATASET_DISTRIBUTE_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which part of a dataset one of several workers reads. */
typedef enum lks_shard_policy {
    LKS_SHARD_AUTO = 0, /* FILE; where the data do not come from files, DATA of the untouched dataset */
    LKS_SHARD_FILE = 1, /* file f goes to worker f mod num_workers; shuffles of file names move behind that choice.
                           LKS_E_NOTFOUND names a source that has no files, LKS_E_ARG says when there are too few */
    LKS_SHARD_DATA = 2, /* every worker reads everything and keeps element k where k mod num_workers is its number */
    LKS_SHARD_HINTED =
        3,             /* each lks_shard(ds, LKS_SHARD_HINT, 0) in the dataset becomes lks_shard(ds, workers, worker);
                             a dataset without one is left as it is */
    LKS_SHARD_OFF = -1 /* nothing: all workers see all elements */
} lks_shard_policy;

/* num_shards of an lks_shard that LKS_SHARD_HINTED fills in. Reading such a dataset as it is is LKS_E_STATE. */
enum { LKS_SHARD_HINT = -1 };

/* Says that a function of flat_map, interleave or map opens the file whose name its input is: FILE then deals out these names.
 * One of lks_map_fn's flags. */
enum { LKS_FN_OPENS_FILES = 4 };

/* The elements of this worker (0 <= worker < num_workers). One worker gets everything, whatever the policy. */
LKS_API lks_dataset *lks_auto_shard(lks_dataset *dataset, int64_t num_workers, int64_t worker, lks_shard_policy policy);

typedef struct lks_distribute_options {
    size_t struct_size;
    int64_t num_workers;     /* processes that each build this dataset; default 1 */
    int64_t worker;          /* which of them this is */
    int64_t num_replicas;    /* of this worker, all workers have as many; default 1 */
    lks_shard_policy policy; /* default AUTO */
    lks_tristate
        tf_pieces; /* true: pieces of ceil(rows / n) rows, the last ones shorter or empty, as tf.distribute cuts */
} lks_distribute_options;
/* The dataset's batches are global ones (of all replicas of all workers). Yields num_replicas pieces a step, in replica order.
 * DATA cuts every global batch into the pieces of all replicas and keeps this worker's; the others read this worker's share
 * of the elements in batches of its share of the global batch size (where that is not known: cut every batch as DATA does, and give
 * all its pieces to this worker). A dataset that is not batched is LKS_E_SHAPE. */
LKS_API lks_dataset *lks_distribute_with(lks_dataset *dataset, const lks_distribute_options *options);
#ifndef __cplusplus
#define lks_distribute(...) LKS_CALL1(lks_distribute_with, lks_distribute_options, __VA_ARGS__, )
#endif

/* Pieces [first, first + count) of n of every batch. */
LKS_API lks_dataset *lks_split_batches(lks_dataset *dataset, int64_t n, int64_t first, int64_t count, int tf_pieces);

/* How many rows replica r of worker w gets in step s, for a stream of elements that each worker reads on its own: size
 * (s * replicas + r) mod (workers * replicas) of the returned list. Any two differ by at most one, and each step's sizes add up
 * to `global_batch` over the workers. Fills num_workers * num_replicas sizes. */
LKS_API lks_status lks_batch_sizes_for_worker(int64_t global_batch, int64_t num_workers, int64_t num_replicas,
                                              int64_t worker, int64_t *sizes);

/* For pipelines built by a function, once a worker: nothing is cut or sharded, consecutive elements go to consecutive replicas. */
typedef struct lks_input_context {
    size_t struct_size;
    int64_t num_input_pipelines, input_pipeline_id, num_replicas_in_sync;
} lks_input_context;
/* global_batch / num_replicas_in_sync; LKS_E_ARG unless that is whole. */
LKS_API lks_status lks_per_replica_batch_size(const lks_input_context *context, int64_t global_batch, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
