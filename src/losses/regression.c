/* regression.c - losses of numbers against numbers: spec Keras 3.1, each the mean over the last axis. */
#include "class.h"

static lks_node squared(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_square(lks_ops_subtract(t, p)));
}

static lks_node absolute(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_abs(lks_ops_subtract(t, p)));
}

static lks_node percentage(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node scale = lks_ops_maximum(lks_ops_abs(t), lks__num(t, LKS_EPSILON));

    (void)o;
    (void)mask;
    return lks__times(lks__mean_last(lks_ops_abs(lks_ops_divide(lks_ops_subtract(t, p), scale))), 100);
}

static lks_node log_of(lks_node x)
{
    return lks_ops_log(lks_ops_add(lks_ops_maximum(x, lks__num(x, LKS_EPSILON)), lks__num(x, 1)));
}

static lks_node logarithmic(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_square(lks_ops_subtract(log_of(p), log_of(t))));
}

static lks_node huber(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node error = lks_ops_subtract(p, t), size = lks_ops_abs(error), delta = lks__num(p, o->delta);
    lks_node near = lks__times(lks_ops_square(error), 0.5);
    lks_node far = lks_ops_subtract(lks_ops_multiply(delta, size), lks__num(p, 0.5 * o->delta * o->delta));

    (void)mask;
    return lks__mean_last(lks_ops_where(lks_ops_less_equal(size, delta), near, far));
}

static lks_node log_cosh(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node error = lks_ops_subtract(p, t);
    lks_node bent = lks_ops_add(error, lks_ops_softplus(lks__times(error, -2)));

    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_subtract(bent, lks__num(p, 0.69314718055994531)));
}

static lks_node poisson(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node log = lks_ops_log(lks_ops_add(p, lks__num(p, LKS_EPSILON)));

    (void)o;
    (void)mask;
    return lks__mean_last(lks_ops_subtract(p, lks_ops_multiply(t, log)));
}

static lks_node divergence(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node a = lks_ops_clip(t, LKS_EPSILON, 1), b = lks_ops_clip(p, LKS_EPSILON, 1);

    (void)o;
    (void)mask;
    return lks__sum_last(lks_ops_multiply(a, lks_ops_log(lks_ops_divide(a, b))));
}

/* x times min(1 / |x|, 1 / epsilon): a row of zeros stays zero, its gradient finite. */
static lks_node unit(lks_node x, int64_t axis)
{
    lks_node squares = lks_ops_sum(lks_ops_square(x), 1, &axis, 1);

    return lks_ops_multiply(x, lks_ops_rsqrt(lks_ops_maximum(squares, lks__num(x, LKS_EPSILON * LKS_EPSILON))));
}

static lks_node cosine(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)mask;
    return lks_ops_negative(lks_ops_sum(lks_ops_multiply(unit(t, o->axis), unit(p, o->axis)), 1, &o->axis, 0));
}

#define PLAIN(word, Name, values, ...)                                                                               \
    static const char *const word##_names[] = { __VA_ARGS__, NULL };                                                 \
    static const lks_field word##_fields[] = { LKS_LOSS_HEAD(#word), LKS_FIELDS_END };                               \
    const lks_loss_class lks__loss_##word = { { Name, #word, word##_names, sizeof(lks_loss_config), word##_fields }, \
                                              values,                                                                \
                                              false };
PLAIN(mean_squared_error, "MeanSquaredError", squared, "mse")
PLAIN(mean_absolute_error, "MeanAbsoluteError", absolute, "mae")
PLAIN(mean_absolute_percentage_error, "MeanAbsolutePercentageError", percentage, "mape")
PLAIN(mean_squared_logarithmic_error, "MeanSquaredLogarithmicError", logarithmic, "msle")
PLAIN(log_cosh, "LogCosh", log_cosh, "logcosh")
PLAIN(poisson, "Poisson", poisson, "poisson")
PLAIN(kl_divergence, "KLDivergence", divergence, "kld", "kullback_leibler_divergence")

static const char *const huber_names[] = { "huber_loss", NULL };
static const lks_field huber_fields[] = { LKS_LOSS_HEAD("huber_loss"),
                                          LKS_LOSS_ROW(delta, FLOAT, "1", LKS_FIELD_POSITIVE | LKS_FIELD_CHANGED),
                                          LKS_FIELDS_END };
const lks_loss_class lks__loss_huber = { { "Huber", "huber", huber_names, sizeof(lks_loss_config), huber_fields },
                                         huber,
                                         false };

static const char *const cosine_names[] = { "cosine_proximity", NULL };
static const lks_field cosine_fields[] = { LKS_LOSS_HEAD("cosine_similarity"),
                                           LKS_LOSS_ROW(axis, INT, "-1", LKS_FIELD_CHANGED), LKS_FIELDS_END };
const lks_loss_class lks__loss_cosine_similarity = {
    { "CosineSimilarity", "cosine_similarity", cosine_names, sizeof(lks_loss_config), cosine_fields }, cosine, false
};
