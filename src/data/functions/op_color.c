/* op_color.c - brightness, contrast, saturation, hue, grey, and the inputs that published networks want.
 *
 * Colours are computed in float32 from 0 to 1; uint8 pictures go there and back as tf.image does: times 1/255, and times
 * 255.5, cut off, on the way back. */
#include <math.h>
#include <string.h>

#include "op.h"
#include "tensor/tensor.h"

static float load(const void *data, bool bytes, int64_t i)
{
    return bytes ? (float)((const uint8_t *)data)[i] * (1.0f / 255.0f) : ((const float *)data)[i];
}

static void store(void *data, bool bytes, int64_t i, float x)
{
    if (!bytes) {
        ((float *)data)[i] = x;
        return;
    }
    x *= 255.5f;
    ((uint8_t *)data)[i] = x >= 255 ? 255 : x > 0 ? (uint8_t)x : 0; /* not a number: 0 */
}

static lks_status color_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    if (*dtype == LKS_UINT8 || *dtype == LKS_FLOAT32) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s takes uint8 or float32 pictures, found %s; cast them first", op->class->name,
                     lks_dtype_name(*dtype));
}

static lks_status three_channels(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t channels;

    LKS_TRY(color_shape(op, dtype, shape));
    channels = shape->dim[shape->rank - 1];
    if (channels == 3 || channels == -1) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s takes pictures of 3 channels, found %lld", op->class->name, (long long)channels);
}

/* x[0], or drawn between x[0] and x[1]. */
static float amount(const lks_op *op, const lks_op_call *call)
{
    if (!op->class->random) return (float)op->x[0];
    return (float)(op->x[0] + (double)lks__op_draw(call, 0) * (op->x[1] - op->x[0]));
}

static lks_status brightness(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    bool bytes = in->dtype == LKS_UINT8;
    int64_t n = lks_shape_size(&in->shape);
    float delta = amount(op, call);

    (void)out;
    for (int64_t i = 0; i < n; i++) store(data, bytes, i, load(in->data, bytes, i) + delta);
    return LKS_OK;
}

static lks_status contrast(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    bool bytes = in->dtype == LKS_UINT8;
    const int64_t n = lks_shape_size(&in->shape), channels = in->shape.dim[2], pixels = channels > 0 ? n / channels : 0;
    float factor = amount(op, call);

    (void)out;
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0;
        float mean;
        for (int64_t i = c; i < n; i += channels) sum += (double)load(in->data, bytes, i);
        mean = n > 0 ? (float)(sum / (double)pixels) : 0;
        for (int64_t i = c; i < n; i += channels)
            store(data, bytes, i, (load(in->data, bytes, i) - mean) * factor + mean);
    }
    return LKS_OK;
}

/* Hue in sixths of a turn, saturation and value. */
static void to_hsv(const float rgb[3], float hsv[3])
{
    float r = rgb[0], g = rgb[1], b = rgb[2], high = r > g ? r : g, low = r < g ? r : g, range;

    high = high > b ? high : b;
    low = low < b ? low : b;
    range = high - low;
    hsv[1] = high > 0 ? range / high : 0;
    hsv[2] = high;
    if (!(range > 0)) hsv[0] = 0;
    else if (r == high) hsv[0] = (g - b) / range + (g < b ? 6.0f : 0.0f);
    else if (g == high) hsv[0] = 2 + (b - r) / range;
    else hsv[0] = 4 + (r - g) / range;
}

static void from_hsv(const float hsv[3], float rgb[3])
{
    for (int i = 0; i < 3; i++) {
        float k = hsv[0] + (float)(5 - 2 * i), t; /* red 5, green 3, blue 1 */
        k -= 6 * floorf(k / 6);
        t = k < 4 - k ? k : 4 - k;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        rgb[i] = hsv[2] - hsv[2] * hsv[1] * t;
    }
}

static lks_status recolor(const lks_op *op, lks_op_call *call, const lks_view *in, bool hue, void *data)
{
    bool bytes = in->dtype == LKS_UINT8;
    int64_t n = lks_shape_size(&in->shape);
    float by = amount(op, call);

    for (int64_t i = 0; i + 2 < n; i += 3) {
        float rgb[3] = { load(in->data, bytes, i), load(in->data, bytes, i + 1), load(in->data, bytes, i + 2) }, hsv[3];
        to_hsv(rgb, hsv);
        if (hue) hsv[0] += 6 * by;
        else hsv[1] = hsv[1] * by < 0 ? 0 : hsv[1] * by > 1 ? 1 : hsv[1] * by;
        from_hsv(hsv, rgb);
        for (int k = 0; k < 3; k++) store(data, bytes, i + k, rgb[k]);
    }
    return LKS_OK;
}

