/* math_layer.c - one layer: outputs, gradients of sum(output x upstream) for inputs and weights, weights changed by the
 * call, the layer's own losses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/layer.h"
#include "math_kinds.h"
#include "program.h"

enum { MAX_INPUTS = 16, MAX_WEIGHTS = 32 };

typedef struct layer_run {
    golden_program p;
    lks_layer *layer;
    int n_inputs, n_outputs, n_weights;
    lks_node in[MAX_INPUTS], out[MAX_INPUTS];
    int output[MAX_INPUTS], grad_input[MAX_INPUTS], grad_weight[MAX_WEIGHTS], loss;
} layer_run;

/* What such a case may ask for and nothing here offers yet. */
static bool asks_too_much(golden_case *c)
{
    json_t *options = json_object_get(c->json, "options"), *value;
    const char *key;

    if (golden_other_policy(c)) return true;
    json_object_foreach(json_object_get(c->json, "kwarg_arrays"), key, value)
        golden_not_yet(c->report, "argument %s", key);
    json_object_foreach(json_object_get(options, "call_kwargs"), key, value)
        golden_not_yet(c->report, "argument %s", key);
    if (json_object_size(json_object_get(c->json, "carried_masks")) > 0) golden_not_yet(c->report, "masks");
    return !golden_running(c->report);
}

static bool make_layer(golden_case *c, lks_layer **layer)
{
    const json_t *config = json_object_get(c->json, "config");
    const char *name = golden_text(config, "class_name");

    if (name == NULL || lks__layer_class_find(name) == NULL) {
        golden_not_yet(c->report, "layer %s", name != NULL ? name : "?");
        return false;
    }
    if (!golden_ok(c->report, lks__layer_from_config(config, layer), "from config")) return false;
    if (golden_true(json_object_get(c->json, "options"), "frozen")) {
        return golden_ok(c->report, lks_layer_set_trainable(*layer, 0), "freeze");
    }
    return true;
}

static bool set_weights(golden_case *c, layer_run *run)
{
    json_t *weights = json_object_get(c->json, "weights"), *weight;
    char what[64];
    size_t i;

    if (run->layer->n_weights != json_array_size(weights) || run->layer->n_weights > MAX_WEIGHTS) {
        golden_fault(c->report, "%zu weights, expected %zu", run->layer->n_weights, json_array_size(weights));
        return false;
    }
    run->n_weights = (int)run->layer->n_weights;
    json_array_foreach(weights, i, weight)
    {
        snprintf(what, sizeof what, "weight %zu", i);
        if (!golden_set_variable(c, run->layer->weights[i], golden_array(c, golden_text(weight, "array")), what))
            return false;
    }
    return true;
}

static void call_layer(golden_case *c, layer_run *run)
{
    json_t *inputs = json_object_get(c->json, "inputs"), *name;
    size_t i;

    json_array_foreach(inputs, i, name)
    {
        lks_tensor *x = golden_array(c, json_string_value(name));
        if (x == NULL || i >= MAX_INPUTS) return;
        run->in[run->n_inputs++] = golden_feed(&run->p, x, lks_tensor_shape(x).rank > 0);
    }
    run->n_outputs = run->layer->class_->n_outputs != NULL ? run->layer->class_->n_outputs(run->layer) : 1;
    lks__layer_apply(run->layer, &run->p.trace, run->n_inputs, run->in, run->out);
    golden_ok(c->report, lks__graph_status(run->p.trace.graph), "call");
}

/* sum over outputs of sum(output x upstream), where there is an upstream. */
static lks_node weighted_sum(golden_case *c, layer_run *run)
{
    json_t *upstream = json_object_get(c->json, "upstream"), *name;
    lks_node total = lks__no_node;
    size_t i;

    json_array_foreach(upstream, i, name)
    {
        lks_tensor *u;
        lks_node sum;
        if (!json_is_string(name) || (int)i >= run->n_outputs) continue;
        u = golden_array(c, json_string_value(name));
        if (u == NULL) break;
        sum = lks_ops_sum(lks_ops_multiply(run->out[i], golden_feed(&run->p, u, lks__node_type(run->out[i])->batched)),
                          0, NULL, 0);
        total = lks__node_ok(total) ? lks_ops_add(total, sum) : sum;
    }
    return total;
}

