/* math_model.c - whole models from their JSON: predict, evaluate, steps of train_on_batch, fit, evaluate again, each going on
 * from the one before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math_kinds.h"
#include "model/config_io.h"
#include "program.h"

typedef struct model_run {
    golden_case *c;
    lks_model *model;
    int64_t rows, batch, n_class_weight;
    double class_weight[64];
    size_t n_x, n_y, n_w;
    lks_tensor *x[LKS_MAX_IO], *y[LKS_MAX_IO], *w[LKS_MAX_IO];
} model_run;

static size_t read_list(golden_case *c, const char *key, lks_tensor **out)
{
    json_t *list = json_object_get(c->json, key), *name;
    size_t i;

    json_array_foreach(list, i, name)
    {
        if (i < LKS_MAX_IO) out[i] = golden_array(c, json_string_value(name));
    }
    return json_array_size(list);
}

static bool read_data(model_run *run)
{
    golden_case *c = run->c;
    json_t *options = json_object_get(c->json, "options"), *weight;
    const char *key;

    run->n_x = read_list(c, "inputs", run->x);
    run->n_y = read_list(c, "targets", run->y);
    run->n_w = read_list(c, "sample_weight", run->w);
    run->rows = golden_int(options, "rows", 1);
    run->batch = golden_int(options, "batch_size", run->rows);
    json_object_foreach(json_object_get(options, "class_weight"), key, weight)
    {
        long k = strtol(key, NULL, 10);
        if (k < 0 || k >= 64) continue;
        for (; run->n_class_weight <= k; run->n_class_weight++) run->class_weight[run->n_class_weight] = 1.0;
        run->class_weight[k] = json_number_value(weight);
    }
    return golden_running(c->report);
}

static lks_arrays arrays_of(model_run *run)
{
    lks_arrays a = { .xs = run->x,
                     .ys = run->y,
                     .sample_weights = run->w,
                     .n_xs = (int64_t)run->n_x,
                     .n_ys = (int64_t)run->n_y,
                     .n_sample_weights = (int64_t)run->n_w };

    return a;
}

/* ---- expectations ---- */

/* Logs against the vector `array`, whose keys the case lists. */
static void expect_logs(model_run *run, const char *array, const lks_logs *logs)
{
    json_t *keys = json_object_get(json_object_get(run->c->json, "logs"), array), *key;
    lks_tensor *got = golden_keep(run->c, lks_tensor_create(LKS_FLOAT64, lks_shape((int64_t)json_array_size(keys))));
    size_t i;

    if (got == NULL) return;
    if (logs->n != json_array_size(keys)) {
        golden_fault(run->c->report, "%s: %zu logs, expected %zu", array, logs->n, json_array_size(keys));
        for (i = 0; i < logs->n && run->c->report->verbose; i++)
            printf("    %s %g\n", logs->items[i].name, logs->items[i].value);
        return;
    }
    json_array_foreach(keys, i, key)
    {
        if (strcmp(logs->items[i].name, json_string_value(key)) != 0) {
            golden_fault(run->c->report, "%s: log \"%s\", expected \"%s\"", array, logs->items[i].name,
                         json_string_value(key));
            return;
        }
        ((double *)lks_tensor_data(got))[i] = logs->items[i].value;
    }
    golden_expect(run->c, array, got);
}

static void expect_weights(model_run *run, const char *prefix)
{
    char array[64];

    for (size_t i = 0; i < lks_model_n_weights(run->model); i++) {
        snprintf(array, sizeof array, "%s_%zu", prefix, i);
        golden_expect(run->c, array, golden_keep(run->c, lks_model_weight(run->model, i)));
    }
}

static void expect_optimizer(model_run *run)
{
    json_t *list = json_object_get(run->c->json, "optimizer_variables"), *item;
    size_t i, n;
    lks_variable **own = lks__optimizer_variables(run->model->compiled->optimizer, &n);

    if (n != json_array_size(list)) {
        golden_fault(run->c->report, "%zu optimizer variables, expected %zu", n, json_array_size(list));
        return;
    }
    json_array_foreach(list, i, item) golden_expect(run->c, golden_text(item, "array"), own[i]->value);
}

