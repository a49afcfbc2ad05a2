/* math.c - the topic "math": index.json lists pairs of JSON and npz files, each a list of cases of one of ten kinds. */
#include "math_kinds.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    golden_kind_fn run;
} kinds[] = {
    { "layer", golden_math_layer },
    { "values", golden_math_values },
    { "statistics", golden_math_statistics },
    { "initializer", golden_math_initializer },
    { "loss", golden_math_loss },
    { "metric", golden_math_metric },
    { "optimizer", golden_math_optimizer },
    { "schedule", golden_math_schedule },
    { "model", golden_math_model },
};

bool golden_other_policy(golden_case *c)
{
    const char *policy = golden_text(json_object_get(c->json, "options"), "dtype_policy");

    if (policy == NULL || strcmp(policy, "float32") == 0) return false;
    golden_not_yet(c->report, "dtype policy %s", policy);
    return true;
}

static void run_case(golden_report *report, json_t *json, lks_npz *npz)
{
    golden_case c = { .report = report, .name = golden_text(json, "case"), .json = json, .npz = npz };
    const char *kind = golden_text(json, "kind");
    char full[GOLDEN_NAME];

    snprintf(full, sizeof full, "%s/%s", golden_text(json, "topic"), c.name);
    if (!golden_begin(report, full)) return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kind == NULL || strcmp(kind, kinds[i].name) != 0) continue;
        kinds[i].run(&c);
        golden_case_free(&c);
        golden_end(report);
        return;
    }
    golden_not_yet(report, "kind %s", kind != NULL ? kind : "?");
    golden_end(report);
}

static void run_topic(const char *folder, const json_t *topic, golden_report *sum)
{
    golden_report report = { .verbose = sum->verbose, .only = sum->only };
    const char *json_name = golden_text(topic, "json"), *npz_name = golden_text(topic, "npz");
    char path[2048];
    json_t *json, *item;
    lks_npz *npz = NULL;
    size_t i;

    snprintf(path, sizeof path, "%s/%s", folder, json_name);
    json = golden_read_json(path);
    snprintf(path, sizeof path, "%s/%s", folder, npz_name);
    if (golden_is_file(path) && lks__npz_open(path, &npz) != LKS_OK) {
        printf("%s\n", lks_last_error());
        npz = NULL;
    }
    json_array_foreach(json_object_get(json, "cases"), i, item) run_case(&report, item, npz);
    lks__npz_close(npz);
    if (json == NULL) report.failed++;
    json_decref(json);
    if (sum->only == NULL || report.passed + report.failed + report.not_yet > 0) {
        golden_print(golden_text(topic, "topic"), &report);
    }
    golden_add(sum, &report);
}

static bool run(const char *folder, golden_report *sum)
{
    char path[2048];
    json_t *index, *topic;
    size_t i;

    snprintf(path, sizeof path, "%s/index.json", folder);
    index = golden_read_json(path);
    json_array_foreach(json_object_get(index, "topics"), i, topic) run_topic(folder, topic, sum);
    json_decref(index);
    return index != NULL;
}

const golden_topic golden_math = { "math", run };
