/* h5.h - internal to h5_*.c: how we call HDF5. One of our threads at a time; its error printing is off while we are
 * inside and the host's handler is back afterwards. Names follow HDF5 1.10 in every later version. */
#ifndef LKS_FILES_H5_H
#define LKS_FILES_H5_H

#ifndef H5_USE_110_API
#define H5_USE_110_API
#endif
#include <hdf5.h>

#include "base/error.h"
#include "lockstep/tensor.h"

typedef struct lks_h5_guard {
    H5E_auto2_t handler;
    void *user;
} lks_h5_guard;

void lks__h5_enter(lks_h5_guard *g);
void lks__h5_leave(const lks_h5_guard *g);

/* A sentence that ends in HDF5's innermost reason. LKS_E_NOMEM if that is a lack of memory. */
lks_status lks__h5_fail(const char *fmt, ...) LKS_PRINTF(1, 2);

/* An in-memory file: access properties for reading an image of n bytes, or for writing (data NULL). Negative: failed. */
hid_t lks__h5_memory_access(const void *data, size_t n);

/* The type to read a dataset with, and what it becomes. LKS_E_UNSUPPORTED unless it is numbers. *mem is closed by the
 * caller with H5Tclose. */
lks_status lks__h5_read_type(hid_t dataset, hid_t file_type, lks_dtype *dtype, hid_t *mem);
/* The types to write a tensor with: in the file and in memory. Both are closed by the caller. */
lks_status lks__h5_write_types(lks_dtype dtype, hid_t *file, hid_t *mem);

/* One string of a variable-length UTF-8 attribute. */
hid_t lks__h5_text_type(void);

#endif
