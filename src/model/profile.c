/* profile.c - where the time of a training step goes: the compiled training function, run with clocks in it and without. */
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

static lks_status time_steps(lks_model *m, lks_function *f, const lks_batch *batch, int64_t steps, double *median)
{
    double *seconds = lks__calloc((size_t)steps, sizeof *seconds);
    lks_status status = LKS_OK;

    if (seconds == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %lld times", (long long)steps);
    for (int64_t i = 0; i < steps && status == LKS_OK; i++) {
        double start = lks__now();
        status = lks__function_run(m, LKS_TRAIN, f, batch, lks__default_seed(), NULL);
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

static lks_status fill(lks_model *m, lks_function *f, const lks_batch *batch, int64_t steps, kept_profile *p)
{
    lks_plan_report plan;

    LKS_TRY(lks__function_profile(m, f, batch, lks__default_seed(), (int)steps, &p->rows, &p->base.n));
    LKS_TRY(time_steps(m, f, batch, steps, &p->base.step_seconds));
    lks__executable_report(f->exe, &plan);
    p->base.batch_size = batch->n;
    p->base.threads = plan.threads;
    p->base.steps = steps;
    p->base.flop = plan.flop_per_example * (double)batch->n;
    return keep_items(p);
}

static lks_status profile(lks_model *m, const lks_arrays *arrays, int64_t threads, int64_t steps, kept_profile *p)
{
    lks_array_feed_options feed_options = { .end = -1 };
    lks_function_options o = { (int)threads, NULL, 0 };
    lks_feeder *feed = NULL;
    lks_function *f;
    lks_batch batch;
    lks_status status;

    if (threads < 0 || steps < 0 || steps > 1000000)
        return lks__fail(LKS_E_ARG, "threads cannot be negative, and steps are 0 to 1000000");
    LKS_TRY(lks__loop_ready(m, true));
    LKS_TRY(lks__arrays_rows(arrays, &feed_options.batch_size));
    LKS_TRY(lks__feed_arrays(arrays, true, &feed_options, &feed));
    status = feed->next(feed, &batch);
    if (status == LKS_OK) status = lks__loop_build(m, &batch);
    if (status == LKS_OK) status = lks__model_build_optimizer(m);
    if (status == LKS_OK) status = lks__function_get(m, LKS_TRAIN, &batch, &o, &f);
    if (status == LKS_OK) status = fill(m, f, &batch, steps > 0 ? steps : DEFAULT_STEPS, p);
    lks__feeder_release(feed);
    return status;
}

lks_status lks_model_profile(lks_model *model, const lks_arrays *batch, int64_t threads, int64_t steps,
                             lks_profile **out)
{
    kept_profile *p;
    lks_status status = LKS_OK;

    if (batch == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_model_profile: batch and out must not be NULL");
    p = lks__calloc(1, sizeof *p);
    if (p == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a profile");
    status = profile(model, batch, threads, steps, p);
    if (status != LKS_OK) {
        lks_profile_release(&p->base);
        return lks__context(status, "lks_model_profile");
    }
    *out = &p->base;
    return LKS_OK;
}
