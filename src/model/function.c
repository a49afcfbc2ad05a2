/* function.c - compiling and running a model's functions. */
#include "function.h"

#include <string.h>

#include "strategy/strategy.h"

void lks__function_release(lks_function *f)
{
    if (f == NULL) return;
    lks__executable_release(f->exe);
    lks__trace_free(&f->trace);
    lks__free(f);
}

void lks__model_drop_functions(lks_model *m)
{
    for (int k = 0; k < 3; k++) {
        lks__function_release(m->functions[k]);
        m->functions[k] = NULL;
    }
}

static uint64_t key_of(const lks_function_options *o)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *p = (const unsigned char *)o->class_weight;

    for (size_t i = 0; o->class_weight != NULL && i < (size_t)o->n_class_weight * sizeof(double); i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

static bool same_type(const lks_type *a, const lks_type *b)
{
    return a->dtype == b->dtype && lks_shape_equal(&a->shape, &b->shape);
}

static bool fits(const lks_function *f, const lks_batch *b, const lks_function_options *o)
{
    if (f == NULL || f->n_x != b->n_x || f->n_y != b->n_y || f->n_w != b->n_w || b->n > f->max_batch) return false;
    if (f->threads != o->threads || f->class_weight_key != key_of(o)) return false;
    if (f->preparation.x_divisor != b->preparation.x_divisor || f->preparation.y_divisor != b->preparation.y_divisor ||
        f->preparation.y_one_hot != b->preparation.y_one_hot)
        return false;
    for (size_t i = 0; i < b->n_x + b->n_y + b->n_w; i++)
        if (!same_type(&f->types[i], &b->types[i])) return false;
    return true;
}

static lks_status compile(lks_model *m, lks_function_kind kind, lks_function *f, const lks_function_options *o)
{
    lks_node loss[1], outputs[LKS_MAX_IO_NODES], *checks = NULL;
    size_t n_fetches = 1, n_checks = 0;
    lks_compile_spec spec = { .max_batch = f->max_batch, .threads = f->threads, .isa = lks__isa_choose() };
    lks_status status = lks__trace_init(&f->trace, kind == LKS_TRAIN, lks_num_replicas(m->strategy));

    if (status != LKS_OK) return status;
    if (kind == LKS_PREDICT) status = lks__trace_predict(m, f, &n_fetches, outputs);
    else status = lks__trace_train(m, f, kind == LKS_TRAIN, o, loss, &n_checks, &checks);
    if (status == LKS_OK) {
        spec.replicas = lks_num_replicas(m->strategy);
        spec.virtual_shards = m->strategy != NULL ? m->strategy->virtual_shards : 0;
        spec.reproducible = m->strategy != NULL ? m->strategy->reproducible : LKS_ANY_WORLD;
        spec.n_fetches = n_fetches;
        spec.fetches = kind == LKS_PREDICT ? outputs : loss;
        spec.n_checks = n_checks;
        spec.checks = checks;
        status = lks__executable_create(&f->trace, &spec, &f->exe);
    }
    lks__free(checks);
    return status;
}

lks_status lks__function_get(lks_model *m, lks_function_kind kind, const lks_batch *batch,
                             const lks_function_options *options, lks_function **out)
{
    lks_function *f = m->functions[kind];
    lks_status status;

    if (fits(f, batch, options)) {
        *out = f;
        return LKS_OK;
    }
    f = lks__calloc(1, sizeof *f);
    if (f == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a function");
    f->n_x = batch->n_x;
    f->n_y = batch->n_y;
    f->n_w = batch->n_w;
    memcpy(f->types, batch->types, sizeof f->types);
    f->preparation = batch->preparation;
    for (size_t i = 0; i < LKS_MAX_IO; i++) f->ignored[i] = -1;
    f->max_batch = batch->n > 0 ? batch->n : 1;
    f->threads = options->threads;
    f->class_weight_key = key_of(options);
    status = compile(m, kind, f, options);
    if (status != LKS_OK) {
        lks__function_release(f);
        return lks__context(status, "model '%s'", m->name);
    }
    lks__function_release(m->functions[kind]);
    *out = m->functions[kind] = f;
    return LKS_OK;
}

/* The feeds of a step and the iteration's number behind them. */
static lks_run_args step_args(const lks_model *m, const lks_batch *batch, uint64_t seed, float *iterations,
                              lks_feed feeds[LKS_MAX_FEEDS + 1])
{
    int64_t done = lks_model_iterations(m);
    size_t n = batch->n_x + batch->n_y + batch->n_w;

    *iterations = (float)done;
    memcpy(feeds, batch->feeds, n * sizeof *feeds);
    feeds[n] = (lks_feed){ iterations, NULL };
    return (lks_run_args){ .n = batch->n, .feeds = feeds, .seed = seed, .step = (uint32_t)done };
}

lks_status lks__function_run(lks_model *m, lks_function_kind kind, lks_function *f, const lks_batch *batch,
                             uint64_t seed, void *const *outputs)
{
    static void *const none[1] = { NULL };
    lks_feed feeds[LKS_MAX_FEEDS + 1];
    float iterations;
    lks_run_args args = step_args(m, batch, seed, &iterations, feeds);
    lks_status status;

    if (kind != LKS_PREDICT) LKS_TRY(lks__check_labels(f, batch));
    args.fetches = outputs != NULL ? outputs : none;
    status = lks__executable_run(f->exe, &args);
    if (status == LKS_OK && kind == LKS_TRAIN)
        lks__optimizer_set_iterations(m->compiled->optimizer, lks_model_iterations(m) + 1);
    return status;
}

lks_status lks__function_profile(lks_model *m, lks_function *f, const lks_batch *batch, const lks_profiled *what,
                                 lks_profile_row **rows, size_t *n_rows)
{
    static void *const none[1] = { NULL };
    lks_feed feeds[LKS_MAX_FEEDS + 1];
    float iterations;
    lks_run_args args = step_args(m, batch, what->seed, &iterations, feeds);

    if (what->kind != LKS_PREDICT) LKS_TRY(lks__check_labels(f, batch));
    args.fetches = what->outputs != NULL ? what->outputs : none;
    LKS_TRY(lks__executable_profile(f->exe, &args, what->repeats, rows, n_rows));
    if (what->kind == LKS_TRAIN)
        lks__optimizer_set_iterations(m->compiled->optimizer, lks_model_iterations(m) + what->repeats + 1);
    return LKS_OK;
}
