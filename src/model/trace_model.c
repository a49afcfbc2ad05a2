/* trace_model.c - a model's functions as graph: predict; and one step of training or testing: losses, metrics, gradients, update.
 */
#include <string.h>

#include "function.h"

static lks_node cast_to(lks_node x, lks_dtype dtype)
{
    return lks__node_ok(x) && lks__node_type(x)->dtype != dtype ? lks_ops_cast(x, dtype) : x;
}

static lks_node divided(lks_node x, double divisor)
{
    if (divisor == 0) return x;
    x = cast_to(x, LKS_FLOAT32);
    return lks_ops_divide(x, lks_ops_number(x, divisor));
}

/* The targets as the loss is to see them. */
static lks_node prepared_target(lks_function *f, size_t i, lks_node y)
{
    if (f->preparation.y_one_hot == 0) return divided(y, f->preparation.y_divisor);
    if (i < LKS_MAX_IO) f->classes[i] = f->preparation.y_one_hot;
    return lks_ops_one_hot(cast_to(y, LKS_INT32), f->preparation.y_one_hot);
}

static bool drop_last_one(const lks_shape *longer, const lks_shape *shorter)
{
    if (longer->rank != shorter->rank + 1 || longer->dim[longer->rank - 1] != 1) return false;
    for (int64_t i = 0; i < shorter->rank; i++)
        if (longer->dim[i] != shorter->dim[i]) return false;
    return true;
}

/* As Keras' Functional model: a missing or surplus last axis of size 1 is put right, the dtype is converted. */
static lks_node adapt_input(lks_model *m, size_t i, lks_node x)
{
    const lks_type *want = lks__model_input_type(m, i), *have;
    char want_text[LKS_TYPE_TEXT], have_text[LKS_TYPE_TEXT];

    if (!lks__node_ok(x)) return x;
    have = lks__node_type(x);
    if (!lks_shape_equal(&have->shape, &want->shape)) {
        if (!drop_last_one(&have->shape, &want->shape) && !drop_last_one(&want->shape, &have->shape))
            return lks__node_fail(x.graph, lks__fail(LKS_E_SHAPE, "input %zu: expected %s, found %s", i,
                                                     lks__type_text(want, want_text), lks__type_text(have, have_text)));
        x = lks_ops_reshape(x, want->shape);
    }
    return cast_to(x, want->dtype);
}

static lks_status trace_forward(lks_model *m, lks_function *f, lks_node *inputs, lks_node *outputs)
{
    lks_graph *g = f->trace.graph;
    lks_type scalar = { .dtype = LKS_FLOAT32 };
    lks_node in[LKS_MAX_IO_NODES];
    size_t n = f->n_x + f->n_y + f->n_w;

    if (f->n_x != m->n_inputs)
        return lks__fail(LKS_E_ARG, "the model has %zu input%s, the data have %zu", m->n_inputs,
                         m->n_inputs == 1 ? "" : "s", f->n_x);
    for (size_t i = 0; i < n; i++) inputs[i] = lks__graph_input(g, f->types[i]);
    f->trace.iterations = lks__graph_input(g, scalar);
    for (size_t i = 0; i < f->n_x; i++) in[i] = adapt_input(m, i, divided(inputs[i], f->preparation.x_divisor));
    lks__model_trace(m, &f->trace, in, outputs);
    return lks__graph_status(g);
}

lks_status lks__trace_predict(lks_model *m, lks_function *f, size_t *n_fetches, lks_node *fetches)
{
    lks_node inputs[LKS_MAX_FEEDS];

    LKS_TRY(trace_forward(m, f, inputs, fetches));
    *n_fetches = m->n_outputs;
    for (size_t i = 0; i < m->n_outputs; i++)
        if (!lks__node_type(fetches[i])->batched)
            return lks__fail(LKS_E_UNSUPPORTED,
                             "output %zu does not depend on the input: there is one value for all examples", i);
    return LKS_OK;
}

/* ---- weights of examples ---- */

static lks_node class_of(lks_node y)
{
    const lks_type *t = lks__node_type(y);

    if (t->shape.rank > 0 && t->shape.dim[t->shape.rank - 1] > 1) return lks_ops_argmax(cast_to(y, LKS_FLOAT32), -1);
    if (t->shape.rank > 0) y = lks_ops_reshape(y, (lks_shape){ 0 });
    return cast_to(lks_ops_round(cast_to(y, LKS_FLOAT32)), LKS_INT32);
}

