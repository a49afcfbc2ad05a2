/* h5.h - internal to h5_*.c: how we call HDF5. One of our threads at a time; its error printing is off while we are
 * inside and the host's handler is back afterwards. Names follow HDF5 1.10 in every later version. */
#ifndef LKS_FILES_H5_H
#define LKS_FILES_H5_H

#ifndef H5_USE_110_API
#define H5_USE_110_API
#endif
#include "base/error.h"
#include "h5_late.h"
#include "lockstep/tensor.h"

typedef struct lks_h5_guard {
    H5E_auto2_t handler;
    void *user;
} lks_h5_guard;

/* Loads HDF5 when it is needed first; LKS_E_UNSUPPORTED if that fails: nothing was entered then. */
lks_status lks__h5_enter(lks_h5_guard *g);
void lks__h5_leave(const lks_h5_guard *g);

/* A sentence that ends in HDF5's innermost reason. LKS_E_NOMEM if that is a lack of memory. */
lks_status lks__h5_fail(const char *fmt, ...) LKS_PRINTF(1, 2);

/* An in-memory file: access properties for reading an image of n bytes, or for writing (data NULL). Negative: failed. */
hid_t lks__h5_memory_access(const void *data, size_t n);

/* The type to read a dataset with, and what it becomes. LKS_E_UNSUPPORTED unless it is numbers. *mem is closed by the
 * caller with H5Tclose. */
lks_status lks__h5_read_type(hid_t dataset, hid_t file_type, lks_dtype *dtype, hid_t *mem);
/* Refused: data elsewhere than in the file, filters that are not HDF5's own. */
lks_status lks__h5_check_storage(hid_t dataset);
lks_status lks__h5_read_shape(hid_t dataset, lks_shape *out);
/* What the dataset declares is no more than the file can hold, nor than the budget, which it is taken from. */
lks_status lks__h5_check_size(hid_t dataset, const lks_shape *shape, lks_dtype dtype, uint64_t file_size,
                              uint64_t *budget);
/* The chosen elements (H5S_ALL: all) into the tensor, which is as large. */
lks_status lks__h5_read_data(hid_t dataset, hid_t mem, hid_t room, hid_t chosen, lks_tensor *t);

/* The types to write a tensor with: in the file and in memory. Both are closed by the caller. */
lks_status lks__h5_write_types(lks_dtype dtype, hid_t *file, hid_t *mem);

/* One string of a variable-length UTF-8 attribute. */
hid_t lks__h5_text_type(void);

#endif
