/* fit.c - the training loop: epochs, steps, running out of data, validation, callbacks (spec/keras.md 6.2, 6.3). */
#include <string.h>

#include "backup.h"
#include "base/options.h"
#include "data/stage.h"
#include "history.h"
#include "loop.h"
#include "names.h"

typedef struct fit_run {
    lks_fit_options o;
    lks_loop loop;
    lks_feeder *train, *validation;
    lks_history *history;
    lks_progress bar;
    int64_t epoch;
    int64_t pass;        /* passes over the training data started */
    int64_t known_steps; /* steps of a pass, once known; -1 */
    bool fresh;          /* the training feeder stands at the start of a pass */
    int64_t batch_size;  /* of arrays */
    double waited;       /* seconds that the steps waited for data */
    bool resumed;        /* from a backup: the data stand where they should */
    int64_t resume_step; /* steps of the first epoch that a former process did */
} fit_run;

static lks_backup backup_of(const fit_run *r)
{
    return (lks_backup){ r->loop.model,
                         r->train,
                         r->validation,
                         r->history,
                         { (int64_t)r->loop.seed, r->batch_size, r->o.steps_per_epoch, r->train->batches } };
}

static lks_status back_up(const fit_run *r, int64_t epoch, int64_t steps)
{
    lks_backup b = backup_of(r);
    lks_backup_place place = { epoch, steps, r->pass, r->fresh, steps > 0 };

    return lks__backup_write(r->o.backup_dir, &b, &place);
}

/* Continues what a former process left; refuses data that can't be replayed before the first step. */
static lks_status go_on(fit_run *r)
{
    lks_backup b = backup_of(r);
    lks_backup_place place;
    lks_text text = { 0 };
    bool found;
    lks_status status;

    if (r->o.backup_dir == NULL) return LKS_OK;
    LKS_TRY(lks__backup_read(r->o.backup_dir, &b, &place, &found));
    if (!found) {
        status = r->train->save(r->train, true, &text);
        lks__text_free(&text);
        return status == LKS_OK ? LKS_OK : lks__context(status, "backup_dir");
    }
    r->o.initial_epoch = place.epoch;
    r->pass = place.pass;
    r->fresh = place.fresh != 0;
    r->resume_step = place.in_epoch ? place.step : 0;
    r->resumed = true;
    return LKS_OK;
}

/* After a whole step. */
static lks_status back_up_step(const fit_run *r, int64_t steps)
{
    if (r->o.backup_dir == NULL || r->o.save_freq == 0) return LKS_OK;
    return lks_model_iterations(r->loop.model) % r->o.save_freq == 0 ? back_up(r, r->epoch, steps) : LKS_OK;
}

static lks_status back_up_epoch(const fit_run *r)
{
    bool last = r->epoch + 1 >= r->o.epochs || r->loop.model->stop_training;

    if (r->o.backup_dir == NULL || (last && r->o.delete_checkpoint != LKS_FALSE)) return LKS_OK;
    return r->o.save_freq == 0 || last ? back_up(r, r->epoch + 1, 0) : LKS_OK;
}

static lks_status step(fit_run *r, const lks_batch *batch, int64_t number)
{
    lks_model *m = r->loop.model;
    lks_function *f;
    lks_logs logs = { 0, NULL };
    lks_status status;

    LKS_TRY(lks__loop_build(m, batch));
    LKS_TRY(lks__model_build_optimizer(m));
    LKS_TRY(lks__function_get(m, LKS_TRAIN, batch, &r->loop.function, &f));
    LKS_TRY(lks__hooks_call(&r->loop.hooks, LKS_ON_TRAIN_BATCH_BEGIN, number, NULL));
    status = lks__function_run(m, LKS_TRAIN, f, batch, r->loop.seed, NULL);
    if (status != LKS_OK)
        return lks__context(status, "epoch %lld, step %lld", (long long)r->epoch + 1, (long long)number + 1);
    if (lks__hooks_wanted(&r->loop.hooks, LKS_ON_TRAIN_BATCH_END)) LKS_TRY(lks__model_logs(m, false, &logs));
    LKS_TRY(lks__hooks_call(&r->loop.hooks, LKS_ON_TRAIN_BATCH_END, number, &logs));
    if (r->loop.bar != NULL && lks__progress_step(&r->bar, number + 1)) {
        LKS_TRY(lks__model_logs(m, false, &logs));
        lks__progress_draw(&r->bar, &logs);
    }
    return LKS_OK;
}

