/* layers.h - the layers, with Keras' names, options and defaults.
 *
 * lks_dense(x, .units = 10) makes a layer, calls it on x and gives the node of its output. lks_dense_layer(.units = 10) makes the
 * layer alone, to be called several times with lks_call (shared weights) or put into a Sequential model. From C++ or by FFI
 * fill the options struct, its struct_size first, and use the _with form.
 *
 * In all options a field left out means Keras' default; an explicit zero is LKS_ZERO or LKS_ZERO_INT, an explicit None the
 * string "none". Things with a name of their own are strings that take options: .kernel_regularizer = "l2:l2=0.001",
 * .kernel_initializer = "random_normal:stddev=0.1", .activation = "leaky_relu:negative_slope=0.1". Sizes such as
 * .kernel_size = {3} stand for {3, 3}.
 *
 * A bad option or shape makes a failed layer or node; whatever is built from it fails too, and the first action
 * (lks_fit, ...) reports the first cause.
 */
#ifndef LOCKSTEP_LAYERS_H
#define LOCKSTEP_LAYERS_H

#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A layer: options and, once it has been called, weights. Counted. */
typedef struct lks_layer lks_layer;

LKS_API lks_layer *lks_layer_retain(lks_layer *layer); /* NULL gives NULL */
LKS_API void lks_layer_release(lks_layer *layer);      /* NULL is fine */
/* Its name, or NULL while no model has named it. Lives as long as the layer keeps the name. */
LKS_API const char *lks_layer_name(const lks_layer *layer);
/* Not trainable: its weights keep their values, and batch normalisation uses its moving statistics. Compile the model again
 * after a change. */
LKS_API lks_status lks_layer_set_trainable(lks_layer *layer, int trainable);

/* Calls the layer on one node or on several (merge layers); calls of one layer share its weights. Borrows the layer
 * (the graph shares it) and the array. NULL gives a failed node. */
LKS_API lks_node lks_call(lks_layer *layer, lks_node x);
LKS_API lks_node lks_call_n(lks_layer *layer, size_t n, const lks_node *inputs);

/* Fields that the options of every layer begin with: its name ("dense", "dense_1", ... by default), whether it is trained (true),
 * and its dtype (only "float32" for now). */
#define LKS_LAYER_OPTIONS   \
    size_t struct_size;     \
    const char *name;       \
    lks_tristate trainable; \
    const char *dtype

/* A list of numbers; borrowed. */
typedef struct lks_numbers {
    int64_t n;
    const double *values;
} lks_numbers;

typedef struct lks_input_options {
    size_t struct_size;
    const char *name;  /* default "input_layer", "input_layer_1", ... */
    const char *dtype; /* "float32" (default), "int32", "uint8", "bool" */
} lks_input_options;

/* The start of a model: examples of the given shape, without the batch axis. */
LKS_API lks_node lks_input_with(lks_shape shape, const lks_input_options *options);

/* ---- dense and convolution ---- */

/* y = activation(x K + b) on the last axis. Weights: kernel (in, units), bias (units). */
typedef struct lks_dense_options {
    LKS_LAYER_OPTIONS;
    int64_t units;                  /* must be given */
    const char *activation;         /* "linear" */
    lks_tristate use_bias;          /* true */
    const char *kernel_initializer; /* "glorot_uniform" */
    const char *bias_initializer;   /* "zeros" */
    const char *kernel_regularizer, *bias_regularizer, *activity_regularizer;
    const char *kernel_constraint, *bias_constraint;
} lks_dense_options;
LKS_API lks_layer *lks_dense_layer_with(const lks_dense_options *options);
LKS_API lks_node lks_dense_with(lks_node x, const lks_dense_options *options);

/* Correlation of images. Weights: kernel (kh, kw, in / groups, filters), bias (filters). */
typedef struct lks_conv2d_options {
    LKS_LAYER_OPTIONS;
    int64_t filters;                /* must be given */
    int64_t kernel_size[2];         /* must be given */
    int64_t strides[2];             /* 1 */
    const char *padding;            /* "valid" (default) or "same" */
    const char *data_format;        /* "channels_last" (default) or "channels_first" */
    int64_t dilation_rate[2];       /* 1 */
    int64_t groups;                 /* 1 */
    const char *activation;         /* "linear" */
    lks_tristate use_bias;          /* true */
    const char *kernel_initializer; /* "glorot_uniform" */
    const char *bias_initializer;   /* "zeros" */
    const char *kernel_regularizer, *bias_regularizer, *activity_regularizer;
    const char *kernel_constraint, *bias_constraint;
} lks_conv2d_options;
LKS_API lks_layer *lks_conv2d_layer_with(const lks_conv2d_options *options);
LKS_API lks_node lks_conv2d_with(lks_node x, const lks_conv2d_options *options);

