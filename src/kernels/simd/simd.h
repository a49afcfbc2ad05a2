/* simd.h - internal to src/kernels/simd. One vector type of the instruction set's own width, so that one source serves all.
 *
 * Every .c file here is compiled once an instruction set, with LKS_SIMD_ISA as its name; SIMD(name) gives the symbols of
 * each their own suffix. VF floats make a vector; "m" forms touch only the first lanes of a mask, so nothing
 * is read or written past an array's end. 16-lane sums (design: one AVX-512 register, two AVX2, four NEON) are arrays of
 * VP = 16 / VF vectors.
 *
 * LKS_SIMD_TEST_WIDTH = 16 or 4 builds the sources for those widths on an AVX2 machine: tests of what it cannot run.
 */
#ifndef LKS_KERNELS_SIMD_SIMD_H
#define LKS_KERNELS_SIMD_SIMD_H

#include <stdint.h>
#include <string.h>

#define LKS_SIMD_PASTE2(a, b) a##_##b
#define LKS_SIMD_PASTE(a, b) LKS_SIMD_PASTE2(a, b)
#define SIMD(name) LKS_SIMD_PASTE(lks__##name, LKS_SIMD_ISA)

/* Bodies with constant tile sizes are unrolled in their callers, so that arrays of sums become registers. */
#define LKS_INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define LKS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LKS_UNROLL _Pragma("GCC unroll 64")
#endif

/* A value of several uses that must be loaded once: compilers fold the load into each use, and loads are what runs out. */
#if defined(__x86_64__)
#define LKS_ONCE(v) __asm__("" : "+x"(v))
#else
#define LKS_ONCE(v) __asm__("" : "+w"(v))
#endif

#if defined(LKS_SIMD_TEST_WIDTH) && LKS_SIMD_TEST_WIDTH == 16
#undef LKS_ONCE
#define LKS_ONCE(v) (void)0
#endif

#if defined(LKS_SIMD_TEST_WIDTH) && LKS_SIMD_TEST_WIDTH == 16
#include "simd_pair.h"
#elif defined(LKS_SIMD_TEST_WIDTH) && LKS_SIMD_TEST_WIDTH == 4
#include "simd_sse.h"
#elif defined(__AVX512F__)
#include "simd_avx512.h"
#elif defined(__AVX2__)
#include "simd_avx2.h"
#elif defined(__ARM_NEON)
#include "simd_neon.h"
#else
#error "src/kernels/simd needs AVX2, AVX-512 or NEON"
#endif

enum { VP = 16 / VF };

/* sum += a b, rounded once. Where compilers are free to leave the sum in another register, they move sums about in long loops. */
#if !defined(VF_ADD_PRODUCT)
#define VF_ADD_PRODUCT(sum, a, b) ((sum) = vf_fma(a, b, sum))
#endif

/* b is the vector at p, which stays in memory. */
#if !defined(VF_ADD_PRODUCT_OF)
#define VF_ADD_PRODUCT_OF(sum, a, p) VF_ADD_PRODUCT(sum, a, vf_load(p))
#endif

/* Of what lies `times` (constant: 0, 1, 2, 4, 8) `step` bytes behind p; conv_steps.h. */
#define VF_AT(p, step, times) ((const float *)(const void *)((const char *)(p) + (step) * (times)))

/* sum += a times the vector there */
#if !defined(VF_ADD_PRODUCT_AT)
#define VF_ADD_PRODUCT_AT(p, step, times, form, sum, a) VF_ADD_PRODUCT_OF(sum, a, VF_AT(p, step, times))
#endif

/* to = the number there in all lanes */
#if !defined(VF_SET_AT)
#define VF_SET_AT(p, step, times, form, to) ((to) = vf_set(*VF_AT(p, step, times)))
#endif

/* s0, s1, s2 += the number there times the vectors at w and `next` bytes behind it, and a */
#if !defined(VF_SPREAD_AT)
#define VF_SPREAD_AT(p, step, times, form, s0, s1, s2, w, next, a) \
    do {                                                           \
        const vf vf_number = vf_set(*VF_AT(p, step, times));       \
                                                                   \
        VF_ADD_PRODUCT_OF(s0, vf_number, w);                       \
        VF_ADD_PRODUCT_OF(s1, vf_number, VF_AT(w, next, 1));       \
        VF_ADD_PRODUCT(s2, a, vf_number);                          \
    } while (0)