/* ---- the run ---- */

static bool set_weights(model_run *run)
{
    json_t *weights = json_object_get(run->c->json, "weights"), *weight;
    size_t i;

    if (lks_model_n_weights(run->model) != json_array_size(weights)) {
        golden_fault(run->c->report, "%zu weights, expected %zu", lks_model_n_weights(run->model),
                     json_array_size(weights));
        return false;
    }
    json_array_foreach(weights, i, weight)
    {
        lks_tensor *value = golden_array(run->c, golden_text(weight, "array"));
        if (value == NULL) return false;
        if (!golden_ok(run->c->report, lks_model_set_weight(run->model, i, value), golden_text(weight, "path")))
            return false;
        if (strcmp(lks_model_weight_path(run->model, i), golden_text(weight, "path")) == 0) continue;
        golden_fault(run->c->report, "weight %zu has path %s, expected %s", i, lks_model_weight_path(run->model, i),
                     golden_text(weight, "path"));
    }
    return golden_running(run->c->report);
}

static void predict(model_run *run)
{
    json_t *outputs = json_object_get(run->c->json, "outputs"), *name;
    lks_predict_options options = { .struct_size = sizeof options, .batch_size = run->batch, .threads = 1 };
    lks_tensor *got[LKS_MAX_IO] = { NULL };
    size_t i, n = json_array_size(outputs);

    if (n > LKS_MAX_IO) return;
    if (!golden_ok(run->c->report, lks_predict_arrays_with(run->model, run->n_x, run->x, n, got, &options), "predict"))
        return;
    json_array_foreach(outputs, i, name) golden_expect(run->c, json_string_value(name), golden_keep(run->c, got[i]));
}

static void evaluate(model_run *run, const char *array)
{
    lks_evaluate_options options = { .struct_size = sizeof options, .batch_size = run->batch, .threads = 1 };
    lks_arrays arrays = arrays_of(run);
    lks_logs logs = { 0 };

    if (golden_ok(run->c->report, lks_evaluate_arrays_with(run->model, &arrays, &logs, &options), array))
        expect_logs(run, array, &logs);
}

/* Rows (step * batch + i) mod rows of a tensor. */
static lks_tensor *rows_of(model_run *run, lks_tensor *t, int64_t step)
{
    lks_shape shape = lks_tensor_shape(t);
    size_t row = (size_t)(lks_tensor_size(t) / shape.dim[0]) * lks_dtype_size(lks_tensor_dtype(t));
    lks_tensor *out;

    shape.dim[0] = run->batch;
    out = golden_keep(run->c, lks_tensor_create(lks_tensor_dtype(t), shape));
    for (int64_t i = 0; i < run->batch && out != NULL; i++) {
        int64_t from = (step * run->batch + i) % run->rows;
        memcpy((char *)lks_tensor_data(out) + (size_t)i * row, (char *)lks_tensor_data(t) + (size_t)from * row, row);
    }
    return out;
}