/* The transposed convolution. Weights: kernel (kh, kw, filters, in), bias (filters). */
typedef struct lks_conv2d_transpose_options {
    LKS_LAYER_OPTIONS;
    int64_t filters;                /* must be given */
    int64_t kernel_size[2];         /* must be given */
    int64_t strides[2];             /* 1 */
    const char *padding;            /* "valid" (default) or "same" */
    int64_t output_padding[2];      /* none; an explicit 0 is LKS_ZERO_INT */
    const char *data_format;        /* "channels_last" (default) or "channels_first" */
    int64_t dilation_rate[2];       /* 1 */
    const char *activation;         /* "linear" */
    lks_tristate use_bias;          /* true */
    const char *kernel_initializer; /* "glorot_uniform" */
    const char *bias_initializer;   /* "zeros" */
    const char *kernel_regularizer, *bias_regularizer, *activity_regularizer;
    const char *kernel_constraint, *bias_constraint;
} lks_conv2d_transpose_options;
LKS_API lks_layer *lks_conv2d_transpose_layer_with(const lks_conv2d_transpose_options *options);
LKS_API lks_node lks_conv2d_transpose_with(lks_node x, const lks_conv2d_transpose_options *options);

/* A convolution of each channel alone. Weights: kernel (kh, kw, in, depth_multiplier), bias (in * depth_multiplier). */
typedef struct lks_depthwise_conv2d_options {
    LKS_LAYER_OPTIONS;
    int64_t kernel_size[2];            /* must be given */
    int64_t strides[2];                /* 1 */
    const char *padding;               /* "valid" (default) or "same" */
    int64_t depth_multiplier;          /* 1 */
    const char *data_format;           /* "channels_last" (default) or "channels_first" */
    int64_t dilation_rate[2];          /* 1 */
    const char *activation;            /* "linear" */
    lks_tristate use_bias;             /* true */
    const char *depthwise_initializer; /* "glorot_uniform" */
    const char *bias_initializer;      /* "zeros" */
    const char *depthwise_regularizer, *bias_regularizer, *activity_regularizer;
    const char *depthwise_constraint, *bias_constraint;
} lks_depthwise_conv2d_options;
LKS_API lks_layer *lks_depthwise_conv2d_layer_with(const lks_depthwise_conv2d_options *options);
LKS_API lks_node lks_depthwise_conv2d_with(lks_node x, const lks_depthwise_conv2d_options *options);

/* ---- activations ---- */

/* An activation by its name. */
typedef struct lks_activation_options {
    LKS_LAYER_OPTIONS;
    const char *activation; /* must be given: "relu", "softmax", "gelu:approximate=true", ... */
} lks_activation_options;
LKS_API lks_layer *lks_activation_layer_with(const lks_activation_options *options);
LKS_API lks_node lks_activation_with(lks_node x, const lks_activation_options *options);

/* max(x, 0), with Keras' general form. */
typedef struct lks_relu_options {
    LKS_LAYER_OPTIONS;
    double max_value;      /* none */
    double negative_slope; /* 0 */
    double threshold;      /* 0 */
} lks_relu_options;
LKS_API lks_layer *lks_relu_layer_with(const lks_relu_options *options);
LKS_API lks_node lks_relu_with(lks_node x, const lks_relu_options *options);

/* x where positive, else negative_slope x. */
typedef struct lks_leaky_relu_options {
    LKS_LAYER_OPTIONS;
    double negative_slope; /* 0.3 */
} lks_leaky_relu_options;
LKS_API lks_layer *lks_leaky_relu_layer_with(const lks_leaky_relu_options *options);
LKS_API lks_node lks_leaky_relu_with(lks_node x, const lks_leaky_relu_options *options);

/* x where positive, else alpha (exp(x) - 1). */
typedef struct lks_elu_options {
    LKS_LAYER_OPTIONS;
    double alpha; /* 1 */
} lks_elu_options;
LKS_API lks_layer *lks_elu_layer_with(const lks_elu_options *options);
LKS_API lks_node lks_elu_with(lks_node x, const lks_elu_options *options);

