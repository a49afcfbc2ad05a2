/* conv_vector_blocks.c - the blocks of conv_tile.h whose operand is a vector of x: lanes are channels. */
#include "conv_blocks.h"

#define BLOCK(vector, length)                                   \
    static void block_##vector##_##length(const conv_tile *t)   \
    {                                                           \
        conv_block(t, CONV_##vector, CONV_PLAIN, 1, length, 1); \
    }
#define BLOCKS(vector) \
    BLOCK(vector, 1)   \
    BLOCK(vector, 2)   \
    BLOCK(vector, 3)   \
    BLOCK(vector, 4)   \
    BLOCK(vector, 5)   \
    BLOCK(vector, 6)   \
    BLOCK(vector, 7)   \
    BLOCK(vector, 8)
/* clang-format off */
#define NAME(vector, length) block_##vector##_##length
#define LIST(vector)                                                                                 \
    { { 8, 0 },                                                                                      \
      { { NULL, NAME(vector, 1), NAME(vector, 2), NAME(vector, 3), NAME(vector, 4), NAME(vector, 5), \
          NAME(vector, 6), NAME(vector, 7), NAME(vector, 8) },                                       \
        { NULL } } }
/* clang-format on */

BLOCKS(VECTOR)
BLOCKS(MASKED)

const conv_blocks SIMD(conv_vector_blocks)[2] = { LIST(VECTOR), LIST(MASKED) };
