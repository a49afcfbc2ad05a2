/* element.h - internal. Elements and the pools that their memory comes from.
 *
 * Every stage that makes elements owns one lks_buffers: free lists of element shells, of tensors (one list a component) and of
 * views. What a consumer lets go returns there, so a pipeline of fixed shapes stops allocating after its first elements. A shell
 * that returns takes along the tensors that nobody else holds: making the next element is then one step, not one a component.
 */
#ifndef LKS_DATA_ELEMENT_H
#define LKS_DATA_ELEMENT_H

#include <stdatomic.h>

#include "spec.h"

typedef struct lks_buffers lks_buffers;

typedef union lks_value { /* which one: the leaf's kind */
    lks_tensor *tensor;
    lks_dataset *dataset;
    lks_ragged *ragged;
} lks_value;

/* Where an element was read, for the messages of those who find it broken later. */
typedef struct lks_origin {
    const char *file; /* NULL: nowhere; lives as long as the element's home */
    int64_t record;
    uint64_t offset; /* where the record begins, after decompression */
    bool first;      /* of several */
} lks_origin;

struct lks_element {
    atomic_int references;
    int resting; /* tensors among them while the shell is free */
    lks_buffers *home;
    struct lks_element *next; /* in a free list */
    lks_origin origin;
    lks_element *batch; /* not NULL: large components are to be rows `row` of this one's (placer.h) */
    int64_t row;
    const lks_bytes *read; /* not NULL: the file that its function begins with reading, read beforehand */
    bool given;            /* to the function that it is the input of, which may take strings out of it */
    lks_value value[];     /* and behind them room for tensors that rest, two a component (buffers.c) */
};

/* NULL with LKS_E_NOMEM on failure. Shares the spec. `held`: how many elements consumers may hold at the same time. */
lks_buffers *lks__buffers_create(const lks_spec *spec, int64_t held);
/* The owner's good-bye; what is still out finds its way, the last one frees the pool. NULL is fine. */
void lks__buffers_release(lks_buffers *b);
const lks_spec *lks__buffers_spec(const lks_buffers *b);

/* Between two passes over a dataset a pool of moderate size rests with it, so that a warm pass allocates nothing. Steals b (NULL is fine):
 * it rests in *place, or is released where it is large or memory is short. */
void lks__buffers_rest(lks_buffers *b, _Atomic(lks_buffers *) *place);
/* The pool that rests there, or a new one; as lks__buffers_create. */
lks_buffers *lks__buffers_wake(_Atomic(lks_buffers *) *place, const lks_spec *spec, int64_t held);

/* A copy of the name that lives as long as the pool, the same for equal names; NULL on failure. */
const char *lks__buffers_name(lks_buffers *b, const char *name);
/* Says of the present error, the element's place in its file in front. */
void lks__element_blame(const lks_element *e);

/* An element with empty components; NULL on failure. All of these may be called from several threads. */
lks_element *lks__buffers_element(lks_buffers *b);
/* Empties an element that nobody else holds, so that it can be filled once more; false: somebody does. */
bool lks__element_again(lks_element *e);
enum { LKS_PLACED_BYTES = 256 }; /* components from this size on are placed */
/* A tensor with undefined contents for component i of e (one thread at a time), one reference; NULL on failure. */
lks_tensor *lks__element_room(lks_element *e, size_t i, lks_dtype dtype, const lks_shape *shape);
/* A view of `shape` at `offset` bytes into base, which it shares; NULL on failure. */
lks_tensor *lks__element_view(lks_element *e, size_t i, lks_tensor *base, const lks_shape *shape, size_t offset);
/* Row `row` of axis 0 as such a view. */
lks_tensor *lks__element_row(lks_element *e, size_t i, lks_tensor *base, int64_t row);

/* LKS_OK if the tensor is what leaf i of the spec allows; else says which component, expected and found. */
lks_status lks__leaf_check(const lks_spec *spec, size_t i, lks_dtype dtype, const lks_shape *shape);
/* Bytes of the tensors, strings included; at least 1. */
int64_t lks__element_bytes(const lks_element *e);
/* The same of every element of the spec, at least 1; 0 where the spec does not tell. */
int64_t lks__spec_bytes(const lks_spec *spec);
/* LKS_OK if every component was filled. */
lks_status lks__element_complete(const lks_element *e);
/* Shares component i of `from` as component j of `to`, without a check. */
void lks__element_share(lks_element *to, size_t j, const lks_element *from, size_t i);

/* n elements from one tensor to another of the same dtype; strings are copied one by one. */
lks_status lks__copy_elements(lks_tensor *to, int64_t at, const lks_tensor *from, int64_t first, int64_t n);

/* A dense tensor as a ragged one with `rank` splits, all rows of equal length; NULL on failure. */
lks_ragged *lks__ragged_from_dense(lks_tensor *tensor, int64_t rank);
/* n >= 1 ragged tensors of equal rank as the rows of one with one more; NULL on failure. */
lks_ragged *lks__ragged_stack(size_t n, lks_ragged *const *item);

#endif