/* x where positive, else alpha x with a learnt alpha. Weight: alpha (the input's shape, 1 on shared axes). */
typedef struct lks_prelu_options {
    LKS_LAYER_OPTIONS;
    const char *alpha_initializer; /* "zeros" */
    const char *alpha_regularizer, *alpha_constraint;
    int64_t shared_axes[LKS_MAX_RANK]; /* none; counted from 1, the batch not included */
} lks_prelu_options;
LKS_API lks_layer *lks_prelu_layer_with(const lks_prelu_options *options);
LKS_API lks_node lks_prelu_with(lks_node x, const lks_prelu_options *options);

/* exp(x) / sum(exp(x)) over an axis or several. */
typedef struct lks_softmax_options {
    LKS_LAYER_OPTIONS;
    int64_t axis[LKS_MAX_RANK]; /* -1 */
} lks_softmax_options;
LKS_API lks_layer *lks_softmax_layer_with(const lks_softmax_options *options);
LKS_API lks_node lks_softmax_with(lks_node x, const lks_softmax_options *options);

/* ---- normalization and regularization ---- */

/* Normalisation by the statistics of the batch in training, by moving ones else. Weights: gamma, beta, moving_mean, moving_variance. */
typedef struct lks_batch_normalization_options {
    LKS_LAYER_OPTIONS;
    int64_t axis;                                                      /* -1 */
    double momentum;                                                   /* 0.99 */
    double epsilon;                                                    /* 0.001 */
    lks_tristate center;                                               /* true: has beta */
    lks_tristate scale;                                                /* true: has gamma */
    const char *beta_initializer, *gamma_initializer;                  /* "zeros", "ones" */
    const char *moving_mean_initializer, *moving_variance_initializer; /* "zeros", "ones" */
    const char *beta_regularizer, *gamma_regularizer, *beta_constraint, *gamma_constraint;
    lks_tristate renorm;       /* not available yet */
    double renorm_momentum;    /* 0.99 */
    lks_tristate synchronized; /* false: statistics of each replica's own examples */
} lks_batch_normalization_options;
LKS_API lks_layer *lks_batch_normalization_layer_with(const lks_batch_normalization_options *options);
LKS_API lks_node lks_batch_normalization_with(lks_node x, const lks_batch_normalization_options *options);

/* Normalisation of each example over the given axes. Weights: gamma, beta. */
typedef struct lks_layer_normalization_options {
    LKS_LAYER_OPTIONS;
    int64_t axis[LKS_MAX_RANK];                       /* -1 */
    double epsilon;                                   /* 0.001 */
    lks_tristate rms_scaling;                         /* not available yet */
    lks_tristate center, scale;                       /* true: has beta, has gamma */
    const char *beta_initializer, *gamma_initializer; /* "zeros", "ones" */
    const char *beta_regularizer, *gamma_regularizer, *beta_constraint, *gamma_constraint;
} lks_layer_normalization_options;
LKS_API lks_layer *lks_layer_normalization_layer_with(const lks_layer_normalization_options *options);
LKS_API lks_node lks_layer_normalization_with(lks_node x, const lks_layer_normalization_options *options);

/* In training drops values with probability rate and scales the others by 1 / (1 - rate). */
typedef struct lks_dropout_options {
    LKS_LAYER_OPTIONS;
    double rate;                       /* must be given, 0..1 */
    int64_t noise_shape[LKS_MAX_RANK]; /* none; with the batch axis; -1 = as the input, 1 = one draw for all */
    int64_t seed;                      /* none: from the model's seed and the layer's name */
} lks_dropout_options;
LKS_API lks_layer *lks_dropout_layer_with(const lks_dropout_options *options);
LKS_API lks_node lks_dropout_with(lks_node x, const lks_dropout_options *options);

/* Dropout of whole feature maps. */
typedef struct lks_spatial_dropout2d_options {
    LKS_LAYER_OPTIONS;
    double rate;             /* must be given, 0..1 */
    int64_t seed;            /* none */
    const char *data_format; /* "channels_last" (default) or "channels_first" */
} lks_spatial_dropout2d_options;
LKS_API lks_layer *lks_spatial_dropout2d_layer_with(const lks_spatial_dropout2d_options *options);
LKS_API lks_node lks_spatial_dropout2d_with(lks_node x, const lks_spatial_dropout2d_options *options);

/* Adds l1 sum|x| + l2 sum x^2, over the number of examples, to the loss. */
typedef struct lks_activity_regularization_options {
    LKS_LAYER_OPTIONS;
    double l1, l2; /* 0 */
} lks_activity_regularization_options;
LKS_API lks_layer *lks_activity_regularization_layer_with(const lks_activity_regularization_options *options);
LKS_API lks_node lks_activity_regularization_with(lks_node x, const lks_activity_regularization_options *options);

/* ---- pooling ---- */

