/* reduce.h - internal. What the reductions share: their shape rule, the walk over a row, the gradient's shapes. */
#ifndef LKS_OPS_REDUCE_H
#define LKS_OPS_REDUCE_H

#include "ops/build.h"

/* Shape rules: the row without the axes of lks_reduce_attrs, or with size 1 in their place; and of lks_batch_attrs, without
 * the batch. */
lks_status lks__reduce_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out);
lks_status lks__batch_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out);

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

/* The kernel of a reduction over rows: each example's row by one of the above. */
void lks__reduce_run(const lks_op_call *call, void (*one_row)(const lks_walk *w, const float *x, float *y));

/* Scratch of a reduction over the batch: one example's result. */
size_t lks__batch_scratch(const void *attrs, const lks_type *const *in, const lks_type *out);

/* One operation for each input element. */
double lks__reduce_flop(const void *attrs, const lks_type *const *in, const lks_type *out);

#endif