static void build_gradients(golden_case *c, layer_run *run)
{
    lks_node wrt[MAX_INPUTS + MAX_WEIGHTS], d[MAX_INPUTS + MAX_WEIGHTS];
    lks_node total = weighted_sum(c, run);
    size_t n = 0;

    if (!lks__node_ok(total) || !golden_running(c->report)) return;
    for (int i = 0; i < run->n_inputs; i++) wrt[n++] = run->in[i];
    for (int i = 0; i < run->n_weights; i++) wrt[n++] = lks__graph_variable(run->p.trace.graph, run->layer->weights[i]);
    if (!golden_ok(c->report, lks__graph_gradients(total, n, wrt, d), "gradients")) return;
    for (int i = 0; i < run->n_inputs; i++) run->grad_input[i] = golden_fetch(&run->p, d[i]);
    for (int i = 0; i < run->n_weights; i++) run->grad_weight[i] = golden_fetch(&run->p, d[run->n_inputs + i]);
}

static void build_losses(layer_run *run)
{
    lks_node total = lks__no_node;

    for (size_t i = 0; i < run->p.trace.n_losses; i++) {
        total = i == 0 ? run->p.trace.losses[i] : lks_ops_add(total, run->p.trace.losses[i]);
    }
    run->loss = golden_fetch(&run->p, total);
}

/* A gradient that is not there is one of zeros. */
static void expect_gradient(golden_case *c, layer_run *run, const json_t *name, int result)
{
    lks_tensor *want;

    if (!json_is_string(name)) return;
    if (result >= 0) {
        golden_expect(c, json_string_value(name), golden_result(&run->p, result));
        return;
    }
    want = golden_array(c, json_string_value(name));
    if (want == NULL) return;
    golden_expect(c, json_string_value(name), golden_keep(c, lks_tensor_create(LKS_FLOAT32, lks_tensor_shape(want))));
}

static void check(golden_case *c, layer_run *run)
{
    json_t *item;
    const char *key;
    size_t i;

    json_array_foreach(json_object_get(c->json, "outputs"), i, item)
    {
        if ((int)i >= run->n_outputs) golden_fault(c->report, "output %zu does not exist", i);
        else golden_expect(c, json_string_value(item), golden_result(&run->p, run->output[i]));
    }
    json_array_foreach(json_object_get(c->json, "grad_inputs"), i, item)
        expect_gradient(c, run, item, run->grad_input[i]);
    json_array_foreach(json_object_get(c->json, "grad_weights"), i, item)
        expect_gradient(c, run, item, run->grad_weight[i]);
    json_object_foreach(json_object_get(c->json, "state_after"), key, item)
    {
        int k = atoi(key);
        if (k < run->n_weights) golden_expect(c, json_string_value(item), run->layer->weights[k]->value);
    }
    item = json_object_get(c->json, "loss");
    if (json_is_string(item)) {
        if (run->loss < 0) golden_fault(c->report, "the layer has no loss, expected one");
        golden_expect(c, json_string_value(item), golden_result(&run->p, run->loss));
    }
}

void golden_math_layer(golden_case *c)
{
    json_t *options = json_object_get(c->json, "options");
    layer_run run = { .layer = NULL, .loss = -1 };

    for (int i = 0; i < MAX_INPUTS; i++) run.grad_input[i] = -1;
    for (int i = 0; i < MAX_WEIGHTS; i++) run.grad_weight[i] = -1;
    if (!make_layer(c, &run.layer) || asks_too_much(c)) {
        lks_layer_release(run.layer);
        return;
    }
    if (golden_program_init(&run.p, c, golden_true(options, "training"))) call_layer(c, &run);
    if (golden_running(c->report) && set_weights(c, &run)) {
        for (int i = 0; i < run.n_outputs; i++) run.output[i] = golden_fetch(&run.p, run.out[i]);
        build_losses(&run);
        build_gradients(c, &run);
        if (golden_running(c->report) && golden_program_run(&run.p, (int)golden_int(options, "warmup_calls", 0))) {
            check(c, &run);
        }
    }
    golden_program_free(&run.p);
    lks_layer_release(run.layer);
}
