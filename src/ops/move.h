/* move.h - internal. Copying between strided layouts: what transpose, broadcast, slice and pad have in common. */
#ifndef LKS_OPS_MOVE_H
#define LKS_OPS_MOVE_H

#include "op.h"

/* Axes outermost first; strides in elements. */
typedef struct lks_move {
    int axes;
    int64_t dim[LKS_MAX_RANK + 1], from[LKS_MAX_RANK + 1], to[LKS_MAX_RANK + 1];
} lks_move;

void lks__move_axis(lks_move *m, int64_t dim, int64_t from, int64_t to); /* appends an inner axis */
void lks__move_run(const lks_move *m, size_t element_size, const void *from, void *to);

/* n elements of dtype, all `value` converted. */
void lks__move_fill(lks_dtype dtype, double value, void *to, int64_t n);

/* Row-major strides, in elements. */
void lks__strides(const lks_shape *shape, int64_t stride[LKS_MAX_RANK]);

#endif
