/* runs_bands.c - whole runs from our own initial weights: the end values fall into the band that Keras' runs span. */
#include <stdio.h>
#include <string.h>

#include "runs.h"

/* The models of the two runs, as their golden trajectories start: the architecture comes from the file, the weights are ours. */
static lks_model *fresh_model(golden_run *run, const char *name)
{
    lks_model *saved = lks_load(golden_run_path(run, name, "_init.keras")), *model = NULL;
    char *json = NULL;

    if (saved != NULL && lks_model_to_json(saved, &json) == LKS_OK) model = lks_model_from_json(json);
    lks_free(json);
    lks_model_release(saved);
    return model;
}

static void check_end(golden_run *run, const json_t *band, const lks_history *history)
{
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(band, "end"), key, value)
    {
        json_t *range = json_object_get(value, "suggested_band");
        double low = json_number_value(json_array_get(range, 0)), high = json_number_value(json_array_get(range, 1));
        size_t n = 0;
        const double *values = lks_history_values(history, key, &n);
        if (values == NULL || n == 0) golden_fault(run->report, "the history has no %s", key);
        else golden_number(run->report, key, values[n - 1], (low + high) / 2, 0, (high - low) / 2);
    }
}

static void train(golden_run *run, const char *name, const json_t *band)
{
    golden_mnist train_set, test_set;
    lks_arrays arrays = { 0 }, validation = { 0 };
    lks_history *history = NULL;
    lks_model *model = fresh_model(run, name);
    lks_fit_options options = { .struct_size = sizeof options,
                                .epochs = golden_int(band, "epochs", 1),
                                .batch_size = golden_int(band, "batch_size", 32),
                                .validation_arrays = &validation,
                                .history = &history };
    bool of_images = strcmp(name, "ae") == 0;

    if (model == NULL) golden_fault(run->report, "%s", lks_last_error());
    if (golden_mnist_open(run, "train", &train_set)) {
        if (model != NULL && golden_mnist_open(run, "t10k", &test_set)) {
            arrays.x = golden_mnist_images(&train_set, 0, 60000);
            arrays.y = of_images ? lks_tensor_retain(arrays.x) : golden_mnist_one_hot(&train_set, 0, 60000);
            validation.x = golden_mnist_images(&test_set, 0, 10000);
            validation.y = of_images ? lks_tensor_retain(validation.x) : golden_mnist_one_hot(&test_set, 0, 10000);
            if (golden_ok(run->report, lks_fit_arrays_with(model, &arrays, &options), "fit"))
                check_end(run, band, history);
            golden_mnist_close(&test_set);
        }
        golden_mnist_close(&train_set);
    }
    lks_tensor_release(arrays.x);
    lks_tensor_release(arrays.y);
    lks_tensor_release(validation.x);
    lks_tensor_release(validation.y);
    lks_history_release(history);
    lks_model_release(model);
}

void golden_runs_bands(golden_run *run)
{
    const char *name;
    json_t *band;
    char full[GOLDEN_NAME];

    json_object_foreach(run->json, name, band)
    {
        if (!json_is_object(band)) continue;
        snprintf(full, sizeof full, "bands_%s", name);
        if (!golden_begin(run->report, full)) continue;
        train(run, name, band);
        golden_end(run->report);
    }
}
