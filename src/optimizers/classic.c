/* classic.c - Adagrad, Adadelta, Adamax, Nadam, Lion, Ftrl, Lamb: spec Keras 5.2. By name only. */
#include "optimizer.h"

typedef struct classic_options {
    LKS_OPTIMIZER_OPTIONS;
    double rho, beta_1, beta_2, epsilon, initial_accumulator_value;
    double learning_rate_power, l1_regularization_strength, l2_regularization_strength,
        l2_shrinkage_regularization_strength, beta;
} classic_options;

#define ROW(member, fallback) LKS_FIELD(classic_options, member, FLOAT, fallback, 0)

static lks_node num(lks_node like, double v)
{
    return lks_ops_number(like, v);
}

static lks_node times(lks_node x, double v)
{
    return lks_ops_multiply(x, lks_ops_number(x, v));
}

static lks_node plus(lks_node x, double v)
{
    return lks_ops_add(x, lks_ops_number(x, v));
}

static const classic_options *options_of(const lks_update *u)
{
    return u->optimizer->options;
}

/* a old + (1 - a) fresh, kept. */
static lks_node blend(const lks_update *u, int slot, lks_node fresh, double a)
{
    lks_node value = lks_ops_add(times(lks__slot_read(u, slot), a), times(fresh, 1 - a));

    lks__slot_write(u, slot, value);
    return value;
}

/* old + (fresh - old) (1 - beta), kept. */
static lks_node drift(const lks_update *u, int slot, lks_node fresh, double beta)
{
    lks_node old = lks__slot_read(u, slot), value = lks_ops_add(old, times(lks_ops_subtract(fresh, old), 1 - beta));

    lks__slot_write(u, slot, value);
    return value;
}

/* 1 - beta^t */
static lks_node correction(const lks_update *u, double beta)
{
    return lks_ops_subtract(num(u->step, 1), lks_ops_power(num(u->step, beta), u->step));
}

static int pair(lks_slot *out, const char *first, const char *second)
{
    out[0] = (lks_slot){ first, 0, 0, true };
    out[1] = (lks_slot){ second, 1, 0, false };
    return 2;
}

/* ---- Adagrad ---- */

static int adagrad_slots(const void *options, lks_slot *out)
{
    out[0] = (lks_slot){ "accumulator", 0, ((const classic_options *)options)->initial_accumulator_value, false };
    return 1;
}

static lks_node adagrad(lks_update *u, lks_node w, lks_node g)
{
    lks_node sum = lks_ops_add(lks__slot_read(u, 0), lks_ops_square(g));

    lks__slot_write(u, 0, sum);
    return lks_ops_subtract(
        w, lks_ops_divide(lks_ops_multiply(u->rate, g), lks_ops_sqrt(plus(sum, options_of(u)->epsilon))));
}

/* ---- Adadelta ---- */

static int adadelta_slots(const void *options, lks_slot *out)
{
    (void)options;
    return pair(out, "accumulated_grad", "accumulated_delta_var");
}

static lks_node adadelta(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    lks_node squares = blend(u, 0, lks_ops_square(g), o->rho), moved = lks__slot_read(u, 1), delta;

    delta = lks_ops_multiply(lks_ops_sqrt(plus(moved, o->epsilon)), g);
    delta = lks_ops_negative(lks_ops_divide(delta, lks_ops_sqrt(plus(squares, o->epsilon))));
    blend(u, 1, lks_ops_square(delta), o->rho);
    return lks_ops_add(w, lks_ops_multiply(u->rate, delta));
}

/* ---- Adamax ---- */

static int adamax_slots(const void *options, lks_slot *out)
{
    (void)options;
    return pair(out, "momentum", "norm");
}

static void adamax_prepare(lks_update *u)
{
    u->scalar[0] = lks_ops_divide(u->rate, correction(u, options_of(u)->beta_1));
}

