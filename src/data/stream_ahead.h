/* stream_ahead.h - internal. The blocks of a plain file, read some ahead on the pool for files. */
#ifndef LKS_DATA_STREAM_AHEAD_H
#define LKS_DATA_STREAM_AHEAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct lks_stream_ahead lks_stream_ahead;

/* Blocks of `size` bytes of fd (borrowed) from `offset` on; NULL where it would not help or there is no memory for it: no error. */
lks_stream_ahead *lks__stream_ahead_begin(int fd, uint64_t offset, size_t size);
/* The next block: *block, of the same size, is exchanged for one with *have bytes, none at the end. Returns 0 or errno. */
int lks__stream_ahead_take(lks_stream_ahead *a, unsigned char **block, size_t *have);
/* NULL is fine. */
void lks__stream_ahead_end(lks_stream_ahead *a);

#endif
