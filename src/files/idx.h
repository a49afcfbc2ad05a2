/* idx.h - internal. MNIST's file format: a magic number with type and rank, big-endian sizes, row-major data. */
#ifndef LKS_FILES_IDX_H
#define LKS_FILES_IDX_H

#include "lockstep/tensor.h"
#include "reader.h"

lks_status lks__idx_read(lks_reader *r, lks_tensor **out); /* plain bytes; see lks__reader_maybe_gzip */
lks_status lks__idx_read_memory(const void *data, size_t n, lks_tensor **out); /* plain or gzip */

#endif
