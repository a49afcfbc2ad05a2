/* h5_columns.h - internal. Datasets of an HDF5 file read row by row: the file stays open, rows are read as they are asked for. */
#ifndef LKS_FILES_H5_COLUMNS_H
#define LKS_FILES_H5_COLUMNS_H

#include "base/error.h"
#include "lockstep/tensor.h"

typedef struct lks_h5_columns lks_h5_columns;

/* n datasets of at least one axis by their paths, all with as many rows. LKS_E_NOTFOUND names those that exist. */
lks_status lks__h5_columns_open(const char *path, size_t n, const char *const *names, lks_h5_columns **out);
void lks__h5_columns_close(lks_h5_columns *c); /* NULL is fine */

lks_dtype lks__h5_columns_dtype(const lks_h5_columns *c, size_t i);
lks_shape lks__h5_columns_shape(const lks_h5_columns *c, size_t i); /* rows first */
/* Rows that are stored (and unpacked) together; 0: any can be read alone. */
int64_t lks__h5_columns_chunk(const lks_h5_columns *c, size_t i);
int64_t lks__h5_columns_row_bytes(const lks_h5_columns *c); /* of all columns */

/* Rows [first, first + rows) of every column into new tensors out[0..n), which the caller owns. */
lks_status lks__h5_columns_read(lks_h5_columns *c, int64_t first, int64_t rows, lks_tensor **out);

#endif
