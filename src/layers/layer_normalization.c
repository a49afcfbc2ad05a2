/* layer_normalization.c - LayerNormalization: each example by its own mean and variance over the given axes. */
#include "layer.h"

#define ROW(member, KIND, fallback, flags) LKS_FIELD(lks_layer_normalization_options, member, KIND, fallback, flags)
static const lks_field fields[] = {
    ROW(axis, INTS, "-1", 0),
    ROW(epsilon, FLOAT, "0.001", LKS_FIELD_NONNEGATIVE),
    ROW(center, BOOL, "true", 0),
    ROW(scale, BOOL, "true", 0),
    ROW(rms_scaling, BOOL, "false", 0),
    ROW(beta_initializer, INITIALIZER, "zeros", 0),
    ROW(gamma_initializer, INITIALIZER, "ones", 0),
    ROW(beta_regularizer, REGULARIZER, "none", 0),
    ROW(gamma_regularizer, REGULARIZER, "none", 0),
    ROW(beta_constraint, CONSTRAINT, "none", 0),
    ROW(gamma_constraint, CONSTRAINT, "none", 0),
    LKS_FIELDS_END,
};

static lks_status check(lks_layer *layer)
{
    const lks_layer_normalization_options *o = layer->options;

    if (o->rms_scaling != LKS_TRUE) return LKS_OK;
    return lks__fail(LKS_E_UNSUPPORTED, "rms_scaling is not available yet");
}

/* The axes as a mask over those of a row; 0 if one does not exist. */
static uint32_t mask_of(const lks_layer_normalization_options *o, const lks_type *in)
{
    uint32_t mask = 0;

    for (int i = 0; i < LKS_MAX_RANK && o->axis[i] != 0; i++) {
        int64_t axis = o->axis[i] < 0 ? o->axis[i] + in->shape.rank : o->axis[i] - 1;
        if (axis < 0 || axis >= in->shape.rank) return 0;
        mask |= 1u << axis;
    }
    return mask;
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    LKS_TRY(lks__expect_dtype("LayerNormalization", in[0], LKS_FLOAT32));
    if (mask_of(layer->options, in[0]) != 0) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "axis is not among the %lld axes of the input after the batch",
                     (long long)in[0]->shape.rank);
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_layer_normalization_options *o = layer->options;
    uint32_t mask = mask_of(o, in[0]);
    lks_shape shape = { 0 };
    lks_weight_options gamma = {
        "gamma", shape, o->gamma_initializer, o->gamma_regularizer, o->gamma_constraint, false
    };
    lks_weight_options beta = { "beta", shape, o->beta_initializer, o->beta_regularizer, o->beta_constraint, false };

    (void)n_in;
    for (int64_t i = 0; i < in[0]->shape.rank; i++) {
        if ((mask >> i & 1) != 0) shape.dim[shape.rank++] = in[0]->shape.dim[i];
    }
    gamma.shape = beta.shape = shape;
    if (o->scale == LKS_TRUE) LKS_TRY(lks__layer_add_weight(layer, &gamma));
    return o->center == LKS_TRUE ? lks__layer_add_weight(layer, &beta) : LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_layer_normalization_options *o = layer->options;
    lks_shape beside = lks__node_type(in[0])->shape;
    uint32_t mask = mask_of(o, lks__node_type(in[0]));
    lks_node mean, deviation, variance, y, size;
    double n = 1;

    (void)n_in;
    for (int64_t i = 0; i < beside.rank; i++) {
        if ((mask >> i & 1) != 0) n *= (double)beside.dim[i];
        else beside.dim[i] = 1;
    }
    size = lks_ops_number(in[0], n);
    mean = lks_ops_divide(lks__graph_reduce_sum(in[0], mask, true), size);
    deviation = lks_ops_subtract(in[0], mean);
    variance = lks_ops_divide(lks__graph_reduce_sum(lks_ops_square(deviation), mask, true), size);
    y = lks_ops_multiply(deviation, lks_ops_rsqrt(lks_ops_add(variance, lks_ops_number(in[0], o->epsilon))));
    if (o->scale == LKS_TRUE) y = lks_ops_multiply(y, lks_ops_reshape(lks__layer_weight(layer, trace, 0), beside));
    if (o->center == LKS_TRUE) {
        y = lks_ops_add(y, lks_ops_reshape(lks__layer_weight(layer, trace, layer->n_weights - 1), beside));
    }
    out[0] = y;
}

const lks_layer_class lks__layer_normalization_class = {
    .name = "LayerNormalization",
    .snake = "layer_normalization",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_layer_normalization_options),
    .fields = fields,
    .check = check,
    .accept = accept,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(layer_normalization, lks__layer_normalization_class)
