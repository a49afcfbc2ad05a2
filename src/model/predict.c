/* predict.c - outputs for all rows, written by the executor straight into the result. */
#include <string.h>

#include "loop.h"
#include "names.h"

typedef struct outputs {
    size_t n;
    lks_tensor *tensors[LKS_MAX_IO_NODES];
    size_t row_bytes[LKS_MAX_IO_NODES];
} outputs;

static lks_status make_outputs(const lks_model *m, int64_t rows, outputs *out)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        const lks_type *t = lks__model_output_type(m, i);
        lks_shape s = { .rank = t->shape.rank + 1, .dim = { rows } };
        if (s.rank > LKS_MAX_RANK) return lks__fail(LKS_E_SHAPE, "output %zu has more than %d axes", i, LKS_MAX_RANK);
        for (int64_t k = 0; k < t->shape.rank; k++) s.dim[k + 1] = t->shape.dim[k];
        out->tensors[i] = lks_tensor_create(t->dtype, s);
        if (out->tensors[i] == NULL) return LKS_E_NOMEM;
        out->row_bytes[i] = lks__type_bytes(t);
        out->n = i + 1;
    }
    return LKS_OK;
}

static lks_status one_batch(lks_loop *loop, const lks_batch *batch, outputs *out, int64_t done)
{
    void *rows[LKS_MAX_IO_NODES];
    lks_function *f;

    for (size_t i = 0; i < out->n; i++)
        rows[i] = (char *)lks_tensor_data(out->tensors[i]) + (size_t)done * out->row_bytes[i];
    LKS_TRY(lks__function_get(loop->model, LKS_PREDICT, batch, &loop->function, &f));
    return lks__function_run(loop->model, LKS_PREDICT, f, batch, loop->seed, rows);
}

static lks_status predict_rows(lks_loop *loop, lks_feeder *feed, int64_t rows, outputs *out)
{
    lks_batch batch;
    int64_t done = 0, step = 0;

    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_PREDICT_BEGIN, 0, NULL));
    for (lks_status status; (loop->steps == 0 || step < loop->steps) && (status = feed->next(feed, &batch)) != LKS_END; step++) {
        LKS_TRY(status);
        if (step == 0) {
            LKS_TRY(lks__loop_build(loop->model, &batch));
            LKS_TRY(make_outputs(loop->model, rows, out));
        }
        LKS_TRY(one_batch(loop, &batch, out, done));
        done += batch.n;
        if (loop->bar != NULL && lks__progress_step(loop->bar, step + 1)) lks__progress_draw(loop->bar, NULL);
    }
    return lks__hooks_call(&loop->hooks, LKS_ON_PREDICT_END, 0, NULL);
}

static lks_status run(lks_model *m, const lks_arrays *arrays, const lks_predict_options *o, outputs *out)
{
    lks_loop loop = { m, { m, o->callbacks, o->n_callbacks }, { (int)o->threads, NULL, 0 }, lks__default_seed(), o->steps, NULL };
    lks_array_feed_options f = { .batch_size = o->batch_size, .end = -1 };
    lks_feeder *feed = NULL;
    lks_progress bar;
    lks_progress_setup setup = { .verbose = o->verbose, .epochs = 1, .target = -1 };
    int64_t rows;
    lks_status status;

    LKS_TRY(lks__loop_ready(m, false));
    LKS_TRY(lks__arrays_rows(arrays, &rows));
    LKS_TRY(lks__feed_arrays(arrays, false, &f, &feed));
    if (o->steps > 0 && rows > o->steps * o->batch_size) rows = o->steps * o->batch_size;
    setup.target = o->steps > 0 ? o->steps : feed->batches;
    lks__progress_begin(&bar, &setup);
    lks__progress_epoch(&bar, 0);
    if (o->verbose != 0) loop.bar = &bar;
    status = predict_rows(&loop, feed, rows, out);
    if (status == LKS_OK) lks__progress_finish(&bar, NULL);
    lks__progress_end(&bar);
    lks__feeder_release(feed);
    return status;
}

lks_status lks_predict_arrays_with(lks_model *model, size_t n_x, lks_tensor *const *x, size_t n_outputs, lks_tensor **results,
                                   const lks_predict_options *options)
{
    lks_predict_options o = { 0 };
    lks_arrays arrays = { .xs = x, .n_xs = (int64_t)n_x };
    outputs out = { 0 };
    lks_status status;

    if (options != NULL) memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
    if (o.batch_size == 0) o.batch_size = 32;
    status = run(model, &arrays, &o, &out);
    if (status == LKS_OK && n_outputs > out.n)
        status = lks__fail(LKS_E_ARG, "%zu outputs asked for, the model has %zu", n_outputs, out.n);
    for (size_t i = 0; i < out.n; i++) {
        if (status == LKS_OK && i < n_outputs) results[i] = out.tensors[i];
        else lks_tensor_release(out.tensors[i]);
    }
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_predict");
}

lks_tensor *lks_predict_with(lks_model *model, lks_tensor *x, const lks_predict_options *options)
{
    lks_tensor *out = NULL;

    return lks_predict_arrays_with(model, 1, &x, 1, &out, options) == LKS_OK ? out : NULL;
}
