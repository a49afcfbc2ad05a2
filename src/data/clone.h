/* clone.h - internal. A recipe's node over other inputs: how recipes are rewritten, which are never changed in place. */
#ifndef LKS_DATA_CLONE_H
#define LKS_DATA_CLONE_H

#include "stage.h"

/* A node with the stage, parameters and counters of `of` (which it shares) over these inputs, as many as `of` has (stolen). NULL
 * or a failed input comes back as from lks__dataset_begin. Not for stages that keep more than numbers between passes (cache). */
lks_dataset *lks__dataset_clone(lks_dataset *of, lks_dataset *const *inputs, int64_t cardinality);

/* A source over files that reads only every num-th of them, from file `index` on; `of` is borrowed. */
lks_dataset *lks__file_list_shard(lks_dataset *of, int64_t num, int64_t index);

#endif
