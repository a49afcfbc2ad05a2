/* initializer.c - see initializer.h: the classes by name, and Keras' fans. */
#include "initializer.h"

#include <math.h>
#include <string.h>

#include "lockstep/layers.h"
#include "rules.h"

static const char *const modes[] = { "fan_in", "fan_out", "fan_avg", NULL };
static const char *const distributions[] = { "truncated_normal", "normal", "untruncated_normal", "uniform", NULL };

#define SEED LKS_FIELD(lks_init_options, seed, INT, "none", 0)
#define NUMBER(member, fallback) LKS_FIELD(lks_init_options, member, FLOAT, fallback, 0)
#define AXES \
    LKS_FIELD(lks_init_options, input_axes, INTS, "none", 0), LKS_FIELD(lks_init_options, output_axes, INTS, "none", 0)
static const lks_field no_fields[] = { LKS_FIELDS_END };
static const lks_field constant_fields[] = { LKS_FIELD_LIST(lks_init_options, value, FLOATS, "0", 0, values),
                                             LKS_FIELDS_END };
static const lks_field identity_fields[] = { LKS_FIELD(lks_init_options, gain, FLOAT, "1", LKS_FIELD_CHANGED),
                                             LKS_FIELDS_END };
static const lks_field normal_fields[] = { SEED, NUMBER(mean, "0"), NUMBER(stddev, "0.05"), LKS_FIELDS_END };
static const lks_field uniform_fields[] = { SEED, NUMBER(minval, "-0.05"), NUMBER(maxval, "0.05"), LKS_FIELDS_END };
static const lks_field orthogonal_fields[] = { SEED, NUMBER(gain, "1"), LKS_FIELDS_END };
static const lks_field scaling_fields[] = { SEED,
                                            LKS_FIELD(lks_init_options, scale, FLOAT, "1", LKS_FIELD_POSITIVE),
                                            LKS_FIELD_WORD(lks_init_options, mode, "fan_in", modes),
                                            LKS_FIELD_WORD(lks_init_options, distribution, "truncated_normal",
                                                           distributions),
                                            AXES,
                                            LKS_FIELDS_END };
static const lks_field fan_fields[] = { SEED, AXES, LKS_FIELDS_END };

static const char *const normal_names[] = { "normal", NULL };
static const char *const uniform_names[] = { "uniform", NULL };
static const char *const zeros_names[] = { "zero", NULL };
static const char *const ones_names[] = { "one", NULL };
static const char *const identity_names[] = { "identity_matrix", NULL };

/* scale, mode and distribution of the classes that are a VarianceScaling with a name of its own. */
#define INIT(word, name, snake, aliases, fields, rule, scale, mode, distribution)                   \
    static const lks_init_class class_##word = {                                                    \
        { name, snake, aliases, sizeof(lks_init_options), fields }, rule, scale, mode, distribution \
    };
INIT(zeros, "Zeros", "zeros", zeros_names, no_fields, lks__init_zeros, 0, NULL, NULL)
INIT(ones, "Ones", "ones", ones_names, no_fields, lks__init_ones, 0, NULL, NULL)
INIT(constant, "Constant", "constant", NULL, constant_fields, lks__init_constant, 0, NULL, NULL)
INIT(identity, "Identity", "identity", identity_names, identity_fields, lks__init_identity, 0, NULL, NULL)
INIT(normal, "RandomNormal", "random_normal", normal_names, normal_fields, lks__init_normal, 0, NULL, NULL)
INIT(truncated, "TruncatedNormal", "truncated_normal", NULL, normal_fields, lks__init_truncated, 0, NULL, NULL)
INIT(uniform, "RandomUniform", "random_uniform", uniform_names, uniform_fields, lks__init_uniform, 0, NULL, NULL)
INIT(orthogonal, "Orthogonal", "orthogonal", NULL, orthogonal_fields, lks__init_orthogonal, 0, NULL, NULL)
INIT(scaling, "VarianceScaling", "variance_scaling", NULL, scaling_fields, lks__init_scaling, 0, NULL, NULL)
INIT(glorot_uniform, "GlorotUniform", "glorot_uniform", NULL, fan_fields, lks__init_scaling, 1, "fan_avg", "uniform")
INIT(glorot_normal, "GlorotNormal", "glorot_normal", NULL, fan_fields, lks__init_scaling, 1, "fan_avg",
     "truncated_normal")
INIT(he_uniform, "HeUniform", "he_uniform", NULL, fan_fields, lks__init_scaling, 2, "fan_in", "uniform")
INIT(he_normal, "HeNormal", "he_normal", NULL, fan_fields, lks__init_scaling, 2, "fan_in", "truncated_normal")
INIT(lecun_uniform, "LecunUniform", "lecun_uniform", NULL, fan_fields, lks__init_scaling, 1, "fan_in", "uniform")
INIT(lecun_normal, "LecunNormal", "lecun_normal", NULL, fan_fields, lks__init_scaling, 1, "fan_in", "truncated_normal")

static const lks_config_class *const list[] = {
    &class_glorot_uniform.config, &class_zeros.config,         &class_ones.config,          &class_constant.config,
    &class_identity.config,       &class_normal.config,        &class_truncated.config,     &class_uniform.config,
    &class_orthogonal.config,     &class_scaling.config,       &class_glorot_normal.config, &class_he_uniform.config,
    &class_he_normal.config,      &class_lecun_uniform.config, &class_lecun_normal.config,  NULL
};
static const lks_config_family family = { "initializer", "keras.initializers", list };

lks_status lks__initializer_check(const char *spec)
{
    return lks__config_check(&family, spec);
}

lks_status lks__initializer_to_json(const char *spec, json_t **out)
{
    return lks__config_spec_to_json(&family, spec, out);
}

void lks__initializer_fans(const lks_shape *shape, double *fan_in, double *fan_out)
{
    double field = 1;

    *fan_in = *fan_out = shape->rank == 1 ? (double)shape->dim[0] : 1;
    if (shape->rank < 2) return;
    for (int64_t i = 0; i + 2 < shape->rank; i++) field *= (double)shape->dim[i];
    *fan_in = (double)shape->dim[shape->rank - 2] * field;
    *fan_out = (double)shape->dim[shape->rank - 1] * field;
}

lks_status lks__initializer_draw(const char *spec, lks_shape shape, uint64_t seed, const char *path, float *out)
{
    const lks_config_class *c;
    const lks_init_class *class_;
    lks_init_options *o;
    void *made;
    lks_status status;
    lks_draw draw;
    bool seeded;

    LKS_TRY(lks__config_from_spec(&family, spec, &c, &made));
    class_ = (const lks_init_class *)c;
    o = made;
    seeded = c->fields[0].key != NULL && strcmp(c->fields[0].key, "seed") == 0 && o->seed != LKS_NONE_INT;
    draw = (lks_draw){ .shape = shape, .n = lks_shape_size(&shape), .out = out, .class_ = class_ };
    draw.key = seeded ? (uint64_t)o->seed : seed;
    draw.stream = lks__philox_stream(seeded ? "" : path, "weight");
    status = class_->rule(&draw, o);
    lks__options_free(c->fields, made);
    return status;
}
