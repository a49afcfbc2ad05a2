/* rescale.h - internal. The library's own map functions as row writers, for stages that apply them while they batch. */
#ifndef LKS_DATA_FUNCTIONS_RESCALE_H
#define LKS_DATA_FUNCTIONS_RESCALE_H

#include "data/stage.h"

typedef enum lks_fused { LKS_FUSED_NONE = 0, LKS_FUSED_RESCALE = 1, LKS_FUSED_RESCALE_ONEHOT = 2 } lks_fused;

/* dtype and shape that component i of an element becomes; `out` is the spec behind the function. */
void lks__fused_shape(lks_fused kind, const lks_spec *out, size_t i, const lks_tensor *in, lks_dtype *dtype,
                      lks_shape *shape);
/* Writes component i of the element to `to` (of that dtype and shape). Labels were checked before. */
void lks__fused_write(lks_fused kind, size_t i, const lks_tensor *in, void *to, int64_t depth);
/* The same for n rows of a tensor, picked by number. */
void lks__fused_gather(lks_fused kind, size_t i, const lks_tensor *in, const int64_t *rows, int64_t n, void *to,
                       int64_t depth);
/* Every label lies in [0, depth). */
bool lks__labels_in_range(const lks_tensor *labels, int64_t depth);

#endif
