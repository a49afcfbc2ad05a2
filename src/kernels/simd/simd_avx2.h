/* simd_avx2.h - internal. The vectors of simd.h in AVX2 with FMA: 8 lanes. */
#include <immintrin.h>

#define V_REGISTERS_32 0
#define LKS_SIMD_JOINS_ROWS 1
enum { VF = 8 };
typedef __m256 vf;
typedef struct vmask {
    int n;
    __m256i lanes;
} vmask;

LKS_INLINE vf vf_zero(void)
{
    return _mm256_setzero_ps();
}

LKS_INLINE vf vf_set(float x)
{
    return _mm256_set1_ps(x);
}

LKS_INLINE vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

LKS_INLINE void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v);
}

/* Past the caches; p is aligned to a vector. */
#define LKS_SIMD_STREAMS 1
LKS_INLINE void vf_stream(float *p, vf v)
{
    _mm256_stream_ps(p, v);
}

LKS_INLINE void vf_stream_end(void)
{
    _mm_sfence();
}

LKS_INLINE vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

LKS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

#define VF_ADD_PRODUCT(sum, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b))
#define VF_ADD_PRODUCT_OF(sum, a, p) \
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "m"(*(const vf *)(const void *)(p)))
#define VF_ADD_PRODUCT_AT(p, step, times, form, sum, a) \
    __asm__("vfmadd231ps " form ", %1, %0"              \
            : "+x"(sum)                                 \
            : "x"(a), [at] "r"(p), [by] "r"(step), "m"(*(const vf *)(const void *)(p)))
#define VF_SET_AT(p, step, times, form, to) \
    __asm__("vbroadcastss " form ", %0" : "=x"(to) : [at] "r"(p), [by] "r"(step), "m"(*(p)))
#define VF_SPREAD_AT(p, step, times, form, s0, s1, s2, w, next, a)                                           \
    do {                                                                                                     \
        vf vf_number;                                                                                        \
                                                                                                             \
        __asm__("vbroadcastss " form                                                                         \
                ", %3\n\tvfmadd231ps (%[first]), %3, %0\n\tvfmadd231ps (%[first],%[apart],1), %3, %1\n\t"    \
                "vfmadd231ps %[third], %3, %2"                                                               \
                : "+x"(s0), "+x"(s1), "+x"(s2), "=&x"(vf_number)                                             \
                : [at] "r"(p), [by] "r"(step), [first] "r"(w), [apart] "r"(next), [third] "x"(a), "m"(*(p)), \
                  "m"(*(const vf *)(const void *)(w)));                                                      \
    } while (0)
#define VF_SPREAD_2_AT(p, step, times, form, s0, s1, w, v, next, far, far_form)                              \
    do {                                                                                                     \
        vf vf_number;                                                                                        \
                                                                                                             \
        __asm__("vbroadcastss " form ", %2\n\tvfmadd231ps (%[first]" far_form "), %2, %0\n\t"                \
                "vfmadd231ps (%[other]" far_form "), %2, %1"                                                 \
                : "+x"(s0), "+x"(s1), "=&x"(vf_number)                                                       \
                : [at] "r"(p), [by] "r"(step), [first] "r"(w), [other] "r"(v), [apart] "r"(next), "m"(*(p)), \
                  "m"(*(const vf *)(const void *)(w)), "m"(*(const vf *)(const void *)(v)));                 \
    } while (0)
#define VF_SPREAD_4_AT(p, step, times, form, s0, s1, s2, s3, w, v, next)                                     \
    do {                                                                                                     \
        vf vf_number;                                                                                        \
                                                                                                             \
        __asm__("vbroadcastss " form ", %4\n\tvfmadd231ps (%[first],%[apart],2), %4, %0\n\t"                 \
                "vfmadd231ps (%[first]), %4, %1\n\tvfmadd231ps (%[other],%[apart],2), %4, %2\n\t"            \
                "vfmadd231ps (%[other]), %4, %3"                                                             \
                : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "=&x"(vf_number)                                   \
                : [at] "r"(p), [by] "r"(step), [first] "r"(w), [other] "r"(v), [apart] "r"(next), "m"(*(p)), \
                  "m"(*(const vf *)(const void *)(w)), "m"(*(const vf *)(const void *)(v)));                 \
    } while (0)
#define VF_ADD_PRODUCTS(s0, s1, s2, a0, a1, a2, number)                                       \
    do {                                                                                      \
        vf vf_number;                                                                         \
                                                                                              \
        __asm__("vbroadcastss %7, %3\n\tvfmadd231ps %3, %4, %0\n\tvfmadd231ps %3, %5, %1\n\t" \
                "vfmadd231ps %3, %6, %2"                                                      \
                : "+x"(s0), "+x"(s1), "+x"(s2), "=&x"(vf_number)                              \
                : "x"(a0), "x"(a1), "x"(a2), "m"(number));                                    \
    } while (0)

/* a >= b or a is NaN ? a : b, as lks__max_f. */
LKS_INLINE vf vf_max(vf a, vf b)
{
    return _mm256_blendv_ps(b, a, _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ), _mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}

