/* npy.h - internal. NumPy's array format, versions 1 to 3. */
#ifndef LKS_FILES_NPY_H
#define LKS_FILES_NPY_H

#include "base/text.h"
#include "lockstep/tensor.h"
#include "reader.h"

/* Reads one array to the end of `r`: either byte order, C or Fortran order (the tensor is always in C order). Python
 * objects, complex numbers, strings and records are refused by name. */
lks_status lks__npy_read(lks_reader *r, lks_tensor **out);

/* What stands before the data of an array in a file. bfloat16 has no name in NumPy and is refused: cast it first. */
lks_status lks__npy_header(const lks_tensor *t, lks_text *out);

/* Internal to npy*.c: what a header says. */
typedef struct lks_npy_info {
    lks_dtype dtype;
    lks_shape shape;
    int swapped; /* the data is in the other byte order */
    int fortran;
} lks_npy_info;
lks_status lks__npy_parse_header(const char *text, size_t n, lks_npy_info *out);

#endif
