/* resize.c - two passes a row: inputs are mixed along the columns into one row of floats (long loops over contiguous memory), and that
 * row is mixed along itself. No whole picture is kept between the passes. */
#include "resize.h"

#include <string.h>

#include "base/alloc.h"
#include "tensor/tensor.h"

static const char *const names[] = { "bilinear", "nearest",  "bicubic",  "area",
                                     "lanczos3", "lanczos5", "gaussian", "mitchellcubic" };

lks_status lks__resize_method(const char *name, lks_resize_method *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name == NULL || strcmp(name, names[i]) == 0) {
            *out = (lks_resize_method)i;
            return LKS_OK;
        }
    return lks__fail(LKS_E_ARG,
                     "unknown interpolation \"%s\": it is bilinear, nearest, bicubic, area, lanczos3, lanczos5, "
                     "gaussian or mitchellcubic",
                     name);
}

const char *lks__resize_method_name(lks_resize_method method)
{
    return names[method];
}

void *lks__scratch_room(lks_scratch *s, size_t bytes)
{
    if (bytes > s->size) {
        lks__free(s->data);
        s->size = 0;
        s->data = lks__malloc(bytes);
        if (s->data == NULL) {
            lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of pixels", bytes);
            return NULL;
        }
        s->size = bytes;
    }
    return s->data;
}

void lks__scratch_free(lks_scratch *s)
{
    lks__free(s->data);
    *s = (lks_scratch){ NULL, 0 };
}

const void *lks__pixel(const lks_pixels *p, int64_t y, int64_t x)
{
    return (const char *)p->data + (size_t)(y * p->stride + x * p->channels) * lks_dtype_size(p->dtype);
}

lks_pixels lks__pixels_crop(const lks_pixels *p, int64_t top, int64_t left, int64_t height, int64_t width)
{
    return (lks_pixels){ lks__pixel(p, top, left), p->dtype, height, width, p->channels, p->stride };
}

/* ---- along the columns: out[i] = sum of w * row[i] ---- */

static void mix2_u8(const uint8_t *restrict a, const uint8_t *restrict b, float w, int64_t n, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        float x = (float)(int)a[i], y = (float)(int)b[i];
        out[i] = x + (y - x) * w;
    }
}

static void mix2_f32(const float *restrict a, const float *restrict b, float w, int64_t n, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] + (b[i] - a[i]) * w;
}

static void add_u8(const uint8_t *restrict a, float w, int64_t n, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) out[i] += w * (float)(int)a[i];
}

static void add_f32(const float *restrict a, float w, int64_t n, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) out[i] += w * a[i];
}

static void mix_rows(const lks_pixels *in, const lks_axis *axis, int64_t y, bool two, float *out)
{
    const float *w = axis->weight + y * axis->taps;
    int64_t n = in->width * in->channels, first = axis->start[y];

    if (two) {
        const void *a = lks__pixel(in, first, 0), *b = lks__pixel(in, first + axis->count[y] - 1, 0);
        float share = w[axis->taps - 1];
        if (in->dtype == LKS_UINT8) mix2_u8(a, b, share, n, out);
        else mix2_f32(a, b, share, n, out);
        return;
    }
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < axis->count[y]; k++) {
        if (in->dtype == LKS_UINT8) add_u8(lks__pixel(in, first + k, 0), w[k], n, out);
        else add_f32(lks__pixel(in, first + k, 0), w[k], n, out);
    }
}

/* ---- along a row; the number of channels is a constant wherever it is usual, for the compiler ---- */

/* The last weight is the share of the second pixel, 0 where there is none. */
static inline void mix2_along(const float *restrict in, const lks_axis *axis, int64_t c, float *restrict out)
{
    const int32_t *restrict start = axis->start, *restrict count = axis->count;
    const float *restrict weight = axis->weight + axis->taps - 1;
    int64_t n = axis->n, taps = axis->taps;

    for (int64_t x = 0; x < n; x++, out += c) {
        const float *restrict a = in + start[x] * c, *restrict b = a + (count[x] - 1) * c;
        float w = weight[x * taps];
        for (int64_t k = 0; k < c; k++) out[k] = a[k] + (b[k] - a[k]) * w;
    }
}

