/* tensor.h - internal side of lockstep/tensor.h. */
#ifndef LKS_TENSOR_TENSOR_H
#define LKS_TENSOR_TENSOR_H

#include "base/error.h"
#include "lockstep/tensor.h"

/* "(28, 28, 1)", unknown sizes as "None", into a buffer of at least LKS_SHAPE_TEXT bytes; returns it. */
enum { LKS_SHAPE_TEXT = 192 };
const char *lks__shape_text(const lks_shape *shape, char *buffer);

/* LKS_E_SHAPE unless rank is 0..8 and all sizes >= 0 and the product fits. */
lks_status lks__shape_check(const lks_shape *shape);

/* A new string tensor's elements are empty; this sets element i to a copy of the bytes. */
lks_status lks__tensor_set_bytes(lks_tensor *tensor, int64_t i, const void *data, size_t size);

/* Keras' name to dtype ("float32", ...); 0 if unknown. */
lks_dtype lks__dtype_from_name(const char *name);

/* n elements from one dtype to another by the rules of lks_tensor_cast. Neither may be LKS_STRING. */
void lks__convert(lks_dtype from, const void *src, lks_dtype to, void *dst, int64_t n);

#endif
