/* regularizers.c - see weights.h: penalties of weights (and, as activity regularizers, of outputs). */
#include "lockstep/layers.h"
#include "weights.h"

typedef struct reg_options {
    size_t struct_size;
    double l1, l2;
} reg_options;

static const lks_field l1_fields[] = { LKS_FIELD(reg_options, l1, FLOAT, "0.01", LKS_FIELD_ROUNDED), LKS_FIELDS_END };
static const lks_field l2_fields[] = { LKS_FIELD(reg_options, l2, FLOAT, "0.01", 0), LKS_FIELDS_END };
static const lks_field both_fields[] = { LKS_FIELD(reg_options, l1, FLOAT, "0", 0),
                                         LKS_FIELD(reg_options, l2, FLOAT, "0", 0), LKS_FIELDS_END };
static const char *const both_names[] = { "l1l2", NULL };

static const lks_config_class l1_class = { "L1", "l1", NULL, sizeof(reg_options), l1_fields };
static const lks_config_class l2_class = { "L2", "l2", NULL, sizeof(reg_options), l2_fields };
static const lks_config_class both_class = { "L1L2", "l1_l2", both_names, sizeof(reg_options), both_fields };
static const lks_config_class *const list[] = { &l1_class, &l2_class, &both_class, NULL };
static const lks_config_family family = { "regularizer", "keras.regularizers", list };

lks_status lks__regularizer_check(const char *spec)
{
    return lks__config_check(&family, spec);
}

static lks_node weighted(double factor, lks_node sum)
{
    return lks_ops_multiply(lks_ops_number(sum, factor), sum);
}

lks_node lks__regularizer_penalty(double l1, double l2, lks_node w)
{
    lks_node one = lks__no_node, two = lks__no_node;

    if (l1 == 0 && l2 == 0) return lks_ops_number(w, 0);
    if (l1 != 0) one = weighted(l1, lks_ops_sum(lks_ops_abs(w), 0, NULL, 0));
    if (l2 != 0) two = weighted(l2, lks_ops_sum(lks_ops_square(w), 0, NULL, 0));
    if (l1 == 0) return two;
    return l2 == 0 ? one : lks_ops_add(one, two);
}

lks_node lks__regularizer_apply(const char *spec, lks_node w)
{
    const lks_config_class *c;
    void *made;
    reg_options o;
    lks_status status;

    if (!lks__node_ok(w)) return w;
    status = lks__config_from_spec(&family, spec, &c, &made);
    if (status != LKS_OK) return lks__node_fail(w.graph, status);
    o = *(const reg_options *)made;
    lks__options_free(c->fields, made);
    return lks__regularizer_penalty(o.l1, o.l2, w);
}

lks_status lks__regularizer_to_json(const char *spec, json_t **out)
{
    return lks__config_spec_to_json(&family, spec, out);
}
