/* loss.c - see loss.h: loss objects, and what is common to all losses: alignment, weights, masks, reduction. */
#include "loss.h"

#include <string.h>

#include "class.h"

const char *const lks__reductions[] = { "sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "none", NULL };

static const lks_config_class *const list[] = {
#define LKS_LOSS(word) &lks__loss_##word.config,
#include "loss_list.h"
#undef LKS_LOSS
    NULL,
};
const lks_config_family lks__loss_family = { "loss", "keras.losses", list };

/* ---- objects ---- */

static lks_reduction reduction_of(const char *word)
{
    if (word == NULL || strcmp(word, "none") == 0) return LKS_REDUCTION_NONE;
    if (strcmp(word, "sum") == 0) return LKS_REDUCTION_SUM;
    return strcmp(word, "mean_with_sample_weight") == 0 ? LKS_REDUCTION_WEIGHTED_MEAN : LKS_REDUCTION_MEAN;
}

static lks_loss *new_loss(void)
{
    lks_loss *loss = lks__calloc(1, sizeof *loss);

    if (loss == NULL) lks__fail(LKS_E_NOMEM, "loss: out of memory");
    else loss->references = 1;
    return loss;
}

static void adopt(lks_loss *loss, const lks_config_class *class_, void *options)
{
    loss->class_ = (const lks_loss_class *)class_;
    loss->options = options;
    loss->reduction = reduction_of(loss->options->reduction);
}

lks_loss *lks_loss_named(const char *spec)
{
    lks_loss *loss = new_loss();
    const lks_config_class *class_;
    void *options;
    lks_status status;

    if (loss == NULL) return NULL;
    status = spec == NULL ? lks__fail(LKS_E_ARG, "the name of a loss is missing")
                          : lks__config_from_spec(&lks__loss_family, spec, &class_, &options);
    if (status == LKS_OK) adopt(loss, class_, options);
    else lks__error_capture(&loss->error, lks__context(status, "loss"));
    return loss;
}

static const lks_field own_fields[] = { LKS_LOSS_HEAD("loss"), LKS_FIELDS_END };
static const lks_loss_class own_class = { { "function", "function", NULL, sizeof(lks_loss_config), own_fields },
                                          NULL,
                                          false };

lks_loss *lks_loss_create_with(lks_loss_fn fn, void *user, const lks_loss_options *options)
{
    lks_loss *loss = new_loss();
    lks_loss_config given = { .struct_size = sizeof given };
    void *made;
    lks_status status;

    if (loss == NULL) return NULL;
    if (options != NULL && options->struct_size >= sizeof *options) {
        given.name = options->name;
        given.reduction = options->reduction;
    }
    status = fn == NULL ? lks__fail(LKS_E_ARG, "the function is missing")
                        : lks__options_create(own_fields, sizeof given, &given, &made);
    if (status == LKS_OK) adopt(loss, &own_class.config, made);
    else lks__error_capture(&loss->error, lks__context(status, "loss"));
    loss->fn = fn;
    loss->user = user;
    return loss;
}

lks_loss *lks_loss_retain(lks_loss *loss)
{
    if (loss != NULL) __atomic_add_fetch(&loss->references, 1, __ATOMIC_RELAXED);
    return loss;
}

void lks_loss_release(lks_loss *loss)
{
    if (loss == NULL || __atomic_sub_fetch(&loss->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    if (loss->options != NULL) lks__options_free(loss->class_->config.fields, loss->options);
    lks__free(loss);
}

lks_status lks__loss_status(const lks_loss *loss)
{
    if (loss == NULL) return lks__fail(LKS_E_NOMEM, "a loss could not be made: out of memory");
    return loss->error.code == LKS_OK ? LKS_OK : lks__error_raise(&loss->error);
}

const char *lks__loss_name(const lks_loss *loss)
{
    return loss != NULL && loss->options != NULL && loss->options->name != NULL ? loss->options->name : "loss";
}

lks_status lks__loss_from_config(const json_t *value, lks_loss **out)
{
    const lks_config_class *class_;
    void *options;
    lks_loss *loss;

    LKS_TRY(lks__config_from_json(&lks__loss_family, value, &class_, &options));
    loss = new_loss();
    if (loss == NULL) {
        lks__options_free(class_->fields, options);
        return LKS_E_NOMEM;
    }
    adopt(loss, class_, options);
    *out = loss;
    return LKS_OK;
}

lks_status lks__loss_from_spec(const char *spec, lks_loss **out)
{
    lks_loss *loss = lks_loss_named(spec);
    lks_status status = lks__loss_status(loss);

    if (status == LKS_OK) *out = loss;
    else lks_loss_release(loss);
    return status;
}

lks_status lks__loss_to_config(const lks_loss *loss, json_t **out)
{
    LKS_TRY(lks__loss_status(loss));
    if (loss->fn != NULL) {
        return lks__fail(LKS_E_UNSUPPORTED, "loss \"%s\" is a function of yours: it cannot be saved",
                         lks__loss_name(loss));
    }
    if (loss->class_ == &lks__loss_crossentropy) { /* in Keras a string alone, no class */
        *out = json_string("crossentropy");
        return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
    }
    return lks__config_to_json(&lks__loss_family, &loss->class_->config, loss->options, out);
}

/* ---- values and reduction ---- */

/* Does it compare shares of classes, row by row? */
static bool of_rows(const lks_loss *loss)
{
    return lks__starts_with(loss->class_->config.snake, "categorical_");
}

/* Rows of different rank would broadcast against each other, which NumPy's rule never does: its batch axes would not meet. Of class
 * numbers in a column the broadcast would make rows, and train on nonsense. */
static bool fit_each_other(const lks_loss *loss, lks_node t, lks_node p)
{
    const lks_type *a, *b;
    char have[LKS_TYPE_TEXT], want[LKS_TYPE_TEXT];
    bool same, column;

    if (!lks__node_ok(t) || !lks__node_ok(p)) return true;
    a = lks__node_type(t);
    b = lks__node_type(p);
    same = !a->batched || !b->batched || a->shape.rank == b->shape.rank;
    column = same && a->shape.rank > 0 && a->shape.rank == b->shape.rank && a->shape.dim[a->shape.rank - 1] == 1 &&
             b->shape.dim[b->shape.rank - 1] != 1;
    if (same && !(column && of_rows(loss))) return true;
    lks__node_fail(t.graph,
                   lks__fail(LKS_E_SHAPE, "loss \"%s\": targets are %s, predictions %s: they need as many %s%s",
                             lks__loss_name(loss), lks__type_text(a, have), lks__type_text(b, want),
                             column ? "classes" : "axes",
                             of_rows(loss) && (column || a->shape.rank == b->shape.rank - 1)
                                 ? "; for class numbers there is sparse_categorical_crossentropy"
                                 : ""));
    return false;
}

lks_node lks__loss_values(const lks_loss *loss, lks_node y_true, lks_node y_pred, lks_node *mask)
{
    lks_status status = lks__loss_status(loss);

    *mask = lks__no_node;
    if (!lks__node_ok(y_true) || !lks__node_ok(y_pred)) return lks__no_node;
    if (status != LKS_OK) return lks__node_fail(y_pred.graph, status);
    y_pred = lks__as_float(y_pred);
    if (loss->fn != NULL) return loss->fn(loss->user, y_true, y_pred);
    if (!loss->class_->labels) y_true = lks__as_float(y_true);
    lks__align_ranks(&y_true, &y_pred);
    if (!loss->class_->labels && !fit_each_other(loss, y_true, y_pred)) return lks__no_node;
    return loss->class_->values(loss->options, y_true, y_pred, mask);
}

/* The weighted values, their sum and the divisor of a mean. */
static lks_node weighted_mean(lks_node weighted, lks_node weight)
{
    return lks__divide_no_nan(lks_ops_sum(weighted, 0, NULL, 0), lks_ops_sum(weight, 0, NULL, 0));
}

static lks_node weigh(const lks_loss *loss, lks_node values, lks_node *weight)
{
    const lks_type *v, *w;

    lks__align_ranks(&values, weight);
    if (!lks__node_ok(values) || !lks__node_ok(*weight)) return lks__no_node;
    v = lks__node_type(values);
    w = lks__node_type(*weight);
    if (v->batched && w->batched && v->shape.rank > 0 && w->shape.rank == 0) {
        char have[LKS_TYPE_TEXT], want[LKS_TYPE_TEXT];
        return lks__node_fail(values.graph,
                              lks__fail(LKS_E_SHAPE,
                                        "loss \"%s\": sample weights %s do not fit losses %s: give one for "
                                        "each loss, or add an axis of size 1",
                                        lks__loss_name(loss), lks__type_text(w, have), lks__type_text(v, want)));
    }
    return lks_ops_multiply(values, *weight);
}

lks_node lks__loss_reduce(const lks_loss *loss, lks_node values, lks_node weight, lks_node mask)
{
    bool weighted;

    if (!lks__node_ok(values)) return lks__no_node;
    weight = lks__masked_weight(weight, mask, loss->reduction == LKS_REDUCTION_MEAN);
    weighted = lks__node_ok(weight);
    if (weighted) values = weigh(loss, values, &weight);
    switch (loss->reduction) {
    case LKS_REDUCTION_SUM: return lks_ops_sum(values, 0, NULL, 0);
    case LKS_REDUCTION_NONE: return values;
    case LKS_REDUCTION_WEIGHTED_MEAN:
        if (weighted) return weighted_mean(values, weight);
        return lks_ops_mean(values, 0, NULL, 0);
    default: return lks_ops_mean(values, 0, NULL, 0);
    }
}

lks_node lks__loss_apply(const lks_loss *loss, lks_trace *trace, lks_node y_true, lks_node y_pred, lks_node weight,
                         lks_node *report)
{
    const char *former = lks__graph_scope(trace->graph, lks__loss_name(loss));
    lks_node mask, values = lks__loss_values(loss, y_true, y_pred, &mask), reduced;

    if (lks__node_ok(values)) {
        reduced = lks__loss_reduce(loss, values, weight, mask);
    } else {
        if (lks__graph_status(trace->graph) == LKS_OK) {
            lks__node_fail(trace->graph,
                           lks__fail(LKS_E_ARG, "loss \"%s\" gave no node of this graph", lks__loss_name(loss)));
        }
        reduced = lks__no_node;
    }
    *report = reduced;
    if (lks__node_ok(reduced) && loss->reduction == LKS_REDUCTION_NONE) {
        *report = lks_ops_mean(reduced, 0, NULL, 0);
        reduced = lks_ops_sum(reduced, 0, NULL, 0);
    }
    lks__graph_scope(trace->graph, former);
    return reduced;
}

int64_t lks__loss_classes(const lks_loss *loss, const lks_type *y_true, const lks_type *y_pred, int64_t *ignored)
{
    int64_t true_rank = y_true->shape.rank, rank = y_pred->shape.rank, classes;

    *ignored = -1;
    if (loss == NULL || loss->error.code != LKS_OK || !loss->class_->labels || rank < 1) return 0;
    classes = y_pred->shape.dim[rank - 1];
    if (loss->class_ == &lks__loss_crossentropy &&
        (classes == 1 || (true_rank == rank && y_true->shape.dim[rank - 1] != 1))) {
        return 0; /* binary or one-hot targets */
    }
    if (loss->options->ignore_class != LKS_NONE_INT) *ignored = loss->options->ignore_class;
    return classes;
}
