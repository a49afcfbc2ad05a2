/* runs_trajectory.c - a model of Keras trained step by step on MNIST in file order: losses, weights, gradients. Cases are the
 * initial state, the gradients of the first batch, the steps, and the weights wherever they were recorded.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/config_io.h"
#include "program.h"
#include "runs.h"

typedef struct trajectory {
    golden_run *run;
    golden_case c; /* arrays of NAME.npz */
    lks_model *model;
    golden_mnist mnist;
    int64_t first_row, batch, steps;
    bool of_images; /* targets are the images */
} trajectory;

/* ---- data ---- */

static bool take_batch(trajectory *t, int64_t step, lks_tensor **x, lks_tensor **y)
{
    int64_t begin = t->first_row + step * t->batch;

    if (begin + t->batch > lks_tensor_shape(t->mnist.images).dim[0]) {
        golden_fault(t->run->report, "step %lld needs rows beyond the end of MNIST", (long long)step);
        return false;
    }
    *x = golden_mnist_images(&t->mnist, begin, t->batch);
    *y = t->of_images ? lks_tensor_retain(*x) : golden_mnist_one_hot(&t->mnist, begin, t->batch);
    return *x != NULL && *y != NULL;
}

/* The entry of the smallest listed step that is not before `step`. */
double golden_run_tolerance(const golden_run *run, const char *key, int64_t step)
{
    json_t *table = json_object_get(run->json, "tolerance"), *steps = json_object_get(table, "steps"), *listed;
    json_t *values = json_object_get(table, key);
    size_t i, n = json_array_size(steps);

    json_array_foreach(steps, i, listed)
    {
        if (json_integer_value(listed) >= step) break;
    }
    return json_number_value(json_array_get(values, i < n ? i : n - 1));
}

/* ---- cases ---- */

static void check_initial(trajectory *t)
{
    char array[64];
    size_t n = lks_model_n_weights(t->model);

    if (!golden_begin(t->run->report, t->run->name)) return;
    for (size_t i = 0; i < n; i++) {
        lks_tensor *w = golden_keep(&t->c, lks_model_weight(t->model, i));
        snprintf(array, sizeof array, "init_w%03zu", i);
        golden_compare(t->run->report, array, w, golden_array(&t->c, array), 0, 0);
    }
    golden_end(t->run->report);
}

static bool build_gradients(golden_program *p, trajectory *t, lks_tensor *x, lks_tensor *y, size_t n,
                            lks_variable **vars, int *fetches)
{
    lks_node in = golden_feed(p, x, true), target = golden_feed(p, y, true), out, loss, report, d[64], wrt[64];

    lks__model_trace(t->model, &p->trace, &in, &out);
    loss = lks__loss_apply(t->model->compiled->losses[0], &p->trace, target, out, lks__no_node, &report);
    for (size_t i = 0; i < n; i++) wrt[i] = lks__graph_variable(p->trace.graph, vars[i]);
    if (!golden_ok(t->run->report, lks__graph_gradients(loss, n, wrt, d), "gradients")) return false;
    for (size_t i = 0; i < n; i++) fetches[i] = golden_fetch(p, d[i]);
    fetches[n] = golden_fetch(p, report);
    return golden_program_run(p, 0);
}

/* The README's guide is 1e-5 of the largest element; but gradient 7 of ae, a bias, is itself 1.7e-5 off the one computed in
 * double, so that the recorded values are no better than this. */
static const double gradient_fraction = 3e-5;

static void compare_gradients(trajectory *t, golden_case *g, lks_tensor *x, lks_tensor *y)
{
    lks_variable **vars = NULL;
    golden_program p;
    int fetches[65];
    char array[64];
    size_t n = 0;

    if (!golden_ok(g->report, lks__model_trainable_weights(t->model, &vars, &n), "weights")) return;
    if (n <= 64 && golden_program_init(&p, g, true)) {
        if (build_gradients(&p, t, x, y, n, vars, fetches)) {
            for (size_t i = 0; i < n; i++) {
                snprintf(array, sizeof array, "g%03zu", i);
                golden_compare_to_largest(g->report, array, golden_result(&p, fetches[i]), golden_array(g, array),
                                          gradient_fraction);
            }
            golden_compare_to_largest(g->report, "loss", golden_result(&p, fetches[n]), golden_array(g, "loss"),
                                      gradient_fraction);
        }
        golden_program_free(&p);
    }
    lks_free(vars);
}

static void check_gradients(trajectory *t)
{
    golden_case g = { .report = t->run->report, .name = "" };
    const char *path = golden_run_path(t->run, t->run->name, "_grad.npz");
    lks_tensor *x = NULL, *y = NULL, *first, *predicted;
    char name[GOLDEN_NAME];

    snprintf(name, sizeof name, "%s_grad", t->run->name);
    if (!golden_is_file(path) || !golden_begin(t->run->report, name)) return;
    if (golden_ok(g.report, lks__npz_open(path, &g.npz), path) && take_batch(t, 0, &x, &y)) {
        compare_gradients(t, &g, x, y);
        first = golden_keep(&g, lks_tensor_rows(x, 0, 8));
        predicted = golden_keep(&g, lks_predict(t->model, first, .threads = 1));
        golden_compare_to_largest(g.report, "pred_first_8", predicted, golden_array(&g, "pred_first_8"), 1e-5);
    }
    golden_case_free(&g);
    lks__npz_close(g.npz);
    lks_tensor_release(x);
    lks_tensor_release(y);
    golden_end(t->run->report);
}

