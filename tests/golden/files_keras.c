/* files_keras.c - .keras archives: what they hold, what the model predicts, one more step with the optimizer's state; and that our
 * own save of the same model gives back the same bits.
 */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "model/model.h"
#include "model/save.h"
#include "support/shared.h"

typedef struct archive_run {
    golden_case c; /* arrays of the npz file */
    lks_model *model;
    const char *file;
    size_t n_x, n_t, n_y;
    lks_tensor *x[LKS_MAX_IO], *t[LKS_MAX_IO];
} archive_run;

/* ---- tolerances of the README ---- */

static bool is_batchnorm(const archive_run *run)
{
    return strncmp(run->file, "batchnorm", 9) == 0 || strncmp(run->file, "convbn", 6) == 0;
}

static size_t read_arrays(archive_run *run, char letter, lks_tensor **out)
{
    char name[16];
    size_t n = 0;

    for (; n < LKS_MAX_IO; n++) {
        snprintf(name, sizeof name, "%c%zu", letter, n);
        if (!lks__npz_has(run->c.npz, name)) break;
        if (out != NULL) out[n] = golden_array(&run->c, name);
    }
    return n;
}

/* ---- the parts ---- */

static void expect_list(archive_run *run, char letter, size_t n, lks_variable *const *variables, double atol)
{
    char name[16];

    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%c%03zu", letter, i);
        golden_compare(run->c.report, name, variables[i]->value, golden_array(&run->c, name), 0, atol);
    }
    snprintf(name, sizeof name, "%c%03zu", letter, n);
    if (lks__npz_has(run->c.npz, name)) golden_fault(run->c.report, "%zu arrays, the file has more %c*", n, letter);
}

static void expect_weights(archive_run *run, const lks_model *model, char letter, double atol)
{
    lks_variable **all = NULL;
    size_t n = 0;

    if (!golden_ok(run->c.report, lks__model_weights(model, &all, &n), "weights")) return;
    expect_list(run, letter, n, all, atol);
    lks_free(all);
}

static void expect_optimizer(archive_run *run, const lks_model *model)
{
    size_t n;
    lks_variable **own;
    char last[16];

    if (!lks__npz_has(run->c.npz, "o000")) return;
    if (model->compiled == NULL) {
        golden_fault(run->c.report, "the model is not compiled");
        return;
    }
    own = lks__optimizer_variables(model->compiled->optimizer, &n);
    snprintf(last, sizeof last, "o%03zu", n - 1);
    if (n > 2 && n <= 256 && !lks__npz_has(run->c.npz, last)) { /* Keras 2: without the learning rate */
        lks_variable *others[256] = { own[0] };
        memcpy(others + 1, own + 2, (n - 2) * sizeof *others);
        expect_list(run, 'o', n - 1, others, 0);
        return;
    }
    expect_list(run, 'o', n, own, 0);
}

static void expect_predictions(archive_run *run, lks_model *model)
{
    lks_predict_options options = { .struct_size = sizeof options, .threads = 1 };
    lks_tensor *got[LKS_MAX_IO] = { NULL };
    char name[16];

    if (run->n_y == 0 || !golden_running(run->c.report)) return;
    if (!golden_ok(run->c.report, lks_predict_arrays_with(model, run->n_x, run->x, run->n_y, got, &options), "predict"))
        return;
    for (size_t i = 0; i < run->n_y; i++) {
        snprintf(name, sizeof name, "y%zu", i);
        golden_compare_to_largest(run->c.report, name, golden_keep(&run->c, got[i]), golden_array(&run->c, name), 1e-6);
    }
}

/* Our own file of the model, read again: the same bits. */
static void check_round_trip(archive_run *run)
{
    lks_model *again = NULL;
    void *data = NULL;
    size_t n = 0;

    if (!golden_running(run->c.report)) return;
    if (golden_ok(run->c.report, lks__save_memory(run->model, &data, &n), "save") &&
        golden_ok(run->c.report, lks__load_memory(data, n, &again), "load what was saved")) {
        expect_weights(run, again, 'w', 0);
        expect_optimizer(run, again);
        expect_predictions(run, again);
    }
    lks_model_release(again);
    lks_free(data);
}

static void take_step(archive_run *run)
{
    lks_arrays arrays = { .xs = run->x, .ys = run->t, .n_xs = (int64_t)run->n_x, .n_ys = (int64_t)run->n_t };
    lks_logs logs;
    double atol = is_batchnorm(run) ? 1e-4 : 1e-6;

    if (!golden_running(run->c.report) || !lks__npz_has(run->c.npz, "n000")) return;
    if (golden_ok(run->c.report, lks_train_on_batch(run->model, &arrays, &logs), "one more step")) {
        expect_weights(run, run->model, 'n', atol);
    }
}

void golden_check_archive(golden_report *r, const char *path, const char *values, bool one_more_step)
{
    const char *slash = strrchr(path, '/');
    archive_run run = { .c = { .report = r, .name = "" }, .file = slash != NULL ? slash + 1 : path };

    run.model = lks_load(path);
    if (run.model == NULL) {
        golden_ok(r, strstr(lks_last_error(), "not available yet") != NULL ? LKS_E_UNSUPPORTED : LKS_E_ARG, "load");
        return;
    }
    if (golden_ok(r, lks__npz_open(values, &run.c.npz), values)) {
        run.n_x = read_arrays(&run, 'x', run.x);
        run.n_t = read_arrays(&run, 't', run.t);
        run.n_y = read_arrays(&run, 'y', NULL);
        expect_weights(&run, run.model, 'w', 0);
        expect_optimizer(&run, run.model);
        expect_predictions(&run, run.model);
        check_round_trip(&run);
        if (one_more_step) take_step(&run);
    }
    golden_case_free(&run.c);
    lks__npz_close(run.c.npz);
    lks_model_release(run.model);
}

/* ---- the two folders ---- */

static void must_refuse(golden_report *r, const char *path)
{
    lks_model *model = lks_load(path);

    if (model != NULL) golden_fault(r, "it was loaded; it must be refused");
    else if (r->verbose) printf("  %s: refused: %s\n", r->name, lks_last_error());
    lks_model_release(model);
}

void golden_files_keras(golden_folder *f)
{
    json_t *item;
    size_t i;

    json_array_foreach(json_object_get(f->index, "files"), i, item)
    {
        const char *file = golden_text(item, "file"), *expect = golden_text(item, "expect");
        if (!golden_begin(f->report, file)) continue;
        if (expect != NULL && strcmp(expect, "refuse") == 0) must_refuse(f->report, in_folder(f->path, file));
        else
            golden_check_archive(f->report, in_folder(f->path, file), in_folder(f->path, golden_text(item, "values")),
                                 true);
        golden_end(f->report);
    }
}

void golden_files_older(golden_folder *f)
{
    json_t *item;
    size_t i;

    json_array_foreach(json_object_get(f->index, "files"), i, item)
    {
        const char *file = golden_text(item, "file"), *dot = file != NULL ? strrchr(file, '.') : NULL;
        if (dot == NULL || !golden_begin(f->report, file)) continue;
        if (strcmp(dot, ".keras") != 0) golden_not_yet(f->report, "reader of whole models and weights in HDF5");
        else
            golden_check_archive(f->report, in_folder(f->path, file), in_folder(f->path, golden_text(item, "values")),
                                 false);
        golden_end(f->report);
    }
}