static lks_status saturation(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    (void)out;
    return recolor(op, call, in, false, data);
}

static lks_status hue(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    (void)out;
    return recolor(op, call, in, true, data);
}

#define COLOR(text, chance, shape_of, function)                                               \
    {                                                                                         \
        .name = text, .per_image = true, .random = chance, .shape = shape_of, .run = function \
    }
static const lks_op_class brightness_class[2] = { COLOR("adjust_brightness", false, color_shape, brightness),
                                                  COLOR("random_brightness", true, color_shape, brightness) };
static const lks_op_class contrast_class[2] = { COLOR("adjust_contrast", false, color_shape, contrast),
                                                COLOR("random_contrast", true, color_shape, contrast) };
static const lks_op_class saturation_class[2] = { COLOR("adjust_saturation", false, three_channels, saturation),
                                                  COLOR("random_saturation", true, three_channels, saturation) };
static const lks_op_class hue_class[2] = { COLOR("adjust_hue", false, three_channels, hue),
                                           COLOR("random_hue", true, three_channels, hue) };

static const lks_map_fn *color(const lks_op_class class[2], double x)
{
    char number[LKS_OP_NUMBER];

    if (!isfinite(x)) {
        lks__fail(LKS_E_ARG, "%s takes a finite number, found %s", class[0].name, lks__op_number(x, number));
        return lks__op_refused(class[0].name);
    }
    return lks__op_function(&(lks_op){ .class = &class[0], .x = { x } }, "%s(%s)", class[0].name,
                            lks__op_number(x, number));
}

static const lks_map_fn *random_color(const lks_op_class class[2], double lower, double upper, bool good)
{
    char a[LKS_OP_NUMBER], b[LKS_OP_NUMBER];

    if (!good || !(lower <= upper) || !isfinite(lower) || !isfinite(upper)) {
        lks__fail(LKS_E_ARG, "%s: the range from %s to %s has no meaning", class[1].name, lks__op_number(lower, a),
                  lks__op_number(upper, b));
        return lks__op_refused(class[1].name);
    }
    return lks__op_function(&(lks_op){ .class = &class[1], .x = { lower, upper } }, "%s(%s, %s)", class[1].name,
                            lks__op_number(lower, a), lks__op_number(upper, b));
}

const lks_map_fn *lks_fn_adjust_brightness(double delta)
{
    return color(brightness_class, delta);
}

const lks_map_fn *lks_fn_adjust_contrast(double factor)
{
    return color(contrast_class, factor);
}

const lks_map_fn *lks_fn_adjust_saturation(double factor)
{
    return color(saturation_class, factor);
}

const lks_map_fn *lks_fn_adjust_hue(double delta)
{
    return color(hue_class, delta);
}

const lks_map_fn *lks_fn_random_brightness(double max_delta)
{
    return random_color(brightness_class, -max_delta, max_delta, true);
}

const lks_map_fn *lks_fn_random_contrast(double lower, double upper)
{
    return random_color(contrast_class, lower, upper, lower >= 0);
}

const lks_map_fn *lks_fn_random_saturation(double lower, double upper)
{
    return random_color(saturation_class, lower, upper, lower >= 0);
}

const lks_map_fn *lks_fn_random_hue(double max_delta)
{
    return random_color(hue_class, -max_delta, max_delta, max_delta <= 0.5);
}

/* ---- grey and back ---- */

static lks_status grey_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(three_channels(op, dtype, shape));
    shape->dim[shape->rank - 1] = 1;
    return LKS_OK;
}

static lks_status grey(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    bool bytes = in->dtype == LKS_UINT8;
    int64_t n = lks_shape_size(&out->shape);

    (void)op, (void)call;
    for (int64_t i = 0; i < n; i++)
        store(data, bytes, i,
              load(in->data, bytes, 3 * i) * 0.2989f + load(in->data, bytes, 3 * i + 1) * 0.587f +
                  load(in->data, bytes, 3 * i + 2) * 0.114f);
    return LKS_OK;
}

static const lks_op_class grey_class = {
    .name = "rgb_to_grayscale", .per_image = true, .shape = grey_shape, .run = grey
};

const lks_map_fn *lks_fn_rgb_to_grayscale(void)
{
    return lks__op_function(&(lks_op){ .class = &grey_class }, "rgb_to_grayscale");
}

