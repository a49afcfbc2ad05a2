/* constraints.c - see weights.h: what a weight is brought back to after every update. */
#include "lockstep/layers.h"
#include "weights.h"

typedef struct con_options {
    size_t struct_size;
    double min_value, max_value, rate;
    int64_t axis[LKS_MAX_RANK];
} con_options;

typedef struct con_class {
    lks_config_class config;
    lks_node (*apply)(const con_options *o, lks_node w);
} con_class;

static const double epsilon = 1e-7;

static lks_node norms_of(const con_options *o, lks_node w)
{
    int64_t axes[LKS_MAX_RANK];
    size_t n = 0;

    while (n < LKS_MAX_RANK && o->axis[n] != 0) {
        axes[n] = o->axis[n] == LKS_ZERO_INT ? 0 : o->axis[n];
        n++;
    }
    return lks_ops_sqrt(lks_ops_sum(lks_ops_square(w), n, axes, 1));
}

/* w scaled so that its norms become `wanted`. */
static lks_node rescaled(lks_node w, lks_node wanted, lks_node norms)
{
    return lks_ops_multiply(w, lks_ops_divide(wanted, lks_ops_add(norms, lks_ops_number(w, epsilon))));
}

static lks_node max_norm(const con_options *o, lks_node w)
{
    lks_node norms = norms_of(o, w);

    return rescaled(w, lks_ops_clip(norms, 0, o->max_value), norms);
}

static lks_node min_max_norm(const con_options *o, lks_node w)
{
    lks_node norms = norms_of(o, w), rate = lks_ops_number(w, o->rate), rest = lks_ops_number(w, 1 - o->rate);
    lks_node clipped = lks_ops_clip(norms, o->min_value, o->max_value);

    return rescaled(w, lks_ops_add(lks_ops_multiply(rate, clipped), lks_ops_multiply(rest, norms)), norms);
}

static lks_node unit_norm(const con_options *o, lks_node w)
{
    return lks_ops_divide(w, lks_ops_add(norms_of(o, w), lks_ops_number(w, epsilon)));
}

static lks_node non_neg(const con_options *o, lks_node w)
{
    lks_node zero = lks_ops_number(w, 0);

    (void)o;
    return lks_ops_where(lks_ops_greater_equal(w, zero), w, zero);
}

#define AXIS LKS_FIELD(con_options, axis, INTS, "0", LKS_FIELD_ONE_INT)
#define NUMBER(member, fallback) LKS_FIELD(con_options, member, FLOAT, fallback, 0)
static const lks_field max_fields[] = { NUMBER(max_value, "2"), AXIS, LKS_FIELDS_END };
static const lks_field min_max_fields[] = { NUMBER(min_value, "0"), NUMBER(max_value, "1"), NUMBER(rate, "1"), AXIS,
                                            LKS_FIELDS_END };
static const lks_field unit_fields[] = { AXIS, LKS_FIELDS_END };
static const lks_field no_fields[] = { LKS_FIELDS_END };

static const con_class max_class = { { "MaxNorm", "max_norm", NULL, sizeof(con_options), max_fields }, max_norm };
static const con_class min_max_class = { { "MinMaxNorm", "min_max_norm", NULL, sizeof(con_options), min_max_fields },
                                         min_max_norm };
static const con_class unit_class = { { "UnitNorm", "unit_norm", NULL, sizeof(con_options), unit_fields }, unit_norm };
static const con_class non_neg_class = { { "NonNeg", "non_neg", NULL, sizeof(con_options), no_fields }, non_neg };
static const lks_config_class *const list[] = { &max_class.config, &min_max_class.config, &unit_class.config,
                                                &non_neg_class.config, NULL };
static const lks_config_family family = { "constraint", "keras.constraints", list };

lks_status lks__constraint_check(const char *spec)
{
    return lks__config_check(&family, spec);
}

lks_node lks__constraint_apply(const char *spec, lks_node w)
{
    const lks_config_class *c;
    void *options;
    lks_status status;
    lks_node y;

    if (!lks__node_ok(w)) return w;
    status = lks__config_from_spec(&family, spec, &c, &options);
    if (status != LKS_OK) return lks__node_fail(w.graph, status);
    y = ((const con_class *)c)->apply(options, w);
    lks__options_free(c->fields, options);
    return y;
}

lks_status lks__constraint_to_json(const char *spec, json_t **out)
{
    return lks__config_spec_to_json(&family, spec, out);
}
