/* prelu.c - PReLU: relu(x) - alpha relu(-x) with a learnt alpha. */
#include "layer.h"

static const lks_field fields[] = { LKS_FIELD(lks_prelu_options, alpha_initializer, INITIALIZER, "zeros", 0),
                                    LKS_FIELD(lks_prelu_options, alpha_regularizer, REGULARIZER, "none", 0),
                                    LKS_FIELD(lks_prelu_options, alpha_constraint, CONSTRAINT, "none", 0),
                                    LKS_FIELD(lks_prelu_options, shared_axes, INTS, "none", LKS_FIELD_POSITIVE),
                                    LKS_FIELDS_END };

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_prelu_options *o = layer->options;
    lks_weight_options alpha = { .name = "alpha",
                                 .shape = in[0]->shape,
                                 .initializer = o->alpha_initializer,
                                 .regularizer = o->alpha_regularizer,
                                 .constraint = o->alpha_constraint };

    (void)n_in;
    for (int i = 0; i < LKS_MAX_RANK && o->shared_axes[0] != LKS_NONE_INT && o->shared_axes[i] != 0; i++) {
        int64_t axis = o->shared_axes[i];
        if (axis < 1 || axis > alpha.shape.rank) {
            return lks__fail(LKS_E_SHAPE, "shared_axes: there is no axis %lld (they are counted from 1)",
                             (long long)axis);
        }
        alpha.shape.dim[axis - 1] = 1;
    }
    return lks__layer_add_weight(layer, &alpha);
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    lks_node alpha = lks__layer_weight(layer, trace, 0), below = lks_ops_relu(lks_ops_negative(in[0]));

    (void)n_in;
    out[0] = lks_ops_subtract(lks_ops_relu(in[0]), lks_ops_multiply(alpha, below));
}

const lks_layer_class lks__prelu_class = {
    .name = "PReLU",
    .snake = "p_re_lu",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_prelu_options),
    .fields = fields,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(prelu, lks__prelu_class)
