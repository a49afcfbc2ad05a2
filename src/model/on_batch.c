/* on_batch.c - one step by hand: train_on_batch and test_on_batch. */
#include "loop.h"
#include "names.h"

static lks_status step(lks_model *m, lks_function_kind kind, const lks_arrays *arrays, lks_logs *logs)
{
    lks_array_feed_options f = { .end = -1 };
    lks_function_options o = { (int)m->threads, NULL, 0 };
    lks_feeder *feed = NULL;
    lks_function *function;
    lks_batch batch;
    lks_logs result;
    lks_status status = lks__loop_ready(m, true);

    if (status == LKS_OK) status = lks__arrays_rows(arrays, &f.batch_size);
    if (status == LKS_OK) status = lks__feed_arrays(arrays, true, &f, &feed);
    if (status == LKS_OK) status = feed->next(feed, &batch);
    if (status == LKS_OK) status = lks__loop_build(m, &batch);
    if (status == LKS_OK && kind == LKS_TRAIN) status = lks__model_build_optimizer(m);
    if (status == LKS_OK) status = lks__function_get(m, kind, &batch, &o, &function);
    if (status == LKS_OK) {
        lks__model_reset_metrics(m);
        status = lks__function_run(m, kind, function, &batch, lks__default_seed(), NULL);
    }
    if (status == LKS_OK) status = lks__model_logs(m, false, &result);
    if (status == LKS_OK && logs != NULL) *logs = result;
    lks__feeder_release(feed);
    return status;
}

lks_status lks_train_on_batch(lks_model *model, const lks_arrays *arrays, lks_logs *logs)
{
    lks_status status = step(model, LKS_TRAIN, arrays, logs);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_train_on_batch");
}

lks_status lks_test_on_batch(lks_model *model, const lks_arrays *arrays, lks_logs *logs)
{
    lks_status status = step(model, LKS_TEST, arrays, logs);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_test_on_batch");
}

int64_t lks_model_iterations(const lks_model *model)
{
    return model != NULL && model->optimizer_built ? lks__optimizer_iterations(model->compiled->optimizer) : 0;
}
