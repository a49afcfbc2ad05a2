/* cache_file.h - internal. The builder of caches in files, for lks_cache. */
#ifndef LKS_DATA_CACHE_FILE_H
#define LKS_DATA_CACHE_FILE_H

#include "stage.h"

lks_dataset *lks__cache_in_file(lks_dataset *dataset, const char *path);

#endif