/* 0 > x ? 0 : x, and y > 0 ? x : 0. */
LKS_INLINE vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

LKS_INLINE vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

/* most < x ? most : x */
LKS_INLINE vf vf_cap(vf most, vf x)
{
    return _mm256_min_ps(most, x);
}

LKS_INLINE vf vf_relu(vf x)
{
    return _mm256_max_ps(_mm256_setzero_ps(), x);
}

LKS_INLINE vf vf_where_positive(vf y, vf x)
{
    return _mm256_and_ps(_mm256_cmp_ps(_mm256_setzero_ps(), y, _CMP_LT_OQ), x);
}

/* The first n lanes; all for n >= VF. */
LKS_INLINE vmask vf_first(int64_t n)
{
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    vmask m;

    m.n = n < VF ? (int)n : VF;
    m.lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32(m.n), index);
    return m;
}

/* Other lanes are 0. */
LKS_INLINE vf vf_load_m(const float *p, vmask m)
{
    return _mm256_maskload_ps(p, m.lanes);
}

/* AMD's masked stores take some forty operations: halves are cheaper. */
LKS_INLINE void vf_store_m(float *p, vmask m, vf v)
{
    __m128 part = _mm256_castps256_ps128(v);

    if (m.n == VF) {
        vf_store(p, v);
        return;
    }
    if (m.n & 4) {
        _mm_storeu_ps(p, part);
        part = _mm256_extractf128_ps(v, 1);
        p += 4;
    }
    if (m.n & 2) {
        _mm_storel_pi((__m64 *)(void *)p, part);
        part = _mm_movehl_ps(part, part);
        p += 2;
    }
    if (m.n & 1) _mm_store_ss(p, part);
}

/* Rows to columns, VF of each. */
LKS_INLINE void vf_transpose(vf r[VF])
{
    vf a[VF], b[VF];

    LKS_UNROLL
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    LKS_UNROLL
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
        b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
    }
    LKS_UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}

LKS_INLINE __m256 vf_rows_of_4(const float *p, int64_t stride)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 4 * stride), 1);
}

/* Columns 0 to 3 of VF rows that lie `stride` floats apart. */
LKS_INLINE void vf_load_columns(const float *p, int64_t stride, vf out[4])
{
    __m256 r0 = vf_rows_of_4(p, stride), r1 = vf_rows_of_4(p + stride, stride);
    __m256 r2 = vf_rows_of_4(p + 2 * stride, stride), r3 = vf_rows_of_4(p + 3 * stride, stride);
    __m256 a = _mm256_unpacklo_ps(r0, r1), b = _mm256_unpacklo_ps(r2, r3);
    __m256 c = _mm256_unpackhi_ps(r0, r1), d = _mm256_unpackhi_ps(r2, r3);

    out[0] = _mm256_shuffle_ps(a, b, 0x44);
    out[1] = _mm256_shuffle_ps(a, b, 0xee);
    out[2] = _mm256_shuffle_ps(c, d, 0x44);
    out[3] = _mm256_shuffle_ps(c, d, 0xee);
}

/* Numbers 0 to 3 of a row and of the fourth row after it; rows of 16. */
LKS_INLINE __m256 vf_quarters(const float *p)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 64), 1);
}

/* Sums of VF rows of 16 lanes: + 8, + 4, + 2, + 1. */
LKS_INLINE vf vf_join_rows(const float *p)
{
    vf s[4], a, b;

    LKS_UNROLL
    for (int i = 0; i < 4; i++)
        s[i] = _mm256_add_ps(_mm256_add_ps(vf_quarters(p + 16 * i), vf_quarters(p + 16 * i + 8)),
                             _mm256_add_ps(vf_quarters(p + 16 * i + 4), vf_quarters(p + 16 * i + 12)));
    a = _mm256_add_ps(_mm256_shuffle_ps(s[0], s[1], 0x44), _mm256_shuffle_ps(s[0], s[1], 0xee));
    b = _mm256_add_ps(_mm256_shuffle_ps(s[2], s[3], 0x44), _mm256_shuffle_ps(s[2], s[3], 0xee));
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}

/* The sum of each vector's lanes: + 4, + 2, + 1. Two halves or pairs are added crosswise: half the shuffles. */
#define LKS_SIMD_JOINS 1
LKS_INLINE vf vf_join(const vf v[VF])
{
    vf a[4], b[2];

    LKS_UNROLL
    for (int i = 0; i < 4; i++)
        a[i] = _mm256_add_ps(_mm256_blend_ps(v[i], v[i + 4], 0xf0), _mm256_permute2f128_ps(v[i], v[i + 4], 0x21));
    LKS_UNROLL
    for (int i = 0; i < 2; i++)
        b[i] = _mm256_add_ps(_mm256_blend_ps(a[2 * i], a[2 * i + 1], 0xcc),
                             _mm256_shuffle_ps(a[2 * i], a[2 * i + 1], 0x4e));
    return _mm256_add_ps(_mm256_shuffle_ps(b[0], b[1], 0x88), _mm256_shuffle_ps(b[0], b[1], 0xdd));
}
