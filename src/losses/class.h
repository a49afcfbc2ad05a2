/* class.h - internal to src/losses: what the classes' files share. */
#ifndef LKS_LOSSES_CLASS_H
#define LKS_LOSSES_CLASS_H

#include "loss.h"

extern const char *const lks__reductions[];

/* The two options that every loss has, then its own. */
#define LKS_LOSS_HEAD(text)                          \
    LKS_FIELD(lks_loss_config, name, TEXT, text, 0), \
        LKS_FIELD_WORD(lks_loss_config, reduction, "sum_over_batch_size", lks__reductions)
#define LKS_LOSS_ROW(member, KIND, fallback, flags) LKS_FIELD(lks_loss_config, member, KIND, fallback, flags)

static inline lks_node lks__mean_last(lks_node x)
{
    const int64_t last = -1;

    return lks_ops_mean(x, 1, &last, 0);
}

static inline lks_node lks__sum_last(lks_node x)
{
    const int64_t last = -1;

    return lks_ops_sum(x, 1, &last, 0);
}

static inline lks_node lks__num(lks_node like, double v)
{
    return lks_ops_number(like, v);
}

static inline lks_node lks__times(lks_node x, double v)
{
    return lks_ops_multiply(x, lks_ops_number(x, v));
}

/* 1 - x */
static inline lks_node lks__complement(lks_node x)
{
    return lks_ops_subtract(lks_ops_number(x, 1), x);
}

/* Keras' epsilon, and the bounds of a probability. */
#define LKS_EPSILON 1e-7
static inline lks_node lks__clip_probability(lks_node p)
{
    return lks_ops_clip(p, LKS_EPSILON, 1 - LKS_EPSILON);
}

#endif
