/* sgd.c - gradient descent, with momentum and Nesterov's form: spec Keras 5.2. */
#include "optimizer.h"

static const lks_field fields[] = { LKS_OPTIMIZER_FIELDS(lks_sgd_options, "sgd", "0.01", "none"),
                                    LKS_FIELD(lks_sgd_options, momentum, FLOAT, "0", LKS_FIELD_FRACTION),
                                    LKS_FIELD(lks_sgd_options, nesterov, BOOL, "false", 0), LKS_FIELDS_END };

static int slots(const void *options, lks_slot *out)
{
    out[0] = (lks_slot){ "momentum", 0, 0, false };
    return ((const lks_sgd_options *)options)->momentum != 0;
}

static lks_node update(lks_update *u, lks_node w, lks_node g)
{
    const lks_sgd_options *o = u->optimizer->options;
    lks_node down = lks_ops_multiply(u->rate, g), mu, v;

    if (o->momentum == 0) return lks_ops_subtract(w, down);
    mu = lks_ops_number(w, o->momentum);
    v = lks_ops_subtract(lks_ops_multiply(lks__slot_read(u, 0), mu), down);
    lks__slot_write(u, 0, v);
    if (o->nesterov != LKS_TRUE) return lks_ops_add(w, v);
    return lks_ops_add(w, lks_ops_subtract(lks_ops_multiply(v, mu), down));
}

const lks_optimizer_class lks__optimizer_sgd = {
    .config = { "SGD", "sgd", NULL, sizeof(lks_sgd_options), fields },
    .slots = slots,
    .update = update,
};

lks_optimizer *lks_sgd_with(const lks_sgd_options *options)
{
    return lks__optimizer_create(&lks__optimizer_sgd, options);
}
