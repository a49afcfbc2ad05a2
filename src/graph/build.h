/* graph/build.h - internal to src/graph/build_*.c. What the builders of lockstep/ops.h share. */
#ifndef LKS_GRAPH_BUILD_H
#define LKS_GRAPH_BUILD_H

#include "graph.h"

/* Whether all are nodes of op graphs; if not, lks__build_refuse makes the failed node to be returned. */
bool lks__build_usable(size_t n, const lks_node *x);
lks_node lks__build_refuse(const lks_op *op, size_t n, const lks_node *x);

/* x as float32 (bool). */
lks_node lks__build_float(lks_node x);
lks_node lks__build_bool(lks_node x);

/* Brings two operands to one dtype: int32 if both are int32 or bool (bool if both are and keep_bool), else float32. A shared
 * operand with more axes than the row of a batched one loses leading axes of size 1: the batch's, in NumPy's view. */
void lks__build_pair(lks_node *a, lks_node *b, bool keep_bool);

/* Whether x is a shared constant scalar of this value. */
bool lks__build_is_number(lks_node x, float value);

/* Axis as a user counts (the batch is 0, negative from the end) to an axis of the row: -1 = the batch. `extra` more axes are
 * allowed at the end (expand_dims). */
lks_status lks__build_axis(const char *op, lks_node x, int64_t axis, int extra, int64_t *row_axis);
/* The same for a list, to a mask; an empty list is all axes, and the batch. */
lks_status lks__build_axes(const char *op, lks_node x, size_t n, const int64_t *axes, uint32_t *mask, bool *batch);

/* x with another shape of its row. */
lks_node lks__build_reshape(lks_node x, lks_shape shape);

#endif