#endif

/* s0 += the number there times the vector `far` (constant: 0, 1, 2) `next` bytes behind w, and s1 += the same behind v */
#if !defined(VF_SPREAD_2_AT)
#define VF_SPREAD_2_AT(p, step, times, form, s0, s1, w, v, next, far, far_form) \
    do {                                                                        \
        const vf vf_number = vf_set(*VF_AT(p, step, times));                    \
                                                                                \
        VF_ADD_PRODUCT_OF(s0, vf_number, VF_AT(w, next, far));                  \
        VF_ADD_PRODUCT_OF(s1, vf_number, VF_AT(v, next, far));                  \
    } while (0)
#endif

/* s0 += the number there times the third vector of w, s1: the first; s2 and s3: those of v */
#if !defined(VF_SPREAD_4_AT)
#define VF_SPREAD_4_AT(p, step, times, form, s0, s1, s2, s3, w, v, next) \
    do {                                                                 \
        const vf vf_number = vf_set(*VF_AT(p, step, times));             \
                                                                         \
        VF_ADD_PRODUCT_OF(s0, vf_number, VF_AT(w, next, 2));             \
        VF_ADD_PRODUCT_OF(s1, vf_number, w);                             \
        VF_ADD_PRODUCT_OF(s2, vf_number, VF_AT(v, next, 2));             \
        VF_ADD_PRODUCT_OF(s3, vf_number, v);                             \
    } while (0)
#endif

/* Three of them by one number from memory, in registers that are used up: compilers that load ahead would spill sums. */
#if !defined(VF_ADD_PRODUCTS)
#define VF_ADD_PRODUCTS(s0, s1, s2, a0, a1, a2, number) \
    do {                                                \
        const vf vf_number = vf_set(number);            \
                                                        \
        VF_ADD_PRODUCT(s0, a0, vf_number);              \
        VF_ADD_PRODUCT(s1, a1, vf_number);              \
        VF_ADD_PRODUCT(s2, a2, vf_number);              \
    } while (0)
#endif

/* VP vectors `step` floats apart, of 16 lanes together: halves are added until one is left. */
LKS_INLINE vf vf_fold(const float *p, int64_t step)
{
    vf part[VP];

    LKS_UNROLL
    for (int k = 0; k < VP; k++) part[k] = vf_load(p + k * step);
    LKS_UNROLL
    for (int half = VP / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) part[k] = vf_add(part[k], part[k + half]);
    return part[0];
}

#if !defined(LKS_SIMD_JOINS)
/* The sum of each vector's lanes: + VF / 2, ..., + 1. */
LKS_INLINE vf vf_join(const vf v[VF])
{
    vf r[VF];

    LKS_UNROLL
    for (int i = 0; i < VF; i++) r[i] = v[i];
    vf_transpose(r);
    LKS_UNROLL
    for (int half = VF / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) r[i] = vf_add(r[i], r[i + half]);
    return r[0];
}
#endif

#if !defined(LKS_SIMD_JOINS_ROWS)
/* Sums of VF rows of 16 lanes: + 8, + 4, + 2, + 1. */
LKS_INLINE vf vf_join_rows(const float *p)
{
    vf r[VF];

    LKS_UNROLL
    for (int i = 0; i < VF; i++) r[i] = vf_fold(p + i * 16, VF);
    return vf_join(r);
}
#endif

#if !defined(LKS_SIMD_STREAMS)
/* Past the caches where the machine can; p is aligned to a vector. Complete after vf_stream_end. */
LKS_INLINE void vf_stream(float *p, vf v)
{
    vf_store(p, v);
}

LKS_INLINE void vf_stream_end(void) {}
#endif

/* The first n lanes, out of line: for the ends of long loops. */
static __attribute__((noinline, unused)) void vf_store_part(float *p, int64_t n, vf v)
{
    vf_store_m(p, vf_first(n), v);
}

#endif
