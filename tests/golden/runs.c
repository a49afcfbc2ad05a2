/* runs.c - the topic "runs": training runs of Keras from given weights with a given order of batches. Any folder with files of
 * these names will do; what a folder lacks is passed over.
 */
#include "runs.h"

#include <stdio.h>
#include <string.h>

#include "lockstep/files.h"
#include "support/shared.h"

static const struct {
    const char *name;
    void (*run)(golden_run *run);
    const char *missing; /* why it is not yet */
} parts[] = {
    { "cnn", golden_runs_trajectory, NULL },
    { "ae", golden_runs_trajectory, NULL },
    { "summaries", golden_runs_summaries, NULL },
    { "fit", NULL, "the runner reads no fits" },
    { "bands", golden_runs_bands, NULL },
    { "article", NULL, "shuffle by Keras' own random numbers" },
    { "callbacks", NULL, "callbacks of Keras" },
    { "embedding_duplicates", NULL, "layer Embedding" },
    { "pets_finetune", golden_runs_pets, NULL },
    { "pets_frozen", golden_runs_pets, NULL },
    { "progress_text", NULL, "a clock that tests can set" },
    { "schedules", NULL, "learning-rate schedules" },
    { "text", NULL, "layer LSTM" },
};

const char *golden_run_path(const golden_run *run, const char *name, const char *suffix)
{
    char file[512];

    snprintf(file, sizeof file, "%s%s", name, suffix);
    return in_folder(run->folder, file);
}

/* ---- MNIST ---- */

bool golden_mnist_open(golden_run *run, const char *part, golden_mnist *out)
{
    char folder[2048], name[64];
    const char *shared = shared_folder();

    snprintf(folder, sizeof folder, "%s/../../data/mnist", run->folder);
    if (!golden_is_file(in_folder(folder, "train-images-idx3-ubyte.gz")) && shared != NULL) {
        snprintf(folder, sizeof folder, "%s/data/mnist", shared);
    }
    memset(out, 0, sizeof *out);
    snprintf(name, sizeof name, "%s-images-idx3-ubyte.gz", part);
    if (lks_read_idx(in_folder(folder, name), &out->images) != LKS_OK) out->images = NULL;
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte.gz", part);
    if (out->images == NULL || lks_read_idx(in_folder(folder, name), &out->labels) != LKS_OK) {
        golden_not_yet(run->report, "no MNIST: ../shared not found");
        golden_mnist_close(out);
        return false;
    }
    return true;
}

void golden_mnist_close(golden_mnist *m)
{
    lks_tensor_release(m->images);
    lks_tensor_release(m->labels);
    memset(m, 0, sizeof *m);
}

lks_tensor *golden_mnist_images(const golden_mnist *m, int64_t begin, int64_t n)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(n, 28, 28, 1));
    const unsigned char *from = (const unsigned char *)lks_tensor_cdata(m->images) + begin * 784;
    float *to = t != NULL ? lks_tensor_data(t) : NULL;

    for (int64_t i = 0; to != NULL && i < n * 784; i++) to[i] = (float)from[i] / 255.0f;
    return t;
}

lks_tensor *golden_mnist_one_hot(const golden_mnist *m, int64_t begin, int64_t n)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(n, 10));
    const unsigned char *labels = (const unsigned char *)lks_tensor_cdata(m->labels) + begin;

    for (int64_t i = 0; t != NULL && i < n; i++) ((float *)lks_tensor_data(t))[i * 10 + labels[i]] = 1.0f;
    return t;
}

/* ---- the topic ---- */

static bool run_part(const char *folder, size_t k, golden_report *sum)
{
    golden_report report = { .verbose = sum->verbose, .only = sum->only };
    golden_run run = { folder, parts[k].name, NULL, &report };
    const char *path = golden_run_path(&run, run.name, ".json");

    if (!golden_is_file(path)) return false;
    if (parts[k].run == NULL) {
        if (golden_begin(&report, run.name)) {
            golden_not_yet(&report, "%s", parts[k].missing);
            golden_end(&report);
        }
    } else {
        run.json = golden_read_json(path);
        if (run.json == NULL) report.failed++;
        else parts[k].run(&run);
        json_decref(run.json);
    }
    if (report.passed + report.failed + report.not_yet > 0) golden_print(run.name, &report);
    golden_add(sum, &report);
    return true;
}

static bool run(const char *folder, golden_report *sum)
{
    bool any = false;

    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) any = run_part(folder, k, sum) || any;
    if (!any) printf("%s holds no file of a golden run\n", folder);
    return any;
}

const golden_topic golden_runs = { "runs", run };
