/* reshape.c - Flatten, Reshape, Permute: the same elements in another shape or order. Any dtype. */
#include <string.h>

#include "conv_common.h"
#include "tensor/tensor.h"

static const lks_field flatten_fields[] = {
    LKS_FIELD_WORD(lks_flatten_options, data_format, "channels_last", lks__data_formats), LKS_FIELDS_END
};
static const lks_field reshape_fields[] = { LKS_FIELD(lks_reshape_options, target_shape, INTS, NULL, 0),
                                            LKS_FIELDS_END };
static const lks_field permute_fields[] = { LKS_FIELD(lks_permute_options, dims, INTS, NULL, 0), LKS_FIELDS_END };

static void call_flatten(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_flatten_options *o = layer->options;
    const lks_type *type = lks__node_type(in[0]);
    int64_t axes[LKS_MAX_RANK + 1] = { 0 }, rank = type->shape.rank;
    lks_node x = in[0];

    (void)trace;
    (void)n_in;
    if (strcmp(o->data_format, "channels_first") == 0 && rank > 1) {
        for (int64_t i = 1; i < rank; i++) axes[i] = i + 1;
        axes[rank] = 1;
        x = lks_ops_transpose(x, (size_t)rank + 1, axes);
    }
    out[0] = lks_ops_reshape(x, (lks_shape){ 1, { lks__type_size(type) } });
}

static lks_status check_reshape(lks_layer *layer)
{
    const lks_reshape_options *o = layer->options;
    int unknown = 0;

    for (int i = 0; i < LKS_MAX_RANK && o->target_shape[i] != 0; i++) {
        if (o->target_shape[i] < -1)
            return lks__fail(LKS_E_ARG, "target_shape: %lld is no size", (long long)o->target_shape[i]);
        unknown += o->target_shape[i] == -1;
    }
    return unknown < 2 ? LKS_OK : lks__fail(LKS_E_ARG, "target_shape: at most one size may be unknown (-1)");
}

/* The target with the unknown size filled in. */
static lks_status target_of(const lks_reshape_options *o, const lks_type *in, lks_shape *out)
{
    int64_t have = lks__type_size(in), known = 1;
    lks_shape shape = { 0 };
    char from[LKS_TYPE_TEXT], to[LKS_SHAPE_TEXT];

    while (shape.rank < LKS_MAX_RANK && o->target_shape[shape.rank] != 0) {
        int64_t size = o->target_shape[shape.rank];
        shape.dim[shape.rank++] = size;
        if (size != -1 && known > 0) known = known > INT64_MAX / size ? 0 : known * size;
    }
    *out = shape;
    for (int64_t i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == -1 && known > 0 && have % known == 0) {
            out->dim[i] = have / known;
            known = have;
        }
    }
    if (known == have) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "target_shape %s does not hold the elements of %s", lks__shape_text(&shape, to),
                     lks__type_text(in, from));
}

/* The layer leaves a node of its own even where the shape stays: behind it Keras' losses no longer see the logits of a
 * softmax. */
static lks_node reshape_always(lks_node x, lks_shape shape)
{
    lks_shape longer = shape;

    if (shape.rank == LKS_MAX_RANK || !lks_shape_equal(&lks__node_type(x)->shape, &shape))
        return lks_ops_reshape(x, shape);
    longer.dim[longer.rank++] = 1;
    return lks_ops_reshape(lks_ops_reshape(x, longer), shape);
}

static void call_reshape(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    lks_shape shape;
    lks_status status = target_of(layer->options, lks__node_type(in[0]), &shape);

    (void)n_in;
    out[0] = status == LKS_OK ? reshape_always(in[0], shape) : lks__layer_fail_node(trace, status);
}

static int64_t count_of(const int64_t *list)
{
    int64_t n = 0;

    while (n < LKS_MAX_RANK && list[n] != 0) n++;
    return n;
}

static lks_status check_permute(lks_layer *layer)
{
    const lks_permute_options *o = layer->options;
    int64_t n = count_of(o->dims);
    uint32_t seen = 0;

    for (int64_t i = 0; i < n; i++) {
        if (o->dims[i] < 1 || o->dims[i] > n || (seen >> o->dims[i] & 1) != 0) {
            return lks__fail(LKS_E_ARG, "dims must hold each of 1 to %lld once", (long long)n);
        }
        seen |= 1u << o->dims[i];
    }
    return LKS_OK;
}

static lks_status accept_permute(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    int64_t n = count_of(((const lks_permute_options *)layer->options)->dims);

    (void)n_in;
    if (n == in[0]->shape.rank) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "dims names %lld axes, the input has %lld after the batch", (long long)n,
                     (long long)in[0]->shape.rank);
}

static void call_permute(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_permute_options *o = layer->options;
    int64_t axes[LKS_MAX_RANK + 1] = { 0 }, n = count_of(o->dims);

    (void)trace;
    (void)n_in;
    for (int64_t i = 0; i < n; i++) axes[i + 1] = o->dims[i];
    out[0] = lks_ops_transpose(in[0], (size_t)n + 1, axes);
}

const lks_layer_class lks__flatten_class = {
    .name = "Flatten",
    .snake = "flatten",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_flatten_options),
    .fields = flatten_fields,
    .call = call_flatten,
};

const lks_layer_class lks__reshape_class = {
    .name = "Reshape",
    .snake = "reshape",
    .module = "keras.layers",
    .options_size = sizeof(lks_reshape_options),
    .fields = reshape_fields,
    .check = check_reshape,
    .call = call_reshape,
};

const lks_layer_class lks__permute_class = {
    .name = "Permute",
    .snake = "permute",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_permute_options),
    .fields = permute_fields,
    .check = check_permute,
    .accept = accept_permute,
    .call = call_permute,
};

LKS_DEFINE_LAYER(flatten, lks__flatten_class)
LKS_DEFINE_LAYER(reshape, lks__reshape_class)
LKS_DEFINE_LAYER(permute, lks__permute_class)
