/* crossentropy.c - binary, categorical and sparse cross-entropy.
 *
 * Where the predictions are known to be a softmax or sigmoid of logits, the loss is computed from those: nothing is clipped and
 * gradients do not die at 0 and 1 (Keras on TensorFlow does the same). from_logits on such predictions means the logits
 * behind them too.
 */
#include "class.h"

/* ---- binary ---- */

/* (1 - t) softplus(z) + t softplus(-z): no cancellation, and the gradient sigmoid(z) - t holds at z = 0 too. */
static lks_node binary_logits(lks_node t, lks_node z)
{
    lks_node off = lks_ops_multiply(lks__complement(t), lks_ops_softplus(z));

    return lks_ops_add(off, lks_ops_multiply(t, lks_ops_softplus(lks_ops_negative(z))));
}

static lks_node binary_probabilities(lks_node t, lks_node p)
{
    lks_node clipped = lks__clip_probability(p);
    lks_node on = lks_ops_multiply(t, lks_ops_log(clipped));
    lks_node off = lks_ops_multiply(lks__complement(t), lks_ops_log(lks__complement(clipped)));

    return lks_ops_negative(lks_ops_add(on, off));
}

static lks_node binary_terms(lks_node t, lks_node p, bool from_logits)
{
    lks_node z = lks__graph_logits(p, true);

    if (lks__node_ok(z)) return binary_logits(t, z);
    return from_logits ? binary_logits(t, p) : binary_probabilities(t, p);
}

static lks_node smoothed(lks_node t, double amount, double classes)
{
    if (amount == 0) return t;
    return lks_ops_add(lks__times(t, 1 - amount), lks__num(t, amount / classes));
}

static lks_node binary(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    (void)mask;
    t = smoothed(t, o->label_smoothing, 2);
    return lks_ops_mean(binary_terms(t, p, o->from_logits == LKS_TRUE), 1, &o->axis, 0);
}

static lks_node binary_focal(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node likely, terms;

    (void)mask;
    t = smoothed(t, o->label_smoothing, 2);
    if (o->from_logits == LKS_TRUE) p = lks_ops_sigmoid(p);
    terms = binary_terms(t, p, false);
    likely = lks_ops_add(lks_ops_multiply(t, p), lks_ops_multiply(lks__complement(t), lks__complement(p)));
    terms = lks_ops_multiply(lks_ops_power(lks__complement(likely), lks__num(p, o->gamma)), terms);
    if (o->apply_class_balancing == LKS_TRUE) {
        lks_node balance = lks_ops_add(lks__times(t, o->alpha), lks__times(lks__complement(t), 1 - o->alpha));
        terms = lks_ops_multiply(balance, terms);
    }
    return lks_ops_mean(terms, 1, &o->axis, 0);
}

/* ---- categorical ---- */

static lks_node centred(lks_node z, int64_t axis)
{
    return lks_ops_subtract(z, lks_ops_stop_gradient(lks_ops_max(z, 1, &axis, 1)));
}

/* -sum t log softmax(z). Its gradient is softmax(z) - t as in TensorFlow, also where t does not add up to 1: the term that
 * the value then has too much is kept out of the gradient. */
static lks_node categorical_logits(lks_node t, lks_node z, int64_t axis)
{
    lks_node c = centred(z, axis);
    lks_node total = lks_ops_log(lks_ops_sum(lks_ops_exp(c), 1, &axis, 0));
    lks_node excess = lks_ops_subtract(lks_ops_sum(t, 1, &axis, 0), lks__num(t, 1));
    lks_node own = lks_ops_sum(lks_ops_multiply(t, c), 1, &axis, 0);

    return lks_ops_add(lks_ops_subtract(total, own), lks_ops_stop_gradient(lks_ops_multiply(excess, total)));
}

static lks_node normalised(lks_node p, int64_t axis)
{
    return lks__clip_probability(lks_ops_divide(p, lks_ops_sum(p, 1, &axis, 1)));
}

/* The size of an axis, the batch counted; 0 if it is the batch or does not exist. */
static int64_t size_of(lks_node x, int64_t axis)
{
    lks_shape shape = lks_node_shape(x);

    if (axis < 0) axis += shape.rank;
    return axis >= 0 && axis < shape.rank && shape.dim[axis] > 0 ? shape.dim[axis] : 0;
}

static bool is_last(lks_node x, int64_t axis)
{
    return axis == -1 || axis == lks_node_shape(x).rank - 1;
}

