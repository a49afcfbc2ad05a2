/* activations.c - see weights.h: Keras' activation functions as graph, by name.
 *
 * Where a formula has a kink, the branch taken there decides the gradient; the branches are those of Keras on TensorFlow
 * (gradients at 0, at the ends of a clip and at a threshold are part of the contract).
 */
#include <math.h>

#include "lockstep/layers.h"
#include "weights.h"

typedef struct act_options {
    size_t struct_size;
    double alpha, negative_slope, max_value, threshold, default_value, b;
    lks_tristate approximate;
} act_options;

typedef struct act_class {
    lks_config_class config;
    lks_node (*apply)(const act_options *o, lks_node x);
} act_class;

static lks_node num(lks_node like, double v)
{
    return lks_ops_number(like, v);
}

static lks_node scaled(lks_node x, double v)
{
    return lks_ops_multiply(x, num(x, v));
}

static lks_node shifted(lks_node x, double v)
{
    return lks_ops_add(x, num(x, v));
}

static lks_node linear(const act_options *o, lks_node x)
{
    (void)o;
    return x;
}

/* Gradient 1 only strictly between the bounds. */
static lks_node relu6_of(lks_node x)
{
    return lks_ops_where(lks_ops_greater_equal(x, num(x, 6)), num(x, 6), lks_ops_relu(x));
}

static lks_node relu6(const act_options *o, lks_node x)
{
    (void)o;
    return relu6_of(x);
}

static lks_node leaky(double slope, lks_node x)
{
    return lks_ops_where(lks_ops_greater(x, num(x, 0)), x, scaled(x, slope));
}

static lks_node relu(const act_options *o, lks_node x)
{
    lks_node y;
    bool sloped = o->negative_slope != 0, bounded = !isnan(o->max_value);

    if (sloped && !bounded && o->threshold == 0) return leaky(o->negative_slope, x);
    if (o->threshold != 0) y = lks_ops_where(lks_ops_greater(x, num(x, o->threshold)), x, num(x, 0));
    else if (o->max_value == 6) y = relu6_of(x);
    else y = lks_ops_relu(x);
    if (bounded && (o->threshold != 0 || o->max_value != 6)) y = lks_ops_clip(y, 0, o->max_value);
    if (sloped) {
        lks_node below = lks_ops_relu(lks_ops_subtract(num(x, o->threshold), x));
        y = lks_ops_subtract(y, scaled(below, o->negative_slope));
    }
    return y;
}

static lks_node leaky_relu(const act_options *o, lks_node x)
{
    return leaky(o->negative_slope, x);
}

/* alpha (exp(x) - 1) for x <= 0; the minimum keeps exp from overflowing in the branch that is not taken. */
static lks_node expm1_below(lks_node x, double alpha, double divisor)
{
    lks_node below = lks_ops_minimum(x, num(x, 0));

    if (divisor != 1) below = scaled(below, 1 / divisor);
    return scaled(lks_ops_expm1(below), alpha);
}

static lks_node elu_of(lks_node x, double alpha)
{
    return lks_ops_where(lks_ops_greater(x, num(x, 0)), x, expm1_below(x, alpha, 1));
}

static lks_node elu(const act_options *o, lks_node x)
{
    return elu_of(x, o->alpha);
}

/* Unlike elu's, its gradient at 0 is that of the positive side. */
static lks_node selu(const act_options *o, lks_node x)
{
    lks_node positive = lks_ops_greater_equal(x, num(x, 0));

    (void)o;
    return scaled(lks_ops_where(positive, x, expm1_below(x, 1.6732632423543772, 1)), 1.0507009873554805);
}

static lks_node celu(const act_options *o, lks_node x)
{
    lks_node zero = num(x, 0);

    return lks_ops_add(lks_ops_maximum(x, zero), lks_ops_minimum(expm1_below(x, o->alpha, o->alpha), zero));
}

static lks_node sigmoid(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_sigmoid(x);
}

static lks_node tanh_(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_tanh(x);
}

static lks_node exponential(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_exp(x);
}

static lks_node hard_sigmoid(const act_options *o, lks_node x)
{
    (void)o;
    return scaled(relu6_of(shifted(x, 3)), 1.0 / 6);
}

static lks_node softmax(const act_options *o, lks_node x)
{
    lks_node y = lks_ops_softmax(x, -1);

    (void)o;
    if (lks__node_ok(y)) lks__graph_note_softmax(y, x);
    return y;
}

static lks_node log_softmax(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_log_softmax(x, -1);
}