static lks_status start_pass(fit_run *r)
{
    if (r->fresh) return LKS_OK;
    LKS_TRY(r->train->restart(r->train, r->pass++));
    r->fresh = true;
    return LKS_OK;
}

/* The next batch. A pass that ended with the former epoch's last step starts anew without a word. */
static lks_status next_batch(fit_run *r, int64_t steps, lks_batch *batch)
{
    double begin = lks__now();
    lks_status status = r->train->next(r->train, batch);

    r->waited += lks__now() - begin;
    if (status != LKS_END || steps > 0 || r->o.steps_per_epoch == 0) return status;
    r->fresh = false;
    LKS_TRY(start_pass(r));
    status = r->train->next(r->train, batch);
    return status == LKS_END ? lks__fail(LKS_E_ARG, "the data are empty: there is nothing to train on") : status;
}

/* With steps_per_epoch the pass goes on from epoch to epoch; when it ends inside one, the epoch is short and the next begins a new
 * pass. Without, every epoch is a pass. */
static lks_status train_epoch(fit_run *r, int64_t *steps)
{
    lks_model *m = r->loop.model;
    lks_batch batch;
    int64_t wanted = r->o.steps_per_epoch;

    if (wanted == 0 && *steps == 0) LKS_TRY(start_pass(r));
    for (; wanted == 0 || *steps < wanted; (*steps)++) {
        lks_status status = next_batch(r, *steps, &batch);
        if (status == LKS_END) {
            if (wanted > 0)
                lks__warn("the input ran out of data after %lld of %lld steps of epoch %lld; there must be at least "
                          "steps_per_epoch * epochs batches: repeat the dataset",
                          (long long)*steps, (long long)wanted, (long long)r->epoch + 1);
            r->fresh = false;
            if (wanted > 0) LKS_TRY(start_pass(r));
            break;
        }
        LKS_TRY(status);
        LKS_TRY(step(r, &batch, *steps));
        r->fresh = false;
        LKS_TRY(back_up_step(r, *steps + 1));
        if (m->stop_training) {
            (*steps)++;
            break;
        }
    }
    if (wanted == 0) r->fresh = false;
    if (*steps == 0 && wanted == 0) return lks__fail(LKS_E_ARG, "the data are empty: there is nothing to train on");
    return LKS_OK;
}

static bool validation_due(const fit_run *r)
{
    int64_t every = r->o.validation_freq > 0 ? r->o.validation_freq : 1;

    return r->validation != NULL && (r->epoch + 1) % every == 0;
}

/* Training and validation logs in one sorted list, kept until the epoch's callbacks are done. */
static lks_status merge_logs(const lks_logs *a, const lks_logs *b, lks_log **items, lks_logs *out)
{
    size_t n = 0;
    lks_log *list = lks__malloc((a->n + b->n + 1) * sizeof *list);

    if (list == NULL) return lks__fail(LKS_E_NOMEM, "no memory for logs");
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool first = j == b->n || (i < a->n && strcmp(a->items[i].name, b->items[j].name) < 0);
        list[n++] = first ? a->items[i++] : b->items[j++];
    }
    *items = list;
    *out = (lks_logs){ n, list };
    return LKS_OK;
}

/* The model's log storage is reused by validation, so the training values are copied first. */
static lks_status copy_logs(const lks_logs *logs, lks_log **items, char **names)
{
    *items = lks__malloc((logs->n + 1) * sizeof **items);
    *names = lks__malloc((logs->n + 1) * LKS_LOG_NAME);
    if (*items == NULL || *names == NULL) return lks__fail(LKS_E_NOMEM, "no memory for logs");
    for (size_t i = 0; i < logs->n; i++) {
        char *name = *names + i * LKS_LOG_NAME;
        memcpy(name, logs->items[i].name, strlen(logs->items[i].name) + 1);
        (*items)[i] = (lks_log){ name, logs->items[i].value };
    }
    return LKS_OK;
}

static lks_status validate(fit_run *r, lks_logs *logs)
{
    lks_loop loop = r->loop;

    loop.steps = r->o.validation_steps;
    loop.bar = NULL;
    loop.function.class_weight = NULL;
    loop.function.n_class_weight = 0;
    return lks__loop_evaluate(&loop, r->validation, true, logs);
}

