/* config_compile_write.c - see config_io.h: compile_config of a compiled model, as Keras 3 writes it. */
#include <string.h>

#include "config_io.h"
#include "files/json.h"

static lks_status no_memory(void)
{
    return lks__fail(LKS_E_NOMEM, "no memory for a model's config");
}

/* Takes `value` over. */
static lks_status set(json_t *object, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(object, key, value) == 0 ? LKS_OK : no_memory();
}

static lks_status append(json_t *list, json_t *value)
{
    return value != NULL && json_array_append_new(list, value) == 0 ? LKS_OK : no_memory();
}

/* A function of the user cannot be written; the file is good without it, so that is a warning. */
static bool is_left_out(lks_status status)
{
    if (status != LKS_E_UNSUPPORTED) return false;
    lks__warn("%s; the file is written without it", lks_last_error());
    return true;
}

static lks_status append_loss(json_t *list, const lks_loss *loss)
{
    json_t *object = NULL;
    lks_status status = loss != NULL ? lks__loss_to_config(loss, &object) : LKS_OK;

    if (loss == NULL || is_left_out(status)) return append(list, json_null());
    return status == LKS_OK ? append(list, object) : status;
}

/* One output: the loss itself; several: a list. */
static lks_status write_losses(const lks_model *m, json_t *into)
{
    json_t *list = json_array();
    lks_status status = list != NULL ? LKS_OK : no_memory();

    for (size_t i = 0; i < m->n_outputs && status == LKS_OK; i++) status = append_loss(list, m->compiled->losses[i]);
    if (status == LKS_OK) {
        json_t *value = m->n_outputs == 1 ? json_array_get(list, 0) : list;
        status = set(into, "loss", json_incref(value));
    }
    json_decref(list);
    return status;
}

static lks_status write_weights(const lks_model *m, json_t *into)
{
    json_t *list;

    if (m->compiled->loss_weights == NULL) return set(into, "loss_weights", json_null());
    list = json_array();
    for (size_t i = 0; i < m->n_outputs && list != NULL; i++) {
        if (append(list, json_real(m->compiled->loss_weights[i])) == LKS_OK) continue;
        json_decref(list);
        list = NULL;
    }
    return set(into, "loss_weights", list);
}

static lks_status list_of(lks_metric *const *metrics, size_t n, json_t *into)
{
    for (size_t k = 0; k < n; k++) {
        json_t *object = NULL;
        lks_status status = lks__metric_to_config(metrics[k], &object);
        if (is_left_out(status)) continue;
        LKS_TRY(status);
        LKS_TRY(append(into, object));
    }
    return LKS_OK;
}

static lks_status write_metrics(const lks_model *m, json_t *into, const char *key, lks_metric ***metrics,
                                const size_t *n)
{
    json_t *list = json_array();
    size_t total = 0;
    lks_status status = list != NULL ? LKS_OK : no_memory();

    for (size_t i = 0; i < m->n_outputs && status == LKS_OK; i++) {
        json_t *of_output = m->n_outputs == 1 ? json_incref(list) : json_array();
        total += n[i];
        status = of_output != NULL ? list_of(metrics[i], n[i], of_output) : no_memory();
        if (status == LKS_OK && m->n_outputs > 1) status = append(list, json_incref(of_output));
        json_decref(of_output);
    }
    if (status == LKS_OK) status = set(into, key, total > 0 ? json_incref(list) : json_null());
    json_decref(list);
    return status;
}

static lks_status fill(const lks_model *m, json_t *into)
{
    const lks_compiled *c = m->compiled;
    json_t *optimizer = NULL;

    LKS_TRY(lks__optimizer_to_config(c->optimizer, &optimizer));
    LKS_TRY(set(into, "optimizer", optimizer));
    LKS_TRY(write_losses(m, into));
    LKS_TRY(write_weights(m, into));
    LKS_TRY(write_metrics(m, into, "metrics", c->metrics, c->n_metrics));
    LKS_TRY(write_metrics(m, into, "weighted_metrics", c->weighted_metrics, c->n_weighted_metrics));
    LKS_TRY(set(into, "run_eagerly", json_false()));
    LKS_TRY(set(into, "steps_per_execution", json_integer(1)));
    return set(into, "jit_compile", json_false());
}

lks_status lks__compile_to_config(const lks_model *model, json_t **out)
{
    json_t *config = json_object();
    lks_status status = config != NULL ? LKS_OK : no_memory();

    if (status == LKS_OK && model->compiled != NULL) status = fill(model, config);
    if (status == LKS_OK) *out = config;
    else json_decref(config);
    return status == LKS_OK ? LKS_OK : lks__context(status, "model '%s'", model->name);
}
