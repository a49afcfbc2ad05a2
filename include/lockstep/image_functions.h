/* image_functions.h - ready-made element functions for lks_map: decoding, sizes, augmentation, colours, labels.
 *
 *     ds = lks_map(ds, lks_fn_chain(lks_fn_read_file(), lks_fn_decode_image(.channels = 3), lks_fn_resize(160, 160),
 *                                   lks_fn_random_flip("horizontal"), lks_fn_rescale(1 / 127.5, -1)),
 *                  .num_parallel_calls = LKS_AUTOTUNE, .seed = 7);
 *
 * A chain runs as one function: nothing but its last picture leaves the caches. Each lks_fn_ call makes a function for exactly
 * one lks_map or chain, which steals it (fn's release frees it). Wrong arguments make a function that every dataset refuses
 * with the reason. Functions work on component 0 of an element (labels: the last), others with lks_fn_on; on pictures
 * (height, width, channels) or batches of them. Values are TensorFlow's where it has the function.
 *
 * Random functions draw from the map's seed, the pass and the element's number alone: the same draws on any number of
 * threads, in any order and after a restart; new ones in every pass.
 */
#ifndef LOCKSTEP_IMAGE_FUNCTIONS_H
#define LOCKSTEP_IMAGE_FUNCTIONS_H

#include "dataset.h"
#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- putting together ---- */

/* The functions one after another, as one. Steals them; only functions of this header (and lks_decode_image, ...). */
LKS_API const lks_map_fn *lks_fn_chain_n(size_t n, const lks_map_fn *const *functions);
/* The function on another component, counted from 0; negative from the end: -1 is the last. Steals it. */
LKS_API const lks_map_fn *lks_fn_on(int64_t component, const lks_map_fn *function);
/* Calls a function on one tensor, outside of any dataset; the caller owns *out. Steals fn, shares in. */
LKS_API lks_status lks_fn_call(const lks_map_fn *fn, lks_tensor *in, int64_t seed, lks_tensor **out);

/* ---- bytes ---- */

/* Encoded picture (string scalar) -> uint8 (height, width, channels as stored), with every option at its default. */
LKS_API extern const lks_map_fn lks_decode_image[1];
LKS_API extern const lks_map_fn lks_decode_jpeg[1]; /* the same function: what the bytes are decides */
LKS_API extern const lks_map_fn lks_decode_png[1];
/* The same with options; .channels makes the number of channels part of the spec. */
LKS_API const lks_map_fn *lks_fn_decode_image_with(const lks_decode_options *options);
/* File name -> the file's bytes. */
LKS_API const lks_map_fn *lks_fn_read_file(void);
/* Bytes -> the numbers that they are, little-endian. shape rank -1: a vector of any length; one size may be -1. A count that
 * does not fit is an error. */
LKS_API const lks_map_fn *lks_fn_decode_raw(lks_dtype dtype, lks_shape shape);

/* ---- numbers ---- */

/* As lks_tensor_cast converts. */
LKS_API const lks_map_fn *lks_fn_cast(lks_dtype dtype);
/* float32 x * scale + offset */
LKS_API const lks_map_fn *lks_fn_rescale(double scale, double offset);
/* Integers -> float32 rows; depth 0: the labels' class count, or the map's .depth. */
LKS_API const lks_map_fn *lks_fn_one_hot(int64_t depth);
LKS_API const lks_map_fn *lks_fn_expand_dims(int64_t axis); /* negative: from the end */
/* What MobileNet ("tf": x / 127.5 - 1), ResNet50 ("caffe": BGR less ImageNet's mean colour) and torchvision's models
 * ("torch": x / 255, then less mean, by deviation) were trained on, from pictures of 0 to 255. */
LKS_API const lks_map_fn *lks_fn_preprocess(const char *mode);
/* Each picture less its mean, by its deviation (at least 1/sqrt(items)): tf.image.per_image_standardization. */
LKS_API const lks_map_fn *lks_fn_standardize(void);

/* ---- sizes ---- */