/* 1 + sum over classes of (class == c) (weight[c] - 1): classes that are not listed weigh 1. */
static lks_node class_weights(lks_node y, const lks_function_options *o)
{
    lks_type vector = { .dtype = LKS_FLOAT32, .shape = { 1, { o->n_class_weight } } };
    float *less = lks__malloc((size_t)o->n_class_weight * sizeof *less);
    const int64_t last[1] = { -1 };
    lks_node table;

    if (!lks__node_ok(y)) return y;
    if (less == NULL) return lks__node_fail(y.graph, lks__fail(LKS_E_NOMEM, "no memory for class weights"));
    for (int64_t i = 0; i < o->n_class_weight; i++) less[i] = (float)(o->class_weight[i] - 1.0);
    table = lks__graph_constant(y.graph, vector, less);
    lks__free(less);
    y = lks_ops_multiply(lks_ops_one_hot(class_of(y), o->n_class_weight), table);
    return lks_ops_add(lks_ops_number(y, 1.0), lks_ops_sum(y, 1, last, 0));
}

static lks_status pick_weight(lks_model *m, const lks_function *f, const lks_node *inputs, size_t output,
                              const lks_function_options *o, lks_node *out)
{
    const lks_node *w = inputs + f->n_x + f->n_y;

    *out = lks__no_node;
    if (o->class_weight != NULL && f->n_w > 0)
        return lks__fail(LKS_E_ARG, "give class_weight or sample_weight, not both");
    if (o->class_weight != NULL && m->n_outputs > 1)
        return lks__fail(LKS_E_ARG, "class_weight is for models of one output; give sample weights");
    if (o->class_weight != NULL) *out = class_weights(inputs[f->n_x], o);
    else if (f->n_w == 1) *out = cast_to(w[0], LKS_FLOAT32);
    else if (f->n_w == m->n_outputs) *out = cast_to(w[output], LKS_FLOAT32);
    else if (f->n_w > 0)
        return lks__fail(LKS_E_ARG, "%zu arrays of sample weights for %zu outputs: give one for all or one each",
                         f->n_w, m->n_outputs);
    return LKS_OK;
}

/* ---- losses and metrics ---- */

/* total += value * n, count += n */
static void track(lks_trace *t, lks_variable *total, lks_variable *count, lks_node value, lks_node n)
{
    lks__trace_assign(t, total, lks_ops_add(lks__graph_variable(t->graph, total), lks_ops_multiply(value, n)));
    lks__trace_assign(t, count, lks_ops_add(lks__graph_variable(t->graph, count), n));
}

typedef struct sums {
    lks_node objective, report;
} sums;

static void accumulate(sums *s, lks_node objective, lks_node report, double weight)
{
    if (weight != 1.0) {
        objective = lks_ops_multiply(objective, lks_ops_number(objective, weight));
        report = lks_ops_multiply(report, lks_ops_number(report, weight));
    }
    s->objective = s->objective.graph == NULL ? objective : lks_ops_add(s->objective, objective);
    s->report = s->report.graph == NULL ? report : lks_ops_add(s->report, report);
}

static size_t loss_count(const lks_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_outputs; i++) n += m->compiled->losses[i] != NULL;
    return n;
}

static lks_status output_step(lks_model *m, lks_function *f, const lks_function_options *o, size_t i,
                              const lks_node *inputs, lks_node output, sums *s)
{
    const lks_compiled *c = m->compiled;
    lks_node y = prepared_target(f, i, inputs[f->n_x + i]), weight, report = lks__no_node, objective;
    const char *former;

    LKS_TRY(pick_weight(m, f, inputs, i, o, &weight));
    former = lks__graph_scope(f->trace.graph, "the loss");
    if (c->losses[i] != NULL && i < LKS_MAX_IO && f->preparation.y_one_hot == 0 && lks__node_ok(y) &&
        lks__node_ok(output))
        f->classes[i] = lks__loss_classes(c->losses[i], lks__node_type(y), lks__node_type(output), &f->ignored[i]);
    if (c->losses[i] != NULL) {
        objective = lks__loss_apply(c->losses[i], &f->trace, y, output, weight, &report);
        accumulate(s, objective, report, c->loss_weights != NULL ? c->loss_weights[i] : 1.0);
        if (m->output_loss != NULL) { /* Keras averages these over the batches, the total alone over the examples */
            track(&f->trace, m->output_loss[2 * i], m->output_loss[2 * i + 1], report,
                  lks__graph_number(f->trace.graph, 1.0));
        }
    }
    lks__graph_scope(f->trace.graph, "the metrics");
    for (size_t k = 0; k < c->n_metrics[i]; k++)
        lks__metric_update(c->metrics[i][k], &f->trace, y, output, lks__no_node);
    for (size_t k = 0; k < c->n_weighted_metrics[i]; k++)
        lks__metric_update(c->weighted_metrics[i][k], &f->trace, y, output, weight);
    f->trace.graph->scope = former;
    return lks__graph_status(f->trace.graph);
}

