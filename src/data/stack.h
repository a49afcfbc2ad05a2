/* stack.h - internal. Elements laid one behind another on a new first axis: what batch and its relatives do. */
#ifndef LKS_DATA_STACK_H
#define LKS_DATA_STACK_H

#include "fuse.h"
#include "stage.h"

/* Start from { .cursor = n, .limit = batch size }. The cursor's dataset has the batches' spec: where it says ragged, rows become
 * ragged ones, dense inputs included. */
typedef struct lks_stack {
    lks_cursor *cursor;   /* its buffers hold the batches */
    int64_t limit;        /* rows at most */
    int64_t rows, room;   /* so far; that the tensors hold */
    lks_element *element; /* being filled; NULL before the first row */
    lks_fused fused;      /* applied to the rows while they are copied */
    lks_ragged **ragged;  /* the rows of ragged components: [row * components + component] */
    size_t ragged_room;
} lks_stack;

/* Copies e (borrowed) as the next row; strings of an e that nobody else holds move out of it, so the caller lets it go next.
 * LKS_E_SHAPE names component, first shape and this one. */
lks_status lks__stack_add(lks_stack *s, lks_element *e);
/* The batch of the rows so far (at least one); the stack is empty after it, also on failure. */
lks_status lks__stack_take(lks_stack *s, lks_element **out);
void lks__stack_drop(lks_stack *s);

/* Batches from the cursor's input: the bodies of next and skip. The placer (NULL: none) lets the input give whole batches. */
lks_status lks__stack_next(lks_stack stack, bool drop_remainder, struct lks_placer *placer, lks_element **out);
lks_status lks__stack_skip(lks_cursor *n, int64_t size, bool drop_remainder, int64_t count, int64_t *done);

/* The spec of batches of `rows` (-1 = varying) elements; NULL where a component can't be stacked. With `ragged`, axes of
 * unknown size become ragged ones. */
lks_spec *lks__stack_spec(const lks_spec *in, int64_t rows, bool ragged);
/* rows in front of the other sizes. */
lks_shape lks__with_rows(int64_t rows, lks_shape rest);
/* Datasets of batch, padded_batch and ragged_batch begin so. */
typedef struct lks_batched {
    lks_dataset base;
    int64_t size;
} lks_batched;

/* Rows of every batch but the last where ds is such a stage; else 0. */
int64_t lks__batch_size(const lks_dataset *ds);
int64_t lks__batch_cardinality(int64_t n, int64_t size, bool drop_remainder);

#endif
