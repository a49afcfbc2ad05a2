/* predict.c - outputs for all rows, written by the executor straight into the result. */
#include <string.h>

#include "base/options.h"
#include "loop.h"
#include "names.h"

typedef struct outputs {
    size_t n;
    int64_t rows; /* there is room for */
    lks_tensor *tensors[LKS_MAX_IO_NODES];
    size_t row_bytes[LKS_MAX_IO_NODES];
} outputs;

/* Room for `rows` rows; what is there already is kept. A dataset's number of rows is known only at its end, so it doubles. */
static lks_status make_room(const lks_model *m, int64_t rows, outputs *out)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        lks_tensor *former = out->tensors[i];
        const lks_type *t = lks__model_output_type(m, i);
        lks_shape s = { .rank = t->shape.rank + 1, .dim = { rows } };
        if (s.rank > LKS_MAX_RANK) return lks__fail(LKS_E_SHAPE, "output %zu has more than %d axes", i, LKS_MAX_RANK);
        for (int64_t k = 0; k < t->shape.rank; k++) s.dim[k + 1] = t->shape.dim[k];
        out->tensors[i] = lks_tensor_create(t->dtype, s);
        if (out->tensors[i] == NULL) {
            out->tensors[i] = former;
            return LKS_E_NOMEM;
        }
        out->row_bytes[i] = lks__type_bytes(t);
        if (former != NULL)
            memcpy(lks_tensor_data(out->tensors[i]), lks_tensor_cdata(former),
                   (size_t)(rows < out->rows ? rows : out->rows) * out->row_bytes[i]);
        lks_tensor_release(former);
        out->n = i + 1 > out->n ? i + 1 : out->n;
    }
    out->rows = rows;
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

/* rows -1: not known. */
static lks_status predict_rows(lks_loop *loop, lks_feeder *feed, int64_t rows, outputs *out)
{
    lks_batch batch;
    int64_t done = 0, step = 0;

    LKS_TRY(lks__hooks_call(&loop->hooks, LKS_ON_PREDICT_BEGIN, 0, NULL));
    for (lks_status status; (loop->steps == 0 || step < loop->steps) && (status = feed->next(feed, &batch)) != LKS_END;
         step++) {
        LKS_TRY(status);
        batch.n_y = batch.n_w = 0; /* a dataset may carry targets */
        if (step == 0) LKS_TRY(lks__loop_build(loop->model, &batch));
        if (step == 0 && rows >= 0) LKS_TRY(make_room(loop->model, rows, out));
        if (done + batch.n > out->rows) LKS_TRY(make_room(loop->model, 2 * (done + batch.n), out));
        LKS_TRY(one_batch(loop, &batch, out, done));
        done += batch.n;
        if (loop->bar != NULL && lks__progress_step(loop->bar, step + 1)) lks__progress_draw(loop->bar, NULL);
    }
    if (step == 0) return lks__fail(LKS_E_ARG, "the data are empty: there is nothing to predict");
    if (done < out->rows) LKS_TRY(make_room(loop->model, done, out));
    return lks__hooks_call(&loop->hooks, LKS_ON_PREDICT_END, 0, NULL);
}

static lks_status run(lks_model *m, lks_feeder *feed, int64_t rows, const lks_predict_options *o, outputs *out)
{
    lks_loop loop = {
        m, { m, o->callbacks, o->n_callbacks }, { (int)o->threads, NULL, 0 }, lks__default_seed(), o->steps, NULL
    };
    lks_progress bar;
    lks_progress_setup setup = { .verbose = o->verbose,
                                 .epochs = 1,
                                 .target = feed->batches >= 0 ? feed->batches : -1 };
    lks_status status;

    if (o->steps > 0) setup.target = o->steps;
    lks__progress_begin(&bar, &setup);
    lks__progress_epoch(&bar, 0);
    if (o->verbose != 0) loop.bar = &bar;
    status = predict_rows(&loop, feed, rows, out);
    if (status == LKS_OK) lks__progress_finish(&bar, NULL);
    lks__progress_end(&bar);
    return status;
}

static lks_status run_arrays(lks_model *m, const lks_arrays *arrays, const lks_predict_options *o, outputs *out)
{
    lks_array_feed_options f = { .batch_size = o->batch_size, .end = -1 };
    lks_feeder *feed = NULL;
    int64_t rows;
    lks_status status;

    LKS_TRY(lks__loop_ready(m, false));
    LKS_TRY(lks__arrays_rows(arrays, &rows));
    LKS_TRY(lks__feed_arrays(arrays, false, &f, &feed));
    if (o->steps > 0 && rows > o->steps * o->batch_size) rows = o->steps * o->batch_size;
    status = run(m, feed, rows, o, out);
    lks__feeder_release(feed);
    return status;
}

static lks_predict_options read_options(const lks_predict_options *options)
{
    lks_predict_options o = { 0 };

    lks__options_copy(&o, sizeof o, options);
    if (o.batch_size == 0) o.batch_size = 32;
    return o;
}

/* Hands the results over, or frees them. */
static lks_status deliver(lks_status status, outputs *out, size_t n_outputs, lks_tensor **results)
{
    if (status == LKS_OK && n_outputs > out->n)
        status = lks__fail(LKS_E_ARG, "%zu outputs asked for, the model has %zu", n_outputs, out->n);
    for (size_t i = 0; i < out->n; i++) {
        if (status == LKS_OK && i < n_outputs) results[i] = out->tensors[i];
        else lks_tensor_release(out->tensors[i]);
    }
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_predict");
}

lks_status lks_predict_data_with(lks_model *model, lks_dataset *data, size_t n_outputs, lks_tensor **results,
                                 const lks_predict_options *options)
{
    lks_predict_options o = read_options(options);
    lks_feeder *feed = NULL;
    outputs out = { 0 };
    lks_status status = lks__feed_dataset(data, &feed);

    if (status == LKS_OK) status = lks__loop_ready(model, false);
    if (status == LKS_OK && o.steps == 0 && feed->batches == LKS_INFINITE_CARDINALITY)
        status = lks__fail(LKS_E_ARG, "the dataset never ends: give .steps");
    if (status == LKS_OK) status = run(model, feed, -1, &o, &out);
    lks__feeder_release(feed);
    return deliver(status, &out, n_outputs, results);
}

lks_status lks_predict_arrays_with(lks_model *model, size_t n_x, lks_tensor *const *x, size_t n_outputs,
                                   lks_tensor **results, const lks_predict_options *options)
{
    lks_predict_options o = read_options(options);
    lks_arrays arrays = { .xs = x, .n_xs = (int64_t)n_x, .x_divisor = o.x_divisor };
    outputs out = { 0 };

    return deliver(run_arrays(model, &arrays, &o, &out), &out, n_outputs, results);
}

lks_tensor *lks_predict_with(lks_model *model, lks_tensor *x, const lks_predict_options *options)
{
    lks_tensor *out = NULL;

    return lks_predict_arrays_with(model, 1, &x, 1, &out, options) == LKS_OK ? out : NULL;
}