static lks_node gelu(const act_options *o, lks_node x)
{
    lks_node half = scaled(x, 0.5), cube;

    if (o->approximate != LKS_TRUE) return lks_ops_multiply(half, lks_ops_erfc(scaled(x, -0.70710678118654752)));
    cube = lks_ops_multiply(lks_ops_square(x), x);
    cube = lks_ops_tanh(scaled(lks_ops_add(x, scaled(cube, 0.044715)), 0.79788456080286536));
    return lks_ops_multiply(half, shifted(cube, 1));
}

static lks_node silu(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_multiply(x, lks_ops_sigmoid(x));
}

static lks_node hard_silu(const act_options *o, lks_node x)
{
    return lks_ops_multiply(x, hard_sigmoid(o, x));
}

static lks_node softplus(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_softplus(x);
}

static lks_node softsign(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_divide(x, shifted(lks_ops_abs(x), 1));
}

static lks_node mish(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_multiply(x, lks_ops_tanh(lks_ops_softplus(x)));
}

static lks_node glu(const act_options *o, lks_node x)
{
    lks_shape shape = lks_node_shape(x);
    int64_t n = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;

    (void)o;
    if (!lks__node_ok(x)) return x;
    if (n <= 0 || n % 2 != 0) {
        return lks__node_fail(x.graph,
                              lks__fail(LKS_E_SHAPE, "glu: the last axis must be even, found %lld", (long long)n));
    }
    return lks_ops_multiply(lks_ops_slice(x, -1, 0, n / 2, 1), lks_ops_sigmoid(lks_ops_slice(x, -1, n / 2, n, 1)));
}

static lks_node log_sigmoid(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_negative(lks_ops_softplus(lks_ops_negative(x)));
}

static lks_node squareplus(const act_options *o, lks_node x)
{
    return scaled(lks_ops_add(x, lks_ops_sqrt(shifted(lks_ops_square(x), o->b))), 0.5);
}

static lks_node hard_tanh(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_clip(x, -1, 1);
}

static lks_node hard_shrink(const act_options *o, lks_node x)
{
    return lks_ops_where(lks_ops_greater(lks_ops_abs(x), num(x, o->threshold)), x, num(x, 0));
}

static lks_node soft_shrink(const act_options *o, lks_node x)
{
    lks_node t = num(x, o->threshold), minus = num(x, -o->threshold);
    lks_node low = lks_ops_where(lks_ops_less(x, minus), lks_ops_add(x, t), num(x, 0));

    return lks_ops_where(lks_ops_greater(x, t), lks_ops_subtract(x, t), low);
}

static lks_node tanh_shrink(const act_options *o, lks_node x)
{
    (void)o;
    return lks_ops_subtract(x, lks_ops_tanh(x));
}

static lks_node sparse_plus(const act_options *o, lks_node x)
{
    lks_node middle = scaled(lks_ops_square(shifted(x, 1)), 0.25);
    lks_node lower = lks_ops_where(lks_ops_less_equal(x, num(x, -1)), num(x, 0), middle);

    (void)o;
    return lks_ops_where(lks_ops_less(x, num(x, 1)), lower, x);
}

static lks_node sparse_sigmoid(const act_options *o, lks_node x)
{
    lks_node middle = scaled(shifted(x, 1), 0.5), upper = lks_ops_greater_equal(x, num(x, 1));

    (void)o;
    middle = lks_ops_where(upper, num(x, 1), middle);
    return lks_ops_where(lks_ops_less_equal(x, num(x, -1)), num(x, 0), middle);
}

static lks_node threshold(const act_options *o, lks_node x)
{
    return lks_ops_where(lks_ops_greater(x, num(x, o->threshold)), x, num(x, o->default_value));
}

/* ---- the table ---- */

#define OPTION(member, fallback, flags) LKS_FIELD(act_options, member, FLOAT, fallback, flags)
static const lks_field no_fields[] = { LKS_FIELDS_END };
static const lks_field relu_fields[] = { OPTION(negative_slope, "0", LKS_FIELD_NONNEGATIVE),
                                         OPTION(max_value, "none", LKS_FIELD_NONNEGATIVE),
                                         OPTION(threshold, "0", LKS_FIELD_NONNEGATIVE), LKS_FIELDS_END };
static const lks_field leaky_fields[] = { OPTION(negative_slope, "0.2", 0), LKS_FIELDS_END };
static const lks_field alpha_fields[] = { OPTION(alpha, "1", 0), LKS_FIELDS_END };
static const lks_field gelu_fields[] = { LKS_FIELD(act_options, approximate, BOOL, "false", 0), LKS_FIELDS_END };
static const lks_field shrink_fields[] = { OPTION(threshold, "0.5", 0), LKS_FIELDS_END };
static const lks_field square_fields[] = { OPTION(b, "4", 0), LKS_FIELDS_END };
static const lks_field threshold_fields[] = { OPTION(threshold, "0", 0), OPTION(default_value, "0", 0),
                                              LKS_FIELDS_END };

