/* schedule.c - see schedule.h: the six schedules of spec Keras 5.5. */
#include "schedule.h"

#include <math.h>

#include "lockstep/layers.h"

typedef struct schedule_options {
    size_t struct_size;
    const char *name;
    double initial_learning_rate, decay_steps, decay_rate, end_learning_rate, power, alpha, warmup_target, warmup_steps;
    double first_decay_steps, t_mul, m_mul, none;
    lks_numbers boundaries, values;
    lks_tristate staircase, cycle;
} schedule_options;

typedef struct schedule_class {
    lks_config_class config;
    lks_node (*apply)(const schedule_options *o, lks_node s);
} schedule_class;

static const double pi = 3.14159265358979323846;

static lks_node num(lks_node like, double v)
{
    return lks_ops_number(like, v);
}

static lks_node times(lks_node x, double v)
{
    return lks_ops_multiply(x, num(x, v));
}

static lks_node plus(lks_node x, double v)
{
    return lks_ops_add(x, num(x, v));
}

static lks_node over(lks_node x, double v)
{
    return lks_ops_divide(x, num(x, v));
}

static lks_node progress(const schedule_options *o, lks_node s)
{
    lks_node p = over(s, o->decay_steps);

    return o->staircase == LKS_TRUE ? lks_ops_floor(p) : p;
}

static lks_node exponential(const schedule_options *o, lks_node s)
{
    return times(lks_ops_power(num(s, o->decay_rate), progress(o, s)), o->initial_learning_rate);
}

static lks_node inverse_time(const schedule_options *o, lks_node s)
{
    return lks_ops_divide(num(s, o->initial_learning_rate), plus(times(progress(o, s), o->decay_rate), 1));
}

/* A boundary belongs to the piece before it. */
static lks_node piecewise(const schedule_options *o, lks_node s)
{
    int64_t n = o->values.n;
    lks_node rate;

    if (n < 1 || o->boundaries.n != n - 1) {
        return lks__node_fail(s.graph,
                              lks__fail(LKS_E_ARG, "PiecewiseConstantDecay needs one value more than boundaries"));
    }
    rate = num(s, o->values.values[n - 1]);
    for (int64_t i = n - 2; i >= 0; i--) {
        rate = lks_ops_where(lks_ops_less_equal(s, num(s, o->boundaries.values[i])), num(s, o->values.values[i]), rate);
    }
    return rate;
}

static lks_node polynomial(const schedule_options *o, lks_node s)
{
    lks_node steps = num(s, o->decay_steps), left;

    if (o->cycle == LKS_TRUE) {
        lks_node rounds = lks_ops_negative(lks_ops_floor(lks_ops_negative(lks_ops_divide(s, steps))));
        steps = lks_ops_multiply(steps, lks_ops_where(lks_ops_equal(s, num(s, 0)), num(s, 1), rounds));
    } else {
        s = lks_ops_minimum(s, steps);
    }
    left = lks_ops_subtract(num(s, 1), lks_ops_divide(s, steps));
    left = lks_ops_power(left, num(s, o->power));
    return plus(times(left, o->initial_learning_rate - o->end_learning_rate), o->end_learning_rate);
}

/* Half a wave from 1 down to alpha, `part` of the way, its height times `height`. */
static lks_node wave(lks_node part, lks_node height, double alpha)
{
    lks_node half = lks_ops_multiply(times(plus(lks_ops_cos(times(part, pi)), 1), 0.5), height);

    return plus(times(half, 1 - alpha), alpha);
}

static lks_node cosine(const schedule_options *o, lks_node s)
{
    double from = isnan(o->warmup_target) ? o->initial_learning_rate : o->warmup_target;
    lks_node since = isnan(o->warmup_target) ? s : plus(s, -o->warmup_steps), rate, rise;

    since = lks_ops_minimum(since, num(s, o->decay_steps));
    rate = times(wave(over(since, o->decay_steps), num(s, 1), o->alpha), from);
    if (isnan(o->warmup_target) || o->warmup_steps <= 0) return rate;
    rise = plus(times(over(s, o->warmup_steps), from - o->initial_learning_rate), o->initial_learning_rate);
    return lks_ops_where(lks_ops_less(s, num(s, o->warmup_steps)), rise, rate);
}

static lks_node restarts(const schedule_options *o, lks_node s)
{
    lks_node f = over(s, o->first_decay_steps), round, part;

    if (o->t_mul == 1) {
        round = lks_ops_floor(f);
        part = lks_ops_subtract(f, round);
    } else {
        lks_node grown = plus(times(f, o->t_mul - 1), 1), length, before;
        round = lks_ops_floor(lks_ops_divide(lks_ops_log(grown), lks_ops_log(num(s, o->t_mul))));
        length = lks_ops_power(num(s, o->t_mul), round);
        before = over(lks_ops_subtract(num(s, 1), length), 1 - o->t_mul);
        part = lks_ops_divide(lks_ops_subtract(f, before), length);
    }
    return times(wave(part, lks_ops_power(num(s, o->m_mul), round), o->alpha), o->initial_learning_rate);
}

