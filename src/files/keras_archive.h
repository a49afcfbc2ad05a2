/* keras_archive.h - internal. The container of a Keras model: metadata.json, config.json and model.weights.h5 in a ZIP
 * (".keras") or a folder. What the texts and the tree mean is src/model's business. */
#ifndef LKS_FILES_KERAS_ARCHIVE_H
#define LKS_FILES_KERAS_ARCHIVE_H

#include "weights.h"

/* Start from { 0 }. The texts are UTF-8, terminated, and were checked to be JSON objects when they were read. */
typedef struct lks_archive {
    char *metadata; /* NULL: the archive has none (Keras writes it always) */
    char *config;
    lks_weights weights;
} lks_archive;

void lks__archive_free(lks_archive *a); /* leaves it empty */

/* `path`: a .keras file or a folder with the same members. */
lks_status lks__archive_read(const char *path, lks_archive *out);
lks_status lks__archive_read_memory(const void *data, size_t n, lks_archive *out);

/* Stored members in Keras' order, dated 1980: the bytes depend on the contents alone. Needs metadata and config. */
lks_status lks__archive_write(const char *path, const lks_archive *a);
lks_status lks__archive_write_memory(const lks_archive *a, void **out, size_t *n); /* freed with lks__free */

#endif
