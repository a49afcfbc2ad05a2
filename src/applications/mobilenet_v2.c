/* mobilenet_v2.c - MobileNetV2, with the names, shapes and order of layers that Keras gives it (spec: Applications), so that its
 * weights files fit.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "lockstep/applications.h"
#include "model/names.h"

enum { NAME = 64 };

/* `repeats` blocks that widen t times and put out c channels before alpha; the first has the stride. */
static const struct stage {
    int64_t t, c, repeats, stride;
} stages[] = {
    { 1, 16, 1, 1 }, { 6, 24, 2, 2 },  { 6, 32, 3, 2 },  { 6, 64, 4, 2 },
    { 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 },
};

/* The multiple of 8 that is nearest to v, but not less than nine tenths of it. */
static int64_t divisible(double v)
{
    int64_t n = (int64_t)(v + 4) / 8 * 8;

    if (n < 8) n = 8;
    return (double)n < 0.9 * v ? n + 8 : n;
}

/* "block_3_" + "expand"; block 0 has a name of its own. */
static const char *layer_name(char name[NAME], int64_t block, const char *part)
{
    if (block == 0) snprintf(name, NAME, "expanded_conv_%s", part);
    else snprintf(name, NAME, "block_%lld_%s", (long long)block, part);
    return name;
}

static int64_t channels(lks_node x)
{
    return lks_node_shape(x).dim[3];
}

static lks_node normalise(lks_node x, const char *name)
{
    return lks_batch_normalization(x, .name = name, .epsilon = 1e-3, .momentum = 0.999);
}

static lks_node relu6(lks_node x, const char *name)
{
    return lks_relu(x, .name = name, .max_value = 6.0);
}

static lks_node pointwise(lks_node x, int64_t filters, const char *padding, const char *name)
{
    return lks_conv2d(x, .name = name, .filters = filters, .kernel_size = { 1, 1 }, .padding = padding,
                      .use_bias = LKS_FALSE);
}

static lks_node expand(lks_node x, int64_t block, int64_t t)
{
    char name[NAME];

    x = pointwise(x, t * channels(x), "same", layer_name(name, block, "expand"));
    x = normalise(x, layer_name(name, block, "expand_BN"));
    return relu6(x, layer_name(name, block, "expand_relu"));
}

/* Keras' correct_pad of a 3x3 kernel: one row above where the size is odd, one below. */
static int64_t above(int64_t size)
{
    return size % 2;
}

static lks_node depthwise(lks_node x, int64_t block, int64_t stride)
{
    char name[NAME];
    lks_shape s = lks_node_shape(x);

    if (stride == 2)
        x = lks_zero_padding2d(
            x, .name = layer_name(name, block, "pad"),
            .padding = { { above(s.dim[1]) ? 1 : LKS_ZERO_INT, 1 }, { above(s.dim[2]) ? 1 : LKS_ZERO_INT, 1 } });
    x = lks_depthwise_conv2d(x, .name = layer_name(name, block, "depthwise"), .kernel_size = { 3, 3 },
                             .strides = { stride, stride }, .padding = stride == 1 ? "same" : "valid",
                             .use_bias = LKS_FALSE);
    x = normalise(x, layer_name(name, block, "depthwise_BN"));
    return relu6(x, layer_name(name, block, "depthwise_relu"));
}

static lks_node inverted_residual(lks_node in, int64_t block, int64_t t, int64_t filters, int64_t stride)
{
    char name[NAME];
    lks_node x = block > 0 ? expand(in, block, t) : in;

    x = depthwise(x, block, stride);
    x = pointwise(x, filters, "same", layer_name(name, block, "project"));
    x = normalise(x, layer_name(name, block, "project_BN"));
    if (stride != 1 || channels(in) != filters) return x;
    return lks_add(2, ((const lks_node[]){ in, x }), .name = layer_name(name, block, "add"));
}

static lks_node body(lks_node x, double alpha)
{
    int64_t block = 0;

    x = lks_conv2d(x, .name = "Conv1", .filters = divisible(32 * alpha), .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                   .padding = "same", .use_bias = LKS_FALSE);
    x = relu6(normalise(x, "bn_Conv1"), "Conv1_relu");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const struct stage *s = &stages[i];
        int64_t filters = divisible((double)(int64_t)((double)s->c * alpha));
        for (int64_t k = 0; k < s->repeats; k++, block++)
            x = inverted_residual(x, block, s->t, filters, k == 0 ? s->stride : 1);
    }
    x = pointwise(x, alpha > 1 ? divisible(1280 * alpha) : 1280, "valid", "Conv_1");
    return relu6(normalise(x, "Conv_1_bn"), "out_relu");
}

