/* fuse.h - internal. Applying a known element function while a batch is stacked, instead of element by element below shuffle. */
#ifndef LKS_DATA_FUSE_H
#define LKS_DATA_FUSE_H

#include "data/functions/rescale.h"

/* The map below the batch that can wait until the elements are stacked: its input passes through stages that only choose and
 * order elements, its function is one of the library's, and it can't fail on these data. NULL if there is none. */
lks_dataset *lks__fusable_map(const lks_dataset *batch, lks_fused *kind);

/* Whether the batches can be gathered by row numbers: below `batch` (and the map `bypass`, which may be NULL) lie only stages that
 * order and pick, over from_tensor_slices without strings. Returns that source, or NULL. */
const lks_dataset *lks__rows_source(const lks_dataset *batch, const lks_dataset *bypass);

/* ---- what the stages in question tell (each in its own file) ---- */
/* map: the function's kind, if it is the library's. */
lks_fused lks__map_kind(const lks_dataset *map);
/* A map of a pure function that may run on several threads. */
bool lks__map_is_parallel(const lks_dataset *ds);
/* map: notes that a pass begins, as opening a cursor would. */
void lks__map_begin_pass(lks_dataset *map);
/* from_tensor_slices: component i; NULL for other datasets. */
const lks_tensor *lks__slices_component(const lks_dataset *ds, size_t i);

#endif