/* One example more or less right: where two logits tie, rounding decides. */
void golden_run_check_step(golden_run *run, int64_t step, const lks_logs *logs)
{
    json_t *losses = json_object_get(run->json, "loss"), *accuracies = json_object_get(run->json, "accuracy");
    char name[64];

    snprintf(name, sizeof name, "loss of step %lld", (long long)step);
    golden_number(run->report, name, lks_logs_get(logs, "loss"),
                  json_number_value(json_array_get(losses, (size_t)step)), 0,
                  golden_run_tolerance(run, "loss_abs", step + 1));
    if (!json_is_array(accuracies)) return;
    snprintf(name, sizeof name, "accuracy of step %lld", (long long)step);
    golden_number(run->report, name, lks_logs_get(logs, "accuracy"),
                  json_number_value(json_array_get(accuracies, (size_t)step)), 0,
                  1.001 / (double)golden_int(run->json, "batch_size", 1));
}

/* The root mean square over all weights together. */
static void check_weights(trajectory *t, int64_t step)
{
    char array[64];
    double sum = 0, n = 0;

    snprintf(array, sizeof array, "s%03lld_w000", (long long)step);
    if (!lks__npz_has(t->c.npz, array)) return;
    for (size_t i = 0; i < lks_model_n_weights(t->model); i++) {
        lks_tensor *got = golden_keep(&t->c, lks_model_weight(t->model, i)), *want;
        snprintf(array, sizeof array, "s%03lld_w%03zu", (long long)step, i);
        want = golden_array(&t->c, array);
        if (got == NULL || want == NULL || lks_tensor_size(got) != lks_tensor_size(want)) {
            golden_fault(t->run->report, "%s cannot be compared", array);
            return;
        }
        for (int64_t k = 0; k < lks_tensor_size(got); k++) {
            double d = golden_element(got, k) - golden_element(want, k);
            sum += d * d;
        }
        n += (double)lks_tensor_size(got);
    }
    snprintf(array, sizeof array, "rms of the weights after step %lld", (long long)step);
    golden_number(t->run->report, array, sqrt(sum / n), 0, 0, golden_run_tolerance(t->run, "weights_rms", step));
}

static bool train_step(trajectory *t, int64_t step)
{
    lks_tensor *x = NULL, *y = NULL;
    lks_arrays arrays = { 0 };
    lks_logs logs = { 0 };
    bool ok = take_batch(t, step, &x, &y);

    arrays.x = x;
    arrays.y = y;
    ok = ok && golden_ok(t->run->report, lks_train_on_batch(t->model, &arrays, &logs), "train_on_batch");
    if (ok) golden_run_check_step(t->run, step, &logs);
    lks_tensor_release(x);
    lks_tensor_release(y);
    return ok;
}

static void check_steps(trajectory *t)
{
    char name[GOLDEN_NAME];

    snprintf(name, sizeof name, "%s_steps", t->run->name);
    if (!golden_begin(t->run->report, name)) return;
    for (int64_t s = 0; s < t->steps && train_step(t, s); s++) check_weights(t, s + 1);
    if (golden_running(t->run->report)) {
        golden_number(t->run->report, "iterations", (double)lks_model_iterations(t->model), (double)t->steps, 0, 0);
    }
    golden_end(t->run->report);
}

static bool open_model(trajectory *t)
{
    const char *file = golden_text(t->run->json, "initial_model");

    if (file == NULL) {
        golden_not_yet(t->run->report, "a run without initial_model");
        return false;
    }
    t->model = lks_load(golden_run_path(t->run, file, ""));
    if (t->model == NULL) {
        golden_fault(t->run->report, "%s", lks_last_error());
        return false;
    }
    t->of_images = lks__model_output_type(t->model, 0)->shape.rank == 3;
    return golden_ok(t->run->report, lks__npz_open(golden_run_path(t->run, t->run->name, ".npz"), &t->c.npz), "arrays");
}

void golden_runs_trajectory(golden_run *run)
{
    trajectory t = { .run = run, .c = { .report = run->report, .name = "" } };

    t.batch = golden_int(run->json, "batch_size", 1);
    t.steps = golden_int(run->json, "steps", 0);
    t.first_row = golden_int(run->json, "first_row", 0);
    golden_begin(run->report, run->name);
    if (open_model(&t) && golden_mnist_open(run, "train", &t.mnist)) {
        check_initial(&t);
        check_gradients(&t);
        check_steps(&t);
    } else {
        golden_end(run->report);
    }
    golden_case_free(&t.c);
    golden_mnist_close(&t.mnist);
    lks__npz_close(t.c.npz);
    lks_model_release(t.model);
}