/* Without class weights train_on_batch; with them fit on this batch alone, which is the same. */
static void train_step(model_run *run, int64_t step)
{
    model_run part = *run;
    lks_fit_options options = { .struct_size = sizeof options,
                                .epochs = 1,
                                .batch_size = run->batch,
                                .shuffle = LKS_FALSE,
                                .class_weight = run->class_weight,
                                .n_class_weight = run->n_class_weight,
                                .threads = 1 };
    lks_history *history = NULL;
    lks_log items[64];
    lks_logs logs = { 0, items };
    lks_arrays arrays;
    char array[32];

    for (size_t i = 0; i < run->n_x; i++) part.x[i] = rows_of(run, run->x[i], step);
    for (size_t i = 0; i < run->n_y; i++) part.y[i] = rows_of(run, run->y[i], step);
    for (size_t i = 0; i < run->n_w; i++) part.w[i] = rows_of(run, run->w[i], step);
    arrays = arrays_of(&part);
    snprintf(array, sizeof array, "train_%lld", (long long)step);
    if (run->n_class_weight == 0) {
        if (golden_ok(run->c->report, lks_train_on_batch(run->model, &arrays, &logs), array))
            expect_logs(run, array, &logs);
        return;
    }
    options.history = &history;
    if (golden_ok(run->c->report, lks_fit_arrays_with(run->model, &arrays, &options), array)) {
        for (logs.n = 0; logs.n < lks_history_n_keys(history) && logs.n < 64; logs.n++) {
            size_t n;
            items[logs.n].name = lks_history_key(history, logs.n);
            items[logs.n].value = lks_history_values(history, items[logs.n].name, &n)[0];
        }
        expect_logs(run, array, &logs);
    }
    lks_history_release(history);
}

static void expect_history(model_run *run, const lks_history *history)
{
    json_t *keys = json_object_get(json_object_get(run->c->json, "logs"), "fit_history"), *key;
    size_t epochs = lks_history_epochs(history), i;
    lks_tensor *got = golden_keep(
        run->c, lks_tensor_create(LKS_FLOAT64, lks_shape((int64_t)json_array_size(keys), (int64_t)epochs)));

    if (got == NULL) return;
    json_array_foreach(keys, i, key)
    {
        size_t n = 0;
        const double *values = lks_history_values(history, json_string_value(key), &n);
        if (values == NULL || n != epochs) {
            golden_fault(run->c->report, "history has no %s for every epoch", json_string_value(key));
            return;
        }
        memcpy((double *)lks_tensor_data(got) + i * epochs, values, epochs * sizeof *values);
    }
    golden_expect(run->c, "fit_history", got);
}

static void fit(model_run *run)
{
    json_t *given = json_object_get(json_object_get(run->c->json, "options"), "fit");
    lks_history *history = NULL;
    lks_fit_options options = { .struct_size = sizeof options,
                                .shuffle = LKS_FALSE,
                                .class_weight = run->class_weight,
                                .n_class_weight = run->n_class_weight,
                                .history = &history,
                                .threads = 1 };
    lks_arrays arrays = arrays_of(run);

    options.epochs = golden_int(given, "epochs", 1);
    options.batch_size = golden_int(given, "batch_size", 32);
    if (run->n_class_weight == 0) options.class_weight = NULL;
    if (golden_ok(run->c->report, lks_fit_arrays_with(run->model, &arrays, &options), "fit")) {
        expect_history(run, history);
        expect_weights(run, "final_weight");
    }
    lks_history_release(history);
}

static void run_all(model_run *run)
{
    json_t *options = json_object_get(run->c->json, "options");
    golden_report *r = run->c->report;
    int64_t steps = golden_int(options, "train_on_batch_steps", 0);
    bool fits = json_is_object(json_object_get(options, "fit"));

    if (!read_data(run) || !set_weights(run)) return;
    predict(run);
    if (golden_running(r)) evaluate(run, "evaluate");
    for (int64_t s = 0; s < steps && golden_running(r); s++) {
        train_step(run, s);
        if (s == 0 && golden_running(r)) expect_weights(run, "step1_weight");
    }
    if (steps > 0 && golden_running(r)) expect_weights(run, "trained_weight");
    if (fits && golden_running(r)) fit(run);
    if ((steps > 0 || fits) && golden_running(r)) expect_optimizer(run);
    if (golden_running(r)) evaluate(run, "evaluate_after");
}

void golden_math_model(golden_case *c)
{
    model_run run = { .c = c };

    if (golden_other_policy(c)) return;
    if (golden_ok(c->report, lks__model_from_config(json_object_get(c->json, "config"), true, &run.model),
                  "from config"))
        run_all(&run);
    lks_model_release(run.model);
}
