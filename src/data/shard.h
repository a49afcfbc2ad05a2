/* shard.h - internal. shard as auto-sharding uses it. */
#ifndef LKS_DATA_SHARD_H
#define LKS_DATA_SHARD_H

#include "stage.h"

/* An lks_shard with LKS_SHARD_HINT. */
bool lks__shard_is_hint(const lks_dataset *ds);
/* lks_shard that fails, now or at the first element, where the input has fewer than num_shards elements, so that some worker would
 * have none. `things` (static) is what messages call them: "files". Steals the dataset. */
lks_dataset *lks__shard_nonempty(lks_dataset *dataset, int64_t num_shards, int64_t index, const char *things);

#endif
