/* evaluate.c - loss and metrics over a pass of the data, without changing weights. */
#include "base/options.h"
#include "loop.h"
#include "names.h"

lks_status lks__loop_ready(lks_model *m, bool need_compiled)
{
    LKS_TRY(lks_model_status(m));
    if (need_compiled && m->compiled == NULL)
        return lks__fail(LKS_E_STATE, "model '%s' is not compiled: call lks_compile first", m->name);
    return LKS_OK;
}

lks_status lks__loop_build(lks_model *m, const lks_batch *batch)
{
    lks_type row = batch->types[0];

    if (m->built) return LKS_OK;
    if (row.dtype == LKS_UINT8 || row.dtype == LKS_BOOL) row.dtype = LKS_FLOAT32;
    return lks__sequential_build(m, row);
}

static lks_status one_step(lks_loop *loop, const lks_batch *batch, int64_t step)
{
    lks_function *f;
    lks_logs logs = { 0, NULL };

    LKS_TRY(lks__loop_build(loop->model, batch));
    LKS_TRY(lks__function_get(loop->model, LKS_TEST, batch, &loop->function, &f));
    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_TEST_BATCH_BEGIN, step, NULL));
    LKS_TRY(lks__function_run(loop->model, LKS_TEST, f, batch, loop->seed, NULL));
    if (lks__hooks_wanted(&loop->hooks, LKS_ON_TEST_BATCH_END)) LKS_TRY(lks__model_logs(loop->model, false, &logs));
    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_TEST_BATCH_END, step, &logs));
    if (loop->bar != NULL && lks__progress_step(loop->bar, step + 1)) {
        LKS_TRY(lks__model_logs(loop->model, false, &logs));
        lks__progress_draw(loop->bar, &logs);
    }
    return LKS_OK;
}

lks_status lks__loop_evaluate(lks_loop *loop, lks_feeder *feed, bool val, lks_logs *logs)
{
    lks_batch batch;
    int64_t step = 0;

    LKS_TRY(feed->restart(feed, 0));
    lks__model_reset_metrics(loop->model);
    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_TEST_BEGIN, 0, NULL));
    for (; loop->steps == 0 || step < loop->steps; step++) {
        lks_status status = feed->next(feed, &batch);
        if (status == LKS_END) break;
        LKS_TRY(status);
        LKS_TRY(one_step(loop, &batch, step));
    }
    if (step == 0) return lks__fail(LKS_E_ARG, "the data are empty: there is nothing to evaluate");
    if (loop->steps > 0 && step < loop->steps)
        lks__warn("the data ran out after %lld of %lld evaluation steps; repeat the dataset or ask for fewer",
                  (long long)step, (long long)loop->steps);
    LKS_TRY(lks__model_logs(loop->model, false, logs));
    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_TEST_END, 0, logs));
    return val ? lks__model_logs(loop->model, true, logs) : LKS_OK;
}

static int64_t target_of(const lks_feeder *feed, int64_t steps)
{
    if (steps > 0) return steps;
    return feed->batches >= 0 ? feed->batches : -1;
}

static lks_status run(lks_model *m, lks_feeder *feed, lks_logs *out, const lks_evaluate_options *o)
{
    lks_logs logs;
    lks_progress bar;
    lks_progress_setup setup = { .verbose = o->verbose, .epochs = 1, .target = target_of(feed, o->steps) };
    lks_loop loop = {
        m, { m, o->callbacks, o->n_callbacks }, { (int)o->threads, NULL, 0 }, lks__default_seed(), o->steps, NULL
    };
    lks_status status;

    if (o->steps == 0 && feed->batches == LKS_INFINITE_CARDINALITY)
        return lks__fail(LKS_E_ARG, "the dataset never ends: give .steps");
    lks__progress_begin(&bar, &setup);
    lks__progress_epoch(&bar, 0);
    if (o->verbose != 0) loop.bar = &bar;
    status = lks__loop_evaluate(&loop, feed, false, &logs);
    if (status == LKS_OK) lks__progress_finish(&bar, &logs);
    lks__progress_end(&bar);
    if (status == LKS_OK && out != NULL) *out = logs;
    return status;
}

static lks_evaluate_options read_options(const lks_evaluate_options *options)
{
    lks_evaluate_options o = { 0 };

    lks__options_copy(&o, sizeof o, options);
    if (o.batch_size == 0) o.batch_size = 32;
    if (o.batch_size == LKS_ZERO_INT) o.batch_size = 0; /* refused below, in the caller's words */
    return o;
}

lks_status lks_evaluate_with(lks_model *model, lks_dataset *data, lks_logs *logs, const lks_evaluate_options *options)
{
    lks_evaluate_options o = read_options(options);
    lks_feeder *feed = NULL;
    lks_status status = lks__feed_dataset(data, &feed);

    if (status == LKS_OK) status = lks__loop_ready(model, true);
    if (status == LKS_OK) status = run(model, feed, logs, &o);
    lks__feeder_release(feed);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_evaluate");
}

lks_status lks_evaluate_arrays_with(lks_model *model, const lks_arrays *arrays, lks_logs *logs,
                                    const lks_evaluate_options *options)
{
    lks_evaluate_options o = read_options(options);
    lks_array_feed_options f = { .batch_size = o.batch_size, .end = -1 };
    lks_feeder *feed = NULL;
    lks_status status = lks__loop_ready(model, true);

    if (status == LKS_OK) status = lks__feed_arrays(arrays, true, &f, &feed);
    if (status == LKS_OK) status = run(model, feed, logs, &o);
    lks__feeder_release(feed);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_evaluate_arrays");
}