static lks_status spread_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    if (shape->dim[at + 2] != 1 && shape->dim[at + 2] != -1)
        return lks__fail(LKS_E_SHAPE, "grayscale_to_rgb takes pictures of 1 channel, found %lld",
                         (long long)shape->dim[at + 2]);
    shape->dim[at + 2] = 3;
    return LKS_OK;
}

static lks_status spread(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    size_t item = lks_dtype_size(in->dtype);
    const char *from = in->data;
    char *to = data;

    (void)op, (void)call, (void)out;
    for (int64_t n = lks_shape_size(&in->shape); n > 0; n--, from += item)
        for (int c = 0; c < 3; c++, to += item) memcpy(to, from, item);
    return LKS_OK;
}

static const lks_op_class spread_class = {
    .name = "grayscale_to_rgb", .per_image = true, .shape = spread_shape, .run = spread
};

const lks_map_fn *lks_fn_grayscale_to_rgb(void)
{
    return lks__op_function(&(lks_op){ .class = &spread_class }, "grayscale_to_rgb");
}

/* ---- what networks take ---- */

static lks_status float_picture(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(color_shape(op, dtype, shape));
    *dtype = LKS_FLOAT32;
    return LKS_OK;
}

static float raw(const lks_view *in, int64_t i)
{
    return in->dtype == LKS_UINT8 ? (float)((const uint8_t *)in->data)[i] : ((const float *)in->data)[i];
}

static lks_status standardize(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    int64_t n = lks_shape_size(&in->shape);
    double sum = 0, squares = 0, mean, deviation, least = n > 0 ? 1 / sqrt((double)n) : 1;
    float *y = data;

    (void)op, (void)call, (void)out;
    for (int64_t i = 0; i < n; i++) sum += (double)raw(in, i);
    mean = n > 0 ? sum / (double)n : 0;
    for (int64_t i = 0; i < n; i++) squares += ((double)raw(in, i) - mean) * ((double)raw(in, i) - mean);
    deviation = n > 0 ? sqrt(squares / (double)n) : 1;
    if (deviation < least) deviation = least;
    for (int64_t i = 0; i < n; i++) y[i] = (raw(in, i) - (float)mean) / (float)deviation;
    return LKS_OK;
}

static const lks_op_class standardize_class = {
    .name = "standardize", .per_image = true, .shape = float_picture, .run = standardize
};

const lks_map_fn *lks_fn_standardize(void)
{
    return lks__op_function(&(lks_op){ .class = &standardize_class }, "standardize");
}

/* n[0]: mode, in this order. */
static const char *const modes[] = { "tf", "caffe", "torch" };

static lks_status preprocess_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    if (op->n[0] != 0) LKS_TRY(three_channels(op, dtype, shape));
    return float_picture(op, dtype, shape);
}

static lks_status preprocess(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    static const float bgr_mean[3] = { 103.939f, 116.779f, 123.68f };
    static const float mean[3] = { 0.485f, 0.456f, 0.406f }, deviation[3] = { 0.229f, 0.224f, 0.225f };
    int64_t n = lks_shape_size(&in->shape);
    float *y = data;

    (void)call, (void)out;
    if (op->n[0] == 0) {
        for (int64_t i = 0; i < n; i++) y[i] = raw(in, i) / 127.5f - 1.0f;
        return LKS_OK;
    }
    for (int64_t i = 0; i + 2 < n; i += 3)
        for (int k = 0; k < 3; k++) {
            if (op->n[0] == 1) y[i + k] = raw(in, i + 2 - k) - bgr_mean[k];
            else y[i + k] = (raw(in, i + k) / 255.0f - mean[k]) / deviation[k];
        }
    return LKS_OK;
}

static const lks_op_class preprocess_class = {
    .name = "preprocess", .per_image = true, .shape = preprocess_shape, .run = preprocess
};

const lks_map_fn *lks_fn_preprocess(const char *mode)
{
    for (int i = 0; mode != NULL && i < 3; i++)
        if (strcmp(mode, modes[i]) == 0)
            return lks__op_function(&(lks_op){ .class = &preprocess_class, .n = { i } }, "preprocess(%s)", mode);
    lks__fail(LKS_E_ARG, "preprocess is \"tf\" (MobileNet), \"caffe\" (ResNet50) or \"torch\", not \"%s\"",
              mode != NULL ? mode : "NULL");
    return lks__op_refused("preprocess");
}
