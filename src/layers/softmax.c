/* softmax.c - Softmax over one axis or several. */
#include "layer.h"

static const lks_field fields[] = { LKS_FIELD(lks_softmax_options, axis, INTS, "-1", LKS_FIELD_ONE_INT),
                                    LKS_FIELDS_END };

static lks_node over_several(lks_node x, size_t n, const int64_t *axes)
{
    lks_node top = lks_ops_stop_gradient(lks_ops_max(x, n, axes, 1));
    lks_node e = lks_ops_exp(lks_ops_subtract(x, top));

    return lks_ops_divide(e, lks_ops_sum(e, n, axes, 1));
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_softmax_options *o = layer->options;
    int64_t rank = lks_node_shape(in[0]).rank;
    size_t n = 0;

    (void)trace;
    (void)n_in;
    while (n < LKS_MAX_RANK && o->axis[n] != 0) n++;
    if (n > 1) {
        out[0] = over_several(in[0], n, o->axis);
        return;
    }
    out[0] = lks_ops_softmax(in[0], o->axis[0]);
    if (lks__node_ok(out[0]) && (o->axis[0] == -1 || o->axis[0] == rank - 1)) lks__graph_note_softmax(out[0], in[0]);
}

const lks_layer_class lks__softmax_class = {
    .name = "Softmax",
    .snake = "softmax",
    .module = "keras.layers",
    .options_size = sizeof(lks_softmax_options),
    .fields = fields,
    .call = call,
};

LKS_DEFINE_LAYER(softmax, lks__softmax_class)
