/* dataset_sampling.h - random access, whole-data shuffles without a buffer, splits, and changing the mix of classes. */
#ifndef LOCKSTEP_DATASET_SAMPLING_H
#define LOCKSTEP_DATASET_SAMPLING_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n elements by their numbers: fn gets the int64 scalar i and makes element i. With LKS_FN_PURE it runs in parallel
 * (num_parallel_calls), is not called for elements that are passed over, and can be shuffled without a buffer. Copies *fn. */
LKS_API lks_dataset *lks_map_indexed_with(int64_t n, const lks_map_fn *fn, const lks_map_options *options);

typedef struct lks_shuffle_indexed_options {
    size_t struct_size;
    int64_t seed; /* default 0 */
    lks_tristate
        reshuffle_each_iteration; /* default true: each pass over this dataset object has an order of its own */
} lks_shuffle_indexed_options;
/* All elements in an order drawn by a keyed permutation of their numbers: no buffer, no fill time, a saved position is one number.
 * For datasets that can be asked for any element: lks_range, lks_from_tensor_slices, lks_mnist, lks_map_indexed, and lks_map over
 * these; LKS_E_UNSUPPORTED names the stage that can't. The order is Lockstep's own, not lks_shuffle's. */
LKS_API lks_dataset *lks_shuffle_indexed_with(lks_dataset *dataset, const lks_shuffle_indexed_options *options);

typedef struct lks_split_options {
    size_t struct_size;
    /* Each side as a share of the elements or as their number; where one side has neither, it gets the rest. */
    double left_fraction, right_fraction;
    int64_t left_size, right_size;
    lks_tristate
        shuffle; /* default false; true: by a permutation that is the same in every pass, so the sides never mix */
    int64_t seed;
} lks_split_options;
/* Keras' split_dataset: the first elements and the last ones. Where the number of elements is not known, a pass counts them. Steals
 * the dataset; *left and *right are one reference each. */
LKS_API lks_status lks_dataset_split_with(lks_dataset *dataset, lks_dataset **left, lks_dataset **right,
                                          const lks_split_options *options);

typedef struct lks_rejection_resample_options {
    size_t struct_size;
    const double *initial_dist; /* shares of the classes in the data; NULL: learned on the way. Copied */
    int64_t seed;
} lks_rejection_resample_options;
/* (int64 class, element), with elements left out at random so that class i comes with share target_dist[i] of n (copied; need not add
 * up to 1). class_func: element -> int64 in [0, n). The draws are the same on every machine and new in every pass. Nothing is
 * repeated (the reference also doubles elements of rare classes). */
LKS_API lks_dataset *lks_rejection_resample_with(lks_dataset *dataset, const lks_map_fn *class_func, size_t n,
                                                 const double *target_dist,
                                                 const lks_rejection_resample_options *options);

#ifndef __cplusplus
#define lks_map_indexed(...) LKS_CALL2(lks_map_indexed_with, lks_map_options, __VA_ARGS__, )
#define lks_shuffle_indexed(...) LKS_CALL1(lks_shuffle_indexed_with, lks_shuffle_indexed_options, __VA_ARGS__, )
#define LKS_CALL3(fn, type, a, b, c, ...) fn(a, b, c, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define LKS_CALL4(fn, type, a, b, c, d, ...) fn(a, b, c, d, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#define lks_dataset_split(...) LKS_CALL3(lks_dataset_split_with, lks_split_options, __VA_ARGS__, )
#define lks_rejection_resample(...) \
    LKS_CALL4(lks_rejection_resample_with, lks_rejection_resample_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
