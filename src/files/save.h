/* save.h - internal. Writing a file so that nobody ever sees half of it: a temporary name beside the target, synced,
 * then renamed. What is not a regular file (a device, a pipe) is written directly. */
#ifndef LKS_FILES_SAVE_H
#define LKS_FILES_SAVE_H

#include "base/error.h"

typedef struct lks_saving {
    char *path, *temporary; /* temporary: NULL when the target is written directly */
    int fd;
} lks_saving;

lks_status lks__save_begin(const char *path, lks_saving *out);
lks_status lks__save_write_at(lks_saving *s, uint64_t offset, const void *data, size_t n);
lks_status lks__save_commit(lks_saving *s); /* ends the saving, also on failure */
void lks__save_abort(lks_saving *s);        /* removes what was written */

lks_status lks__save_file(const char *path, const void *data, size_t n);

#endif
