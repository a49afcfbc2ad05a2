/* activity_regularization.c - ActivityRegularization: its input, with a penalty of it in the loss. */
#include "layer.h"
#include "weights.h"

static const lks_field fields[] = {
    LKS_FIELD(lks_activity_regularization_options, l1, FLOAT, "0", LKS_FIELD_NONNEGATIVE),
    LKS_FIELD(lks_activity_regularization_options, l2, FLOAT, "0", LKS_FIELD_NONNEGATIVE), LKS_FIELDS_END
};

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_activity_regularization_options *o = layer->options;
    lks_node penalty = lks__regularizer_penalty(o->l1, o->l2, in[0]);

    (void)n_in;
    lks__trace_add_loss(trace, lks_ops_divide(penalty, lks_ops_batch_size(in[0])));
    out[0] = in[0];
}

const lks_layer_class lks__activity_regularization_class = {
    .name = "ActivityRegularization",
    .snake = "activity_regularization",
    .module = "keras.layers",
    .options_size = sizeof(lks_activity_regularization_options),
    .fields = fields,
    .call = call,
};

LKS_DEFINE_LAYER(activity_regularization, lks__activity_regularization_class)