static const char *const silu_names[] = { "swish", NULL };
static const char *const hard_silu_names[] = { "hard_swish", NULL };
static const char *const leaky_names[] = { "LeakyReLU", NULL };

#define ACT(word, function, fields, aliases) \
    static const act_class class_##word = { { #word, #word, aliases, sizeof(act_options), fields }, function };
ACT(linear, linear, no_fields, NULL)
ACT(relu, relu, relu_fields, NULL)
ACT(relu6, relu6, no_fields, NULL)
ACT(leaky_relu, leaky_relu, leaky_fields, leaky_names)
ACT(elu, elu, alpha_fields, NULL)
ACT(selu, selu, no_fields, NULL)
ACT(celu, celu, alpha_fields, NULL)
ACT(sigmoid, sigmoid, no_fields, NULL)
ACT(tanh, tanh_, no_fields, NULL)
ACT(exponential, exponential, no_fields, NULL)
ACT(hard_sigmoid, hard_sigmoid, no_fields, NULL)
ACT(softmax, softmax, no_fields, NULL)
ACT(log_softmax, log_softmax, no_fields, NULL)
ACT(gelu, gelu, gelu_fields, NULL)
ACT(silu, silu, no_fields, silu_names)
ACT(hard_silu, hard_silu, no_fields, hard_silu_names)
ACT(softplus, softplus, no_fields, NULL)
ACT(softsign, softsign, no_fields, NULL)
ACT(mish, mish, no_fields, NULL)
ACT(glu, glu, no_fields, NULL)
ACT(log_sigmoid, log_sigmoid, no_fields, NULL)
ACT(squareplus, squareplus, square_fields, NULL)
ACT(hard_tanh, hard_tanh, no_fields, NULL)
ACT(hard_shrink, hard_shrink, shrink_fields, NULL)
ACT(soft_shrink, soft_shrink, shrink_fields, NULL)
ACT(tanh_shrink, tanh_shrink, no_fields, NULL)
ACT(sparse_plus, sparse_plus, no_fields, NULL)
ACT(sparse_sigmoid, sparse_sigmoid, no_fields, NULL)
ACT(threshold, threshold, threshold_fields, NULL)

#define ENTRY(word) &class_##word.config
static const lks_config_class *const list[] = {
    ENTRY(linear),       ENTRY(relu),        ENTRY(relu6),          ENTRY(leaky_relu),  ENTRY(elu),
    ENTRY(selu),         ENTRY(celu),        ENTRY(sigmoid),        ENTRY(tanh),        ENTRY(exponential),
    ENTRY(hard_sigmoid), ENTRY(softmax),     ENTRY(log_softmax),    ENTRY(gelu),        ENTRY(silu),
    ENTRY(hard_silu),    ENTRY(softplus),    ENTRY(softsign),       ENTRY(mish),        ENTRY(glu),
    ENTRY(log_sigmoid),  ENTRY(squareplus),  ENTRY(hard_tanh),      ENTRY(hard_shrink), ENTRY(soft_shrink),
    ENTRY(tanh_shrink),  ENTRY(sparse_plus), ENTRY(sparse_sigmoid), ENTRY(threshold),   NULL
};
static const lks_config_family family = { "activation", "keras.activations", list };

static lks_status open_spec(const char *spec, const act_class **class_, void **options)
{
    const lks_config_class *c;

    LKS_TRY(lks__config_from_spec(&family, spec, &c, options));
    *class_ = (const act_class *)c;
    return LKS_OK;
}

lks_status lks__activation_check(const char *spec)
{
    return lks__config_check(&family, spec);
}

lks_node lks__activation_apply(const char *spec, lks_node x)
{
    const act_class *c;
    void *options;
    lks_status status;
    lks_node y;

    if (!lks__node_ok(x)) return x;
    status = open_spec(spec, &c, &options);
    if (status != LKS_OK) return lks__node_fail(x.graph, status);
    y = c->apply(options, x);
    lks__options_free(c->config.fields, options);
    return y;
}

/* Keras writes a built-in function as its name alone; options, which only a layer can hold there, would be lost. */
lks_status lks__activation_to_json(const char *spec, json_t **out)
{
    const act_class *c;
    void *options;
    json_t *value;

    LKS_TRY(open_spec(spec, &c, &options));
    lks__options_free(c->config.fields, options);
    value = json_string(c->config.snake);
    if (value == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    *out = value;
    return LKS_OK;
}
