/* apply.c - see optimizer.h: the frame around every update, in Keras' order: unscale, accumulate, clip, decay, update, average,
 * constrain (spec Keras 5.1).
 */
#include <math.h>
#include <string.h>

#include "layers/weights.h"
#include "optimizer.h"
#include "schedules/schedule.h"

static lks_node num(lks_node like, double v)
{
    return lks_ops_number(like, v);
}

/* a - b floor(a / b) of whole numbers */
static lks_node remainder_of(lks_node a, double b)
{
    return lks_ops_subtract(a, lks_ops_multiply(num(a, b), lks_ops_floor(lks_ops_divide(a, num(a, b)))));
}

lks_node lks__applied(const lks_update *u, lks_node a, lks_node b)
{
    return u->applies.graph == NULL ? a : lks_ops_where(u->applies, a, b);
}

lks_node lks__slot_read(const lks_update *u, int slot)
{
    return lks__graph_variable(u->trace->graph, u->optimizer->slot[slot][u->index]);
}

void lks__slot_write(const lks_update *u, int slot, lks_node value)
{
    lks__trace_assign(u->trace, u->optimizer->slot[slot][u->index], lks__applied(u, value, lks__slot_read(u, slot)));
}

lks_node lks__optimizer_scale_loss(const lks_optimizer *o, lks_node loss)
{
    const lks_optimizer_head *head = o != NULL ? o->options : NULL;

    if (head == NULL || isnan(head->loss_scale_factor) || !lks__node_ok(loss)) return loss;
    return lks_ops_multiply(loss, num(loss, head->loss_scale_factor));
}

/* ---- gradients ---- */

/* Adds the gradient to its accumulator; what the update sees is the mean. */
static lks_node accumulate(const lks_update *u, lks_node g)
{
    const lks_optimizer_head *o = u->optimizer->options;
    lks_variable *v = u->optimizer->accumulator[u->index];
    lks_node sum = lks_ops_add(lks__graph_variable(u->trace->graph, v), g);

    lks__trace_assign(u->trace, v, lks_ops_where(u->applies, num(sum, 0), sum));
    return lks_ops_divide(sum, num(sum, (double)o->gradient_accumulation_steps));
}

static lks_node square_sum(lks_node g)
{
    return lks_ops_sum(lks_ops_square(g), 0, NULL, 0);
}

/* g c / max(|g|, c) */
static lks_node clip_to_norm(lks_node g, double c)
{
    lks_node norm = lks_ops_sqrt(square_sum(g)), limit = num(g, c);

    return lks_ops_divide(lks_ops_multiply(g, limit), lks_ops_maximum(norm, limit));
}

/* All gradients by min(1, c / |all|); a norm that is not finite makes all of them NaN, so that it cannot hide. */
static void clip_together(size_t n, lks_node *g, double c)
{
    lks_node sum = lks__no_node, norm, scale;

    for (size_t i = 0; i < n; i++) {
        if (!lks__node_ok(g[i])) continue;
        sum = sum.graph == NULL ? square_sum(g[i]) : lks_ops_add(sum, square_sum(g[i]));
    }
    norm = lks_ops_sqrt(sum);
    scale = lks_ops_minimum(lks_ops_divide(num(norm, 1), norm), lks_ops_divide(num(norm, 1), num(norm, c)));
    scale = lks_ops_add(lks_ops_multiply(num(norm, c), scale), lks_ops_subtract(norm, norm));
    for (size_t i = 0; i < n; i++) {
        if (lks__node_ok(g[i])) g[i] = lks_ops_multiply(g[i], scale);
    }
}

static void clip(const lks_optimizer_head *o, size_t n, lks_node *g)
{
    if (!isnan(o->global_clipnorm)) clip_together(n, g, o->global_clipnorm);
    for (size_t i = 0; i < n; i++) {
        if (!lks__node_ok(g[i])) continue;
        if (!isnan(o->clipnorm)) g[i] = clip_to_norm(g[i], o->clipnorm);
        if (!isnan(o->clipvalue)) g[i] = lks_ops_clip(g[i], -o->clipvalue, o->clipvalue);
    }
}

/* ---- weights ---- */

/* Is a part of the list, separated by commas, in the last part of the weight's path? */
static bool excluded(const char *list, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ",");
        for (const char *s = name; n > 0 && strlen(s) >= n; s++) {
            if (strncmp(s, list, n) == 0) return true;
        }
        list += list[n] == ',' ? n + 1 : n;
    }
    return false;
}

static lks_node decay(const lks_update *u, lks_node w)
{
    const lks_optimizer_head *o = u->optimizer->options;

    if (isnan(o->weight_decay) || excluded(o->exclude_from_weight_decay, u->optimizer->model[u->index]->path)) return w;
    return lks_ops_subtract(w, lks_ops_multiply(lks_ops_multiply(w, num(w, o->weight_decay)), u->rate));
}

