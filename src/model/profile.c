/* profile.c - where the time of a step goes: the compiled training or prediction function, run with clocks in it and without. */
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "names.h"

enum { DEFAULT_STEPS = 20 };

/* What lks_profile points to, in one piece. */
typedef struct kept_profile {
    lks_profile base;
    lks_profile_row *rows;
    lks_profile_item *items;
} kept_profile;

void lks_profile_release(lks_profile *profile)
{
    kept_profile *p = (kept_profile *)profile;

    if (p == NULL) return;
    lks__free(p->rows);
    lks__free(p->items);
    lks__free(p);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What is asked for. */
typedef struct wish {
    lks_function_kind kind;
    int64_t threads, steps;
    void **outputs; /* of predictions: room for their rows */
} wish;

static lks_status time_steps(lks_model *m, const wish *w, lks_function *f, const lks_batch *batch, double *median)
{
    const int64_t steps = w->steps;
    double *seconds = lks__calloc((size_t)steps, sizeof *seconds);
    lks_status status = LKS_OK;

    if (seconds == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %lld times", (long long)steps);
    for (int64_t i = 0; i < steps && status == LKS_OK; i++) {
        double start = lks__now();
        status = lks__function_run(m, w->kind, f, batch, lks__default_seed(), w->outputs);
        seconds[i] = lks__now() - start;
    }
    qsort(seconds, (size_t)steps, sizeof *seconds, by_size);
    *median = seconds[steps / 2];
    lks__free(seconds);
    return status;
}

static lks_status keep_items(kept_profile *p)
{
    p->items = lks__calloc(p->base.n + 1, sizeof *p->items);
    if (p->items == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a profile");
    for (size_t i = 0; i < p->base.n; i++) {
        const lks_profile_row *r = &p->rows[i];
        p->items[i] = (lks_profile_item){ r->op, r->scope, r->batched, r->seconds, r->flop, r->bytes, r->memory_bytes };
    }
    p->base.items = p->items;
    return LKS_OK;
}

static lks_status fill(lks_model *m, const wish *w, lks_function *f, const lks_batch *batch, kept_profile *p)
{
    const lks_profiled what = { w->kind, lks__default_seed(), (int)w->steps, w->outputs };
    lks_plan_report plan;

    LKS_TRY(lks__function_profile(m, f, batch, &what, &p->rows, &p->base.n));
    LKS_TRY(time_steps(m, w, f, batch, &p->base.step_seconds));
    lks__executable_report(f->exe, &plan);
    p->base.batch_size = batch->n;
    p->base.threads = plan.threads;
    p->base.steps = w->steps;
    p->base.flop = plan.flop_per_example * (double)batch->n;
    return keep_items(p);
}

/* Rows for the outputs of a prediction, side by side in one piece that the caller frees. */
static lks_status make_outputs(const lks_model *m, int64_t rows, void *outputs[LKS_MAX_IO_NODES], char **memory)
{
    size_t total = 0, at = 0;

    for (size_t i = 0; i < m->n_outputs; i++) total += lks__type_bytes(lks__model_output_type(m, i)) * (size_t)rows;
    *memory = lks__calloc(total + 1, 1);
    if (*memory == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of outputs", total);
    for (size_t i = 0; i < m->n_outputs; i++) {
        outputs[i] = *memory + at;
        at += lks__type_bytes(lks__model_output_type(m, i)) * (size_t)rows;
    }
    return LKS_OK;
}

static lks_status profile_batch(lks_model *m, wish *w, lks_batch *batch, kept_profile *p)
{
    void *outputs[LKS_MAX_IO_NODES];
    lks_function_options o = { (int)w->threads, NULL, 0 };
    char *memory = NULL;
    lks_function *f;
    lks_status status;

    LKS_TRY(lks__loop_build(m, batch));
    if (w->kind == LKS_PREDICT) {
        batch->n_y = batch->n_w = 0;
        LKS_TRY(make_outputs(m, batch->n, outputs, &memory));
        w->outputs = outputs;
    }
    status = w->kind == LKS_TRAIN ? lks__model_build_optimizer(m) : LKS_OK;
    if (status == LKS_OK) status = lks__function_get(m, w->kind, batch, &o, &f);
    if (status == LKS_OK) status = fill(m, w, f, batch, p);
    w->outputs = NULL;
    lks__free(memory);
    return status;
}

static lks_status profile(lks_model *m, const lks_arrays *arrays, wish *w, kept_profile *p)
{
    const bool train = w->kind == LKS_TRAIN;
    lks_array_feed_options feed_options = { .end = -1 };
    lks_feeder *feed = NULL;
    lks_batch batch;
    lks_status status;

    if (w->threads < 0 || w->steps < 0 || w->steps > 1000000)
        return lks__fail(LKS_E_ARG, "threads cannot be negative, and steps are 0 to 1000000");
    if (w->steps == 0) w->steps = DEFAULT_STEPS;
    LKS_TRY(lks__loop_ready(m, train));
    LKS_TRY(lks__arrays_rows(arrays, &feed_options.batch_size));
    LKS_TRY(lks__feed_arrays(arrays, train, &feed_options, &feed));
    status = feed->next(feed, &batch);
    if (status == LKS_OK) status = profile_batch(m, w, &batch, p);
    lks__feeder_release(feed);
    return status;
}

static lks_status profile_or_context(lks_model *model, const lks_arrays *batch, wish w, const char *name,
                                     lks_profile **out)
{
    kept_profile *p;
    lks_status status;

    if (batch == NULL || out == NULL) return lks__fail(LKS_E_ARG, "%s: batch and out must not be NULL", name);
    p = lks__calloc(1, sizeof *p);
    if (p == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a profile");
    status = profile(model, batch, &w, p);
    if (status != LKS_OK) {
        lks_profile_release(&p->base);
        return lks__context(status, "%s", name);
    }
    *out = &p->base;
    return LKS_OK;
}

lks_status lks_model_profile(lks_model *model, const lks_arrays *batch, int64_t threads, int64_t steps,
                             lks_profile **out)
{
    return profile_or_context(model, batch, (wish){ LKS_TRAIN, threads, steps, NULL }, "lks_model_profile", out);
}

lks_status lks_model_profile_predict(lks_model *model, const lks_arrays *batch, int64_t threads, int64_t steps,
                                     lks_profile **out)
{
    return profile_or_context(model, batch, (wish){ LKS_PREDICT, threads, steps, NULL }, "lks_model_profile_predict",
                              out);
}
