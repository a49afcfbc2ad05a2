/* h5_pages.h - internal to h5_*.c: a file in memory of which only the pages that are asked for are read. It is no mapping of the
 * file: one that is cut off meanwhile would end the process. */
#ifndef LKS_FILES_H5_PAGES_H
#define LKS_FILES_H5_PAGES_H

#include "base/error.h"

typedef struct lks_h5_pages lks_h5_pages;

/* fd is borrowed and stays open as long as the pages are there; size: that of the file. */
lks_status lks__h5_pages_open(int fd, uint64_t size, lks_h5_pages **out);
void lks__h5_pages_close(lks_h5_pages *p);

/* Room for the whole file; zeros where nothing was loaded. */
const unsigned char *lks__h5_pages_data(const lks_h5_pages *p);
/* n bytes from a place in that room, which is inside of the file. */
lks_status lks__h5_pages_load(lks_h5_pages *p, const unsigned char *from, uint64_t n);

#endif
