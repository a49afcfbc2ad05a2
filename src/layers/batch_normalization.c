/* batch_normalization.c - BatchNormalization.
 *
 * In training the mean, then the mean of the squared deviations from it, are sums over the batch: each starts a new phase of
 * the step. Two passes keep digits where the mean is large. No gradient is taken through the mean inside the variance: it is
 * zero, as deviations add up to nothing.
 */
#include <string.h>

#include "layer.h"

#define ROW(member, KIND, fallback, flags) LKS_FIELD(lks_batch_normalization_options, member, KIND, fallback, flags)
static const lks_field fields[] = {
    ROW(axis, INT, "-1", 0),
    ROW(momentum, FLOAT, "0.99", LKS_FIELD_FRACTION),
    ROW(epsilon, FLOAT, "0.001", LKS_FIELD_NONNEGATIVE),
    ROW(center, BOOL, "true", 0),
    ROW(scale, BOOL, "true", 0),
    ROW(beta_initializer, INITIALIZER, "zeros", 0),
    ROW(gamma_initializer, INITIALIZER, "ones", 0),
    ROW(moving_mean_initializer, INITIALIZER, "zeros", 0),
    ROW(moving_variance_initializer, INITIALIZER, "ones", 0),
    ROW(beta_regularizer, REGULARIZER, "none", 0),
    ROW(gamma_regularizer, REGULARIZER, "none", 0),
    ROW(beta_constraint, CONSTRAINT, "none", 0),
    ROW(gamma_constraint, CONSTRAINT, "none", 0),
    ROW(synchronized, BOOL, "false", 0),
    ROW(renorm, BOOL, "false", 0),
    { "renorm_clipping", LKS_FIELD_NULL, 0, "none", 0, NULL, 0 },
    ROW(renorm_momentum, FLOAT, "0.99", LKS_FIELD_FRACTION),
    LKS_FIELDS_END,
};

static lks_status check(lks_layer *layer)
{
    const lks_batch_normalization_options *o = layer->options;

    if (o->renorm != LKS_TRUE) return LKS_OK;
    return lks__fail(LKS_E_UNSUPPORTED, "renorm (batch renormalization) is not available yet");
}

/* The normalised axis among those of a row; -1 if there is none such. */
static int row_axis(const lks_batch_normalization_options *o, const lks_type *in)
{
    int64_t axis = o->axis < 0 ? o->axis + in->shape.rank : o->axis - 1;

    return axis >= 0 && axis < in->shape.rank ? (int)axis : -1;
}

static lks_status accept(const lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_batch_normalization_options *o = layer->options;
    int axis = row_axis(o, in[0]);
    int64_t want;

    (void)n_in;
    LKS_TRY(lks__expect_dtype("BatchNormalization", in[0], LKS_FLOAT32));
    if (axis < 0) {
        return lks__fail(LKS_E_SHAPE, "axis %lld is not one of the %lld axes of the input after the batch",
                         (long long)o->axis, (long long)in[0]->shape.rank);
    }
    if (!layer->built) return LKS_OK;
    want = lks_tensor_shape(layer->weights[layer->n_weights - 1]->value).dim[0];
    if (in[0]->shape.dim[axis] == want) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "was built for %lld channels, called with %lld", (long long)want,
                     (long long)in[0]->shape.dim[axis]);
}

static lks_status build(lks_layer *layer, int n_in, const lks_type *const *in)
{
    const lks_batch_normalization_options *o = layer->options;
    lks_shape shape = { 1, { in[0]->shape.dim[row_axis(o, in[0])] } };
    const lks_weight_options weights[] = {
        { "gamma", shape, o->gamma_initializer, o->gamma_regularizer, o->gamma_constraint, false },
        { "beta", shape, o->beta_initializer, o->beta_regularizer, o->beta_constraint, false },
        { "moving_mean", shape, o->moving_mean_initializer, NULL, NULL, true },
        { "moving_variance", shape, o->moving_variance_initializer, NULL, NULL, true },
    };
    const bool present[] = { o->scale == LKS_TRUE, o->center == LKS_TRUE, true, true };

    (void)n_in;
    for (int i = 0; i < 4; i++) {
        if (present[i]) LKS_TRY(lks__layer_add_weight(layer, &weights[i]));
    }
    return LKS_OK;
}