/* The maximum of windows. */
typedef struct lks_pooling2d_options {
    LKS_LAYER_OPTIONS;
    int64_t pool_size[2];    /* 2 */
    int64_t strides[2];      /* as pool_size */
    const char *padding;     /* "valid" (default) or "same" */
    const char *data_format; /* "channels_last" (default) or "channels_first" */
} lks_pooling2d_options;
typedef lks_pooling2d_options lks_max_pooling2d_options;
LKS_API lks_layer *lks_max_pooling2d_layer_with(const lks_max_pooling2d_options *options);
LKS_API lks_node lks_max_pooling2d_with(lks_node x, const lks_max_pooling2d_options *options);

/* The mean of windows. Padding does not count. */
typedef lks_pooling2d_options lks_average_pooling2d_options;
LKS_API lks_layer *lks_average_pooling2d_layer_with(const lks_average_pooling2d_options *options);
LKS_API lks_node lks_average_pooling2d_with(lks_node x, const lks_average_pooling2d_options *options);

/* The mean of each channel. */
typedef struct lks_global_pooling2d_options {
    LKS_LAYER_OPTIONS;
    const char *data_format; /* "channels_last" (default) or "channels_first" */
    lks_tristate keepdims;   /* false */
} lks_global_pooling2d_options;
typedef lks_global_pooling2d_options lks_global_average_pooling2d_options;
LKS_API lks_layer *lks_global_average_pooling2d_layer_with(const lks_global_average_pooling2d_options *options);
LKS_API lks_node lks_global_average_pooling2d_with(lks_node x, const lks_global_average_pooling2d_options *options);

/* The maximum of each channel. */
typedef lks_global_pooling2d_options lks_global_max_pooling2d_options;
LKS_API lks_layer *lks_global_max_pooling2d_layer_with(const lks_global_max_pooling2d_options *options);
LKS_API lks_node lks_global_max_pooling2d_with(lks_node x, const lks_global_max_pooling2d_options *options);

/* ---- shape ---- */

/* All axes but the batch as one. */
typedef struct lks_flatten_options {
    LKS_LAYER_OPTIONS;
    const char *data_format; /* "channels_last" (default) or "channels_first" */
} lks_flatten_options;
LKS_API lks_layer *lks_flatten_layer_with(const lks_flatten_options *options);
LKS_API lks_node lks_flatten_with(lks_node x, const lks_flatten_options *options);

/* The same elements in another shape. */
typedef struct lks_reshape_options {
    LKS_LAYER_OPTIONS;
    int64_t target_shape[LKS_MAX_RANK]; /* must be given, without the batch; one may be -1; ended by 0 */
} lks_reshape_options;
LKS_API lks_layer *lks_reshape_layer_with(const lks_reshape_options *options);
LKS_API lks_node lks_reshape_with(lks_node x, const lks_reshape_options *options);

/* Axes in another order. */
typedef struct lks_permute_options {
    LKS_LAYER_OPTIONS;
    int64_t dims[LKS_MAX_RANK]; /* must be given: axes counted from 1, the batch not included */
} lks_permute_options;
LKS_API lks_layer *lks_permute_layer_with(const lks_permute_options *options);
LKS_API lks_node lks_permute_with(lks_node x, const lks_permute_options *options);

/* Zeros around images. */
typedef struct lks_zero_padding2d_options {
    LKS_LAYER_OPTIONS;
    int64_t padding[2][2];   /* {{top, bottom}, {left, right}}; 1 */
    const char *data_format; /* "channels_last" (default) or "channels_first" */
} lks_zero_padding2d_options;
LKS_API lks_layer *lks_zero_padding2d_layer_with(const lks_zero_padding2d_options *options);
LKS_API lks_node lks_zero_padding2d_with(lks_node x, const lks_zero_padding2d_options *options);

/* Images without their rims. */
typedef struct lks_cropping2d_options {
    LKS_LAYER_OPTIONS;
    int64_t cropping[2][2];  /* {{top, bottom}, {left, right}}; 0 */
    const char *data_format; /* "channels_last" (default) or "channels_first" */
} lks_cropping2d_options;
LKS_API lks_layer *lks_cropping2d_layer_with(const lks_cropping2d_options *options);
LKS_API lks_node lks_cropping2d_with(lks_node x, const lks_cropping2d_options *options);

