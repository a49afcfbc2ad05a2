/* simd_neon.h - internal. The vectors of simd.h in AArch64 NEON: 4 lanes. */
#include <arm_neon.h>

#define V_REGISTERS_32 1
enum { VF = 4 };
typedef float32x4_t vf;
typedef int vmask;

LKS_INLINE vf vf_zero(void)
{
    return vdupq_n_f32(0.0f);
}

LKS_INLINE vf vf_set(float x)
{
    return vdupq_n_f32(x);
}

LKS_INLINE vf vf_load(const float *p)
{
    return vld1q_f32(p);
}

LKS_INLINE void vf_store(float *p, vf v)
{
    vst1q_f32(p, v);
}

LKS_INLINE vf vf_add(vf a, vf b)
{
    return vaddq_f32(a, b);
}

LKS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}

/* a >= b or a is NaN ? a : b, as lks__max_f. */
LKS_INLINE vf vf_max(vf a, vf b)
{
    return vbslq_f32(vorrq_u32(vcgeq_f32(a, b), vmvnq_u32(vceqq_f32(a, a))), a, b);
}

/* 0 > x ? 0 : x, and y > 0 ? x : 0. */
LKS_INLINE vf vf_sub(vf a, vf b)
{
    return vsubq_f32(a, b);
}

LKS_INLINE vf vf_mul(vf a, vf b)
{
    return vmulq_f32(a, b);
}

/* most < x ? most : x */
LKS_INLINE vf vf_cap(vf most, vf x)
{
    return vbslq_f32(vcltq_f32(most, x), most, x);
}

LKS_INLINE vf vf_relu(vf x)
{
    return vbslq_f32(vcltq_f32(x, vdupq_n_f32(0.0f)), vdupq_n_f32(0.0f), x);
}

LKS_INLINE vf vf_where_positive(vf y, vf x)
{
    return vbslq_f32(vcgtq_f32(y, vdupq_n_f32(0.0f)), x, vdupq_n_f32(0.0f));
}

LKS_INLINE vmask vf_first(int64_t n)
{
    return n < VF ? (int)n : VF;
}

/* Other lanes are 0. */
LKS_INLINE vf vf_load_m(const float *p, vmask m)
{
    float a[VF] = { 0 };

    if (m == VF) return vf_load(p);
    for (int i = 0; i < m; i++) a[i] = p[i];
    return vf_load(a);
}

LKS_INLINE void vf_store_m(float *p, vmask m, vf v)
{
    float a[VF];

    if (m == VF) {
        vf_store(p, v);
        return;
    }
    vf_store(a, v);
    for (int i = 0; i < m; i++) p[i] = a[i];
}

/* Rows to columns, VF of each. */
LKS_INLINE void vf_transpose(vf r[VF])
{
    float32x4x2_t a = vtrnq_f32(r[0], r[1]), b = vtrnq_f32(r[2], r[3]);

    r[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
    r[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
    r[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
    r[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

/* Columns 0 to 3 of VF rows that lie `stride` floats apart. */
LKS_INLINE void vf_load_columns(const float *p, int64_t stride, vf out[4])
{
    for (int i = 0; i < 4; i++) out[i] = vld1q_f32(p + i * stride);
    vf_transpose(out);
}
