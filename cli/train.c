/* train.c - one fit: data put in, Ctrl-C watched, the first step timed. */
#include <stdlib.h>

#include "program.h"

/* What the callback below keeps. */
typedef struct watch {
    double first_step; /* process seconds at its end; 0: not yet */
    int64_t epoch;
} watch;

static lks_status stop_if_interrupted(void)
{
    return cli_interrupted() ? lks_fail(LKS_E_CANCELED, "stopped by Ctrl-C; nothing was saved") : LKS_OK;
}

/* The second step's beginning is the first one's end, without asking for that step's values. */
static lks_status step_begins(void *user, lks_model *model, int64_t step)
{
    watch *w = user;

    (void)model;
    if (step > 0 && w->first_step <= 0) w->first_step = cli_process_seconds();
    return stop_if_interrupted();
}

static lks_status epoch_ends(void *user, lks_model *model, int64_t epoch, const lks_logs *logs)
{
    watch *w = user;

    (void)model, (void)epoch, (void)logs;
    if (w->first_step <= 0) w->first_step = cli_process_seconds();
    return LKS_OK;
}

static lks_status test_step_begins(void *user, lks_model *model, int64_t step)
{
    (void)user, (void)model, (void)step;
    return stop_if_interrupted();
}

static lks_status fit(const cli_training *t, lks_fit_options *o)
{
    const int64_t batch = t->program->batch_size;
    lks_arrays train = cli_set_arrays(t->train), test = { 0 };
    lks_status status;

    if (t->test != NULL) {
        test = cli_set_arrays(t->test);
        o->validation_arrays = &test;
        o->validation_batch_size = batch;
    }
    if (t->pipeline) {
        if (o->steps_per_epoch == 0) o->steps_per_epoch = cli_set_size(t->train) / batch;
        status = lks_fit_with(t->program->model, cli_set_pipeline(t->train, batch, t->epochs, t->seed), o);
    } else {
        o->batch_size = batch;
        o->shuffle = t->shuffle ? LKS_TRUE : LKS_FALSE;
        status = lks_fit_arrays_with(t->program->model, &train, o);
    }
    o->validation_arrays = NULL; /* ours end here */
    return status;
}

int cli_train(const cli_training *t, cli_trained *out)
{
    watch w = { 0, 0 };
    cli_trained trained = { NULL, 0, 0 };
    lks_callback callback = { .struct_size = sizeof callback,
                              .user = &w,
                              .on_train_batch_begin = step_begins,
                              .on_epoch_end = epoch_ends,
                              .on_test_batch_begin = test_step_begins };
    lks_fit_options options = { .struct_size = sizeof options,
                                .epochs = t->epochs,
                                .steps_per_epoch = t->steps_per_epoch,
                                .verbose = t->verbose,
                                .threads = t->threads,
                                .callbacks = &callback,
                                .n_callbacks = 1,
                                .history = &trained.history,
                                .backup_dir = t->backup,
                                .save_freq = t->save_freq };
    lks_status status;

    cli_catch_interrupt(); /* other work just ends on Ctrl-C */
    status = fit(t, &options);
    if (status != LKS_OK) {
        lks_history_release(trained.history);
        return cli_library_failed();
    }
    trained.start_s = w.first_step;
    trained.examples = cli_set_size(t->train);
    if (t->steps_per_epoch > 0 && t->steps_per_epoch * t->program->batch_size < trained.examples)
        trained.examples = t->steps_per_epoch * t->program->batch_size;
    *out = trained;
    return CLI_OK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double cli_median_epoch(const lks_history *history)
{
    enum { MOST = 1024 };
    double seconds[MOST];
    size_t n = lks_history_epochs(history), first = n > 1, count = 0;

    for (size_t i = first; i < n && count < MOST; i++) seconds[count++] = lks_history_seconds(history, i);
    if (count == 0) return 0;
    qsort(seconds, count, sizeof *seconds, by_size);
    return seconds[count / 2];
}

int cli_line_ran(cli_line *line, const cli_program *p)
{
    lks_plan plan;

    if (lks_model_last_plan(p->model, &plan) != LKS_OK) return cli_library_failed();
    cli_line_int(line, "batch_size", p->batch_size);
    cli_line_int(line, "threads", plan.threads);
    cli_line_string(line, "isa", plan.isa);
    cli_line_int(line, "slice", plan.slice);
    cli_line_int(line, "slices", plan.slice > 0 ? (p->batch_size + plan.slice - 1) / plan.slice : 0);
    cli_line_int(line, "virtual_shards", plan.virtual_shards);
    cli_line_string(line, "reproducible", plan.reproducible);
    cli_line_int(line, "replicas", plan.replicas);
    return CLI_OK;
}