static lks_node head(lks_node x, const lks_mobilenet_v2_options *o)
{
    if (o->include_top != LKS_FALSE) {
        x = lks_global_average_pooling2d(x);
        return lks_dense(x, .name = "predictions", .units = o->classes, .activation = o->classifier_activation);
    }
    if (strcmp(o->pooling, "avg") == 0) return lks_global_average_pooling2d(x);
    if (strcmp(o->pooling, "max") == 0) return lks_global_max_pooling2d(x);
    return x;
}

/* ---- options ---- */

static void fill_in(const lks_mobilenet_v2_options *given, lks_mobilenet_v2_options *o)
{
    static const int64_t size[3] = { 224, 224, 3 };

    memset(o, 0, sizeof *o);
    if (given != NULL) memcpy(o, given, given->struct_size < sizeof *o ? given->struct_size : sizeof *o);
    if (o->input_shape[0] == 0 && o->input_shape[1] == 0 && o->input_shape[2] == 0)
        memcpy(o->input_shape, size, sizeof size);
    if (o->alpha == 0) o->alpha = 1;
    if (o->classes == 0) o->classes = 1000;
    if (o->pooling == NULL) o->pooling = "none";
    if (o->classifier_activation == NULL) o->classifier_activation = "softmax";
}

static lks_status check(const lks_mobilenet_v2_options *o)
{
    const int64_t *s = o->input_shape;

    if (s[0] < 32 || s[1] < 32 || s[2] < 1)
        return lks__fail(LKS_E_SHAPE,
                         "MobileNetV2: input_shape is (rows, columns, channels) with at least 32 rows and "
                         "columns, got (%lld, %lld, %lld)",
                         (long long)s[0], (long long)s[1], (long long)s[2]);
    if (!(o->alpha > 0 && o->alpha <= 16))
        return lks__fail(LKS_E_ARG, "MobileNetV2: alpha must be above 0, at most 16");
    if (o->classes < 1)
        return lks__fail(LKS_E_ARG, "MobileNetV2: classes must be at least 1, got %lld", (long long)o->classes);
    if (strcmp(o->pooling, "none") != 0 && strcmp(o->pooling, "avg") != 0 && strcmp(o->pooling, "max") != 0)
        return lks__fail(LKS_E_ARG, "MobileNetV2: pooling is \"none\", \"avg\" or \"max\", got \"%.40s\"", o->pooling);
    return LKS_OK;
}

/* "mobilenetv2_1.00_160", whatever the locale. */
static void default_name(const lks_mobilenet_v2_options *o, char name[NAME])
{
    int64_t hundredths = (int64_t)(o->alpha * 100 + 0.5);

    snprintf(name, NAME, "mobilenetv2_%lld.%02lld_%lld", (long long)(hundredths / 100), (long long)(hundredths % 100),
             (long long)o->input_shape[0]);
}

static lks_model *failed(const char *name, lks_status status)
{
    lks_error why = { 0 };
    lks_model *model;

    lks__error_capture(&why, status);
    model = lks__model_alloc(name, name);
    if (model != NULL) model->error = why;
    return model;
}

lks_model *lks_mobilenet_v2_with(const lks_mobilenet_v2_options *options)
{
    lks_mobilenet_v2_options o;
    lks_model *model;
    lks_node in;
    char name[NAME];
    lks_status status;

    fill_in(options, &o);
    default_name(&o, name);
    status = check(&o);
    if (status != LKS_OK) return failed(o.name != NULL ? o.name : name, status);
    in = lks_input(lks_shape(o.input_shape[0], o.input_shape[1], o.input_shape[2]));
    model = lks_model_create(in, head(body(in, o.alpha), &o), .name = o.name != NULL ? o.name : name, .seed = o.seed);
    if (model == NULL || o.weights == NULL || lks_model_status(model) != LKS_OK) return model;
    status = lks_load_weights(model, o.weights);
    if (status != LKS_OK) lks__error_capture(&model->error, status);
    return model;
}

lks_tensor *lks_mobilenet_v2_preprocess(const lks_tensor *images)
{
    lks_tensor *x;
    float *p;

    if (images == NULL) {
        lks__fail(LKS_E_ARG, "lks_mobilenet_v2_preprocess: no images");
        return NULL;
    }
    x = lks_tensor_cast(images, LKS_FLOAT32);
    p = x != NULL ? lks_tensor_data(x) : NULL;
    for (int64_t i = 0; p != NULL && i < lks_tensor_size(x); i++) p[i] = p[i] / 127.5f - 1.0f;
    return x;
}
