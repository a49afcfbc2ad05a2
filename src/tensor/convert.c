/* convert.c - between dtypes, through double or int64 so that each pair needs no code of its own. Fast paths belong
 * to the kernels; this one is for files, pipelines and tests. */
#include <math.h>
#include <string.h>

#include "tensor.h"

static double half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31, mantissa = h & 1023;
    double v;

    if (exponent == 31) v = mantissa ? NAN : INFINITY;
    else if (exponent == 0) v = ldexp(mantissa, -24);
    else v = ldexp(mantissa + 1024, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static double bfloat_to_double(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* Round to nearest even by way of scaled integers: exact in double. */
static uint16_t double_to_half(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    int exponent;
    double a = fabs(v), scaled;

    if (isnan(v)) return (uint16_t)(sign | 0x7e00);
    if (a >= 65520.0) return (uint16_t)(sign | 0x7c00);
    if (a < ldexp(1, -14)) return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(a, 24)));
    frexp(a, &exponent);
    scaled = nearbyint(ldexp(a, 11 - exponent)); /* 1024..2048 */
    return (uint16_t)(sign | (uint16_t)(((exponent + 13) << 10) + ((int)scaled - 1024)));
}

static uint16_t float_to_bfloat(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if (isnan(f)) return (uint16_t)((bits >> 16) | 0x40);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static int is_float(lks_dtype d)
{
    return d == LKS_FLOAT32 || d == LKS_FLOAT64 || d == LKS_FLOAT16 || d == LKS_BFLOAT16;
}

static double read_float(lks_dtype from, const char *p)
{
    float f;
    double d;
    uint16_t h;

    switch (from) {
    case LKS_FLOAT32: memcpy(&f, p, 4); return (double)f;
    case LKS_FLOAT64: memcpy(&d, p, 8); return d;
    default: memcpy(&h, p, 2); return from == LKS_FLOAT16 ? half_to_double(h) : bfloat_to_double(h);
    }
}

/* uint64 above INT64_MAX comes back negative; the writer of uint64 undoes that. */
static int64_t read_int(lks_dtype from, const char *p)
{
    int64_t i64 = 0;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;

    switch (from) {
    case LKS_INT64:
    case LKS_UINT64: memcpy(&i64, p, 8); return i64;
    case LKS_INT32: memcpy(&i32, p, 4); return i32;
    case LKS_UINT32: memcpy(&u32, p, 4); return u32;
    case LKS_INT16: memcpy(&i16, p, 2); return i16;
    case LKS_UINT16: memcpy(&u16, p, 2); return u16;
    case LKS_INT8: return *(const signed char *)p;
    case LKS_BOOL: return *p != 0;
    default: return *(const unsigned char *)p;
    }
}

static int64_t saturate(double v, double low, double high, int64_t lowest, int64_t highest)
{
    if (isnan(v)) return 0;
    if (v <= low) return lowest;
    if (v >= high) return highest;
    return (int64_t)v;
}

static int64_t float_to_int(double v, lks_dtype to)
{
    switch (to) {
    case LKS_INT8: return saturate(v, -128, 127, -128, 127);
    case LKS_UINT8: return saturate(v, 0, 255, 0, 255);
    case LKS_INT16: return saturate(v, -32768, 32767, -32768, 32767);
    case LKS_UINT16: return saturate(v, 0, 65535, 0, 65535);
    case LKS_INT32: return saturate(v, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX);
    case LKS_UINT32: return saturate(v, 0, UINT32_MAX, 0, UINT32_MAX);
    case LKS_UINT64:
        if (v >= 0x1p64) return -1;
        if (v >= 0x1p63) return (int64_t)(uint64_t)v;
        return saturate(v, 0, 0x1p63, 0, INT64_MAX);
    default: return saturate(v, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
    }
}

static void write_float(lks_dtype to, char *p, double d, float f)
{
    uint16_t h;

    switch (to) {
    case LKS_FLOAT32: memcpy(p, &f, 4); return;
    case LKS_FLOAT64: memcpy(p, &d, 8); return;
    case LKS_FLOAT16: h = double_to_half(d); break;
    default: h = float_to_bfloat(f); break;
    }
    memcpy(p, &h, 2);
}

static void write_int(lks_dtype to, char *p, int64_t v)
{
    switch (lks_dtype_size(to)) {
    case 8: memcpy(p, &v, 8); return;
    case 4: {
        uint32_t x = (uint32_t)v;
        memcpy(p, &x, 4);
        return;
    }
    case 2: {
        uint16_t x = (uint16_t)v;
        memcpy(p, &x, 2);
        return;
    }
    default: *(uint8_t *)p = (uint8_t)v; return;
    }
}

static void convert_one(lks_dtype from, const char *src, lks_dtype to, char *dst)
{
    if (is_float(from)) {
        double d = read_float(from, src);
        if (is_float(to)) write_float(to, dst, d, (float)d);
        else if (to == LKS_BOOL) *dst = (char)(d != 0);
        else write_int(to, dst, float_to_int(d, to));
        return;
    }
    int64_t i = read_int(from, src);
    if (is_float(to)) {
        double d = from == LKS_UINT64 ? (double)(uint64_t)i : (double)i;
        write_float(to, dst, d, from == LKS_UINT64 ? (float)(uint64_t)i : (float)i);
    } else if (to == LKS_BOOL) {
        *dst = (char)(i != 0);
    } else {
        write_int(to, dst, i);
    }
}

void lks__convert(lks_dtype from, const void *src, lks_dtype to, void *dst, int64_t n)
{
    size_t a = lks_dtype_size(from), b = lks_dtype_size(to);

    if (from == to) {
        if (n > 0) memcpy(dst, src, (size_t)n * a);
        return;
    }
    if (from == LKS_UINT8 && to == LKS_FLOAT32) {
        for (int64_t i = 0; i < n; i++) ((float *)dst)[i] = (float)((const uint8_t *)src)[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        convert_one(from, (const char *)src + (size_t)i * a, to, (char *)dst + (size_t)i * b);
}