static lks_node categorical(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node z = is_last(p, o->axis) ? lks__graph_logits(p, false) : lks__no_node;
    int64_t classes = size_of(p, o->axis);

    (void)mask;
    t = smoothed(t, o->label_smoothing, classes > 0 ? (double)classes : 1);
    if (lks__node_ok(z)) return categorical_logits(t, z, o->axis);
    if (o->from_logits == LKS_TRUE) return categorical_logits(t, p, o->axis);
    p = normalised(p, o->axis);
    return lks_ops_negative(lks_ops_sum(lks_ops_multiply(t, lks_ops_log(p)), 1, &o->axis, 0));
}

static lks_node alpha_of(const lks_loss_config *o, lks_node like)
{
    lks_type type = { .dtype = LKS_FLOAT32, .shape = { 1, { o->alphas.n } } };
    float values[64];

    if (o->alphas.n == 0) return lks__num(like, o->alpha);
    if (o->alphas.n > 64) return lks__node_fail(like.graph, lks__fail(LKS_E_LIMIT, "alpha: at most 64 entries"));
    for (int64_t i = 0; i < o->alphas.n; i++) values[i] = (float)o->alphas.values[i];
    return lks__graph_constant(like.graph, type, values);
}

static lks_node categorical_focal(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    int64_t classes = size_of(p, o->axis);
    lks_node factor;

    (void)mask;
    if (!lks__node_ok(p)) return p;
    t = smoothed(t, o->label_smoothing, classes > 0 ? (double)classes : 1);
    if (o->from_logits == LKS_TRUE) p = lks_ops_softmax(p, o->axis);
    p = normalised(p, o->axis);
    factor = lks_ops_multiply(lks_ops_power(lks__complement(p), lks__num(p, o->gamma)), alpha_of(o, p));
    factor = lks_ops_multiply(factor, lks_ops_multiply(t, lks_ops_log(p)));
    return lks_ops_negative(lks_ops_sum(factor, 1, &o->axis, 0));
}

/* ---- class numbers ---- */

static lks_node labels_of(lks_node t, lks_node p)
{
    lks_shape ts = lks_node_shape(t), ps = lks_node_shape(p);

    if (ts.rank == ps.rank && ts.rank > 0 && ts.dim[ts.rank - 1] == 1) t = lks_ops_squeeze(t, -1);
    else if (ts.rank >= 0 && ts.rank == ps.rank) /* one-hot rows would be read as class numbers 0 and 1 */
        return lks__node_fail(p.graph,
                              lks__fail(LKS_E_SHAPE,
                                        "the targets have as many axes as the predictions; a sparse loss takes class "
                                        "numbers, one-hot rows belong to categorical_crossentropy"));
    return lks__node_ok(t) && lks__node_type(t)->dtype == LKS_INT32 ? t : lks_ops_cast(t, LKS_INT32);
}

/* Labels as float32 rows of one 1; the class axis is the last. */
static lks_node one_hot(lks_node labels, lks_node p)
{
    return lks_ops_one_hot(labels, size_of(p, -1));
}

static lks_node sparse(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node z = lks__graph_logits(p, false), labels = labels_of(t, p), hot, values, valid = lks__no_node;

    if (o->axis != -1 && o->axis != lks_node_shape(p).rank - 1) {
        return lks__node_fail(p.graph,
                              lks__fail(LKS_E_UNSUPPORTED, "axis: class numbers need the classes on the last axis"));
    }
    if (o->ignore_class != LKS_NONE_INT) {
        int32_t ignored = (int32_t)o->ignore_class;
        lks_type scalar = { .dtype = LKS_INT32, .shape = { 0, { 0 } } };
        int32_t zero = 0;
        valid = lks_ops_not_equal(labels, lks__graph_constant(p.graph, scalar, &ignored));
        labels = lks_ops_where(valid, labels, lks__graph_constant(p.graph, scalar, &zero));
    }
    hot = one_hot(labels, p);
    if (lks__node_ok(z) || o->from_logits == LKS_TRUE) {
        lks_node c = centred(lks__node_ok(z) ? z : p, -1);
        values = lks_ops_subtract(lks_ops_log(lks__sum_last(lks_ops_exp(c))), lks__sum_last(lks_ops_multiply(hot, c)));
    } else { /* the clipped probabilities' logarithms are logits, as TensorFlow has it */
        lks_node clipped = lks__clip_probability(p);
        lks_node own = lks__sum_last(lks_ops_multiply(hot, lks_ops_log(clipped)));
        values = lks_ops_subtract(lks_ops_log(lks__sum_last(clipped)), own);
    }
    if (!lks__node_ok(valid)) return values;
    *mask = valid;
    return lks_ops_where(valid, values, lks__num(values, 0));
}

