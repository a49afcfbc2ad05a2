/* save.h - internal. .keras archives in memory: for fuzzing, and for copies of models. */
#ifndef LKS_MODEL_SAVE_H
#define LKS_MODEL_SAVE_H

#include "model.h"

/* The bytes of the file that lks_save writes; freed with lks__free. */
lks_status lks__save_memory(const lks_model *model, void **out, size_t *n);
lks_status lks__load_memory(const void *data, size_t n, lks_model **out);

#endif
