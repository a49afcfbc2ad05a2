/* scalar_math.h - internal. The elementary functions, as one fixed sequence of IEEE operations each.
 *
 * No call into libm, no branch (selects only), explicit fused multiply-adds: so a loop over any of these vectorises,
 * and gives the same bits in plain C, AVX2, AVX-512 and NEON. Polynomials are our own minimax fits (Remez with the
 * coefficients rounded one after the other). The float functions are within about 1 ulp of the exact value over
 * the whole range, subnormal results included (tanh 1.5, sigmoid 2.5); expm1, log1p, softplus, power, erfc, sin and cos go
 * through double. tests/test_ops_scalar.c measures this.
 *
 * The sign and payload of a NaN is not part of the contract.
 */
#ifndef LKS_OPS_SCALAR_MATH_H
#define LKS_OPS_SCALAR_MATH_H

#include <stdint.h>
#include <string.h>

#define LKS_INFINITY_F __builtin_inff()
#define LKS_NAN_F __builtin_nanf("")

static inline uint32_t lks__bits_f(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float lks__float_of(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t lks__bits_d(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double lks__double_of(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float lks__fma_f(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

static inline double lks__fma_d(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* ---- selects and rounding ---- */

/* NaN of either operand passes on; of +0 and -0 the first. */
static inline float lks__max_f(float a, float b)
{
    return a >= b || a != a ? a : b;
}

static inline float lks__min_f(float a, float b)
{
    return a <= b || a != a ? a : b;
}

/* NaN passes on; -0 stays. */
static inline float lks__relu_f(float x)
{
    return 0.0f > x ? 0.0f : x;
}

static inline float lks__sign_f(float x)
{
    float negative = x < 0.0f ? -1.0f : x; /* zeros and NaN stay */

    return x > 0.0f ? 1.0f : negative;
}

/* Adding 2^23 leaves no room for a fraction: rounds to even. */
static inline float lks__round_f(float x)
{
    float a = __builtin_fabsf(x), r = (a + 0x1p23f) - 0x1p23f;

    return a < 0x1p23f ? __builtin_copysignf(r, x) : x;
}

static inline float lks__floor_f(float x)
{
    float r = lks__round_f(x);

    return r > x ? r - 1.0f : r;
}

static inline float lks__rsqrt_f(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}

/* ---- exponentials ---- */

/* For -104 <= c <= 89. c = n ln 2 + r; e^r = 1 + r + r^2 q(r); 2^n in two factors, so that a subnormal result is rounded
 * once. */
static inline float lks__exp_within_f(float c)
{
    float t = lks__fma_f(c, 0x1.715476p+0f, 0x1.8p23f), n = t - 0x1.8p23f;
    float r = lks__fma_f(n, -0x1.7f7d1cp-20f, lks__fma_f(n, -0x1.62e4p-1f, c));
    int32_t k = (int32_t)(lks__bits_f(t) - 0x4b400000u), half = k >> 1;
    float q = 0x1.6ac752p-10f, y;

    q = lks__fma_f(q, r, 0x1.123dep-7f);
    q = lks__fma_f(q, r, 0x1.555858p-5f);
    q = lks__fma_f(q, r, 0x1.55548cp-3f);
    q = lks__fma_f(q, r, 0x1.fffffcp-2f);
    y = 1.0f + lks__fma_f(r * r, q, r);
    return y * lks__float_of((uint32_t)(half + 127) << 23) * lks__float_of((uint32_t)(k - half + 127) << 23);
}

static inline float lks__exp_f(float x)
{
    float high = x > 89.0f ? 89.0f : x;

    return lks__exp_within_f(high < -104.0f ? -104.0f : high);
}

/* The same in double, to 2^-41 relative, for -700 < x < 700: e^x = scale + scale * part. */
static inline double lks__exp_parts(double x, double *scale)
{
    double t = lks__fma_d(x, 0x1.71547652b82fep+0, 0x1.8p52), n = t - 0x1.8p52;
    double r = lks__fma_d(n, -0x1.cf79abc9e3b3ap-40, lks__fma_d(n, -0x1.62e42fefap-1, x));
    double q = 0x1.76a8c45048149p-19;

    q = lks__fma_d(q, r, 0x1.a17bfd24b4b6ap-16);
    q = lks__fma_d(q, r, 0x1.a018f2de93e60p-13);
    q = lks__fma_d(q, r, 0x1.6c1635ebb47aep-10);
    q = lks__fma_d(q, r, 0x1.111110607e33ep-7);
    q = lks__fma_d(q, r, 0x1.5555557f0dc23p-5);
    q = lks__fma_d(q, r, 0x1.55555555f5d8cp-3);
    q = lks__fma_d(q, r, 0x1.fffffffff13f8p-2);
    *scale = lks__double_of((lks__bits_d(t) + 1023u) << 52);
    return lks__fma_d(r * r, q, r);
}

static inline double lks__clamp_d(double x, double low, double high)
{
    double c = x > high ? high : x;

    return c < low ? low : c; /* NaN stays */
}

static inline float lks__expm1_f(float x)
{
    double scale, part = lks__exp_parts(lks__clamp_d((double)x, -110.0, 90.0), &scale);
    float y = (float)lks__fma_d(scale, part, scale - 1.0);

    return x == 0.0f ? x : y; /* -0 */
}

static inline float lks__sigmoid_f(float x)
{
    float n = -__builtin_fabsf(x), e = lks__exp_within_f(n < -104.0f ? -104.0f : n), small = e / (1.0f + e);

    return x < 0.0f ? small : 1.0f - small; /* so that y (1 - y) keeps its digits near 1 */
}

static inline float lks__tanh_f(float x)
{
    float a = __builtin_fabsf(x), u = a * a;
    float large = 1.0f - 2.0f / (lks__exp_f(2.0f * a) + 1.0f);
    float p = 0x1.1a2816p-9f, small;

    p = lks__fma_f(p, u, -0x1.0c5ed0p-7f);
    p = lks__fma_f(p, u, 0x1.63a550p-6f);
    p = lks__fma_f(p, u, -0x1.b9f188p-5f);
    p = lks__fma_f(p, u, 0x1.11107ap-3f);
    p = lks__fma_f(p, u, -0x1.555554p-2f);
    small = lks__fma_f(a * u, p, a);
    return __builtin_copysignf(a < 0.625f ? small : large, x);
}

/* ---- logarithms ---- */

/* x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); log(1 + f) = f - f^2 / 2 + f^3 p(f). */
static inline float lks__log_f(float x)
{
    float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
    uint32_t i = lks__bits_f(scaled) - 0x3f3504f3u;
    float f = lks__float_of((i & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float k = (float)((int32_t)i >> 23) + (x < 0x1p-126f ? -23.0f : 0.0f);
    float p = 0x1.b4ec68p-5f, tail, y, special;

    p = lks__fma_f(p, f, -0x1.bf414ep-4f);
    p = lks__fma_f(p, f, 0x1.effbc6p-4f);
    p = lks__fma_f(p, f, -0x1.01011ep-3f);
    p = lks__fma_f(p, f, 0x1.23036ep-3f);
    p = lks__fma_f(p, f, -0x1.552f18p-3f);
    p = lks__fma_f(p, f, 0x1.99a540p-3f);
    p = lks__fma_f(p, f, -0x1.000070p-2f);
    p = lks__fma_f(p, f, 0x1.555548p-2f);
    tail = lks__fma_f(k, 0x1.7f7d1cp-20f, f * f * lks__fma_f(f, p, -0.5f));
    y = lks__fma_f(k, 0x1.62e4p-1f, f + tail);
    special = x == 0.0f ? -LKS_INFINITY_F : LKS_NAN_F;
    y = x < LKS_INFINITY_F ? y : x;
    return x <= 0.0f ? special : y;
}

/* log of a positive normal double, to 2^-44 relative: log(1 + f) = 2 s + 2 s^3 / 3 + ..., s = f / (2 + f). */
static inline double lks__log_d(double x)
{
    uint64_t i = lks__bits_d(x) - 0x3fe6a09e667f3bcdu + ((uint64_t)1023 << 52);
    double f = lks__double_of((i & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double k = lks__double_of((i >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    double s = f / (2.0 + f), z = s * s, p = 2.0 / 15.0;

    p = lks__fma_d(p, z, 2.0 / 13.0);
    p = lks__fma_d(p, z, 2.0 / 11.0);
    p = lks__fma_d(p, z, 2.0 / 9.0);
    p = lks__fma_d(p, z, 2.0 / 7.0);
    p = lks__fma_d(p, z, 2.0 / 5.0);
    p = lks__fma_d(p, z, 2.0 / 3.0);
    return lks__fma_d(k, 0x1.62e42fefa39efp-1, lks__fma_d(s * z, p, 2.0 * s));
}

/* log(1 + x): what the rounded sum 1 + x lost matters only where the sum is near 1, and is added as it is. */
static inline double lks__log1p_d(double x)
{
    double u = 1.0 + x;

    return lks__log_d(u) + (x - (u - 1.0));
}

static inline float lks__log1p_f(float x)
{
    float y = (float)lks__log1p_d((double)x), special = x == -1.0f ? -LKS_INFINITY_F : LKS_NAN_F;

    y = x < LKS_INFINITY_F && x != 0.0f ? y : x;
    return x <= -1.0f ? special : y;
}

/* log(1 + e^x) = max(x, 0) + log1p(e^-|x|). */
static inline float lks__softplus_f(float x)
{
    double scale, part = lks__exp_parts(lks__clamp_d(-(double)__builtin_fabsf(x), -110.0, 0.0), &scale);

    return (float)((x < 0.0f ? 0.0 : (double)x) + lks__log1p_d(lks__fma_d(scale, part, scale)));
}

/* ---- power: C's rules for zeros, infinities, NaN and negative bases ---- */

static inline float lks__power_f(float x, float y)
{
    double a = (double)__builtin_fabsf(x), log_a = lks__log_d(a), scale, part;
    float whole = lks__round_f(y), half = 0.5f * y;
    int is_whole = whole == y, is_odd = is_whole && lks__round_f(half) != half;
    float r, sign;

    log_a = a < (double)LKS_INFINITY_F ? log_a : a; /* also NaN */
    log_a = a == 0.0 ? -(double)LKS_INFINITY_F : log_a;
    part = lks__exp_parts(lks__clamp_d((double)y * log_a, -110.0, 90.0), &scale);
    r = (float)lks__fma_d(scale, part, scale);
    r = a == 1.0 && y == y ? 1.0f : r; /* log 1 times infinity */
    sign = is_odd ? __builtin_copysignf(1.0f, x) : 1.0f;
    r = x < 0.0f && x > -LKS_INFINITY_F && !is_whole ? LKS_NAN_F : r * sign;
    return y == 0.0f || x == 1.0f ? 1.0f : r;
}

/* ---- error function ---- */

/* Small: x + x p(x^2). Large: erfc(x) = e^g(x) with g a polynomial. From 3.92 on it is 1. */
static inline float lks__erf_f(float x)
{
    float a = __builtin_fabsf(x), u = a * a, c = a > 4.0f ? 4.0f : a;
    float p = -0x1.3ba9cap-11f, g = -0x1.5b151p-16f;

    p = lks__fma_f(p, u, 0x1.479c9ep-8f);
    p = lks__fma_f(p, u, -0x1.b69b96p-6f);
    p = lks__fma_f(p, u, 0x1.ce1b86p-4f);
    p = lks__fma_f(p, u, -0x1.8126ecp-2f);
    p = lks__fma_f(p, u, 0x1.06eba6p-3f);
    g = lks__fma_f(g, c, 0x1.c2a62p-12f);
    g = lks__fma_f(g, c, -0x1.0fdf68p-8f);
    g = lks__fma_f(g, c, 0x1.9a9626p-6f);
    g = lks__fma_f(g, c, -0x1.bb248p-4f);
    g = lks__fma_f(g, c, -0x1.4450cep-1f);
    g = lks__fma_f(g, c, -0x1.212540p+0f);
    g = lks__fma_f(g, c, 0x1.5ceb8ep-13f);
    return __builtin_copysignf(a < 0.9f ? lks__fma_f(a, p, a) : 1.0f - lks__exp_f(g), x);
}

/* erfc(z) = e^-z^2 times a polynomial in (z - 2) / (z + 2), in double: no digits are lost where erf is near 1. */
static inline float lks__erfc_f(float x)
{
    double z = (double)__builtin_fabsf(x), c = z > 10.5 ? 10.5 : z, t = (c - 2.0) / (c + 2.0);
    double scale, part = lks__exp_parts(-c * c, &scale), p = -0x1.1543f699a388ap-17, y;

    p = lks__fma_d(p, t, -0x1.86f755292867bp-16);
    p = lks__fma_d(p, t, 0x1.8d035484ad019p-16);
    p = lks__fma_d(p, t, 0x1.6666f3731e99bp-13);
    p = lks__fma_d(p, t, 0x1.7961889c1bacep-15);
    p = lks__fma_d(p, t, -0x1.0114230b55c61p-10);
    p = lks__fma_d(p, t, -0x1.bc4f5db0d41c5p-11);
    p = lks__fma_d(p, t, 0x1.ca91f0239c0dap-8);
    p = lks__fma_d(p, t, 0x1.e94859eef4f69p-9);
    p = lks__fma_d(p, t, -0x1.437f06623cf8ep-4);
    p = lks__fma_d(p, t, 0x1.eeea7d8405364p-3);
    p = lks__fma_d(p, t, -0x1.b57034f702d6dp-2);
    p = lks__fma_d(p, t, 0x1.058671b580a9ep-2);
    y = p * lks__fma_d(scale, part, scale);
    y = z > 10.5 ? 0.0 : y;
    y = x < 0.0f ? 2.0 - y : y;
    return x == x ? (float)y : x;
}

/* ---- sine and cosine ---- */

/* sin(x + quarter * pi / 2). Exact reduction up to 2^50; beyond, where neighbouring floats are whole turns apart, x counts
 * as 0. */
static inline float lks__sin_quarter(float x, uint64_t quarter)
{
    float near = __builtin_fabsf(x) < 0x1p50f ? x : x - x; /* infinities give NaN */
    double t = lks__fma_d((double)near, 0x1.45f306dc9c883p-1, 0x1.8p52), n = t - 0x1.8p52;
    double r = lks__fma_d(n, -0x1.1a62633145c07p-54, lks__fma_d(n, -0x1.921fb54442d18p+0, (double)near));
    uint64_t q = lks__bits_d(t) + quarter;
    double u = r * r, s = 0x1.6cd1f25e06ddep-19, c = -0x1.241e9c62e11d1p-22, y;

    s = lks__fma_d(s, u, -0x1.a00f7f272d040p-13);
    s = lks__fma_d(s, u, 0x1.1111086a5ee36p-7);
    s = lks__fma_d(s, u, -0x1.5555554c71cc3p-3);
    s = lks__fma_d(r * u, s, r);
    c = lks__fma_d(c, u, 0x1.a010ded186ae9p-16);
    c = lks__fma_d(c, u, -0x1.6c16b82a16ea1p-10);
    c = lks__fma_d(c, u, 0x1.5555554ed9868p-5);
    c = lks__fma_d(u * u, c, lks__fma_d(u, -0.5, 1.0));
    y = (q & 1) != 0 ? c : s;
    return (float)lks__double_of(lks__bits_d(y) ^ ((q & 2) << 62));
}

static inline float lks__sin_f(float x)
{
    float y = lks__sin_quarter(x, 0);

    return x == 0.0f ? x : y; /* -0 */
}

static inline float lks__cos_f(float x)
{
    return lks__sin_quarter(x, 1);
}

/* ---- conversions ---- */

/* Towards zero; saturates; NaN gives 0. */
static inline int32_t lks__int_of(float x)
{
    float c = x == x ? x : 0.0f;
    int32_t i;

    c = c < -0x1p31f ? -0x1p31f : c;
    c = c > 0x1.fffffep30f ? 0x1.fffffep30f : c; /* the largest below 2^31 */
    i = (int32_t)c;
    return x >= 0x1p31f ? INT32_MAX : i;
}

#endif
