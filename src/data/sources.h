/* sources.h - internal. What sources use of each other. */
#ifndef LKS_DATA_SOURCES_H
#define LKS_DATA_SOURCES_H

#include "data/stage.h"

/* lks_from_tensor_slices_n with the elements' spec given (stolen): class counts, names. NULL spec or tensors fail it. */
lks_dataset *lks__from_slices_of(lks_spec *spec, size_t n, lks_tensor *const *tensors);

#endif