static lks_status end_epoch(fit_run *r, double start)
{
    lks_logs train, val = { 0, NULL }, all;
    lks_log *copied = NULL, *merged = NULL;
    char *names = NULL;
    lks_status status = lks__model_logs(r->loop.model, false, &train);

    if (status == LKS_OK) status = copy_logs(&train, &copied, &names);
    train.items = copied;
    if (status == LKS_OK && validation_due(r)) status = validate(r, &val);
    if (status == LKS_OK) status = merge_logs(&train, &val, &merged, &all);
    if (status == LKS_OK) status = lks__hooks_call(&r->loop.hooks, LKS_ON_EPOCH_END, r->epoch, &all);
    if (status == LKS_OK) status = lks__history_add(r->history, r->epoch, lks__now() - start, &all);
    if (status == LKS_OK) lks__progress_finish(&r->bar, &all);
    if (status == LKS_OK && (r->epoch + 1 >= r->o.epochs || r->loop.model->stop_training)) {
        lks__optimizer_finalize(r->loop.model->compiled->optimizer);
        status = lks__hooks_call(&r->loop.hooks, LKS_ON_TRAIN_END, 0, &all);
    }
    lks__free(merged);
    lks__free(copied);
    lks__free(names);
    return status;
}

/* Data that come too late are said once, where it was long enough to matter. */
static void report_waiting(const fit_run *r, double seconds)
{
    enum { PERCENT = 5 };
    const double least = 1.0;

    if (r->waited < least || r->waited * 100 < seconds * PERCENT) return;
    lks__warn("%.0f %% of the training time (%.1f of %.1f s) went by waiting for data: lks_dataset_diagnose or "
              "\"lockstep data bench\" names the stage that holds them up",
              100 * r->waited / seconds, r->waited, seconds);
}

static lks_status run_epochs(fit_run *r)
{
    double began = lks__now();
    lks_model *m = r->loop.model;
    int64_t steps;

    m->stop_training = false;
    LKS_TRY(lks__hooks_call(&r->loop.hooks, LKS_ON_TRAIN_BEGIN, 0, NULL));
    if (!r->resumed) LKS_TRY(start_pass(r));
    for (r->epoch = r->o.initial_epoch; r->epoch < r->o.epochs && !m->stop_training; r->epoch++) {
        double start = lks__now();
        steps = r->resume_step;
        r->resume_step = 0;
        if (steps == 0) lks__model_reset_metrics(m);
        lks__progress_epoch(&r->bar, r->epoch);
        LKS_TRY(lks__hooks_call(&r->loop.hooks, LKS_ON_EPOCH_BEGIN, r->epoch, NULL));
        LKS_TRY(train_epoch(r, &steps));
        LKS_TRY(end_epoch(r, start));
        LKS_TRY(back_up_epoch(r));
    }
    report_waiting(r, lks__now() - began);
    if (r->o.backup_dir != NULL && r->o.delete_checkpoint != LKS_FALSE) lks__backup_remove(r->o.backup_dir);
    return LKS_OK;
}

static lks_status check_options(const fit_run *r)
{
    const lks_fit_options *o = &r->o;

    if (o->epochs < 0 || o->initial_epoch < 0 || o->steps_per_epoch < 0 || o->validation_steps < 0 ||
        o->validation_freq < 0 || o->save_freq < 0)
        return lks__fail(LKS_E_ARG, "epochs, initial_epoch, steps_per_epoch, validation_steps, validation_freq and "
                                    "save_freq cannot be negative");
    if (o->verbose < 0 || o->verbose > 2)
        return lks__fail(LKS_E_ARG, "verbose must be 0, 1 or 2, got %lld", (long long)o->verbose);
    if (o->steps_per_epoch == 0 && r->train->batches == LKS_INFINITE_CARDINALITY)
        return lks__fail(LKS_E_ARG, "the training dataset never ends: give .steps_per_epoch");
    if (r->validation != NULL && o->validation_steps == 0 && r->validation->batches == LKS_INFINITE_CARDINALITY)
        return lks__fail(LKS_E_ARG, "the validation dataset never ends: give .validation_steps");
    return LKS_OK;
}

static lks_status run(fit_run *r)
{
    lks_progress_setup setup = { .verbose = r->o.verbose,
                                 .epochs = r->o.epochs - r->o.initial_epoch,
                                 .target = r->o.steps_per_epoch };
    lks_status status;

    LKS_TRY(check_options(r));
    if (setup.target == 0) setup.target = r->train->batches >= 0 ? r->train->batches : -1;
    LKS_TRY(lks__history_create(&r->history));
    LKS_TRY(go_on(r));
    setup.epochs = r->o.epochs;
    lks__progress_begin(&r->bar, &setup);
    if (r->o.verbose != 0) r->loop.bar = &r->bar;
    status = run_epochs(r);
    lks__progress_end(&r->bar);
    if (status == LKS_OK && r->o.history != NULL) {
        *r->o.history = r->history;
        r->history = NULL;
    }
    return status;
}