/* ---- gradients ---- */

static lks_status keep_with_gradient(lks_model *m, size_t *n, lks_variable **vars, lks_node *grads)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (!lks__node_ok(grads[i])) {
            lks__warn("model '%s': no gradient reaches weight '%s'; it keeps its value", m->name, vars[i]->path);
            continue;
        }
        vars[kept] = vars[i];
        grads[kept++] = grads[i];
    }
    if (kept == 0) return lks__fail(LKS_E_STATE, "no weight gets a gradient from the loss: there is nothing to train");
    *n = kept;
    return LKS_OK;
}

static lks_status apply_constrained(lks_model *m, lks_function *f, size_t n, lks_variable **vars, lks_node *grads)
{
    const char **constraints = lks__calloc(n + 1, sizeof *constraints);

    if (constraints == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a training step");
    for (size_t i = 0; i < n; i++) constraints[i] = lks__model_constraint(m, vars[i]);
    lks__optimizer_apply_constrained(m->compiled->optimizer, &f->trace, n, vars, grads, constraints);
    lks__free(constraints);
    return LKS_OK;
}

static lks_status add_update(lks_model *m, lks_function *f, lks_node objective, size_t *n_checks, lks_node **checks)
{
    lks_variable **vars = NULL;
    lks_node *nodes;
    size_t n = 0;
    lks_status status;

    LKS_TRY(lks__model_trainable_weights(m, &vars, &n));
    nodes = lks__calloc(2 * n + 2, sizeof *nodes);
    if (nodes == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for a training step");
    else {
        lks_node *grads = nodes + 1, *wrt = nodes + 1 + n;
        nodes[0] = objective;
        for (size_t i = 0; i < n; i++) wrt[i] = lks__graph_variable(f->trace.graph, vars[i]);
        status = lks__graph_gradients(objective, n, wrt, grads);
        if (status == LKS_OK) status = keep_with_gradient(m, &n, vars, grads);
        if (status == LKS_OK) {
            const char *former = lks__graph_scope(f->trace.graph, "the optimizer");
            status = apply_constrained(m, f, n, vars, grads);
            f->trace.graph->scope = former;
            if (status == LKS_OK) status = lks__graph_status(f->trace.graph);
        }
    }
    lks__free(vars);
    *checks = nodes;
    *n_checks = n + 1;
    return status;
}

lks_status lks__trace_train(lks_model *m, lks_function *f, bool training, const lks_function_options *options,
                            lks_node *loss, size_t *n_checks, lks_node **checks)
{
    lks_node inputs[LKS_MAX_FEEDS], outputs[LKS_MAX_IO_NODES];
    sums s = { { NULL, -1 }, { NULL, -1 } };

    LKS_TRY(trace_forward(m, f, inputs, outputs));
    if (f->n_y < m->n_outputs && f->n_y < loss_count(m))
        return lks__fail(LKS_E_ARG, "the model has %zu output%s to compare, the data have %zu target%s", m->n_outputs,
                         m->n_outputs == 1 ? "" : "s", f->n_y, f->n_y == 1 ? "" : "s");
    for (size_t i = 0; i < m->n_outputs && i < f->n_y; i++)
        LKS_TRY(output_step(m, f, options, i, inputs, outputs[i], &s));
    for (size_t i = 0; i < f->trace.n_losses; i++) accumulate(&s, f->trace.losses[i], f->trace.losses[i], 1.0);
    if (s.objective.graph == NULL) {
        if (training) return lks__fail(LKS_E_STATE, "there is no loss to train with: compile the model with .loss");
        s.report = lks__graph_number(f->trace.graph, 0.0);
    }
    track(&f->trace, m->loss_total, m->loss_count, s.report, lks__graph_batch_size(f->trace.graph));
    LKS_TRY(lks__graph_status(f->trace.graph));
    *loss = s.report;
    return training ? add_update(m, f, lks__optimizer_scale_loss(m->compiled->optimizer, s.objective), n_checks, checks)
                    : LKS_OK;
}