static lks_node adamax(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    lks_node m = drift(u, 0, g, o->beta_1),
             norm = lks_ops_maximum(times(lks__slot_read(u, 1), o->beta_2), lks_ops_abs(g));

    lks__slot_write(u, 1, norm);
    return lks_ops_subtract(w, lks_ops_divide(lks_ops_multiply(u->scalar[0], m), plus(norm, o->epsilon)));
}

/* ---- Nadam ---- */

static int adam_slots(const void *options, lks_slot *out)
{
    (void)options;
    return pair(out, "momentum", "velocity");
}

/* beta_1 (1 - 0.5 0.96^t) */
static lks_node schedule(const lks_update *u, lks_node t)
{
    lks_node decayed = times(lks_ops_power(num(t, 0.96), t), 0.5);

    return times(lks_ops_subtract(num(t, 1), decayed), options_of(u)->beta_1);
}

/* The product of all u_t so far is one scalar, multiplied once a step. */
static void nadam_prepare(lks_update *u)
{
    lks_variable *v = u->optimizer->scalar;
    lks_node old = lks__graph_variable(u->trace->graph, v), now = schedule(u, u->step),
             next = schedule(u, plus(u->step, 1));
    lks_node product = lks_ops_multiply(old, now);

    lks__trace_assign(u->trace, v, lks__applied(u, product, old));
    u->scalar[0] = lks_ops_divide(next, lks_ops_subtract(num(old, 1), lks_ops_multiply(product, next)));
    u->scalar[1] = lks_ops_divide(lks_ops_subtract(num(old, 1), now), lks_ops_subtract(num(old, 1), product));
    u->scalar[2] = correction(u, options_of(u)->beta_2);
}

static lks_node nadam(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    lks_node m = drift(u, 0, g, o->beta_1), v = drift(u, 1, lks_ops_square(g), o->beta_2);

    m = lks_ops_add(lks_ops_multiply(u->scalar[0], m), lks_ops_multiply(u->scalar[1], g));
    v = plus(lks_ops_sqrt(lks_ops_divide(v, u->scalar[2])), o->epsilon);
    return lks_ops_subtract(w, lks_ops_divide(lks_ops_multiply(u->rate, m), v));
}

/* ---- Lion ---- */

static int lion_slots(const void *options, lks_slot *out)
{
    (void)options;
    out[0] = (lks_slot){ "momentum", 0, 0, false };
    return 1;
}

static lks_node lion(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    lks_node old = lks__slot_read(u, 0);
    lks_node direction = lks_ops_sign(lks_ops_add(times(old, o->beta_1), times(g, 1 - o->beta_1)));

    blend(u, 0, g, o->beta_2);
    return lks_ops_subtract(w, lks_ops_multiply(u->rate, direction));
}

/* ---- Ftrl ---- */

static int ftrl_slots(const void *options, lks_slot *out)
{
    int n = pair(out, "accumulator", "linear");

    out[0].initial = ((const classic_options *)options)->initial_accumulator_value;
    return n;
}

static lks_node ftrl(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    double l2 = o->l2_regularization_strength, l1 = o->l1_regularization_strength, power = -o->learning_rate_power;
    lks_node n = lks__slot_read(u, 0), more = lks_ops_add(n, lks_ops_square(g)), old_root, root, z, shrunk, q;

    shrunk = lks_ops_add(g, times(w, 2 * o->l2_shrinkage_regularization_strength));
    old_root = lks_ops_power(n, num(n, power));
    root = lks_ops_power(more, num(n, power));
    z = lks_ops_divide(lks_ops_multiply(lks_ops_subtract(root, old_root), w), u->rate);
    z = lks_ops_add(lks__slot_read(u, 1), lks_ops_subtract(shrunk, z));
    q = lks_ops_add(num(u->rate, 2 * l2), lks_ops_divide(num(u->rate, o->beta), u->rate));
    q = lks_ops_add(lks_ops_divide(root, u->rate), q);
    lks__slot_write(u, 0, more);
    lks__slot_write(u, 1, z);
    return lks_ops_divide(lks_ops_subtract(lks_ops_clip(z, -l1, l1), z), q);
}

