/* merge.c - Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate: several inputs as one. Axes other than the
 * batch broadcast as in NumPy; an input of fewer axes is aligned from the last.
 */
#include "layer.h"

static const lks_field no_fields[] = { LKS_FIELDS_END };
static const lks_field axis_fields[] = { LKS_FIELD(lks_concatenate_options, axis, INT, "-1", 0), LKS_FIELDS_END };

static lks_node folded(lks_node (*op)(lks_node, lks_node), int n, const lks_node *in)
{
    lks_node y = in[0];

    for (int i = 1; i < n; i++) y = op(y, in[i]);
    return y;
}

static void call_add(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_add, n_in, in);
}

static void call_multiply(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_multiply, n_in, in);
}

static void call_maximum(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_maximum, n_in, in);
}

static void call_minimum(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_minimum, n_in, in);
}

static void call_subtract(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_subtract, n_in, in);
}

static void call_average(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)layer;
    (void)trace;
    out[0] = folded(lks_ops_add, n_in, in);
    out[0] = lks_ops_divide(out[0], lks_ops_number(out[0], n_in));
}

static void call_concatenate(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    (void)trace;
    out[0] = lks_ops_concatenate((size_t)n_in, in, ((const lks_concatenate_options *)layer->options)->axis);
}

static lks_status accept_two(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    (void)layer;
    (void)in;
    return n_in == 2 ? LKS_OK : lks__fail(LKS_E_ARG, "takes exactly two inputs, found %d", n_in);
}

static lks_status accept_row_axis(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    int64_t axis = ((const lks_concatenate_options *)layer->options)->axis, rank = in[0]->shape.rank + 1;

    (void)n_in;
    if (axis == 0 || axis == -rank) return lks__fail(LKS_E_UNSUPPORTED, "cannot join along the batch (axis 0)");
    return LKS_OK;
}

const lks_layer_class lks__add_class = {
    .name = "Add",
    .snake = "add",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .call = call_add,
};

const lks_layer_class lks__subtract_class = {
    .name = "Subtract",
    .snake = "subtract",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .accept = accept_two,
    .call = call_subtract,
};

const lks_layer_class lks__multiply_class = {
    .name = "Multiply",
    .snake = "multiply",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .call = call_multiply,
};

const lks_layer_class lks__average_class = {
    .name = "Average",
    .snake = "average",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .call = call_average,
};

const lks_layer_class lks__maximum_class = {
    .name = "Maximum",
    .snake = "maximum",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .call = call_maximum,
};

const lks_layer_class lks__minimum_class = {
    .name = "Minimum",
    .snake = "minimum",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_merge_options),
    .fields = no_fields,
    .call = call_minimum,
};

const lks_layer_class lks__concatenate_class = {
    .name = "Concatenate",
    .snake = "concatenate",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG | LKS_LAYER_MERGES,
    .options_size = sizeof(lks_concatenate_options),
    .fields = axis_fields,
    .accept = accept_row_axis,
    .call = call_concatenate,
};

LKS_DEFINE_MERGE(add, lks__add_class)
LKS_DEFINE_MERGE(subtract, lks__subtract_class)
LKS_DEFINE_MERGE(multiply, lks__multiply_class)
LKS_DEFINE_MERGE(average, lks__average_class)
LKS_DEFINE_MERGE(maximum, lks__maximum_class)
LKS_DEFINE_MERGE(minimum, lks__minimum_class)
LKS_DEFINE_MERGE(concatenate, lks__concatenate_class)
