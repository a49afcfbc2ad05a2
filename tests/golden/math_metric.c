/* math_metric.c - one metric: the result after each of several updates, its state, then a reset and the first batch again. */
#include <string.h>

#include "math_kinds.h"
#include "metrics/metric.h"
#include "program.h"

/* Axis 0 of every array is the batch, unless one has none or another. */
static bool is_batched(lks_tensor *const *arrays, size_t n)
{
    lks_shape first = lks_tensor_shape(arrays[n - 1]);

    for (size_t i = 0; i < n; i++) {
        lks_shape shape = lks_tensor_shape(arrays[i]);
        if (shape.rank == 0 || shape.dim[0] != first.dim[0]) return false;
    }
    return true;
}

/* One update, run as a function of its own: batches may differ in shape. */
static bool update(golden_case *c, lks_metric *metric, const json_t *step)
{
    json_t *inputs = json_object_get(step, "inputs"), *name;
    const char *weight_name = golden_text(step, "sample_weight");
    lks_tensor *arrays[3];
    lks_node nodes[3] = { lks__no_node, lks__no_node, lks__no_node }, weight = lks__no_node;
    golden_program p;
    size_t n = 0, n_inputs = json_array_size(inputs), i;
    bool batched, ok = false;

    json_array_foreach(inputs, i, name)
    {
        if (n < 2) arrays[n++] = golden_array(c, json_string_value(name));
    }
    if (weight_name != NULL) arrays[n++] = golden_array(c, weight_name);
    if (!golden_running(c->report) || !golden_program_init(&p, c, false)) return false;
    batched = is_batched(arrays, n);
    for (i = 0; i < n; i++) nodes[i] = golden_feed(&p, arrays[i], batched);
    if (weight_name != NULL) weight = nodes[n - 1];
    if (n_inputs == 1) lks__metric_update(metric, &p.trace, lks__no_node, nodes[0], weight);
    else lks__metric_update(metric, &p.trace, nodes[0], nodes[1], weight);
    ok = golden_program_run(&p, 0);
    golden_program_free(&p);
    return ok;
}

static void expect_result(golden_case *c, const char *array, lks_metric *metric)
{
    lks_tensor *got = golden_keep(c, lks_tensor_create(LKS_FLOAT64, lks_shape_of(0, NULL)));

    if (got == NULL) return;
    *(double *)lks_tensor_data(got) = lks__metric_result(metric);
    golden_expect(c, array, got);
}

static void expect_state(golden_case *c, lks_metric *metric)
{
    json_t *state = json_object_get(c->json, "state"), *item;
    lks_variable *variables[2];
    size_t n = lks__metric_variables(metric, variables), i;

    if (n != json_array_size(state)) {
        golden_fault(c->report, "%zu state variables, expected %zu", n, json_array_size(state));
        return;
    }
    json_array_foreach(state, i, item) golden_expect(c, golden_text(item, "array"), variables[i]->value);
}

static void run(golden_case *c, lks_metric *metric)
{
    json_t *updates = json_object_get(c->json, "updates"), *step;
    size_t i;

    json_array_foreach(updates, i, step)
    {
        if (!update(c, metric, step)) return;
        expect_result(c, golden_text(step, "result"), metric);
    }
    expect_state(c, metric);
    lks__metric_reset(metric);
    expect_result(c, golden_text(c->json, "result_reset"), metric);
    if (update(c, metric, json_array_get(updates, 0))) expect_result(c, golden_text(c->json, "result_again"), metric);
}

static json_t *whole_config(const golden_case *c)
{
    json_t *config = json_deep_copy(json_object_get(c->json, "config"));

    if (json_is_object(json_object_get(config, "config"))) {
        json_object_update_missing(json_object_get(config, "config"), json_object_get(c->json, "arguments"));
    }
    return config;
}

void golden_math_metric(golden_case *c)
{
    json_t *config = whole_config(c);
    lks_metric *metric = NULL;

    if (golden_ok(c->report, lks__metric_from_config(config, &metric), "from config")) {
        const char *name = golden_text(c->json, "name");
        if (name != NULL && strcmp(name, lks__metric_name(metric)) != 0) {
            golden_fault(c->report, "name \"%s\", expected \"%s\"", lks__metric_name(metric), name);
        }
        run(c, metric);
    }
    lks_metric_release(metric);
    json_decref(config);
}
