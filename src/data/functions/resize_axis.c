/* resize_axis.c - which inputs make up which output along one axis, and with what weights.
 *
 * The formulas are those of TensorFlow's four kernels: bilinear (two taps), bicubic (Keys' kernel read from a table of 1,024
 * steps), area (shares of covered pixels) and scale-and-translate (a kernel function, widened by the scale where
 * antialiasing is asked for). All arithmetic is float32, as theirs, so that the choice of pixels is the same.
 */
#include <math.h>
#include <string.h>

#include "resize.h"

enum { TABLE = 1024 }; /* steps of the bicubic table */
static const float PI = 3.14159265358979f;

static float lanczos(float x, float radius)
{
    if (x > radius) return 0;
    if (x <= 1e-3f) return 1;
    return radius * sinf(PI * x) * sinf(PI * x / radius) / (PI * PI * x * x);
}

static float gaussian(float x)
{
    const float radius = 1.5f, sigma = radius / 3.0f;

    return x >= radius ? 0 : expf(-x * x / (2.0f * sigma * sigma));
}

static float keys(float x)
{
    if (x >= 2.0f) return 0;
    if (x >= 1.0f) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
    return (1.5f * x - 2.5f) * x * x + 1.0f;
}

static float mitchell(float x)
{
    if (x >= 2.0f) return 0;
    if (x >= 1.0f) return ((-7.0f / 18.0f * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
    return (7.0f / 6.0f * x - 2.0f) * x * x + 8.0f / 9.0f;
}

static float kernel(lks_resize_method method, float x)
{
    switch (method) {
    case LKS_RESIZE_LANCZOS3: return lanczos(x, 3);
    case LKS_RESIZE_LANCZOS5: return lanczos(x, 5);
    case LKS_RESIZE_GAUSSIAN: return gaussian(x);
    case LKS_RESIZE_MITCHELLCUBIC: return mitchell(x);
    case LKS_RESIZE_BICUBIC: return keys(x);
    default: return x < 1.0f ? 1.0f - x : 0; /* bilinear */
    }
}

static float radius_of(lks_resize_method method)
{
    switch (method) {
    case LKS_RESIZE_LANCZOS3: return 3;
    case LKS_RESIZE_LANCZOS5: return 5;
    case LKS_RESIZE_GAUSSIAN: return 1.5f;
    case LKS_RESIZE_MITCHELLCUBIC:
    case LKS_RESIZE_BICUBIC: return 2;
    default: return 1;
    }
}

static float step_of(int64_t in, int64_t out)
{
    return (float)in / (float)out;
}

/* Scale-and-translate counts the other way round: its step is one over the scale. */
static float inverse_step(int64_t in, int64_t out)
{
    return 1.0f / ((float)out / (float)in);
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static bool is_kernel(lks_resize_method method, bool antialias)
{
    return method != LKS_RESIZE_NEAREST && method != LKS_RESIZE_AREA &&
           (antialias || (method != LKS_RESIZE_BILINEAR && method != LKS_RESIZE_BICUBIC));
}

static int64_t taps_of(int64_t in, int64_t out, lks_resize_method method, bool antialias)
{
    int64_t taps;

    if (is_kernel(method, antialias)) {
        float step = inverse_step(in, out), wide = antialias && step > 1 ? step : 1;
        taps = 2 * (int64_t)ceilf(radius_of(method) * wide) + 1;
    } else if (method == LKS_RESIZE_AREA) {
        taps = (int64_t)ceilf(step_of(in, out)) + 2;
    } else {
        taps = method == LKS_RESIZE_BICUBIC ? 4 : method == LKS_RESIZE_NEAREST ? 1 : 2;
    }
    return taps < in ? taps : in;
}

size_t lks__axis_bytes(int64_t in, int64_t out, lks_resize_method method, bool antialias)
{
    size_t taps = (size_t)taps_of(in, out, method, antialias);

    return (size_t)out * (taps + 2) * 4;
}

static void nearest(lks_axis *a, int64_t i, int64_t in)
{
    int64_t at = (int64_t)floorf(((float)i + 0.5f) * step_of(in, a->n));

    a->start[i] = (int32_t)clamp(at, 0, in - 1);
    a->count[i] = 1;
    a->weight[i * a->taps] = 1;
}

static void bilinear(lks_axis *a, int64_t i, int64_t in)
{
    float at = ((float)i + 0.5f) * step_of(in, a->n) - 0.5f, below = floorf(at);
    int64_t low = clamp((int64_t)below, 0, in - 1), high = clamp((int64_t)ceilf(at), 0, in - 1);
    float *w = a->weight + i * a->taps;

    a->start[i] = (int32_t)low;
    a->count[i] = high > low ? 2 : 1;
    /* Where there is no second pixel, its share is 0 (the only weight where the axis has one input). */
    w[0] = 1;
    w[a->taps - 1] = high > low ? at - below : 0;
    if (high > low) w[0] = 1.0f - w[1];
}

/* Keys' kernel at offset/TABLE (near) and one further (far). */
static float bicubic_table(int64_t offset, bool far)
{
    const float a = -0.5f;
    float x = (float)offset / (float)TABLE;

    if (!far) return ((a + 2) * x - (a + 3)) * x * x + 1;
    x += 1.0f;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static void bicubic(lks_axis *a, int64_t i, int64_t in)
{
    float at = ((float)i + 0.5f) * step_of(in, a->n) - 0.5f, below = floorf(at), sum = 0;
    int64_t first = (int64_t)below - 1, offset = lrintf((at - below) * TABLE), low = clamp(first, 0, in - 1);
    const float four[4] = { bicubic_table(offset, true), bicubic_table(offset, false),
                            bicubic_table(TABLE - offset, false), bicubic_table(TABLE - offset, true) };
    float *w = a->weight + i * a->taps;

    a->start[i] = (int32_t)low;
    a->count[i] = 0;
    for (int k = 0; k < 4; k++)
        if (first + k >= 0 && first + k < in) sum += w[a->count[i]++] = four[k];
    for (int k = 0; k < a->count[i] && sum != 0; k++) w[k] *= 1.0f / sum;
}

static void area(lks_axis *a, int64_t i, int64_t in)
{
    float step = step_of(in, a->n), begin = (float)i * step, end = (float)(i + 1) * step;
    int64_t first = clamp((int64_t)floorf(begin), 0, in - 1), last = clamp((int64_t)ceilf(end), first + 1, in);
    float *w = a->weight + i * a->taps;

    if (last - first > a->taps) last = first + a->taps;
    a->start[i] = (int32_t)first;
    a->count[i] = (int32_t)(last - first);
    for (int64_t k = first; k < last; k++) {
        float from = (float)k < begin ? begin : (float)k, to = (float)(k + 1) > end ? end : (float)(k + 1);
        *w++ = from == begin && to == end ? 1.0f : (to - from) / step;
    }
}

static void widened(lks_axis *a, int64_t i, int64_t in, lks_resize_method method, bool antialias)
{
    float step = inverse_step(in, a->n), wide = antialias && step > 1 ? step : 1;
    float at = ((float)i + 0.5f) * step, reach = radius_of(method) * wide, sum = 0;
    int64_t first = clamp((int64_t)ceilf(at - reach - 0.5f), 0, in - 1);
    int64_t last = clamp((int64_t)floorf(at + reach - 0.5f), 0, in - 1) + 1;
    float *w = a->weight + i * a->taps;

    if (last - first > a->taps) last = first + a->taps;
    a->start[i] = (int32_t)first;
    a->count[i] = (int32_t)(last - first);
    for (int64_t k = first; k < last; k++) {
        float x = (float)k + 0.5f - at;
        sum += w[k - first] = kernel(method, fabsf(x * (1.0f / wide)));
    }
    if (fabsf(sum) < 1000 * 1.17549435e-38f) a->count[i] = 0;
    for (int64_t k = 0; k < a->count[i]; k++) w[k] *= 1.0f / sum;
}

void lks__axis_build(lks_axis *a, int64_t in, int64_t out, lks_resize_method method, bool antialias, void *memory)
{
    a->n = out;
    a->taps = (int)taps_of(in, out, method, antialias);
    a->start = memory;
    a->count = a->start + out;
    a->weight = (float *)(a->count + out);
    for (int64_t i = 0; i < out; i++) {
        if (is_kernel(method, antialias)) widened(a, i, in, method, antialias);
        else if (method == LKS_RESIZE_NEAREST) nearest(a, i, in);
        else if (method == LKS_RESIZE_AREA) area(a, i, in);
        else if (method == LKS_RESIZE_BICUBIC) bicubic(a, i, in);
        else bilinear(a, i, in);
    }
}
