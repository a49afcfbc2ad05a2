/* dataset.h - tf.data in C: sources, stages, iterators.
 *
 * A dataset is an immutable recipe; building it reads nothing. Builders steal the dataset they are given and return the
 * next one. One that failed stays failed through all further builders; the first action (lks_iter_create, lks_fit,
 * lks_dataset_status) reports the first cause with the stage's name. NULL (no memory) is accepted everywhere.
 * Recipes may be used from several threads. The order of the elements never depends on threads or tuned values.
 */
#ifndef LOCKSTEP_DATASET_H
#define LOCKSTEP_DATASET_H

#include "element.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LKS_INFINITE_CARDINALITY = -1, LKS_UNKNOWN_CARDINALITY = -2 };

LKS_API lks_dataset *lks_dataset_retain(lks_dataset *dataset); /* NULL gives NULL */
LKS_API void lks_dataset_release(lks_dataset *dataset);        /* NULL is fine */

/* LKS_OK, or the failure of the first builder that failed (its text becomes lks_last_error). */
LKS_API lks_status lks_dataset_status(const lks_dataset *dataset);
/* Number of elements, LKS_INFINITE_CARDINALITY or LKS_UNKNOWN_CARDINALITY; static, runs nothing. */
LKS_API int64_t lks_dataset_cardinality(const lks_dataset *dataset);
/* What each element looks like; borrowed, lives as long as the dataset; NULL for a failed one. */
LKS_API const lks_spec *lks_dataset_spec(const lks_dataset *dataset);

/* ---- functions: plain C on the tensors of an element ---- */

/* Where a call stands. Random draws come from `key` and these numbers alone (lks_map_random), so they are the same on any
 * thread count and after a restart, and new in every pass. */
typedef struct lks_map_context {
    size_t struct_size;
    const char *stage; /* "map", ... */
    int64_t epoch;     /* passes over this stage's dataset object so far, from 0 */
    int64_t index;     /* of the element in this pass, from 0 */
    uint64_t key;      /* the stage's seed */
    int64_t depth;     /* the stage's .depth option, 0 = not given */
} lks_map_context;

/* Four random words of this call; different for each (purpose, block). */
LKS_API void lks_map_random(const lks_map_context *context, uint32_t purpose, uint32_t block, uint32_t words[4]);

enum {
    LKS_FN_PURE = 1,  /* depends on the element and the context alone and may run in several threads at once */
    LKS_FN_RANDOM = 2 /* draws from the context: a cache above it freezes one draw */
};

/* A function from element to element. Predicates yield one bool scalar, keys one int64 scalar, flat_map and interleave
 * functions one nested dataset. Static data: `static const lks_map_fn twice = { sizeof twice, "twice", ... };` */
typedef struct lks_map_fn {
    size_t struct_size;
    const char *name; /* for messages and fingerprints */
    /* The spec of the outputs for inputs of spec `in` (borrowed), one reference; NULL after lks_fail refuses the input.
     * `context` carries only stage, key and depth here. A NULL function means: same as the input. */
    lks_spec *(*output_spec)(const lks_map_context *context, const lks_spec *in, void *user);
    /* Fills every component of `out` (lks_element_output, lks_element_set, ...) from `in`. A failure is the result for
     * this element alone; the pipeline goes on with the next. */
    lks_status (*apply)(const lks_map_context *context, lks_element *in, lks_element *out, void *user);
    int64_t flags;               /* LKS_FN_... */
    void *user;                  /* given to the functions */
    void (*release)(void *user); /* NULL, or called once when the last stage that holds the function goes */
    int64_t kind;                /* the library's own functions that it can fuse; 0 for yours */
} lks_map_fn;

/* Ready-made output specs for own functions. */
LKS_API lks_spec *lks_spec_fn_bool(const lks_map_context *context, const lks_spec *in, void *user);  /* bool scalar */
LKS_API lks_spec *lks_spec_fn_int64(const lks_map_context *context, const lks_spec *in, void *user); /* int64 scalar */

