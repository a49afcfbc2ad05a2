/* runs_pets.c - a new head on MobileNetV2, frozen or tuned from one block on: the model from Keras' JSON, initial weights and pictures
 * from files that both runs share. Weights that are not recorded are frozen ones: they keep their bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/applications.h"
#include "runs.h"

typedef struct pets {
    golden_run *run;
    lks_model *model;
    golden_case initial, data, steps; /* arrays of pets_init.npz, pets_data.npz, NAME.npz */
} pets;

static bool open_arrays(pets *p, golden_case *c, const char *name)
{
    *c = (golden_case){ .report = p->run->report, .name = "" };
    return golden_ok(c->report, lks__npz_open(golden_run_path(p->run, name, ".npz"), &c->npz), name);
}

static bool set_weights(pets *p)
{
    char array[32];

    for (size_t i = 0; i < lks_model_n_weights(p->model); i++) {
        snprintf(array, sizeof array, "init_w%03zu", i);
        if (!golden_ok(p->run->report, lks_model_set_weight(p->model, i, golden_array(&p->initial, array)), array))
            return false;
    }
    golden_case_free(&p->initial); /* read again to compare */
    return true;
}

static bool open_model(pets *p)
{
    bool frozen = strcmp(p->run->name, "pets_frozen") == 0;
    json_t *json = golden_read_json(golden_run_path(p->run, p->run->name, "_model.json"));
    char *text = json != NULL ? json_dumps(json, 0) : NULL;
    lks_status status;

    json_decref(json);
    p->model = text != NULL ? lks_model_from_json(text) : NULL;
    free(text);
    if (p->model == NULL) {
        golden_fault(p->run->report, "%s", lks_last_error());
        return false;
    }
    status = lks_compile(p->model, .optimizer = frozen ? "adam" : "sgd:learning_rate=0.01,momentum=0.9",
                         .loss = "binary_crossentropy:from_logits=true", .metrics = "accuracy");
    return golden_ok(p->run->report, status, "compile") && set_weights(p);
}

/* Pictures as MobileNetV2 is fed: x / 127.5 - 1. */
static bool train_step(pets *p, lks_tensor *pictures, lks_tensor *labels, int64_t step)
{
    int64_t n = golden_int(p->run->json, "batch_size", 1);
    lks_tensor *rows = lks_tensor_rows(pictures, step * n, step * n + n),
               *y = lks_tensor_rows(labels, step * n, step * n + n);
    lks_tensor *x = rows != NULL ? lks_mobilenet_v2_preprocess(rows) : NULL;
    lks_arrays arrays = { .x = x, .y = y };
    lks_logs logs = { 0 };
    bool ok = x != NULL && y != NULL;

    if (!ok) golden_fault(p->run->report, "%s", lks_last_error());
    ok = ok && golden_ok(p->run->report, lks_train_on_batch(p->model, &arrays, &logs), "train_on_batch");
    if (ok) golden_run_check_step(p->run, step, &logs);
    lks_tensor_release(rows);
    lks_tensor_release(x);
    lks_tensor_release(y);
    return ok;
}

static double squared_distance(const lks_tensor *a, const lks_tensor *b)
{
    double sum = 0;

    for (int64_t k = 0; k < lks_tensor_size(a); k++) {
        double d = golden_element(a, k) - golden_element(b, k);
        sum += d * d;
    }
    return sum;
}

static void check_weights(pets *p, int64_t steps)
{
    golden_report *r = p->run->report;
    double sum = 0, n = 0;
    char array[64];

    for (size_t i = 0; i < lks_model_n_weights(p->model); i++) {
        lks_tensor *got = golden_keep(&p->steps, lks_model_weight(p->model, i)), *want;
        snprintf(array, sizeof array, "s%03lld_w%03zu", (long long)steps, i);
        if (lks__npz_has(p->steps.npz, array)) {
            want = golden_array(&p->steps, array);
        } else {
            snprintf(array, sizeof array, "init_w%03zu", i);
            want = golden_array(&p->initial, array);
            golden_compare(r, lks_model_weight_path(p->model, i), got, want, 0, 0);
        }
        if (got == NULL || want == NULL || lks_tensor_size(got) != lks_tensor_size(want)) {
            golden_fault(r, "%s cannot be compared", array);
            return;
        }
        sum += squared_distance(got, want);
        n += (double)lks_tensor_size(got);
    }
    golden_number(r, "rms of the weights after the last step", sqrt(sum / n), 0, 0,
                  golden_run_tolerance(p->run, "weights_rms", steps));
}

void golden_runs_pets(golden_run *run)
{
    pets p = { .run = run };
    int64_t steps = golden_int(run->json, "steps", 0);
    lks_tensor *x = NULL, *y = NULL;

    if (!golden_begin(run->report, run->name)) return;
    if (open_arrays(&p, &p.initial, "pets_init") && open_arrays(&p, &p.data, "pets_data") &&
        open_arrays(&p, &p.steps, run->name) && open_model(&p)) {
        x = golden_array(&p.data, "x");
        y = golden_array(&p.data, "y");
        if (x != NULL && y != NULL) {
            int64_t s = 0;
            while (s < steps && train_step(&p, x, y, s)) s++;
            if (s == steps) check_weights(&p, steps);
        }
    }
    golden_end(run->report);
    golden_case_free(&p.initial);
    golden_case_free(&p.data);
    golden_case_free(&p.steps);
    lks__npz_close(p.initial.npz);
    lks__npz_close(p.data.npz);
    lks__npz_close(p.steps.npz);
    lks_model_release(p.model);
}