typedef struct lks_resize_options {
    size_t struct_size;
    const char *method;     /* "bilinear" (default), "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                           "mitchellcubic"; all but nearest give float32 */
    lks_tristate antialias; /* default false; where pictures shrink, true looks better */
    lks_tristate preserve_aspect_ratio; /* the largest size within height x width of the same form */
    lks_tristate crop_to_aspect_ratio;  /* the largest centred window of the wanted form is resized */
    lks_tristate pad_to_aspect_ratio;   /* zeros are put around it first */
} lks_resize_options;
LKS_API const lks_map_fn *lks_fn_resize_with(int64_t height, int64_t width, const lks_resize_options *options);
/* Resized to fit without changing its form, zeros around (tf.image.resize_with_pad). */
LKS_API const lks_map_fn *lks_fn_resize_with_pad_with(int64_t height, int64_t width, const lks_resize_options *options);
/* The centre cut out, or zeros around. */
LKS_API const lks_map_fn *lks_fn_resize_with_crop_or_pad(int64_t height, int64_t width);
LKS_API const lks_map_fn *lks_fn_central_crop(double fraction);
LKS_API const lks_map_fn *lks_fn_center_crop(int64_t height, int64_t width);
LKS_API const lks_map_fn *lks_fn_random_crop(int64_t height, int64_t width);
/* One picture or a batch in another size; the caller owns *out. Shares picture. */
LKS_API lks_status lks_image_resize_with(lks_tensor *picture, int64_t height, int64_t width, lks_tensor **out,
                                         const lks_resize_options *options);

/* ---- turning ---- */

LKS_API const lks_map_fn *lks_fn_flip_left_right(void); /* mirrored */
LKS_API const lks_map_fn *lks_fn_flip_up_down(void);    /* upside down, mirrored */
/* "horizontal", "vertical" or "horizontal_and_vertical": each with probability 1/2, as Keras' RandomFlip. */
LKS_API const lks_map_fn *lks_fn_random_flip(const char *mode);
LKS_API const lks_map_fn *lks_fn_rot90(int64_t times); /* counter-clockwise */

typedef struct lks_rotation_options {
    size_t struct_size;
    const char *fill_mode;     /* "reflect" (default), "wrap", "nearest" or "constant" */
    const char *interpolation; /* "bilinear" (default) or "nearest" */
    double fill_value;         /* of "constant" */
} lks_rotation_options;
/* By an angle between -factor and factor of a full turn, drawn for each picture: Keras' RandomRotation. */
LKS_API const lks_map_fn *lks_fn_random_rotation_with(double factor, const lks_rotation_options *options);

/* ---- colours: uint8 pictures, or float32 from 0 to 1; the dtype stays ---- */

LKS_API const lks_map_fn *lks_fn_adjust_brightness(double delta);  /* of the full range */
LKS_API const lks_map_fn *lks_fn_adjust_contrast(double factor);   /* about each channel's mean */
LKS_API const lks_map_fn *lks_fn_adjust_saturation(double factor); /* three channels */
LKS_API const lks_map_fn *lks_fn_adjust_hue(double delta);         /* three channels; of a full turn, -1 to 1 */
LKS_API const lks_map_fn *lks_fn_random_brightness(double max_delta);
LKS_API const lks_map_fn *lks_fn_random_contrast(double lower, double upper);
LKS_API const lks_map_fn *lks_fn_random_saturation(double lower, double upper);
LKS_API const lks_map_fn *lks_fn_random_hue(double max_delta);
LKS_API const lks_map_fn *lks_fn_rgb_to_grayscale(void);
LKS_API const lks_map_fn *lks_fn_grayscale_to_rgb(void);

#ifndef __cplusplus
#define lks_fn_chain(...)                                                                           \
    lks_fn_chain_n(sizeof((const lks_map_fn *const[]){ __VA_ARGS__ }) / sizeof(const lks_map_fn *), \
                   (const lks_map_fn *const[]){ __VA_ARGS__ })
#define lks_fn_decode_image(...) \
    lks_fn_decode_image_with(&(const lks_decode_options){ .struct_size = sizeof(lks_decode_options), __VA_ARGS__ })
#define lks_fn_resize(...) LKS_CALL2(lks_fn_resize_with, lks_resize_options, __VA_ARGS__, )
#define lks_fn_resize_with_pad(...) LKS_CALL2(lks_fn_resize_with_pad_with, lks_resize_options, __VA_ARGS__, )
#define lks_fn_random_rotation(...) LKS_CALL1(lks_fn_random_rotation_with, lks_rotation_options, __VA_ARGS__, )
/* lks_image_resize(picture, 160, 160, &small, .method = "area") */
#define lks_image_resize(...) LKS_IMAGE_CALL4(lks_image_resize_with, lks_resize_options, __VA_ARGS__, )
#define LKS_IMAGE_CALL4(fn, type, a, b, c, d, ...) \
    fn(a, b, c, d, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
