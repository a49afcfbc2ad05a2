/* simd_sse.h - internal. The vectors of simd.h, 4 lanes of an AVX2 machine: lets the tests walk the paths of NEON. */
#include <immintrin.h>

#define V_REGISTERS_32 1
enum { VF = 4 };
typedef __m128 vf;
typedef int vmask;

LKS_INLINE vf vf_zero(void)
{
    return _mm_setzero_ps();
}

LKS_INLINE vf vf_set(float x)
{
    return _mm_set1_ps(x);
}

LKS_INLINE vf vf_load(const float *p)
{
    return _mm_loadu_ps(p);
}

LKS_INLINE void vf_store(float *p, vf v)
{
    _mm_storeu_ps(p, v);
}

LKS_INLINE vf vf_add(vf a, vf b)
{
    return _mm_add_ps(a, b);
}

LKS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm_fmadd_ps(a, b, c);
}

LKS_INLINE vf vf_max(vf a, vf b)
{
    return _mm_blendv_ps(b, a, _mm_or_ps(_mm_cmp_ps(a, b, _CMP_GE_OQ), _mm_cmp_ps(a, a, _CMP_UNORD_Q)));
}

LKS_INLINE vf vf_sub(vf a, vf b)
{
    return _mm_sub_ps(a, b);
}

LKS_INLINE vf vf_mul(vf a, vf b)
{
    return _mm_mul_ps(a, b);
}

/* most < x ? most : x */
LKS_INLINE vf vf_cap(vf most, vf x)
{
    return _mm_min_ps(most, x);
}

LKS_INLINE vf vf_relu(vf x)
{
    return _mm_max_ps(_mm_setzero_ps(), x);
}

LKS_INLINE vf vf_where_positive(vf y, vf x)
{
    return _mm_and_ps(_mm_cmpgt_ps(y, _mm_setzero_ps()), x);
}

LKS_INLINE vmask vf_first(int64_t n)
{
    return n < VF ? (int)n : VF;
}

LKS_INLINE vf vf_load_m(const float *p, vmask m)
{
    float a[VF] = { 0 };

    if (m > 0) memcpy(a, p, (size_t)m * sizeof *a);
    return vf_load(a);
}

LKS_INLINE void vf_store_m(float *p, vmask m, vf v)
{
    float a[VF];

    vf_store(a, v);
    if (m > 0) memcpy(p, a, (size_t)m * sizeof *a);
}

LKS_INLINE void vf_transpose(vf r[VF])
{
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
}

LKS_INLINE void vf_load_columns(const float *p, int64_t stride, vf out[4])
{
    for (int i = 0; i < 4; i++) out[i] = vf_load(p + i * stride);
    vf_transpose(out);
}