/* Images with rows and columns repeated. */
typedef struct lks_up_sampling2d_options {
    LKS_LAYER_OPTIONS;
    int64_t size[2];           /* 2 */
    const char *data_format;   /* "channels_last" (default) or "channels_first" */
    const char *interpolation; /* "nearest" */
} lks_up_sampling2d_options;
LKS_API lks_layer *lks_up_sampling2d_layer_with(const lks_up_sampling2d_options *options);
LKS_API lks_node lks_up_sampling2d_with(lks_node x, const lks_up_sampling2d_options *options);

/* The vector of each example n times: (features) to (n, features). */
typedef struct lks_repeat_vector_options {
    LKS_LAYER_OPTIONS;
    int64_t n; /* must be given */
} lks_repeat_vector_options;
LKS_API lks_layer *lks_repeat_vector_layer_with(const lks_repeat_vector_options *options);
LKS_API lks_node lks_repeat_vector_with(lks_node x, const lks_repeat_vector_options *options);

/* x scale + offset, as float32. */
typedef struct lks_rescaling_options {
    LKS_LAYER_OPTIONS;
    double scale, offset;        /* must be given; 0 */
    lks_numbers scales, offsets; /* instead: one for each channel */
} lks_rescaling_options;
LKS_API lks_layer *lks_rescaling_layer_with(const lks_rescaling_options *options);
LKS_API lks_node lks_rescaling_with(lks_node x, const lks_rescaling_options *options);

/* x itself. */
typedef struct lks_identity_options {
    LKS_LAYER_OPTIONS;
} lks_identity_options;
LKS_API lks_layer *lks_identity_layer_with(const lks_identity_options *options);
LKS_API lks_node lks_identity_with(lks_node x, const lks_identity_options *options);

/* ---- merging: n nodes into one ---- */

typedef struct lks_merge_options {
    LKS_LAYER_OPTIONS;
} lks_merge_options;

/* Sum. */
typedef lks_merge_options lks_add_options;
LKS_API lks_layer *lks_add_layer_with(const lks_add_options *options);
LKS_API lks_node lks_add_with(size_t n, const lks_node *inputs, const lks_add_options *options);

/* The first without the second. */
typedef lks_merge_options lks_subtract_options;
LKS_API lks_layer *lks_subtract_layer_with(const lks_subtract_options *options);
LKS_API lks_node lks_subtract_with(size_t n, const lks_node *inputs, const lks_subtract_options *options);

/* Product. */
typedef lks_merge_options lks_multiply_options;
LKS_API lks_layer *lks_multiply_layer_with(const lks_multiply_options *options);
LKS_API lks_node lks_multiply_with(size_t n, const lks_node *inputs, const lks_multiply_options *options);

/* Mean. */
typedef lks_merge_options lks_average_options;
LKS_API lks_layer *lks_average_layer_with(const lks_average_options *options);
LKS_API lks_node lks_average_with(size_t n, const lks_node *inputs, const lks_average_options *options);

/* The greatest, element by element. */
typedef lks_merge_options lks_maximum_options;
LKS_API lks_layer *lks_maximum_layer_with(const lks_maximum_options *options);
LKS_API lks_node lks_maximum_with(size_t n, const lks_node *inputs, const lks_maximum_options *options);

/* The least, element by element. */
typedef lks_merge_options lks_minimum_options;
LKS_API lks_layer *lks_minimum_layer_with(const lks_minimum_options *options);
LKS_API lks_node lks_minimum_with(size_t n, const lks_node *inputs, const lks_minimum_options *options);

/* One after the other along an axis. */
typedef struct lks_concatenate_options {
    LKS_LAYER_OPTIONS;
    int64_t axis; /* -1; the batch is axis 0 */
} lks_concatenate_options;
LKS_API lks_layer *lks_concatenate_layer_with(const lks_concatenate_options *options);
LKS_API lks_node lks_concatenate_with(size_t n, const lks_node *inputs, const lks_concatenate_options *options);

/* ---- your own ---- */

/* Builds graph from the inputs (ops.h); its first failed node is the layer's failure. */
typedef lks_node (*lks_layer_fn)(void *user, size_t n, const lks_node *inputs);

/* A layer or activation of your own, without weights. Such a model cannot be saved. */
typedef struct lks_lambda_options {
    LKS_LAYER_OPTIONS;
    lks_layer_fn function; /* must be given */
    void *user;            /* passed to it; must live as long as the layer */
} lks_lambda_options;
LKS_API lks_layer *lks_lambda_layer_with(const lks_lambda_options *options);
LKS_API lks_node lks_lambda_with(lks_node x, const lks_lambda_options *options);
LKS_API lks_node lks_lambda_n(size_t n, const lks_node *inputs, lks_layer_fn function, void *user);

#ifdef __cplusplus
}
#endif

#include "layers_named.h"

#endif
