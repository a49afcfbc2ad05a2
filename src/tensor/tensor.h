/* tensor.h - internal side of lockstep/tensor.h. */
#ifndef LKS_TENSOR_TENSOR_H
#define LKS_TENSOR_TENSOR_H

#include <stdbool.h>

#include "base/error.h"
#include "lockstep/tensor.h"

/* "(28, 28, 1)", unknown sizes as "None", into a buffer of at least LKS_SHAPE_TEXT bytes; returns it. */
enum { LKS_SHAPE_TEXT = 192 };
const char *lks__shape_text(const lks_shape *shape, char *buffer);

/* LKS_E_SHAPE unless rank is 0..8 and all sizes >= 0 and the product fits. */
lks_status lks__shape_check(const lks_shape *shape);

/* A new string tensor's elements are empty; this sets element i to a copy of the bytes. */
lks_status lks__tensor_set_bytes(lks_tensor *tensor, int64_t i, const void *data, size_t size);
/* Element i with room for `size` bytes that the caller writes; NULL on failure. A zero byte follows them. */
char *lks__tensor_string(lks_tensor *tensor, int64_t i, size_t size);

/* As lks_tensor_create, but what it holds is undefined: for results that are written in full. No strings. */
lks_tensor *lks__tensor_create_raw(lks_dtype dtype, lks_shape shape);

int lks__tensor_references(const lks_tensor *tensor);

/* ---- recycling, for pools of buffers ----
 * When the last reference of a homed tensor goes, home(owner, tensor) takes it over instead of it being freed. It has no
 * contents then (strings are freed, a view has let its base go); revive makes it a tensor with one reference again. */
lks_tensor *lks__tensor_create_homed(size_t capacity, void (*home)(void *owner, lks_tensor *tensor), void *owner);
size_t lks__tensor_capacity(const lks_tensor *tensor);
/* shape * dtype must fit the capacity; strings start empty, other contents are undefined. */
void lks__tensor_revive(lks_tensor *tensor, lks_dtype dtype, const lks_shape *shape);
/* Fewer rows on axis 0 than it was made with (those beyond, if strings, must be empty, but in homed tensors). */
void lks__tensor_set_rows(lks_tensor *tensor, int64_t rows);
/* For one of capacity 0: a view of `shape` at `offset` bytes into base, which it shares. */
void lks__tensor_revive_view(lks_tensor *tensor, lks_tensor *base, const lks_shape *shape, size_t offset);
void lks__tensor_destroy(lks_tensor *tensor); /* really frees one that came home */
/* Where the caller's reference is the only one and `owner` the tensor's: it has no contents any more, as if it had come home, but stays
 * with the caller, who may revive it. False: nothing happened. */
bool lks__tensor_rest(lks_tensor *tensor, const void *owner);
/* Strings of `from` become elements of `to` from `at` on, whose own become from's: no byte is copied. False where that can't be, because
 * others see `from` too or it holds no strings of its own; then nothing happened. */
bool lks__tensor_move_strings(lks_tensor *to, int64_t at, lks_tensor *from);
/* The same for the bytes [offset, offset + size) of string i: they stay where they are and become element `at` of `to`; the rest of
 * string i is lost. Also false where offset is below 16. */
bool lks__tensor_move_part(lks_tensor *to, int64_t at, lks_tensor *from, int64_t i, size_t offset, size_t size);

/* Keras' name to dtype ("float32", ...); 0 if unknown. */
lks_dtype lks__dtype_from_name(const char *name);

/* n elements from one dtype to another by the rules of lks_tensor_cast. Neither may be LKS_STRING. */
void lks__convert(lks_dtype from, const void *src, lks_dtype to, void *dst, int64_t n);

#endif