/* ---- Lamb ---- */

static void lamb_prepare(lks_update *u)
{
    u->scalar[0] = correction(u, options_of(u)->beta_1);
    u->scalar[1] = correction(u, options_of(u)->beta_2);
}

static lks_node norm_of(lks_node x)
{
    return lks_ops_sqrt(lks_ops_sum(lks_ops_square(x), 0, NULL, 0));
}

/* a / b, and 1 where either is 0. */
static lks_node trust(lks_node a, lks_node b)
{
    lks_node zero = num(a, 0), one = num(a, 1),
             usable = lks_ops_logical_and(lks_ops_greater(a, zero), lks_ops_greater(b, zero));

    return lks_ops_where(usable, lks_ops_divide(a, lks_ops_where(usable, b, one)), one);
}

static lks_node lamb(lks_update *u, lks_node w, lks_node g)
{
    const classic_options *o = options_of(u);
    lks_node m = drift(u, 0, g, o->beta_1), v = drift(u, 1, lks_ops_square(g), o->beta_2), change;

    v = plus(lks_ops_sqrt(lks_ops_divide(v, u->scalar[1])), o->epsilon);
    change = lks_ops_divide(lks_ops_divide(m, u->scalar[0]), v);
    return lks_ops_subtract(w, lks_ops_multiply(lks_ops_multiply(u->rate, trust(norm_of(w), norm_of(change))), change));
}

/* ---- the classes ---- */

#define FIELDS(word, snake, ...)                                                                              \
    static const lks_field word##_fields[] = { LKS_OPTIMIZER_FIELDS(classic_options, snake, "0.001", "none"), \
                                               __VA_ARGS__, LKS_FIELDS_END };
#define CLASS(word, Name, slots_, prepare_, scalar_)                             \
    const lks_optimizer_class lks__optimizer_##word = {                          \
        .config = { Name, #word, NULL, sizeof(classic_options), word##_fields }, \
        .slots = slots_,                                                         \
        .prepare = prepare_,                                                     \
        .update = word,                                                          \
        .scalar = scalar_,                                                       \
    };
#define BETAS ROW(beta_1, "0.9"), ROW(beta_2, "0.999"), ROW(epsilon, "1e-7")

FIELDS(adagrad, "adagrad", ROW(initial_accumulator_value, "0.1"), ROW(epsilon, "1e-7"))
CLASS(adagrad, "Adagrad", adagrad_slots, NULL, NULL)
FIELDS(adadelta, "adadelta", ROW(rho, "0.95"), ROW(epsilon, "1e-7"))
CLASS(adadelta, "Adadelta", adadelta_slots, NULL, NULL)
FIELDS(adamax, "adamax", BETAS)
CLASS(adamax, "Adamax", adamax_slots, adamax_prepare, NULL)
FIELDS(nadam, "nadam", BETAS)
CLASS(nadam, "Nadam", adam_slots, nadam_prepare, "variable")
FIELDS(lion, "lion", ROW(beta_1, "0.9"), ROW(beta_2, "0.99"))
CLASS(lion, "Lion", lion_slots, NULL, NULL)
FIELDS(ftrl, "ftrl", ROW(learning_rate_power, "-0.5"), ROW(initial_accumulator_value, "0.1"),
       ROW(l1_regularization_strength, "0"), ROW(l2_regularization_strength, "0"),
       ROW(l2_shrinkage_regularization_strength, "0"), ROW(beta, "0"))
CLASS(ftrl, "Ftrl", ftrl_slots, NULL, NULL)
FIELDS(lamb, "lamb", BETAS)
CLASS(lamb, "Lamb", adam_slots, lamb_prepare, NULL)