static fit_run begin(lks_model *m, const lks_fit_options *options)
{
    fit_run r = { .known_steps = -1 };

    lks__options_copy(&r.o, sizeof r.o, options);
    if (r.o.epochs == 0) r.o.epochs = 1;
    if (r.o.epochs == LKS_ZERO_INT) r.o.epochs = 0;
    r.loop = (lks_loop){ m,
                         { m, r.o.callbacks, r.o.n_callbacks },
                         { (int)r.o.threads, r.o.class_weight, r.o.n_class_weight },
                         lks__seed_option(r.o.seed),
                         0,
                         NULL };
    return r;
}

static lks_status make_validation(fit_run *r, int64_t batch_size)
{
    lks_array_feed_options f = { .batch_size = r->o.validation_batch_size > 0 ? r->o.validation_batch_size : batch_size,
                                 .end = -1 };

    if (r->o.validation_data != NULL)
        return lks__feed_dataset(lks_dataset_retain(r->o.validation_data), &r->validation);
    if (r->o.validation_arrays == NULL) return LKS_OK;
    if (lks__feed_arrays(r->o.validation_arrays, true, &f, &r->validation) == LKS_OK) return LKS_OK;
    return lks__context(LKS_E_ARG, "validation_arrays");
}

static lks_status finish(fit_run *r, lks_status status)
{
    lks__feeder_release(r->train);
    lks__feeder_release(r->validation);
    lks_history_release(r->history);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_fit");
}

lks_status lks_fit_with(lks_model *model, lks_dataset *data, const lks_fit_options *options)
{
    fit_run r = begin(model, options);
    lks_status status = lks__feed_dataset(data, &r.train);

    if (status == LKS_OK) status = lks__loop_ready(model, true);
    if (status == LKS_OK) lks__warn_traps(data, false);
    if (status == LKS_OK && r.o.validation_split != 0)
        status = lks__fail(LKS_E_ARG, "validation_split is for arrays; split the dataset with lks_take and lks_skip");
    if (status == LKS_OK) status = make_validation(&r, 32);
    if (status == LKS_OK) status = run(&r);
    return finish(&r, status);
}

static lks_status batch_size_of(const fit_run *r, int64_t rows, int64_t *out)
{
    if (r->o.batch_size == LKS_ZERO_INT || r->o.batch_size < 0)
        return lks__fail(LKS_E_ARG, "batch_size must be at least 1, got %lld",
                         r->o.batch_size < -1 ? 0LL : (long long)r->o.batch_size);
    *out = r->o.batch_size;
    if (*out == 0 && r->o.steps_per_epoch > 0) *out = (rows + r->o.steps_per_epoch - 1) / r->o.steps_per_epoch;
    if (*out == 0) *out = 32;
    return LKS_OK;
}

static lks_status feed(fit_run *r, const lks_arrays *arrays)
{
    lks_array_feed_options f = { .end = -1, .shuffle = r->o.shuffle != LKS_FALSE, .seed = r->loop.seed };
    int64_t rows, batch_size = 0;
    double split = r->o.validation_split;

    LKS_TRY(lks__arrays_rows(arrays, &rows));
    LKS_TRY(batch_size_of(r, rows, &batch_size));
    if (split < 0 || split >= 1) return lks__fail(LKS_E_ARG, "validation_split must be in [0, 1), got %g", split);
    f.batch_size = r->batch_size = batch_size;
    f.end = rows;
    if (split > 0 && r->o.validation_data == NULL && r->o.validation_arrays == NULL) {
        lks_array_feed_options v = { .batch_size = batch_size, .end = rows };
        f.end = v.begin = (int64_t)((double)rows * (1.0 - split));
        if (r->o.validation_batch_size > 0) v.batch_size = r->o.validation_batch_size;
        if (f.end <= 0 || v.begin >= rows)
            return lks__fail(LKS_E_ARG, "validation_split %g of %lld examples leaves one side empty", split,
                             (long long)rows);
        LKS_TRY(lks__feed_arrays(arrays, true, &v, &r->validation));
    } else {
        LKS_TRY(make_validation(r, batch_size));
    }
    return lks__feed_arrays(arrays, true, &f, &r->train);
}

lks_status lks_fit_arrays_with(lks_model *model, const lks_arrays *arrays, const lks_fit_options *options)
{
    fit_run r = begin(model, options);
    lks_status status = lks__loop_ready(model, true);

    if (status == LKS_OK) status = feed(&r, arrays);
    if (status == LKS_OK) status = run(&r);
    return finish(&r, status);
}
