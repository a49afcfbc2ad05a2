/* plan.c - what a training run will take, known before anything runs: the training function is traced and compiled as fit would, on
 * row types taken from the model itself, and its plan is read.
 */
#include <string.h>

#include "loop.h"
#include "names.h"
#include "strategy/strategy.h"

static lks_batch example_batch(const lks_model *m, int64_t n, bool sparse)
{
    lks_batch b = { .n = n, .n_x = m->n_inputs };

    for (size_t i = 0; i < m->n_inputs; i++) b.types[i] = *lks__model_input_type(m, i);
    for (size_t i = 0; i < m->n_outputs && m->compiled->losses[i] != NULL; i++) {
        lks_type t = *lks__model_output_type(m, i);
        if (sparse) {
            t.dtype = LKS_INT32;
            t.shape.rank = t.shape.rank > 0 ? t.shape.rank - 1 : 0;
        }
        b.types[b.n_x + b.n_y++] = t;
    }
    return b;
}

static int64_t bytes_of(lks_variable **vars, size_t n)
{
    int64_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += lks_tensor_size(vars[i]->value) * (int64_t)lks_dtype_size(lks_tensor_dtype(vars[i]->value));
    return total;
}

static lks_status count_weights(const lks_model *m, lks_plan *p)
{
    lks_variable **vars = NULL;
    size_t n;

    LKS_TRY(lks__model_weights(m, &vars, &n));
    p->weights_bytes = bytes_of(vars, n);
    p->params = p->weights_bytes / 4;
    lks__free(vars);
    LKS_TRY(lks__model_trainable_weights(m, &vars, &n));
    p->trainable_params = bytes_of(vars, n) / 4;
    lks__free(vars);
    vars = lks__optimizer_variables(m->compiled->optimizer, &n);
    p->optimizer_bytes = bytes_of(vars, n);
    for (size_t i = 0; i < n; i++) p->optimizer_params += lks_tensor_size(vars[i]->value);
    return LKS_OK;
}

static void read_report(const lks_function *f, int64_t batch_size, lks_plan *p)
{
    lks_plan_report r;

    lks__executable_report(f->exe, &r);
    p->threads = r.threads;
    p->replicas = r.replicas;
    p->virtual_shards = r.shards;
    p->reproducible = lks__reproducible_name(r.reproducible);
    p->phases = r.phases;
    p->slice = r.slice;
    p->isa = lks__isa_name(r.isa);
    p->flop_per_example = r.flop_per_example;
    p->flop_per_step = r.flop_per_example * (double)batch_size;
    p->gradient_bytes = (int64_t)(r.accumulator_bytes + r.shared_bytes);
    p->activation_bytes = (int64_t)(r.slice_bytes + r.full_bytes);
    p->scratch_bytes = (int64_t)(r.scratch_bytes + r.packed_bytes);
}

static int64_t total(const lks_plan *p)
{
    return p->weights_bytes + p->optimizer_bytes + p->gradient_bytes + p->activation_bytes + p->scratch_bytes;
}

static lks_status make(lks_model *m, int64_t batch_size, int64_t threads, lks_plan *p)
{
    lks_function_options o = { (int)threads, NULL, 0 };
    lks_function *f = NULL;
    lks_batch dense, sparse;

    LKS_TRY(lks__loop_ready(m, true));
    if (!m->built) return lks__fail(LKS_E_STATE, "model '%s' has no input shape yet: give one to plan", m->name);
    if (batch_size < 1) return lks__fail(LKS_E_ARG, "batch_size must be at least 1, got %lld", (long long)batch_size);
    LKS_TRY(lks__model_build_optimizer(m));
    dense = example_batch(m, batch_size, false);
    sparse = example_batch(m, batch_size, true);
    if (lks__function_get(m, LKS_TRAIN, &dense, &o, &f) != LKS_OK)
        LKS_TRY(lks__function_get(m, LKS_TRAIN, &sparse, &o, &f));
    LKS_TRY(count_weights(m, p));
    read_report(f, batch_size, p);
    p->total_bytes = total(p);
    return LKS_OK;
}

lks_status lks_model_last_plan(const lks_model *model, lks_plan *out)
{
    lks_plan p = { .process_bytes = lks__current_rss_bytes() };
    const lks_function *f;

    LKS_TRY(lks_model_status(model));
    f = model->functions[LKS_TRAIN];
    if (f == NULL) return lks__fail(LKS_E_STATE, "model '%s' has not been trained in this process", model->name);
    LKS_TRY(count_weights(model, &p));
    read_report(f, f->max_batch, &p);
    p.total_bytes = total(&p);
    *out = p;
    return LKS_OK;
}

lks_status lks_model_plan(lks_model *model, int64_t batch_size, int64_t threads, lks_plan *out)
{
    lks_plan p = { .process_bytes = lks__current_rss_bytes() };
    lks_status status = make(model, batch_size, threads, &p);

    if (status != LKS_OK) return lks__context(status, "lks_model_plan");
    *out = p;
    return LKS_OK;
}