/* One call, taken apart into steps. */
typedef struct pass {
    const lks_batch_normalization_options *o;
    lks_layer *layer;
    lks_trace *trace;
    lks_node x;
    int axis;
    uint32_t others;  /* the row's axes that are summed */
    lks_shape spread; /* the shape of a per-channel value beside a row */
    bool local;
} pass;

static lks_node spread(const pass *p, lks_node v)
{
    return p->spread.rank == 1 ? v : lks_ops_reshape(v, p->spread);
}

/* How many numbers a channel's sum has. A replica without examples counts one, so that nothing is divided by 0. */
static lks_node count_of(const pass *p)
{
    const lks_type *type = lks__node_type(p->x);
    double n = 1;

    if (p->local) {
        lks_node counted = lks__graph_batch_sum(lks_ops_full_like(p->x, 1), p->others, true);
        return lks_ops_maximum(counted, lks_ops_number(p->x, 1));
    }
    for (int i = 0; i < type->shape.rank; i++) n *= i == p->axis ? 1 : (double)type->shape.dim[i];
    return lks_ops_multiply(lks_ops_batch_size(p->x), lks_ops_number(p->x, n));
}

/* moving <- moving momentum + batch (1 - momentum), the batch's value being the mean over the replicas. */
static void update(const pass *p, size_t weight, lks_node batch)
{
    lks_node moving = lks__layer_weight(p->layer, p->trace, weight);
    lks_node value = p->local ? lks__graph_replica_mean(batch) : batch;
    lks_node kept = lks_ops_multiply(moving, lks_ops_number(moving, p->o->momentum));
    lks_node fresh = lks_ops_multiply(value, lks_ops_number(moving, 1 - p->o->momentum));

    lks__trace_assign(p->trace, p->layer->weights[weight], lks_ops_add(kept, fresh));
}

static void statistics(const pass *p, size_t first_moving, lks_node *mean, lks_node *variance)
{
    if (!p->trace->training || !p->layer->trainable) {
        *mean = lks__layer_weight(p->layer, p->trace, first_moving);
        *variance = lks__layer_weight(p->layer, p->trace, first_moving + 1);
        return;
    }
    lks_node count = count_of(p), deviation;
    *mean = lks_ops_divide(lks__graph_batch_sum(p->x, p->others, p->local), count);
    deviation = lks_ops_subtract(p->x, spread(p, lks_ops_stop_gradient(*mean)));
    *variance = lks_ops_divide(lks__graph_batch_sum(lks_ops_square(deviation), p->others, p->local), count);
    update(p, first_moving, *mean);
    update(p, first_moving + 1, *variance);
}

static void call(lks_layer *layer, lks_trace *trace, int n_in, const lks_node *in, lks_node *out)
{
    const lks_type *type = lks__node_type(in[0]);
    pass p = { .o = layer->options, .layer = layer, .trace = trace, .x = in[0] };
    size_t first_moving = layer->n_weights - 2;
    lks_node mean, variance, factor, y;

    (void)n_in;
    p.axis = row_axis(p.o, type);
    p.others = ((1u << type->shape.rank) - 1u) & ~(1u << p.axis);
    p.spread.rank = type->shape.rank - p.axis;
    for (int64_t i = 1; i < p.spread.rank; i++) p.spread.dim[i] = 1;
    p.spread.dim[0] = type->shape.dim[p.axis];
    p.local = trace->replicas > 1 && p.o->synchronized != LKS_TRUE;
    statistics(&p, first_moving, &mean, &variance);
    factor = lks_ops_rsqrt(lks_ops_add(variance, lks_ops_number(in[0], p.o->epsilon)));
    if (p.o->scale == LKS_TRUE) factor = lks_ops_multiply(factor, lks__layer_weight(layer, trace, 0));
    y = lks_ops_multiply(lks_ops_subtract(in[0], spread(&p, mean)), spread(&p, factor));
    if (p.o->center == LKS_TRUE) y = lks_ops_add(y, spread(&p, lks__layer_weight(layer, trace, first_moving - 1)));
    out[0] = y;
}

const lks_layer_class lks__batch_normalization_class = {
    .name = "BatchNormalization",
    .snake = "batch_normalization",
    .module = "keras.layers",
    .traits = LKS_LAYER_BUILD_CONFIG,
    .options_size = sizeof(lks_batch_normalization_options),
    .fields = fields,
    .check = check,
    .accept = accept,
    .build = build,
    .call = call,
};

LKS_DEFINE_LAYER(batch_normalization, lks__batch_normalization_class)
