/* h5_check.h - internal to h5_*.c: a look at an HDF5 file before HDF5 sees it.
 *
 * The old file format, which Keras and h5py write, carries no checksums, and HDF5 1.10 trusts much of what it reads: a
 * changed byte can make it read or write outside its memory. So the whole structure (superblock, groups, object headers
 * and their messages, heaps, chunk indices) is walked first, with every size and address compared with the file. Files
 * of the newer format have checksums of their own and are left to HDF5.
 */
#ifndef LKS_FILES_H5_CHECK_H
#define LKS_FILES_H5_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "h5_pages.h"

/* LKS_E_FORMAT, with a byte offset, if the file is damaged. */
lks_status lks__h5_check(const void *data, size_t n);
/* The same for an open file of `size` bytes, of which its structure alone is read. */
lks_status lks__h5_check_file(int fd, uint64_t size);

/* ---- between h5_check*.c ---- */

#define LKS_H5_UNDEFINED UINT64_MAX

typedef struct lks_h5_file {
    const unsigned char *data; /* from the superblock on: what addresses count from */
    uint64_t size;
    lks_h5_pages *pages; /* that the data are loaded from; NULL: they are all there */
    uint64_t work;       /* bytes that may still be looked at: ends circles */
    unsigned leaf_k, internal_k, chunk_k;
    /* What the messages of the dataset at hand say; they must agree. */
    uint64_t rank, item_size, chunk_rank, chunk_item_size; /* chunk_rank 0: not chunked */
} lks_h5_file;

/* A run of bytes that is read from front to end. */
typedef struct lks_h5_bytes {
    const unsigned char *at, *end;
} lks_h5_bytes;

lks_status lks__h5_damaged(const lks_h5_file *f, const void *where, const char *what);
/* The n bytes at an address, within the file. */
lks_status lks__h5_at(lks_h5_file *f, uint64_t address, uint64_t n, const char *what, lks_h5_bytes *out);
/* Those of stored data, which nobody looks at here. */
lks_status lks__h5_stored(lks_h5_file *f, uint64_t address, uint64_t n, const char *what);
/* Takes a number of `size` bytes; false if there are not as many. */
bool lks__h5_take(lks_h5_bytes *b, int size, uint64_t *out);
bool lks__h5_skip(lks_h5_bytes *b, uint64_t n);

/* Messages of an object header, by their type. */
enum {
    LKS_H5_DATASPACE = 1,
    LKS_H5_LINK_INFO = 2,
    LKS_H5_DATATYPE = 3,
    LKS_H5_OLD_FILL = 4,
    LKS_H5_FILL = 5,
    LKS_H5_LINK = 6,
    LKS_H5_EXTERNAL = 7,
    LKS_H5_LAYOUT = 8,
    LKS_H5_FILTERS = 11,
    LKS_H5_ATTRIBUTE = 12,
    LKS_H5_COMMENT = 13,
    LKS_H5_OLD_TIME = 14,
    LKS_H5_SHARED_TABLE = 15,
    LKS_H5_CONTINUATION = 16,
    LKS_H5_SYMBOL_TABLE = 17,
    LKS_H5_TIME = 18,
    LKS_H5_BTREE_K = 19,
    LKS_H5_DRIVER_INFO = 20,
    LKS_H5_REFERENCES = 22
};
/* All but groups' messages. */
lks_status lks__h5_check_message(lks_h5_file *f, unsigned type, lks_h5_bytes b);
/* A chunked dataset's index. */
lks_status lks__h5_check_chunks(lks_h5_file *f, uint64_t address, int dimensions, int level, uint64_t chunk_bytes);
/* A string or list in the global heap. */
lks_status lks__h5_check_heap_object(lks_h5_file *f, uint64_t address, uint32_t index, uint64_t length);

#endif
