/* margin.c - hinge losses, and the overlap losses Dice and Tversky. */
#include "class.h"

/* Labels 0 and 1 become -1 and 1, but only if all labels of the batch are 0 or 1. */
static lks_node signed_labels(lks_node t)
{
    lks_node binary = lks_ops_logical_or(lks_ops_equal(t, lks__num(t, 0)), lks_ops_equal(t, lks__num(t, 1)));
    lks_node others = lks_ops_max(lks_ops_cast(lks_ops_logical_not(binary), LKS_FLOAT32), 0, NULL, 0);
    lks_node moved = lks_ops_subtract(lks__times(t, 2), lks__num(t, 1));

    return lks_ops_where(lks_ops_greater(others, lks__num(t, 0)), t, moved);
}

static lks_node margin(lks_node t, lks_node p)
{
    lks_node short_of = lks__complement(lks_ops_multiply(signed_labels(t), p));

    return lks_ops_maximum(short_of, lks__num(p, 0));
}

static lks_node hinge(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)o;
    (void)mask;
    return lks__mean_last(margin(t, p));
}

static lks_node squared_hinge(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_square(margin(t, p)));
}

static lks_node categorical_hinge(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    const int64_t last = -1;
    lks_node own = lks__sum_last(lks_ops_multiply(t, p));
    lks_node other = lks_ops_max(lks_ops_multiply(lks__complement(t), p), 1, &last, 0);

    (void)o;
    (void)mask;
    return lks_ops_maximum(lks_ops_add(lks_ops_subtract(other, own), lks__num(p, 1)), lks__num(p, 0));
}

static lks_node sum_over(const lks_loss_config *o, lks_node x)
{
    int64_t axes[LKS_MAX_RANK];
    size_t n = 0;

    if (o->axes[0] == LKS_NONE_INT) return lks_ops_sum(x, 0, NULL, 0);
    for (; n < LKS_MAX_RANK && o->axes[n] != 0; n++) axes[n] = o->axes[n] == LKS_ZERO_INT ? 0 : o->axes[n];
    return lks_ops_sum(x, n, axes, 0);
}

static lks_node dice(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node both = lks__times(sum_over(o, lks_ops_multiply(t, p)), 2);
    lks_node all = lks_ops_add(lks_ops_add(sum_over(o, t), sum_over(o, p)), lks__num(p, LKS_EPSILON));

    (void)mask;
    return lks__complement(lks_ops_divide(both, all));
}

/* alpha weighs the misses, beta the false alarms. */
static lks_node tversky(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node both = sum_over(o, lks_ops_multiply(t, p));
    lks_node missed = sum_over(o, lks_ops_multiply(t, lks__complement(p)));
    lks_node alarms = sum_over(o, lks_ops_multiply(lks__complement(t), p));
    lks_node all = lks_ops_add(lks_ops_add(both, lks__times(missed, o->alpha)), lks__times(alarms, o->beta));

    (void)mask;
    return lks__complement(lks_ops_divide(both, lks_ops_add(all, lks__num(p, LKS_EPSILON))));
}

#define CLASS(word, Name, values)                                                                            \
    const lks_loss_class lks__loss_##word = { { Name, #word, NULL, sizeof(lks_loss_config), word##_fields }, \
                                              values,                                                        \
                                              false };
static const lks_field hinge_fields[] = { LKS_LOSS_HEAD("hinge"), LKS_FIELDS_END };
CLASS(hinge, "Hinge", hinge)
static const lks_field squared_hinge_fields[] = { LKS_LOSS_HEAD("squared_hinge"), LKS_FIELDS_END };
CLASS(squared_hinge, "SquaredHinge", squared_hinge)
static const lks_field categorical_hinge_fields[] = { LKS_LOSS_HEAD("categorical_hinge"), LKS_FIELDS_END };
CLASS(categorical_hinge, "CategoricalHinge", categorical_hinge)

#define AXES                                                                        \
    {                                                                               \
        "axis", LKS_FIELD_INTS, offsetof(lks_loss_config, axes), "none", 0, NULL, 0 \
    }
static const lks_field dice_fields[] = { LKS_LOSS_HEAD("dice"), AXES, LKS_FIELDS_END };
CLASS(dice, "Dice", dice)
static const lks_field tversky_fields[] = { LKS_LOSS_HEAD("tversky"), LKS_LOSS_ROW(alpha, FLOAT, "0.5", 0),
                                            LKS_LOSS_ROW(beta, FLOAT, "0.5", 0), AXES, LKS_FIELDS_END };
CLASS(tversky, "Tversky", tversky)
