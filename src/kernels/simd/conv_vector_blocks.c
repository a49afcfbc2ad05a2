/* conv_vector_blocks.c - the blocks of conv_tile.h whose operand is a vector of x: lanes are channels. */
#include "conv_blocks.h"

#define BLOCK(kind, vector, length)                                    \
    static void block_##kind##_##vector##_##length(const conv_tile *t) \
    {                                                                  \
        conv_block(t, CONV_##vector, CONV_##kind, 1, length, 1);       \
    }
#define BLOCKS(kind, vector) \
    BLOCK(kind, vector, 1)   \
    BLOCK(kind, vector, 2)   \
    BLOCK(kind, vector, 3)   \
    BLOCK(kind, vector, 4)   \
    BLOCK(kind, vector, 5)   \
    BLOCK(kind, vector, 6)   \
    BLOCK(kind, vector, 7)   \
    BLOCK(kind, vector, 8)   \
    BLOCK(kind, vector, 9)   \
    BLOCK(kind, vector, 10)
#define NAME(kind, vector, length) block_##kind##_##vector##_##length
#define LIST(kind, vector)              \
    {                                   \
        { 10, 0 },                      \
        {                               \
            { NULL,                     \
              NAME(kind, vector, 1),    \
              NAME(kind, vector, 2),    \
              NAME(kind, vector, 3),    \
              NAME(kind, vector, 4),    \
              NAME(kind, vector, 5),    \
              NAME(kind, vector, 6),    \
              NAME(kind, vector, 7),    \
              NAME(kind, vector, 8),    \
              NAME(kind, vector, 9),    \
              NAME(kind, vector, 10) }, \
            {                           \
                NULL                    \
            }                           \
        }                               \
    }

BLOCKS(PLAIN, VECTOR)
BLOCKS(1, VECTOR)
BLOCKS(3, VECTOR)
BLOCKS(3_STRIDE, VECTOR)
BLOCKS(3_BACK, VECTOR)
BLOCKS(2_BACK, VECTOR)
BLOCKS(PLAIN, MASKED)

const conv_blocks SIMD(conv_vector_blocks)[CONV_KINDS] = {
    [CONV_PLAIN] = LIST(PLAIN, VECTOR),   [CONV_1] = LIST(1, VECTOR),
    [CONV_3] = LIST(3, VECTOR),           [CONV_3_STRIDE] = LIST(3_STRIDE, VECTOR),
    [CONV_3_BACK] = LIST(3_BACK, VECTOR), [CONV_2_BACK] = LIST(2_BACK, VECTOR),
};
const conv_blocks SIMD(conv_masked_blocks) = LIST(PLAIN, MASKED);
