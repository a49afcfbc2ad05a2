/* rmsprop.c - RMSprop: spec Keras 5.2. */
#include "optimizer.h"

enum { VELOCITY, MOMENTUM, AVERAGE };

static const lks_field fields[] = { LKS_OPTIMIZER_FIELDS(lks_rmsprop_options, "rm_sprop", "0.001", "none"),
                                    LKS_FIELD(lks_rmsprop_options, rho, FLOAT, "0.9", LKS_FIELD_FRACTION),
                                    LKS_FIELD(lks_rmsprop_options, momentum, FLOAT, "0", LKS_FIELD_FRACTION),
                                    LKS_FIELD(lks_rmsprop_options, epsilon, FLOAT, "1e-7", LKS_FIELD_NONNEGATIVE),
                                    LKS_FIELD(lks_rmsprop_options, centered, BOOL, "false", 0),
                                    LKS_FIELDS_END };

static int slots(const void *options, lks_slot *out)
{
    const lks_rmsprop_options *o = options;
    int n = 0;

    out[n++] = (lks_slot){ "velocity", VELOCITY, 0, false };
    if (o->momentum > 0) out[n++] = (lks_slot){ "momentum", MOMENTUM, 0, false };
    if (o->centered == LKS_TRUE) out[n++] = (lks_slot){ "average_gradient", AVERAGE, 0, false };
    return n;
}

/* rho old + (1 - rho) new */
static lks_node blend(const lks_update *u, int slot, lks_node fresh)
{
    double rho = ((const lks_rmsprop_options *)u->optimizer->options)->rho;
    lks_node old = lks__slot_read(u, slot), value;

    value = lks_ops_add(lks_ops_multiply(old, lks_ops_number(old, rho)),
                        lks_ops_multiply(fresh, lks_ops_number(fresh, 1 - rho)));
    lks__slot_write(u, slot, value);
    return value;
}

static lks_node update(lks_update *u, lks_node w, lks_node g)
{
    const lks_rmsprop_options *o = u->optimizer->options;
    lks_node velocity = blend(u, VELOCITY, lks_ops_square(g));
    lks_node denominator = lks_ops_add(velocity, lks_ops_number(w, o->epsilon)), change;

    if (o->centered == LKS_TRUE) denominator = lks_ops_subtract(denominator, lks_ops_square(blend(u, AVERAGE, g)));
    change = lks_ops_divide(lks_ops_multiply(u->rate, g), lks_ops_sqrt(denominator));
    if (o->momentum > 0) {
        lks_node old = lks__slot_read(u, MOMENTUM);
        change = lks_ops_add(lks_ops_multiply(old, lks_ops_number(old, o->momentum)), change);
        lks__slot_write(u, MOMENTUM, change);
    }
    return lks_ops_subtract(w, change);
}

static const char *const names[] = { "rms_prop", "rm_sprop", NULL };
const lks_optimizer_class lks__optimizer_rmsprop = {
    .config = { "RMSprop", "rmsprop", names, sizeof(lks_rmsprop_options), fields },
    .slots = slots,
    .update = update,
};

lks_optimizer *lks_rmsprop_with(const lks_rmsprop_options *options)
{
    return lks__optimizer_create(&lks__optimizer_rmsprop, options);
}
