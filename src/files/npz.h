/* npz.h - internal. NumPy's archives of arrays: a ZIP of npy members, read one at a time. */
#ifndef LKS_FILES_NPZ_H
#define LKS_FILES_NPZ_H

#include <stdbool.h>

#include "lockstep/tensor.h"
#include "zip_archive.h"

typedef struct lks_npz lks_npz;

lks_status lks__npz_open(const char *path, lks_npz **out);
lks_status lks__npz_open_memory(const void *data, size_t n, lks_npz **out); /* data must outlive the archive */
void lks__npz_close(lks_npz *npz);

/* Names without ".npy"; other members are not arrays and are not listed. */
size_t lks__npz_count(const lks_npz *npz);
const char *lks__npz_name(const lks_npz *npz, size_t i);
bool lks__npz_has(const lks_npz *npz, const char *name);
/* LKS_E_NOTFOUND lists the names there are. */
lks_status lks__npz_read(lks_npz *npz, const char *name, lks_tensor **out);

typedef struct lks_npz_writer lks_npz_writer;
lks_status lks__npz_writer_file(const char *path, lks_npz_writer **out);
lks_status lks__npz_writer_memory(lks_npz_writer **out);
lks_status lks__npz_writer_add(lks_npz_writer *w, const char *name, lks_tensor *tensor); /* shares tensor */
/* Both end the writer, also on failure. */
lks_status lks__npz_writer_finish(lks_npz_writer *w);
lks_status lks__npz_writer_finish_memory(lks_npz_writer *w, void **out, size_t *n); /* freed with lks__free */
void lks__npz_writer_drop(lks_npz_writer *w);

#endif
