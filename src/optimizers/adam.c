/* adam.c - Adam and AdamW: spec Keras 5.2. The powers of beta are taken of the float32 number, as Keras does; epsilon is not
 * corrected for bias.
 */
#include "optimizer.h"

enum { MOMENTUM, VELOCITY, GREATEST };

#define OWN                                                                         \
    LKS_FIELD(lks_adam_options, beta_1, FLOAT, "0.9", LKS_FIELD_FRACTION),          \
        LKS_FIELD(lks_adam_options, beta_2, FLOAT, "0.999", LKS_FIELD_FRACTION),    \
        LKS_FIELD(lks_adam_options, epsilon, FLOAT, "1e-7", LKS_FIELD_NONNEGATIVE), \
        LKS_FIELD(lks_adam_options, amsgrad, BOOL, "false", 0)
static const lks_field adam_fields[] = { LKS_OPTIMIZER_FIELDS(lks_adam_options, "adam", "0.001", "none"), OWN,
                                         LKS_FIELDS_END };
static const lks_field adamw_fields[] = { LKS_OPTIMIZER_FIELDS(lks_adam_options, "adam_w", "0.001", "0.004"), OWN,
                                          LKS_FIELDS_END };

static int slots(const void *options, lks_slot *out)
{
    out[0] = (lks_slot){ "momentum", MOMENTUM, 0, true };
    out[1] = (lks_slot){ "velocity", VELOCITY, 0, false };
    out[2] = (lks_slot){ "velocity_hat", GREATEST, 0, false };
    return ((const lks_adam_options *)options)->amsgrad == LKS_TRUE ? 3 : 2;
}

/* 1 - beta^t */
static lks_node correction(const lks_update *u, double beta)
{
    return lks_ops_subtract(lks_ops_number(u->step, 1), lks_ops_power(lks_ops_number(u->step, beta), u->step));
}

static void prepare(lks_update *u)
{
    const lks_adam_options *o = u->optimizer->options;
    lks_node second = lks_ops_sqrt(correction(u, o->beta_2));

    u->scalar[0] = lks_ops_divide(lks_ops_multiply(u->rate, second), correction(u, o->beta_1));
}

/* old + (new - old) (1 - beta) */
static lks_node drift(const lks_update *u, int slot, lks_node fresh, double beta)
{
    lks_node old = lks__slot_read(u, slot);
    lks_node value = lks_ops_add(old, lks_ops_multiply(lks_ops_subtract(fresh, old), lks_ops_number(old, 1 - beta)));

    lks__slot_write(u, slot, value);
    return value;
}

static lks_node update(lks_update *u, lks_node w, lks_node g)
{
    const lks_adam_options *o = u->optimizer->options;
    lks_node m = drift(u, MOMENTUM, g, o->beta_1), v = drift(u, VELOCITY, lks_ops_square(g), o->beta_2), below;

    if (o->amsgrad == LKS_TRUE) {
        v = lks_ops_maximum(lks__slot_read(u, GREATEST), v);
        lks__slot_write(u, GREATEST, v);
    }
    below = lks_ops_add(lks_ops_sqrt(v), lks_ops_number(w, o->epsilon));
    return lks_ops_subtract(w, lks_ops_divide(lks_ops_multiply(m, u->scalar[0]), below));
}

const lks_optimizer_class lks__optimizer_adam = {
    .config = { "Adam", "adam", NULL, sizeof(lks_adam_options), adam_fields },
    .slots = slots,
    .prepare = prepare,
    .update = update,
};

static const char *const names[] = { "adam_w", NULL };
const lks_optimizer_class lks__optimizer_adamw = {
    .config = { "AdamW", "adamw", names, sizeof(lks_adam_options), adamw_fields },
    .slots = slots,
    .prepare = prepare,
    .update = update,
};

lks_optimizer *lks_adam_with(const lks_adam_options *options)
{
    return lks__optimizer_create(&lks__optimizer_adam, options);
}

lks_optimizer *lks_adamw_with(const lks_adam_options *options)
{
    return lks__optimizer_create(&lks__optimizer_adamw, options);
}
