/* conv_blocks.c - the table of convolution blocks. Each is a function of its own (compilers take quadratic time over one
 * that holds them all). The lengths leave room for the weights of all taps and one operand.
 */
#include "conv_blocks.h"

#define BLOCK(kind, C, lines, length)                                       \
    static void block_##kind##_##C##_##lines##_##length(const conv_tile *t) \
    {                                                                       \
        conv_block(t, 0, CONV_##kind, lines, length, C);                    \
    }
#define BLOCKS4(kind, C, lines) \
    BLOCK(kind, C, lines, 1)    \
    BLOCK(kind, C, lines, 2)    \
    BLOCK(kind, C, lines, 3)    \
    BLOCK(kind, C, lines, 4)
#define BLOCKS6(kind, C, lines) \
    BLOCKS4(kind, C, lines)     \
    BLOCK(kind, C, lines, 5)    \
    BLOCK(kind, C, lines, 6)
#define BLOCKS8(kind, C, lines) \
    BLOCKS6(kind, C, lines)     \
    BLOCK(kind, C, lines, 7)    \
    BLOCK(kind, C, lines, 8)
#define BLOCKS10(kind, C, lines) \
    BLOCKS8(kind, C, lines)      \
    BLOCK(kind, C, lines, 9)     \
    BLOCK(kind, C, lines, 10)
#define LIST4(kind, C, lines)                                                                                   \
    NULL, block_##kind##_##C##_##lines##_1, block_##kind##_##C##_##lines##_2, block_##kind##_##C##_##lines##_3, \
        block_##kind##_##C##_##lines##_4
#define LIST6(kind, C, lines) LIST4(kind, C, lines), block_##kind##_##C##_##lines##_5, block_##kind##_##C##_##lines##_6
#define LIST8(kind, C, lines) LIST6(kind, C, lines), block_##kind##_##C##_##lines##_7, block_##kind##_##C##_##lines##_8
#define LIST10(kind, C, lines) \
    LIST8(kind, C, lines), block_##kind##_##C##_##lines##_9, block_##kind##_##C##_##lines##_10

BLOCKS8(PLAIN, 1, 1)
BLOCKS8(1, 1, 1)
BLOCKS8(2, 1, 1)
BLOCKS10(3, 1, 1)
BLOCKS6(3, 1, 2)
BLOCKS10(3_STRIDE, 1, 1)
BLOCKS6(3_STRIDE, 1, 2)
BLOCKS10(3_BACK, 1, 1)
BLOCKS6(3_BACK, 1, 2)
BLOCKS10(2_BACK, 1, 1)
BLOCKS6(2_BACK, 1, 2)
BLOCKS6(PLAIN, 2, 1)
BLOCKS6(1, 2, 1)
BLOCKS6(2, 2, 1)

#if V_REGISTERS_32
BLOCKS8(3, 2, 1)
BLOCKS8(3_STRIDE, 2, 1)
BLOCKS8(3_BACK, 2, 1)
BLOCKS8(2_BACK, 2, 1)
#define LIST_3(kind) 8, LIST8(kind, 2, 1)
#define LIST_2_BACK 8, LIST8(2_BACK, 2, 1)
#else
BLOCKS4(3, 2, 1)
BLOCKS4(3_STRIDE, 2, 1)
BLOCKS4(3_BACK, 2, 1)
BLOCKS4(2_BACK, 2, 1)
BLOCK(2_BACK, 2, 1, 5)
#define LIST_3(kind) 4, LIST4(kind, 2, 1)
#define LIST_2_BACK 5, LIST4(2_BACK, 2, 1), block_2_BACK_2_1_5
#endif

/* clang-format off */
#define ONE_LINE(longest, ...) { { longest, 0 }, { { __VA_ARGS__ }, { NULL } } }
#define ONE(...)               ONE_LINE(__VA_ARGS__)
#define PAIRS(kind)            { { 10, 6 }, { { LIST10(kind, 1, 1) }, { LIST6(kind, 1, 2) } } }
/* clang-format on */

const conv_blocks SIMD(conv_blocks)[CONV_KINDS][2] = {
    [CONV_PLAIN] = { ONE(8, LIST8(PLAIN, 1, 1)), ONE(6, LIST6(PLAIN, 2, 1)) },
    [CONV_1] = { ONE(8, LIST8(1, 1, 1)), ONE(6, LIST6(1, 2, 1)) },
    [CONV_2] = { ONE(8, LIST8(2, 1, 1)), ONE(6, LIST6(2, 2, 1)) },
    [CONV_3] = { PAIRS(3), ONE(LIST_3(3)) },
    [CONV_3_STRIDE] = { PAIRS(3_STRIDE), ONE(LIST_3(3_STRIDE)) },
    [CONV_3_BACK] = { PAIRS(3_BACK), ONE(LIST_3(3_BACK)) },
    [CONV_2_BACK] = { PAIRS(2_BACK), ONE(LIST_2_BACK) },
};
