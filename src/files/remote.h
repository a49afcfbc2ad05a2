/* remote.h - internal. Files behind https:// (and http://), read by ranges: what a reader passes over is not fetched, and what
 * fails is asked for again, each time after a longer pause. */
#ifndef LKS_FILES_REMOTE_H
#define LKS_FILES_REMOTE_H

#include <stdbool.h>

#include "base/error.h"

typedef struct lks_remote lks_remote;

bool lks__is_remote(const char *path); /* begins with https:// or http:// */

/* Asks for the first bytes. LKS_E_NOTFOUND if there is no such file, LKS_E_IO with the last reason after the last try,
 * LKS_E_UNSUPPORTED in a build without libcurl. */
lks_status lks__remote_open(const char *url, lks_remote **out);
void lks__remote_close(lks_remote *r); /* NULL is fine */
/* UINT64_MAX if the server does not say. */
uint64_t lks__remote_size(const lks_remote *r);
/* Up to n bytes from where the last read ended; *got = 0 only at the end. */
lks_status lks__remote_read(lks_remote *r, void *buffer, size_t n, size_t *got);
/* Goes on n bytes further; false if the size is unknown or that is beyond it. */
bool lks__remote_pass(lks_remote *r, uint64_t n);

/* libcurl's own start, once in the process; LKS_E_UNSUPPORTED if it cannot be loaded. */
lks_status lks__curl_begin(void);

#endif
