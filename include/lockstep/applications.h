/* applications.h - known architectures, layer by layer as Keras names them. */
#ifndef LOCKSTEP_APPLICATIONS_H
#define LOCKSTEP_APPLICATIONS_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* keras.applications.MobileNetV2. Unlike there, `weights` has no default: nothing is downloaded. */
typedef struct lks_mobilenet_v2_options {
    size_t struct_size;
    int64_t input_shape[3];            /* rows, columns (at least 32), channels; default 224, 224, 3 */
    double alpha;                      /* width of all layers; 1 */
    lks_tristate include_top;          /* true: pooling and the classifier "predictions" */
    const char *weights;               /* a .weights.h5 file of such a model; default: drawn initial values */
    const char *pooling;               /* without the top: "none" (default), "avg" or "max" */
    int64_t classes;                   /* of the top; 1000 */
    const char *classifier_activation; /* of the top; "softmax" */
    const char *name;                  /* default: "mobilenetv2_1.00_224" after alpha and rows */
    int64_t seed;                      /* of the initial values; default 0 (or lks_set_seed) */
} lks_mobilenet_v2_options;

/* Images float32 (rows, columns, channels) as lks_mobilenet_v2_preprocess makes them, to class probabilities, or without the top
 * to features (rows / 32, columns / 32, 1280). NULL: no memory. A bad option gives a failed model.
 *
 * A new head on a frozen base, as in Keras:
 *     lks_model *base = lks_mobilenet_v2(.input_shape = { 160, 160, 3 }, .include_top = LKS_FALSE, .weights = file);
 *     lks_model_set_trainable(base, NULL, 0);
 *     lks_node x = lks_global_average_pooling2d(lks_model_output(base, 0));
 *     lks_model *model = lks_model_create(lks_model_input(base, 0), lks_dense(x, .units = 1));
 *     lks_model_release(base);
 */
LKS_API lks_model *lks_mobilenet_v2_with(const lks_mobilenet_v2_options *options);
#ifndef __cplusplus
#define lks_mobilenet_v2(...) \
    lks_mobilenet_v2_with(    \
        &(const lks_mobilenet_v2_options){ .struct_size = sizeof(lks_mobilenet_v2_options), __VA_ARGS__ })
#endif

/* Pixels 0..255 of any number type to float32 x / 127.5 - 1; a new tensor, or NULL (lks_last_error says why). Borrows images. */
LKS_API lks_tensor *lks_mobilenet_v2_preprocess(const lks_tensor *images);

#ifdef __cplusplus
}
#endif
#endif
