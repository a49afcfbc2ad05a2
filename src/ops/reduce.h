/* reduce.h - internal. What the reductions share: their shape rule, the walk over a row, the gradient's shapes. */
#ifndef LKS_OPS_REDUCE_H
#define LKS_OPS_REDUCE_H

#include "ops/build.h"

/* The type of `in` without the axes of the mask, or with size 1 in their place. */
lks_status lks__reduce_infer(const char *op, const lks_type *in, uint32_t axes, bool keep, lks_type *out);

/* The shape of a reduced value with its axes put back as size 1. */
lks_shape lks__reduce_keep_shape(const lks_shape *in, uint32_t axes);

/* A row's axes without those of size 1, neighbours of the same kind merged: reduced and kept alternate. */
typedef struct lks_walk {
    int n; /* merged axes, at least 1 */
    int64_t dim[LKS_MAX_RANK + 1];
    bool reduced[LKS_MAX_RANK + 1];
    int64_t stride[LKS_MAX_RANK + 1]; /* in the output; 0 where reduced */
    int64_t kept;                     /* elements of the output */
} lks_walk;

lks_walk lks__reduce_walk(const lks_shape *shape, uint32_t axes);

/* Sums (maxima) of one row into y, from +0 (-inf). */
void lks__reduce_sum_row(const lks_walk *w, const float *x, float *y);
void lks__reduce_max_row(const lks_walk *w, const float *x, float *y);

/* One operation for each input element. */
double lks__reduce_flop(const void *attrs, const lks_type *const *in, const lks_type *out);

#endif
