/* simd_pair.h - internal. The vectors of simd.h, 16 lanes in two AVX2 registers: lets the tests walk the paths of AVX-512
 * on machines without it. */
#include <immintrin.h>

#define V_REGISTERS_32 1
enum { VF = 16 };
typedef struct vf {
    __m256 low, high;
} vf;
typedef int vmask;

LKS_INLINE vf vf_zero(void)
{
    vf v = { _mm256_setzero_ps(), _mm256_setzero_ps() };

    return v;
}

LKS_INLINE vf vf_set(float x)
{
    vf v = { _mm256_set1_ps(x), _mm256_set1_ps(x) };

    return v;
}

LKS_INLINE vf vf_load(const float *p)
{
    vf v = { _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) };

    return v;
}

LKS_INLINE void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v.low);
    _mm256_storeu_ps(p + 8, v.high);
}

LKS_INLINE vf vf_add(vf a, vf b)
{
    vf v = { _mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high) };

    return v;
}

LKS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    vf v = { _mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high) };

    return v;
}

LKS_INLINE __m256 vf_max_half(__m256 a, __m256 b)
{
    return _mm256_blendv_ps(b, a, _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ), _mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}

LKS_INLINE vf vf_max(vf a, vf b)
{
    vf v = { vf_max_half(a.low, b.low), vf_max_half(a.high, b.high) };

    return v;
}

LKS_INLINE vf vf_sub(vf a, vf b)
{
    vf v = { _mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high) };

    return v;
}

LKS_INLINE vf vf_mul(vf a, vf b)
{
    vf v = { _mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high) };

    return v;
}

/* most < x ? most : x */
LKS_INLINE vf vf_cap(vf most, vf x)
{
    vf v = { _mm256_min_ps(most.low, x.low), _mm256_min_ps(most.high, x.high) };

    return v;
}

LKS_INLINE vf vf_relu(vf x)
{
    vf v = { _mm256_max_ps(_mm256_setzero_ps(), x.low), _mm256_max_ps(_mm256_setzero_ps(), x.high) };

    return v;
}

LKS_INLINE vf vf_where_positive(vf y, vf x)
{
    vf v = { _mm256_and_ps(_mm256_cmp_ps(y.low, _mm256_setzero_ps(), _CMP_GT_OQ), x.low),
             _mm256_and_ps(_mm256_cmp_ps(y.high, _mm256_setzero_ps(), _CMP_GT_OQ), x.high) };

    return v;
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
    float a[VF][VF], b[VF][VF];

    for (int i = 0; i < VF; i++) vf_store(a[i], r[i]);
    for (int i = 0; i < VF; i++)
        for (int j = 0; j < VF; j++) b[j][i] = a[i][j];
    for (int i = 0; i < VF; i++) r[i] = vf_load(b[i]);
}

LKS_INLINE void vf_load_columns(const float *p, int64_t stride, vf out[4])
{
    float a[4][VF];

    for (int c = 0; c < 4; c++)
        for (int l = 0; l < VF; l++) a[c][l] = p[l * stride + c];
    for (int c = 0; c < 4; c++) out[c] = vf_load(a[c]);
}
