/* conv_steps.h - internal. Numbers at equal distances, reached by addresses that the machine adds up itself.
 *
 * A loop body that reads eight places a distance apart has eight addresses; compilers keep each of the distances in a
 * register, or in memory once these run out. Four distances, taken once, twice, four or eight times, lead to all places.
 */
#ifndef LKS_KERNELS_SIMD_CONV_STEPS_H
#define LKS_KERNELS_SIMD_CONV_STEPS_H

#include "simd.h"

typedef struct conv_steps {
    int64_t one, three, five, seven; /* so many distances, in bytes */
} conv_steps;

LKS_INLINE conv_steps conv_steps_of(int64_t floats)
{
    const int64_t one = floats * (int64_t)sizeof(float);
    const conv_steps s = { one, 3 * one, 5 * one, 7 * one };

    return s;
}

/* OP(p, step, times, form, ...) for what lies q (constant, 0 to 8) of the distances s behind p. form: as x86 writes it. */
#define CONV_AT(OP, p, s, q, ...)                                                \
    do {                                                                         \
        if ((q) == 0) OP(p, (s)->one, 0, "(%[at])", __VA_ARGS__);                \
        else if ((q) == 1) OP(p, (s)->one, 1, "(%[at],%[by],1)", __VA_ARGS__);   \
        else if ((q) == 2) OP(p, (s)->one, 2, "(%[at],%[by],2)", __VA_ARGS__);   \
        else if ((q) == 3) OP(p, (s)->three, 1, "(%[at],%[by],1)", __VA_ARGS__); \
        else if ((q) == 4) OP(p, (s)->one, 4, "(%[at],%[by],4)", __VA_ARGS__);   \
        else if ((q) == 5) OP(p, (s)->five, 1, "(%[at],%[by],1)", __VA_ARGS__);  \
        else if ((q) == 6) OP(p, (s)->three, 2, "(%[at],%[by],2)", __VA_ARGS__); \
        else if ((q) == 7) OP(p, (s)->seven, 1, "(%[at],%[by],1)", __VA_ARGS__); \
        else OP(p, (s)->one, 8, "(%[at],%[by],8)", __VA_ARGS__);                 \
    } while (0)

#endif
