/* temporary.h - internal. The names that files are written under until they are finished: PATH.lks-tmp0, 1, and so on. Their
 * writer holds a lock (flock) on them, which ends with the process however it ends; so a later writer of PATH knows those
 * that were left behind, and removes them. Where the file system has no such locks, none is ever removed. */
#ifndef LKS_FILES_TEMPORARY_H
#define LKS_FILES_TEMPORARY_H

#include "base/error.h"

/* Removes what killed writers of 'path' left, then makes a file of its own. The lock stays until *fd is closed: rename or unlink
 * it before that. */
lks_status lks__temporary_open(const char *path, char **name, int *fd);

void lks__temporary_sweep(const char *path);

#endif
