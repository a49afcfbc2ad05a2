/* image_walk.h - internal. The pictures of a directory, in Keras' order. */
#ifndef LKS_DATA_SOURCES_IMAGE_WALK_H
#define LKS_DATA_SOURCES_IMAGE_WALK_H

#include <stdbool.h>

#include "base/error.h"

typedef struct lks_name_list {
    char **name;
    size_t n, room;
} lks_name_list;
lks_status lks__names_add(lks_name_list *l, const char *name);
void lks__names_sort(lks_name_list *l); /* bytewise */
void lks__names_free(lks_name_list *l);

/* Appends the paths of all pictures below `directory`: folders sorted by path, names sorted within each. */
lks_status lks__walk_pictures(const char *directory, bool follow_links, lks_name_list *out);
/* The subfolders' names that do not begin with a dot, sorted. LKS_E_NOTFOUND if the directory cannot be listed. */
lks_status lks__subfolders(const char *directory, lks_name_list *out);
/* LKS_E_FORMAT with the first names if files do not begin as pictures do. */
lks_status lks__check_pictures(const lks_name_list *files);
/* "directory/name", freed with lks__free; NULL on failure. */
char *lks__join_path(const char *directory, const char *name);

/* The permutation that numpy.random.RandomState(seed).shuffle makes: order[i] = which item comes i-th. */
void lks__numpy_shuffle(uint32_t seed, size_t n, size_t *order);

#endif