/* ---- the classes ---- */

#define NUMBER(member, fallback) LKS_FIELD(schedule_options, member, FLOAT, fallback, 0)
#define STEPS(member) LKS_FIELD(schedule_options, member, FLOAT, NULL, LKS_FIELD_POSITIVE | LKS_FIELD_WHOLE)
#define NAME(text) LKS_FIELD(schedule_options, name, TEXT, text, 0)
#define LIST(member)                                                                                                   \
    {                                                                                                                  \
#member, LKS_FIELD_FLOATS, offsetof(schedule_options, none), NULL, 0, NULL, offsetof(schedule_options, member) \
    }
#define FLAG(member) LKS_FIELD(schedule_options, member, BOOL, "false", 0)

static const lks_field decay_fields[] = { NUMBER(initial_learning_rate, NULL),
                                          STEPS(decay_steps),
                                          NUMBER(decay_rate, NULL),
                                          FLAG(staircase),
                                          NAME("ExponentialDecay"),
                                          LKS_FIELDS_END };
static const lks_field inverse_fields[] = { NUMBER(initial_learning_rate, NULL),
                                            STEPS(decay_steps),
                                            NUMBER(decay_rate, NULL),
                                            FLAG(staircase),
                                            NAME("InverseTimeDecay"),
                                            LKS_FIELDS_END };
static const lks_field piecewise_fields[] = { LIST(boundaries), LIST(values), NAME("PiecewiseConstant"),
                                              LKS_FIELDS_END };
static const lks_field polynomial_fields[] = { NUMBER(initial_learning_rate, NULL),
                                               STEPS(decay_steps),
                                               NUMBER(end_learning_rate, "0.0001"),
                                               NUMBER(power, "1"),
                                               FLAG(cycle),
                                               NAME("PolynomialDecay"),
                                               LKS_FIELDS_END };
static const lks_field cosine_fields[] = { NUMBER(initial_learning_rate, NULL),
                                           STEPS(decay_steps),
                                           NUMBER(alpha, "0"),
                                           NAME("CosineDecay"),
                                           NUMBER(warmup_target, "none"),
                                           LKS_FIELD(schedule_options, warmup_steps, FLOAT, "0",
                                                     LKS_FIELD_NONNEGATIVE | LKS_FIELD_WHOLE),
                                           LKS_FIELDS_END };
static const lks_field restarts_fields[] = { NUMBER(initial_learning_rate, NULL),
                                             STEPS(first_decay_steps),
                                             LKS_FIELD(schedule_options, t_mul, FLOAT, "2", LKS_FIELD_POSITIVE),
                                             NUMBER(m_mul, "1"),
                                             NUMBER(alpha, "0"),
                                             NAME("SGDRDecay"),
                                             LKS_FIELDS_END };

#define CLASS(word, Name, snake, fields) \
    static const schedule_class class_##word = { { Name, snake, NULL, sizeof(schedule_options), fields }, word };
CLASS(exponential, "ExponentialDecay", "exponential_decay", decay_fields)
CLASS(inverse_time, "InverseTimeDecay", "inverse_time_decay", inverse_fields)
CLASS(piecewise, "PiecewiseConstantDecay", "piecewise_constant_decay", piecewise_fields)
CLASS(polynomial, "PolynomialDecay", "polynomial_decay", polynomial_fields)
CLASS(cosine, "CosineDecay", "cosine_decay", cosine_fields)
CLASS(restarts, "CosineDecayRestarts", "cosine_decay_restarts", restarts_fields)
static const lks_config_class *const list[] = { &class_exponential.config,
                                                &class_inverse_time.config,
                                                &class_piecewise.config,
                                                &class_polynomial.config,
                                                &class_cosine.config,
                                                &class_restarts.config,
                                                NULL };
static const lks_config_family family = { "learning-rate schedule", "keras.optimizers.schedules", list };

lks_status lks__schedule_check(const char *spec)
{
    return lks__config_check(&family, spec);
}

lks_status lks__schedule_to_json(const char *spec, json_t **out)
{
    return lks__config_spec_to_json(&family, spec, out);
}

lks_node lks__schedule_apply(const char *spec, lks_node s)
{
    const lks_config_class *c;
    void *options;
    lks_status status;
    lks_node rate;

    if (!lks__node_ok(s)) return s;
    status = lks__config_from_spec(&family, spec, &c, &options);
    if (status != LKS_OK) return lks__node_fail(s.graph, status);
    rate = ((const schedule_class *)c)->apply(options, s);
    lks__options_free(c->fields, options);
    return rate;
}
