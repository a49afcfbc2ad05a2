/* relu.c - ReLU, LeakyReLU and ELU: activations of activations.c whose options belong to the layer. */
#include <math.h>
#include <string.h>

#include "layer.h"
#include "weights.h"

#define ROW(type, member, fallback) LKS_FIELD(type, member, FLOAT, fallback, LKS_FIELD_NONNEGATIVE)
static const lks_field relu_fields[] = { ROW(lks_relu_options, max_value, "none"),
                                         ROW(lks_relu_options, negative_slope, "0"),
                                         ROW(lks_relu_options, threshold, "0"), LKS_FIELDS_END };
static const lks_field leaky_fields[] = { ROW(lks_leaky_relu_options, negative_slope, "0.3"), LKS_FIELDS_END };
static const lks_field elu_fields[] = { LKS_FIELD(lks_elu_options, alpha, FLOAT, "1", 0), LKS_FIELDS_END };

/* Numbers are written as text and read again by the activation: exact, and one implementation. */
static void apply(lks_trace *trace, const char *word, size_t n, const char *const *keys, const double *values,
                  lks_node x, lks_node *out)
{
    lks_text spec = { 0 };
    char *text;
    lks_status status;

    lks__text_puts(&spec, word);
    for (size_t i = 0; i < n; i++) {
        json_t *number = json_real(values[i]);
        lks__text_printf(&spec, "%s%s=", i == 0 ? ":" : ",", keys[i]);
        if (number == NULL) lks__text_puts(&spec, "null");
        else lks__json_text(number, &spec);
        json_decref(number);
    }
    status = lks__text_take(&spec, &text);
    if (status != LKS_OK) {
        out[0] = lks__layer_fail_node(trace, status);
        return;
    }
    out[0] = lks__activation_apply(text, x);
    lks__free(text);
}

static void call_relu(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    static const char *const keys[] = { "negative_slope", "threshold", "max_value" };
    const lks_relu_options *o = layer->options;
    const double values[] = { o->negative_slope, o->threshold, o->max_value };

    (void)n_in;
    apply(trace, "relu", isnan(o->max_value) ? 2 : 3, keys, values, in[0], out);
}

static void call_leaky(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    static const char *const keys[] = { "negative_slope" };
    const lks_leaky_relu_options *o = layer->options;

    (void)n_in;
    apply(trace, "leaky_relu", 1, keys, &o->negative_slope, in[0], out);
}

static void call_elu(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    static const char *const keys[] = { "alpha" };
    const lks_elu_options *o = layer->options;

    (void)n_in;
    apply(trace, "elu", 1, keys, &o->alpha, in[0], out);
}

const lks_layer_class lks__relu_class = {
    .name = "ReLU",
    .snake = "re_lu",
    .module = "keras.layers",
    .options_size = sizeof(lks_relu_options),
    .fields = relu_fields,
    .call = call_relu,
};

const lks_layer_class lks__leaky_relu_class = {
    .name = "LeakyReLU",
    .snake = "leaky_re_lu",
    .module = "keras.layers",
    .options_size = sizeof(lks_leaky_relu_options),
    .fields = leaky_fields,
    .call = call_leaky,
};

const lks_layer_class lks__elu_class = {
    .name = "ELU",
    .snake = "elu",
    .module = "keras.layers",
    .options_size = sizeof(lks_elu_options),
    .fields = elu_fields,
    .call = call_elu,
};

LKS_DEFINE_LAYER(relu, lks__relu_class)
LKS_DEFINE_LAYER(leaky_relu, lks__leaky_relu_class)
LKS_DEFINE_LAYER(elu, lks__elu_class)
