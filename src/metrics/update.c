/* update.c - see metric.h: one batch added to a metric's state, as Keras reduces values to one for each example. */
#include "values.h"

static const lks_loss_class *wrapped_loss(const lks_metric *metric)
{
    if (metric->class_->loss != NULL) return metric->class_->loss;
    if (metric->options->fn == NULL) return NULL;
    return (const lks_loss_class *)lks__config_find(&lks__loss_family, metric->options->fn);
}

static lks_node values_of(const lks_metric *metric, lks_node t, lks_node p, lks_node *mask)
{
    const lks_metric_class *c = metric->class_;
    const lks_loss_class *loss;
    lks_node v;

    *mask = lks__no_node;
    if ((c->traits & LKS_METRIC_VALUES) != 0) return lks__as_float(p);
    if (!lks__node_ok(t)) return lks__no_node;
    if (metric->fn != NULL) return lks__as_float(metric->fn(metric->user, t, p));
    loss = wrapped_loss(metric);
    if (loss == NULL) return c->values != NULL ? c->values(metric->options, t, p) : lks__no_node;
    p = lks__as_float(p);
    if (!loss->labels) t = lks__as_float(t);
    lks__align_ranks(&t, &p);
    v = loss->values(&metric->options->loss, t, p, mask);
    return c->sign < 0 ? lks_ops_negative(v) : v;
}

/* The mean (or sum) over the axes [from, rank) of x. */
static lks_node over_axes(lks_node x, int64_t from, bool sum)
{
    int64_t axes[LKS_MAX_RANK + 1], rank = lks_node_shape(x).rank;
    size_t n = 0;

    for (int64_t i = from; i < rank; i++) axes[n++] = i;
    if (n == 0) return x;
    return sum ? lks_ops_sum(x, n, axes, 0) : lks_ops_mean(x, n, axes, 0);
}

static lks_node grand_total(lks_node x)
{
    return lks_ops_sum(x, 0, NULL, 0);
}

/* Values and weights as one each for an example; *count is what the batch counts. */
static lks_node samplewise(lks_node v, lks_node w, lks_node mask, bool sum, lks_node *count)
{
    lks_shape shape;
    int64_t rank;

    if (!lks__node_ok(w)) {
        v = over_axes(v, 1, sum);
        shape = lks_node_shape(v);
        *count = shape.rank == 0 || shape.dim[0] >= 0 ? lks_ops_number(v, shape.rank == 0 ? 1 : (double)shape.dim[0])
                                                      : lks_ops_batch_size(v);
        return grand_total(v);
    }
    w = lks__masked_weight(w, mask, false);
    lks__align_ranks(&v, &w);
    rank = lks_node_shape(w).rank;
    v = over_axes(v, rank, sum);
    w = lks_ops_broadcast_like(w, v);
    v = lks_ops_multiply(v, w);
    if (rank > 1) {
        w = over_axes(w, 1, sum);
        v = over_axes(v, 1, sum);
    }
    *count = grand_total(w);
    return grand_total(v);
}

static void add(lks_trace *trace, lks_variable *state, lks_node amount)
{
    if (state != NULL) lks__trace_assign(trace, state, lks_ops_add(lks__graph_variable(trace->graph, state), amount));
}

void lks__metric_update(lks_metric *metric, lks_trace *trace, lks_node y_true, lks_node y_pred, lks_node weight)
{
    lks_status status = lks__metric_status(metric);
    const char *former;
    lks_node mask, values, count, total;

    if (lks__graph_status(trace->graph) != LKS_OK) return;
    if (status != LKS_OK) {
        lks__node_fail(trace->graph, status);
        return;
    }
    former = lks__graph_scope(trace->graph, lks__metric_name(metric));
    values = values_of(metric, y_true, y_pred, &mask);
    if (lks__node_ok(values)) {
        total = samplewise(values, weight, mask, (metric->class_->traits & LKS_METRIC_SUM) != 0, &count);
        add(trace, metric->total, total);
        add(trace, metric->count, count);
    } else if (lks__graph_status(trace->graph) == LKS_OK) {
        lks__node_fail(trace->graph,
                       lks__fail(LKS_E_ARG, "metric \"%s\" gave no node of this graph", lks__metric_name(metric)));
    }
    lks__graph_scope(trace->graph, former);
}
