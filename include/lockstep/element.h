/* element.h - what a dataset yields: structures of tensors, and the static description of one.
 *
 * An element is a tree of tuples and dicts whose leaves ("components") are tensors, ragged tensors or nested datasets. Components
 * are numbered 0.. in flat order: tuple order, dict keys in bytewise order.
 */
#ifndef LOCKSTEP_ELEMENT_H
#define LOCKSTEP_ELEMENT_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_dataset lks_dataset;

/* ---- element spec: immutable, counted, safe to share between threads ----
 * Builders give the caller one reference and steal the specs they are given; they return NULL when there is no memory
 * or an argument is NULL, so that nested calls need one check at the end. */
typedef struct lks_spec lks_spec;

typedef enum lks_spec_kind {
    LKS_SPEC_TENSOR = 1, /* leaf: dtype and shape */
    LKS_SPEC_TUPLE = 2,
    LKS_SPEC_DICT = 3,
    LKS_SPEC_DATASET = 4, /* leaf: a nested dataset; its only child is the spec of its elements */
    LKS_SPEC_RAGGED = 5   /* leaf: rows of different length */
} lks_spec_kind;

/* A dense tensor; sizes of -1 are unknown, rank -1 = unknown rank. */
LKS_API lks_spec *lks_spec_tensor(lks_dtype dtype, lks_shape shape);
/* The same for integer labels in [0, num_classes). */
LKS_API lks_spec *lks_spec_label(lks_dtype dtype, lks_shape shape, int64_t num_classes);
/* A ragged tensor: the first `ragged_rank` axes after the outermost have rows of their own length (-1 in shape). */
LKS_API lks_spec *lks_spec_ragged(lks_dtype dtype, lks_shape shape, int64_t ragged_rank);
LKS_API lks_spec *lks_spec_dataset(lks_spec *element);
/* Steal the n children; borrow the array and the names (copied; sorted bytewise; all different). */
LKS_API lks_spec *lks_spec_tuple(size_t n, lks_spec *const *children);
LKS_API lks_spec *lks_spec_dict(size_t n, const char *const *names, lks_spec *const *children);
#ifndef __cplusplus
#define lks_spec_tuple_of(...) \
    lks_spec_tuple(sizeof((lks_spec *const[]){ __VA_ARGS__ }) / sizeof(lks_spec *), (lks_spec *const[]){ __VA_ARGS__ })
#endif

LKS_API lks_spec *lks_spec_retain(const lks_spec *spec); /* NULL gives NULL */
LKS_API void lks_spec_release(lks_spec *spec);           /* NULL is fine */

/* What a spec says. Borrow it. */
LKS_API lks_spec_kind lks_spec_kind_of(const lks_spec *spec);
LKS_API lks_dtype lks_spec_dtype(const lks_spec *spec);                  /* 0 unless a tensor or ragged leaf */
LKS_API lks_shape lks_spec_shape(const lks_spec *spec);                  /* rank -1 unless a tensor or ragged leaf */
LKS_API int64_t lks_spec_num_classes(const lks_spec *spec);              /* 0 = unknown */
LKS_API int64_t lks_spec_ragged_rank(const lks_spec *spec);              /* 0 unless ragged */
LKS_API size_t lks_spec_child_count(const lks_spec *spec);               /* tuple, dict; 1 for a nested dataset */
LKS_API const lks_spec *lks_spec_child(const lks_spec *spec, size_t i);  /* borrowed; NULL beyond the end */
LKS_API const char *lks_spec_child_name(const lks_spec *spec, size_t i); /* of a dict; else NULL */
LKS_API size_t lks_spec_leaf_count(const lks_spec *spec);
LKS_API const lks_spec *lks_spec_leaf(const lks_spec *spec, size_t i); /* flat order; borrowed; NULL beyond the end */
/* True if structure, dtypes and shapes are the same (class counts may differ). */
LKS_API int lks_spec_equal(const lks_spec *a, const lks_spec *b);

/* ---- ragged tensors: counted, immutable ----
 * values holds the rows one after another; split k (int64, shape (rows_k + 1,)) says where each row of ragged axis k + 1
 * begins in the next split or in the values. */
typedef struct lks_ragged lks_ragged;
/* Shares the tensors. NULL on failure. */
LKS_API lks_ragged *lks_ragged_create(lks_tensor *values, size_t n_splits, lks_tensor *const *splits);
LKS_API lks_ragged *lks_ragged_retain(lks_ragged *ragged);
LKS_API void lks_ragged_release(lks_ragged *ragged);
LKS_API lks_tensor *lks_ragged_values(const lks_ragged *ragged);          /* borrowed */
LKS_API size_t lks_ragged_rank(const lks_ragged *ragged);                 /* number of splits */
LKS_API lks_tensor *lks_ragged_split(const lks_ragged *ragged, size_t k); /* borrowed */

/* ---- elements: counted; the tensors inside are shared and must not be written by the consumer ---- */
typedef struct lks_element lks_element;

LKS_API lks_element *lks_element_retain(lks_element *element); /* NULL gives NULL */
LKS_API void lks_element_release(lks_element *element);        /* NULL is fine; buffers go back to their pipeline */
LKS_API const lks_spec *lks_element_spec(const lks_element *element); /* borrowed */
LKS_API size_t lks_element_count(const lks_element *element);         /* number of components */
/* Component i; borrowed; NULL beyond the end or when it is of another kind. */
LKS_API lks_tensor *lks_element_tensor(const lks_element *element, size_t i);
LKS_API lks_dataset *lks_element_dataset(const lks_element *element, size_t i);
LKS_API lks_ragged *lks_element_ragged(const lks_element *element, size_t i);

/* ---- filling the output element of a map function or generator ----
 * Each breach of the element spec is LKS_E_SHAPE with the component's name, what was expected and what was found. */

/* A tensor to write component i to; its contents are undefined. The first form is for shapes that the spec fixes. Borrowed
 * (the element owns it); NULL on failure. */
LKS_API lks_tensor *lks_element_output(lks_element *element, size_t i);
LKS_API lks_tensor *lks_element_output_shaped(lks_element *element, size_t i, lks_shape shape);
/* Makes component i this tensor (shares it): how a function passes an input on. */
LKS_API lks_status lks_element_set(lks_element *element, size_t i, lks_tensor *tensor);
LKS_API lks_status lks_element_set_ragged(lks_element *element, size_t i, lks_ragged *ragged);
/* Steals the dataset. */
LKS_API lks_status lks_element_set_dataset(lks_element *element, size_t i, lks_dataset *dataset);
/* Element j of string component i (made by lks_element_output*). Borrows data. */
LKS_API lks_status lks_element_set_bytes(lks_element *element, size_t i, int64_t j, const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
