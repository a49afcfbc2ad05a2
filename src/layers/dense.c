/* dense.c - Dense: y = activation(x K + b). */
#include "layer.h"
#include "weights.h"

static const lks_field fields[] = { LKS_FIELD(lks_dense_options, units, INT, NULL, LKS_FIELD_POSITIVE),
                                    LKS_FIELD(lks_dense_options, activation, ACTIVATION, "linear", 0),
                                    LKS_FIELD(lks_dense_options, use_bias, BOOL, "true", 0),
                                    LKS_FIELD(lks_dense_options, kernel_initializer, INITIALIZER, "glorot_uniform", 0),
                                    LKS_FIELD(lks_dense_options, bias_initializer, INITIALIZER, "zeros", 0),
                                    LKS_FIELD(lks_dense_options, kernel_regularizer, REGULARIZER, "none", 0),
                                    LKS_FIELD(lks_dense_options, bias_regularizer, REGULARIZER, "none", 0),
                                    LKS_FIELD(lks_dense_options, kernel_constraint, CONSTRAINT, "none", 0),
                                    LKS_FIELD(lks_dense_options, bias_constraint, CONSTRAINT, "none", 0),
                                    { "quantization_config", LKS_FIELD_NULL, 0, "none", 0, NULL, 0 },
                                    LKS_FIELD(lks_dense_options, activity_regularizer, REGULARIZER, "none",
                                              LKS_FIELD_OMIT_NONE),
                                    LKS_FIELDS_END };

static int64_t width_of(const lks_type *in)
{
    return in->shape.dim[in->shape.rank - 1];
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)n_in;
    LKS_TRY(lks__expect_rank(in[0], -1, 2, "(batch, ..., features)"));
    LKS_TRY(lks__expect_dtype("Dense", in[0], LKS_FLOAT32));
    if (!layer->built || width_of(in[0]) == width_of(layer->input_types)) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "was built for %lld features, called with %lld",
                     (long long)width_of(layer->input_types), (long long)width_of(in[0]));
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_dense_options *o = layer->options;
    lks_weight_options kernel = { .name = "kernel",
                                  .shape = { 2, { width_of(in[0]), o->units } },
                                  .initializer = o->kernel_initializer,
                                  .regularizer = o->kernel_regularizer,
                                  .constraint = o->kernel_constraint };
    lks_weight_options bias = { .name = "bias",
                                .shape = { 1, { o->units } },
                                .initializer = o->bias_initializer,
                                .regularizer = o->bias_regularizer,
                                .constraint = o->bias_constraint };

    (void)n_in;
    LKS_TRY(lks__layer_add_weight(layer, &kernel));
    return o->use_bias == LKS_TRUE ? lks__layer_add_weight(layer, &bias) : LKS_OK;
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_dense_options *o = layer->options;
    lks_node y = lks_ops_matmul(in[0], lks__layer_weight(layer, trace, 0));

    (void)n_in;
    if (o->use_bias == LKS_TRUE) y = lks_ops_add(y, lks__layer_weight(layer, trace, 1));
    out[0] = lks__activation_apply(o->activation, y);
    lks__layer_activity_loss(trace, o->activity_regularizer, out[0]);
}

const lks_layer_class lks__dense_class = {
    .name = "Dense",
    .snake = "dense",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_dense_options),
    .fields = fields,
    .accept = accept,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(dense, lks__dense_class)
