/* files.h - arrays and pictures in files.
 *
 * Every writer goes through a temporary name, syncs and renames: a file is there whole or as it was before. Every
 * reader checks sizes before it allocates; a broken file is an error that says where and what.
 */
#ifndef LOCKSTEP_FILES_H
#define LOCKSTEP_FILES_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays ---- */

/* An IDX file (MNIST's format), plain or gzip, of any of its types. The caller owns *out. */
LKS_API lks_status lks_read_idx(const char *path, lks_tensor **out);

/* A NumPy .npy file: numbers and truth values in either byte order, C or Fortran order. Python objects, strings,
 * complex numbers and records are refused with LKS_E_UNSUPPORTED. The caller owns *out. */
LKS_API lks_status lks_read_npy(const char *path, lks_tensor **out);
/* bfloat16 and strings have no form there: LKS_E_UNSUPPORTED. Borrows tensor. */
LKS_API lks_status lks_write_npy(const char *path, const lks_tensor *tensor);

/* The array `key` ("x_train") of a NumPy .npz archive, stored or deflated. LKS_E_NOTFOUND names the keys that exist.
 * The caller owns *out. */
LKS_API lks_status lks_read_npz(const char *path, const char *key, lks_tensor **out);
/* An archive of `count` (at least 1) arrays, not compressed. Borrows keys and tensors. */
LKS_API lks_status lks_write_npz(const char *path, size_t count, const char *const *keys, lks_tensor *const *tensors);

#ifdef __cplusplus
}
#endif
#endif
