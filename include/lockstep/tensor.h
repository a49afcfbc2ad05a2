/* tensor.h - dtypes, shapes and dense row-major tensors. */
#ifndef LOCKSTEP_TENSOR_H
#define LOCKSTEP_TENSOR_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lks_dtype {
    LKS_FLOAT32 = 1,
    LKS_UINT8 = 2,
    LKS_INT32 = 3,
    LKS_INT64 = 4,
    LKS_BOOL = 5,      /* one byte, 0 or 1 */
    LKS_FLOAT64 = 6,   /* storage and conversion only, for now */
    LKS_INT8 = 7,      /* storage and conversion only */
    LKS_INT16 = 8,     /* storage and conversion only */
    LKS_UINT16 = 9,    /* storage and conversion only */
    LKS_UINT32 = 10,   /* storage and conversion only */
    LKS_UINT64 = 11,   /* storage and conversion only */
    LKS_FLOAT16 = 12,  /* storage and conversion only */
    LKS_BFLOAT16 = 13, /* storage and conversion only */
    LKS_STRING = 14    /* elements are lks_bytes owned by the tensor; data pipelines only */
} lks_dtype;

/* A LKS_STRING element: `size` bytes at `data`, not terminated. */
typedef struct lks_bytes {
    const char *data;
    size_t size;
} lks_bytes;

LKS_API const char *lks_dtype_name(lks_dtype dtype); /* "float32"; "?" if unknown */
LKS_API size_t lks_dtype_size(lks_dtype dtype);      /* bytes an element; 0 if unknown */

enum { LKS_MAX_RANK = 8 };

/* Sizes of up to LKS_MAX_RANK axes, outermost first; -1 = unknown. rank 0 is a scalar; rank -1 marks an
 * unknown or invalid shape (lks_shape with too many axes gives it). */
typedef struct lks_shape {
    int64_t rank;
    int64_t dim[LKS_MAX_RANK];
} lks_shape;

LKS_API lks_shape lks_shape_of(size_t rank, const int64_t *dims); /* borrows dims */
#ifndef __cplusplus
#define lks_shape(...) \
    lks_shape_of(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (const int64_t[]){ __VA_ARGS__ })
#endif

/* Number of elements, or -1 if a size is unknown or the product overflows int64_t. */
LKS_API int64_t lks_shape_size(const lks_shape *shape);
LKS_API int lks_shape_equal(const lks_shape *a, const lks_shape *b);

/* A dense row-major array; counted reference, safe to share between threads while nobody writes. */
typedef struct lks_tensor lks_tensor;

/* A zeroed tensor, one reference for the caller. NULL on failure (lks_last_error says why). */
LKS_API lks_tensor *lks_tensor_create(lks_dtype dtype, lks_shape shape);
/* The same with a copy of `data` (shape size elements of dtype). Borrows data. */
LKS_API lks_tensor *lks_tensor_from(lks_dtype dtype, lks_shape shape, const void *data);
/* A view of the caller's memory without a copy; `release(user)`, if not NULL, is called when the last
 * reference goes, or at once if the call fails. */
LKS_API lks_tensor *lks_tensor_wrap(lks_dtype dtype, lks_shape shape, void *data, void (*release)(void *user),
                                    void *user);

/* Counted references. */
LKS_API lks_tensor *lks_tensor_retain(lks_tensor *tensor); /* NULL gives NULL */
LKS_API void lks_tensor_release(lks_tensor *tensor);       /* NULL is fine */

/* What it holds. Borrow the tensor; the data pointers live as long as it does. */
LKS_API lks_dtype lks_tensor_dtype(const lks_tensor *tensor);
LKS_API lks_shape lks_tensor_shape(const lks_tensor *tensor);
LKS_API int64_t lks_tensor_size(const lks_tensor *tensor); /* elements */
LKS_API void *lks_tensor_data(lks_tensor *tensor);         /* first element; never NULL unless size 0 */
LKS_API const void *lks_tensor_cdata(const lks_tensor *tensor);

/* Rows [begin, end) of axis 0 as a tensor that shares memory with `tensor` (shares it). NULL on failure. */
LKS_API lks_tensor *lks_tensor_rows(lks_tensor *tensor, int64_t begin, int64_t end);
/* The same elements in another shape of equal size (shares memory). NULL on failure. */
LKS_API lks_tensor *lks_tensor_reshape(lks_tensor *tensor, lks_shape shape);
/* A converted copy: to float rounds to nearest even; float to integer truncates towards zero and saturates, NaN
 * becomes 0; to bool is != 0. NULL on failure. */
LKS_API lks_tensor *lks_tensor_cast(const lks_tensor *tensor, lks_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