static inline void mix_along(const float *restrict in, const lks_axis *axis, int64_t c, float *restrict out)
{
    const int32_t *restrict start = axis->start, *restrict count = axis->count;
    int64_t n = axis->n, taps = axis->taps;

    for (int64_t x = 0; x < n; x++, out += c) {
        const float *restrict a = in + start[x] * c, *restrict w = axis->weight + x * taps;
        for (int64_t k = 0; k < c; k++) out[k] = 0;
        for (int t = 0; t < count[x]; t++, a += c)
            for (int64_t k = 0; k < c; k++) out[k] += w[t] * a[k];
    }
}

static void along(const float *in, const lks_axis *axis, int64_t c, bool two, float *out)
{
    if (two && c == 3) mix2_along(in, axis, 3, out);
    else if (two && c == 1) mix2_along(in, axis, 1, out);
    else if (two) mix2_along(in, axis, c, out);
    else if (c == 3) mix_along(in, axis, 3, out);
    else if (c == 1) mix_along(in, axis, 1, out);
    else mix_along(in, axis, c, out);
}

static void pick_nearest(const lks_pixels *in, const lks_axis *rows, const lks_axis *columns, char *out)
{
    size_t pixel = (size_t)in->channels * lks_dtype_size(in->dtype);

    for (int64_t y = 0; y < rows->n; y++) {
        const char *row = lks__pixel(in, rows->start[y], 0);
        for (int64_t x = 0; x < columns->n; x++, out += pixel)
            memcpy(out, row + (size_t)columns->start[x] * pixel, pixel);
    }
}

/* Dtypes other than uint8 and float32 become float32 first. */
static lks_pixels as_float(const lks_pixels *in, float *to)
{
    for (int64_t y = 0; y < in->height; y++)
        lks__convert(in->dtype, lks__pixel(in, y, 0), LKS_FLOAT32, to + y * in->width * in->channels,
                     in->width * in->channels);
    return (lks_pixels){ to, LKS_FLOAT32, in->height, in->width, in->channels, in->width * in->channels };
}

lks_status lks__resize(const lks_pixels *in, int64_t height, int64_t width, lks_resize_method method, bool antialias,
                       void *out, lks_scratch *scratch)
{
    bool two = method == LKS_RESIZE_BILINEAR && !antialias, nearest = method == LKS_RESIZE_NEAREST;
    bool convert = !nearest && in->dtype != LKS_UINT8 && in->dtype != LKS_FLOAT32;
    size_t row = (size_t)(in->width * in->channels) * sizeof(float);
    size_t for_rows = lks__axis_bytes(in->height, height, method, antialias);
    size_t for_columns = lks__axis_bytes(in->width, width, method, antialias);
    char *memory;
    lks_axis rows, columns;
    lks_pixels source = *in;

    if (in->height > INT32_MAX || in->width > INT32_MAX)
        return lks__fail(LKS_E_LIMIT, "a picture of %lld x %lld pixels is too large", (long long)in->height,
                         (long long)in->width);
    memory = lks__scratch_room(scratch, row + for_rows + for_columns + (convert ? row * (size_t)in->height : 0));
    if (memory == NULL) return LKS_E_NOMEM;
    lks__axis_build(&rows, in->height, height, method, antialias, memory + row);
    lks__axis_build(&columns, in->width, width, method, antialias, memory + row + for_rows);
    if (nearest) {
        pick_nearest(in, &rows, &columns, out);
        return LKS_OK;
    }
    if (convert) source = as_float(in, (float *)(memory + row + for_rows + for_columns));
    if (two && in->channels == 3 && in->dtype == LKS_UINT8) {
        lks__resize_rgb(in, &rows, &columns, out);
        return LKS_OK;
    }
    for (int64_t y = 0; y < height; y++) {
        mix_rows(&source, &rows, y, two, (float *)memory);
        along((const float *)memory, &columns, in->channels, two, (float *)out + y * width * in->channels);
    }
    return LKS_OK;
}