/* (uint8 image, ...) -> float32 image / 255 by true division; the rest unchanged. */
LKS_API extern const lks_map_fn lks_cast_rescale[1];
/* (uint8 image, integer label) -> (float32 image / 255, float32 one-hot label); depth = the label's class count or .depth.
 * A label outside [0, depth) is LKS_E_ARG. */
LKS_API extern const lks_map_fn lks_cast_rescale_onehot[1];

/* ---- sources ---- */

/* Rows of each tensor (shares them; no copy): single components for one tensor, tuples for several. The first sizes must be
 * equal; a NULL tensor fails the dataset with the present lks_last_error. */
LKS_API lks_dataset *lks_from_tensor_slices_n(size_t n, lks_tensor *const *tensors);
/* One element: the tensors themselves. */
LKS_API lks_dataset *lks_from_tensors_n(size_t n, lks_tensor *const *tensors);
#ifndef __cplusplus
#define lks_from_tensor_slices(...)                                                               \
    lks_from_tensor_slices_n(sizeof((lks_tensor *const[]){ __VA_ARGS__ }) / sizeof(lks_tensor *), \
                             (lks_tensor *const[]){ __VA_ARGS__ })
#define lks_from_tensors(...)                                                               \
    lks_from_tensors_n(sizeof((lks_tensor *const[]){ __VA_ARGS__ }) / sizeof(lks_tensor *), \
                       (lks_tensor *const[]){ __VA_ARGS__ })
#endif

/* int64 scalars start, start + step, ... before (or, for a negative step, above) stop. */
LKS_API lks_dataset *lks_range(int64_t start, int64_t stop, int64_t step);

/* "train" (60,000) or "test" (10,000): (uint8 image [28, 28, 1], int64 label of 10 classes), from where lks_mnist_arrays
 * (files.h) finds them. Reads the files now. */
LKS_API lks_dataset *lks_mnist(const char *split);
LKS_API lks_dataset *lks_fashion_mnist(const char *split);

/* A C function that makes elements one after another, on one thread at a time. Each pass opens a state of its own; close runs
 * exactly once for each open that succeeded. */
typedef struct lks_generator {
    size_t struct_size;
    const char *name;
    lks_status (*open)(void *user, void **state);                  /* NULL: state is NULL */
    lks_status (*next)(void *state, lks_element *out, void *user); /* LKS_OK, LKS_END or a failure */
    void (*close)(void *state, void *user);                        /* NULL: nothing to do */
    void *user;
    void (*release)(void *user); /* NULL, or called once when the dataset goes */
} lks_generator;
/* Steals `spec`, copies *generator. Cardinality is unknown. */
LKS_API lks_dataset *lks_from_generator(lks_spec *spec, const lks_generator *generator);

/* ---- stages ---- */

typedef struct lks_map_options {
    size_t struct_size;
    int64_t
        num_parallel_calls; /* 0 = on the calling thread; LKS_AUTOTUNE; else at most so many at once. Needs LKS_FN_PURE,
                                     other functions run one at a time */
    lks_tristate deterministic; /* default true; false may yield in any order */
    int64_t depth;              /* of one-hot outputs, where the label's class count is unknown or other */
    int64_t seed;               /* of random functions */
} lks_map_options;
/* Copies *fn (user and release with it). */
LKS_API lks_dataset *lks_map_with(lks_dataset *dataset, const lks_map_fn *fn, const lks_map_options *options);

typedef struct lks_shuffle_options {
    size_t struct_size;
    int64_t seed; /* 0 = the default seed (runs repeat), LKS_ZERO_INT = 0. The order is TensorFlow's for this seed */
    int64_t global_seed; /* what tf.random.set_seed would have been given; 0 = none */
    lks_tristate
        reshuffle_each_iteration; /* default true: each pass over this dataset object has an order of its own */
} lks_shuffle_options;
/* buffer_size >= 1, or LKS_UNKNOWN_CARDINALITY for "all of the input". */
LKS_API lks_dataset *lks_shuffle_with(lks_dataset *dataset, int64_t buffer_size, const lks_shuffle_options *options);

