/* stream_ahead.h - internal. The blocks of a plain file, read some ahead on the pool for files. */
#ifndef LKS_DATA_STREAM_AHEAD_H
#define LKS_DATA_STREAM_AHEAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct lks_stream_ahead lks_stream_ahead;

/* Who looks at the blocks in the file's order, on whatever thread reads them, while they are in its caches. Returns the offset up to which the
 * block holds what is known to be good; 0: nothing is known. */
typedef struct lks_block_look {
    uint64_t (*see)(struct lks_block_look *look, const unsigned char *data, size_t n, uint64_t offset);
} lks_block_look;

/* Blocks of `size` bytes of fd (borrowed) from `offset` on; NULL where it would not help or there is no memory for it: no error. `look`
 * (borrowed) may be NULL. */
lks_stream_ahead *lks__stream_ahead_begin(int fd, uint64_t offset, size_t size, lks_block_look *look);
/* The next block: *block, of the same size, is exchanged for one with *have bytes, none at the end, good up to *good. Returns 0 or errno. */
int lks__stream_ahead_take(lks_stream_ahead *a, unsigned char **block, size_t *have, uint64_t *good);
/* NULL is fine. */
void lks__stream_ahead_end(lks_stream_ahead *a);

#endif