static lks_node generalized(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    lks_node own = lks__sum_last(lks_ops_multiply(one_hot(labels_of(t, p), p), p));

    (void)mask;
    return lks__times(lks__complement(lks_ops_power(own, lks__num(p, o->q))), 1 / o->q);
}

/* ---- "crossentropy": whichever fits the shapes ---- */

static lks_node by_shape(const lks_loss_config *o, lks_node t, lks_node p, lks_node *mask)
{
    switch (lks__target_kind(t, p)) {
    case LKS_TARGET_BINARY: return binary(o, lks__as_float(t), p, mask);
    case LKS_TARGET_SPARSE: return sparse(o, t, p, mask);
    default: return categorical(o, lks__as_float(t), p, mask);
    }
}

/* ---- the classes ---- */

#define LOGITS LKS_LOSS_ROW(from_logits, BOOL, "false", 0)
#define SMOOTHING LKS_LOSS_ROW(label_smoothing, FLOAT, "0", LKS_FIELD_FRACTION)
#define AXIS LKS_LOSS_ROW(axis, INT, "-1", 0)
#define CLASS(word, Name, names, values, labels)                                                              \
    const lks_loss_class lks__loss_##word = { { Name, #word, names, sizeof(lks_loss_config), word##_fields }, \
                                              values,                                                         \
                                              labels };

static const char *const bce_names[] = { "bce", NULL };
static const lks_field binary_crossentropy_fields[] = { LKS_LOSS_HEAD("binary_crossentropy"), LOGITS, SMOOTHING, AXIS,
                                                        LKS_FIELDS_END };
CLASS(binary_crossentropy, "BinaryCrossentropy", bce_names, binary, false)

static const lks_field binary_focal_crossentropy_fields[] = { LKS_LOSS_HEAD("binary_focal_crossentropy"),
                                                              LOGITS,
                                                              SMOOTHING,
                                                              AXIS,
                                                              LKS_LOSS_ROW(apply_class_balancing, BOOL, "false", 0),
                                                              LKS_LOSS_ROW(alpha, FLOAT, "0.25", 0),
                                                              LKS_LOSS_ROW(gamma, FLOAT, "2", 0),
                                                              LKS_FIELDS_END };
CLASS(binary_focal_crossentropy, "BinaryFocalCrossentropy", NULL, binary_focal, false)

static const char *const cce_names[] = { "cce", NULL };
static const lks_field categorical_crossentropy_fields[] = { LKS_LOSS_HEAD("categorical_crossentropy"), LOGITS,
                                                             SMOOTHING, AXIS, LKS_FIELDS_END };
CLASS(categorical_crossentropy, "CategoricalCrossentropy", cce_names, categorical, false)

static const lks_field categorical_focal_crossentropy_fields[] = {
    LKS_LOSS_HEAD("categorical_focal_crossentropy"),
    LOGITS,
    SMOOTHING,
    AXIS,
    LKS_FIELD_LIST(lks_loss_config, alpha, FLOATS, "0.25", 0, alphas),
    LKS_LOSS_ROW(gamma, FLOAT, "2", 0),
    LKS_FIELDS_END,
};
CLASS(categorical_focal_crossentropy, "CategoricalFocalCrossentropy", NULL, categorical_focal, false)

static const char *const scce_names[] = { "scce", NULL };
static const lks_field sparse_categorical_crossentropy_fields[] = { LKS_LOSS_HEAD("sparse_categorical_crossentropy"),
                                                                    LOGITS, LKS_LOSS_ROW(ignore_class, INT, "none", 0),
                                                                    LKS_LOSS_ROW(axis, INT, "-1", LKS_FIELD_CHANGED),
                                                                    LKS_FIELDS_END };
CLASS(sparse_categorical_crossentropy, "SparseCategoricalCrossentropy", scce_names, sparse, true)

static const lks_field categorical_generalized_cross_entropy_fields[] = {
    LKS_LOSS_HEAD("categorical_generalized_cross_entropy"), LKS_LOSS_ROW(q, FLOAT, "0.5", LKS_FIELD_FRACTION),
    LKS_FIELDS_END
};
CLASS(categorical_generalized_cross_entropy, "CategoricalGeneralizedCrossEntropy", NULL, generalized, true)

static const char *const ce_names[] = { "ce", NULL };
static const lks_field crossentropy_fields[] = {
    LKS_LOSS_HEAD("crossentropy"), LOGITS, SMOOTHING, AXIS, LKS_LOSS_ROW(ignore_class, INT, "none", 0), LKS_FIELDS_END
};
CLASS(crossentropy, "Crossentropy", ce_names, by_shape, true)