/* The moving average of the weight; in its first step the weight itself. */
static lks_node average(const lks_update *u, lks_node w)
{
    const lks_optimizer_head *o = u->optimizer->options;
    lks_variable *v = u->optimizer->average[u->index];
    lks_node done = lks_ops_subtract(u->step, num(w, 1)), old = lks__graph_variable(u->trace->graph, v), m, value;

    m = lks_ops_where(lks_ops_equal(done, num(w, 0)), num(w, 0), num(w, o->ema_momentum));
    value = lks_ops_add(lks_ops_multiply(m, old), lks_ops_multiply(lks_ops_subtract(num(w, 1), m), w));
    lks__trace_assign(u->trace, v, value);
    if (o->ema_overwrite_frequency == LKS_NONE_INT) return w;
    m = lks_ops_equal(remainder_of(u->step, (double)o->ema_overwrite_frequency), num(w, 0));
    return lks_ops_where(m, value, w);
}

static void update_one(lks_update *u, lks_variable *v, lks_node g, const char *constraint)
{
    const lks_optimizer *o = u->optimizer;
    lks_node old = lks__graph_variable(u->trace->graph, v), w;

    w = lks__applied(u, o->class_->update(u, decay(u, old), g), old);
    if (o->average != NULL) w = average(u, w);
    if (constraint != NULL) w = lks__constraint_apply(constraint, w);
    lks__trace_assign(u->trace, v, w);
}

/* ---- the whole ---- */

static lks_status find(const lks_optimizer *o, const lks_variable *v, size_t *index)
{
    for (size_t i = 0; i < o->n; i++) {
        if (o->model[i] == v) {
            *index = i;
            return LKS_OK;
        }
    }
    return lks__fail(LKS_E_STATE, "optimizer %s was not made for weight '%s'; compile the model again",
                     lks__optimizer_name(o), v->path);
}

static lks_status check(const lks_optimizer *o, const lks_trace *trace, size_t n, lks_variable *const *vars,
                        const lks_node *grads, size_t *indices)
{
    size_t present = 0;

    LKS_TRY(lks__optimizer_status(o));
    LKS_TRY(lks__graph_status(trace->graph));
    if (!o->built) return lks__fail(LKS_E_STATE, "optimizer %s has no variables yet", lks__optimizer_name(o));
    if (!lks__node_ok(trace->iterations)) return lks__fail(LKS_E_INTERNAL, "a step without its number");
    for (size_t i = 0; i < n; i++) {
        LKS_TRY(find(o, vars[i], &indices[i]));
        if (lks__node_ok(grads[i])) present++;
        else lks__warn("no gradient reaches the weight '%s'; it stays as it is", vars[i]->path);
    }
    return present > 0 ? LKS_OK : lks__fail(LKS_E_STATE, "no gradient reaches any weight: there is nothing to train");
}

/* The scalars of the step: rate, number of the update, and whether it applies. */
static void begin(lks_update *u)
{
    const lks_optimizer_head *o = u->optimizer->options;
    lks_node done = u->trace->iterations;

    u->applies = lks__no_node;
    if (o->gradient_accumulation_steps != LKS_NONE_INT) {
        double n = (double)o->gradient_accumulation_steps;
        lks_node next = lks_ops_add(done, num(done, 1));
        u->applies = lks_ops_equal(remainder_of(next, n), num(done, 0));
        done = lks_ops_floor(lks_ops_divide(done, num(done, n)));
    }
    u->step = lks_ops_add(done, num(done, 1));
    if (o->schedule != NULL) u->rate = lks__schedule_apply(o->schedule, u->trace->iterations);
    else u->rate = lks__graph_variable(u->trace->graph, u->optimizer->learning_rate);
    if (u->optimizer->class_->prepare != NULL) u->optimizer->class_->prepare(u);
}

static void apply(lks_optimizer *o, lks_trace *trace, size_t n, lks_variable *const *vars, const size_t *indices,
                  lks_node *g, const char *const *constraints)
{
    const lks_optimizer_head *head = o->options;
    lks_update u = { .optimizer = o, .trace = trace };

    begin(&u);
    for (size_t i = 0; i < n; i++) {
        if (!lks__node_ok(g[i])) continue;
        u.index = indices[i];
        if (!isnan(head->loss_scale_factor)) g[i] = lks_ops_divide(g[i], num(g[i], head->loss_scale_factor));
        if (o->accumulator != NULL) g[i] = accumulate(&u, g[i]);
    }
    clip(head, n, g);
    for (size_t i = 0; i < n; i++) {
        u.index = indices[i];
        if (lks__node_ok(g[i])) update_one(&u, vars[i], g[i], constraints != NULL ? constraints[i] : NULL);
    }
}

void lks__optimizer_apply_constrained(lks_optimizer *o, lks_trace *trace, size_t n, lks_variable *const *vars,
                                      const lks_node *grads, const char *const *constraints)
{
    lks_node *g = lks__calloc(n + 1, sizeof *g);
    size_t *indices = lks__calloc(n + 1, sizeof *indices);
    lks_status status = g == NULL || indices == NULL ? lks__fail(LKS_E_NOMEM, "out of memory")
                                                     : check(o, trace, n, vars, grads, indices);

    if (status == LKS_OK) {
        memcpy(g, grads, n * sizeof *g);
        apply(o, trace, n, vars, indices, g, constraints);
    } else {
        lks__node_fail(trace->graph, status);
    }
    lks__free(g);
    lks__free(indices);
}

void lks__optimizer_apply(lks_optimizer *o, lks_trace *trace, size_t n, lks_variable *const *vars,
                          const lks_node *grads)
{
    lks__optimizer_apply_constrained(o, trace, n, vars, grads, NULL);
}