typedef struct lks_batch_options {
    size_t struct_size;
    lks_tristate drop_remainder; /* default false: the last batch may be short */
    int64_t num_parallel_calls;  /* not 0: several threads copy rows of arrays; the result is the same */
} lks_batch_options;
LKS_API lks_dataset *lks_batch_with(lks_dataset *dataset, int64_t batch_size, const lks_batch_options *options);

typedef struct lks_cache_options {
    size_t struct_size;
    const char *
        filename; /* NULL = in memory; else a file that appears when the first pass has ended and is read from then on */
} lks_cache_options;
LKS_API lks_dataset *lks_cache_with(lks_dataset *dataset, const lks_cache_options *options);

LKS_API lks_dataset *lks_repeat(lks_dataset *dataset, int64_t count);         /* negative = for ever */
LKS_API lks_dataset *lks_prefetch(lks_dataset *dataset, int64_t buffer_size); /* elements; LKS_AUTOTUNE; 0 = none */
LKS_API lks_dataset *lks_take(lks_dataset *dataset, int64_t count);           /* negative = all */
LKS_API lks_dataset *lks_skip(lks_dataset *dataset, int64_t count);           /* negative = everything */
LKS_API lks_dataset *lks_filter(lks_dataset *dataset, const lks_map_fn *predicate);
/* All of a, then all of b (steals both); same structure and dtypes, shapes widened. */
LKS_API lks_dataset *lks_dataset_concatenate(lks_dataset *a, lks_dataset *b);

#ifndef __cplusplus
#define lks_map(...) LKS_CALL2(lks_map_with, lks_map_options, __VA_ARGS__, )
#define lks_shuffle(...) LKS_CALL2(lks_shuffle_with, lks_shuffle_options, __VA_ARGS__, )
#define lks_batch(...) LKS_CALL2(lks_batch_with, lks_batch_options, __VA_ARGS__, )
#define lks_cache(...) LKS_CALL1(lks_cache_with, lks_cache_options, __VA_ARGS__, )
#endif

/* ---- iterators: one pass over a dataset ----
 * Safe to use from several threads; each element goes to one of them. */
typedef struct lks_iter lks_iter;

/* Shares the dataset. Reports a failed dataset's first cause. Nothing is read before the first lks_iter_next. */
LKS_API lks_status lks_iter_create(lks_dataset *dataset, lks_iter **out);
/* The next element, one reference for the caller; LKS_END at the end and ever after. After a failure the next call goes on
 * behind the failed element. After warm-up a pipeline of fixed shapes allocates nothing here. */
LKS_API lks_status lks_iter_next(lks_iter *it, lks_element **out);
/* Where the pass stands, as a few hundred bytes (freed with lks_free): positions and counters, from which a restored
 * iterator replays. Elements that are under way in prefetch or parallel calls are not lost. LKS_E_STATE names the stage
 * that can't be replayed: a generator, a function without LKS_FN_PURE, a stage with deterministic off. */
LKS_API lks_status lks_iter_save(lks_iter *it, void **bytes, size_t *size);
/* A new iterator over an equal dataset (same stages and parameters; LKS_E_ARG if not), also in another process: it and all
 * later passes yield what the saved one would have. Borrows bytes. LKS_E_FORMAT if they are no such state. */
LKS_API lks_status lks_iter_restore(lks_dataset *dataset, const void *bytes, size_t size, lks_iter **out);
/* The only element of the dataset, one reference for the caller; LKS_E_ARG if there is none or more than one. */
LKS_API lks_status lks_dataset_get_single_element(lks_dataset *dataset, lks_element **out);
/* Makes this and all later lks_iter_next return LKS_E_CANCELED; may be called from any thread. */
LKS_API void lks_iter_cancel(lks_iter *it);
/* Stops and joins every background thread; may be called at any moment. NULL is fine. */
LKS_API void lks_iter_release(lks_iter *it);

#ifdef __cplusplus
}
#endif

#include "dataset_more.h"

#endif
