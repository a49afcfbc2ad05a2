/* conv_common.c - see conv_common.h. */
#include "conv_common.h"

#include <string.h>

#include "weights.h"

const char *const lks__paddings[] = { "valid", "same", NULL };
const char *const lks__data_formats[] = { "channels_last", "channels_first", NULL };

int64_t lks__channels(const lks_type *in, const char *data_format)
{
    return in->shape.dim[strcmp(data_format, "channels_first") == 0 ? 0 : 2];
}

lks_status lks__conv_accept(const lks_layer *layer, const lks_type *in, const char *data_format)
{
    bool first = strcmp(data_format, "channels_first") == 0;
    int64_t have, want;

    LKS_TRY(
        lks__expect_rank(in, 4, 4, first ? "(batch, channels, height, width)" : "(batch, height, width, channels)"));
    LKS_TRY(lks__expect_dtype(layer->class_->name, in, LKS_FLOAT32));
    if (!layer->built) return LKS_OK;
    have = lks__channels(in, data_format);
    want = lks__channels(layer->input_types, data_format);
    if (have == want) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "was built for %lld channels, called with %lld", (long long)want, (long long)have);
}

lks_status lks__layer_conv_check(const int64_t strides[2], const int64_t dilation[2], bool both_allowed)
{
    bool strided = strides[0] > 1 || strides[1] > 1, dilated = dilation[0] > 1 || dilation[1] > 1;

    if (!both_allowed && strided && dilated) {
        return lks__fail(LKS_E_ARG,
                         "strides and dilation_rate cannot both be larger than 1 (strides %lld, %lld, dilation_rate "
                         "%lld, %lld)",
                         (long long)strides[0], (long long)strides[1], (long long)dilation[0], (long long)dilation[1]);
    }
    return LKS_OK;
}

lks_status lks__conv_geometry(lks_node x, const char *padding, lks_conv_attrs *a)
{
    lks_shape shape = lks_node_shape(x);

    for (int i = 0; i < 2; i++) {
        a->in[i] = shape.dim[1 + i];
        LKS_TRY(lks__window(strcmp(padding, "same") == 0, a->in[i], a->kernel[i], a->stride[i], a->dilation[i],
                            &a->out[i], &a->before[i]));
    }
    return LKS_OK;
}

lks_node lks__conv_finish(lks_layer *layer, lks_trace *trace, lks_node y, bool biased, const char *activation,
                          const char *activity_regularizer, const char *data_format)
{
    if (biased) y = lks_ops_add(y, lks__layer_weight(layer, trace, 1));
    /* Activations along the last axis see the layer's own data format. */
    if (strcmp(activation, "softmax") == 0 || strcmp(activation, "log_softmax") == 0 ||
        strcmp(activation, "glu") == 0) {
        y = lks__activation_apply(activation, lks__channels_first(y, data_format));
    } else {
        y = lks__channels_first(lks__activation_apply(activation, y), data_format);
    }
    lks__layer_activity_loss(trace, activity_regularizer, y);
    return y;
}
