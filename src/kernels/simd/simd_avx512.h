/* simd_avx512.h - internal. The vectors of simd.h in AVX-512 (F, BW, DQ, VL): 16 lanes. */
#include <immintrin.h>

#define V_REGISTERS_32 1
enum { VF = 16 };
typedef __m512 vf;
typedef __mmask16 vmask;

LKS_INLINE vf vf_zero(void)
{
    return _mm512_setzero_ps();
}

LKS_INLINE vf vf_set(float x)
{
    return _mm512_set1_ps(x);
}

LKS_INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

LKS_INLINE void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

/* Past the caches; p is aligned to a vector. */
#define LKS_SIMD_STREAMS 1
LKS_INLINE void vf_stream(float *p, vf v)
{
    _mm512_stream_ps(p, v);
}

LKS_INLINE void vf_stream_end(void)
{
    _mm_sfence();
}

LKS_INLINE vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

LKS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* a >= b or a is NaN ? a : b, as lks__max_f. */
LKS_INLINE vf vf_max(vf a, vf b)
{
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ) | _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

/* 0 > x ? 0 : x, and y > 0 ? x : 0. */
LKS_INLINE vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}

LKS_INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

/* most < x ? most : x */
LKS_INLINE vf vf_cap(vf most, vf x)
{
    return _mm512_min_ps(most, x);
}

LKS_INLINE vf vf_relu(vf x)
{
    return _mm512_max_ps(_mm512_setzero_ps(), x);
}

LKS_INLINE vf vf_where_positive(vf y, vf x)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_GT_OQ), x);
}

/* The first n lanes; all for n >= VF. */
LKS_INLINE vmask vf_first(int64_t n)
{
    return n < VF ? (vmask)((1u << n) - 1) : (vmask)0xffff;
}

/* Other lanes are 0. */
LKS_INLINE vf vf_load_m(const float *p, vmask m)
{
    return _mm512_maskz_loadu_ps(m, p);
}

LKS_INLINE void vf_store_m(float *p, vmask m, vf v)
{
    _mm512_mask_storeu_ps(p, m, v);
}

/* Rows to columns, VF of each: first within groups of four lanes, then the groups. */
LKS_INLINE void vf_transpose(vf r[VF])
{
    vf a[VF], b[VF];

    LKS_UNROLL
    for (int i = 0; i < 16; i += 2) {
        a[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    LKS_UNROLL
    for (int i = 0; i < 16; i += 4) {
        b[i] = _mm512_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm512_shuffle_ps(a[i], a[i + 2], 0xee);
        b[i + 2] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0xee);
    }
    LKS_UNROLL
    for (int i = 0; i < 4; i++) {
        a[0] = _mm512_shuffle_f32x4(b[i], b[i + 4], 0x88);
        a[1] = _mm512_shuffle_f32x4(b[i], b[i + 4], 0xdd);
        a[2] = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0x88);
        a[3] = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0xdd);
        r[i] = _mm512_shuffle_f32x4(a[0], a[2], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(a[0], a[2], 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(a[1], a[3], 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(a[1], a[3], 0xdd);
    }
}

LKS_INLINE __m512 vf_rows_of_4(const float *p, int64_t stride)
{
    __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(p));

    r = _mm512_insertf32x4(r, _mm_loadu_ps(p + 4 * stride), 1);
    r = _mm512_insertf32x4(r, _mm_loadu_ps(p + 8 * stride), 2);
    return _mm512_insertf32x4(r, _mm_loadu_ps(p + 12 * stride), 3);
}

/* Columns 0 to 3 of VF rows that lie `stride` floats apart. */
LKS_INLINE void vf_load_columns(const float *p, int64_t stride, vf out[4])
{
    __m512 r0 = vf_rows_of_4(p, stride), r1 = vf_rows_of_4(p + stride, stride);
    __m512 r2 = vf_rows_of_4(p + 2 * stride, stride), r3 = vf_rows_of_4(p + 3 * stride, stride);
    __m512 a = _mm512_unpacklo_ps(r0, r1), b = _mm512_unpacklo_ps(r2, r3);
    __m512 c = _mm512_unpackhi_ps(r0, r1), d = _mm512_unpackhi_ps(r2, r3);

    out[0] = _mm512_shuffle_ps(a, b, 0x44);
    out[1] = _mm512_shuffle_ps(a, b, 0xee);
    out[2] = _mm512_shuffle_ps(c, d, 0x44);
    out[3] = _mm512_shuffle_ps(c, d, 0xee);
}
