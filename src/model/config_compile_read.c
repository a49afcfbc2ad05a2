/* config_compile_read.c - see config_io.h: compile_config. For several outputs Keras keeps losses, weights and metrics as one for
 * all, as a list by position, or as an object by output name.
 */
#include <string.h>

#include "config_io.h"
#include "files/json.h"

/* ---- single things: a string, a function object, or an object with a config ---- */

/* A function stands for its name. */
static const json_t *plain(const json_t *value)
{
    const char *class_name = json_string_value(json_object_get(value, "class_name"));
    const json_t *name = json_object_get(value, "config");

    return class_name != NULL && strcmp(class_name, "function") == 0 && json_is_string(name) ? name : value;
}

/* What Keras 2 called "auto" is the mean over the batch. */
static lks_status read_loss(const json_t *value, lks_loss **out)
{
    const char *reduction = json_string_value(json_object_get(json_object_get(value, "config"), "reduction"));
    json_t *copy;
    lks_status status;

    if (json_is_null(value)) return LKS_OK;
    if (reduction == NULL || strcmp(reduction, "auto") != 0) return lks__loss_from_config(plain(value), out);
    copy = json_deep_copy(value);
    if (copy == NULL ||
        json_object_set_new(json_object_get(copy, "config"), "reduction", json_string("sum_over_batch_size")) != 0) {
        status = lks__fail(LKS_E_NOMEM, "no memory for compile");
    } else {
        status = lks__loss_from_config(copy, out);
    }
    json_decref(copy);
    return status;
}

static bool is_single(const json_t *value)
{
    return json_is_string(value) || (json_is_object(value) && json_is_string(json_object_get(value, "class_name")));
}

/* ---- places ---- */

static lks_status output_of(const lks_model *m, const char *key, const char *name, size_t *out)
{
    for (*out = 0; *out < m->n_outputs; ++*out) {
        if (strcmp(lks__model_output_name(m, *out), name) == 0) return LKS_OK;
    }
    return lks__fail(LKS_E_FORMAT, "compile_config: %s names \"%.80s\", which is not an output of the model", key,
                     name);
}

static lks_status check_count(const lks_model *m, const char *key, const json_t *list)
{
    if (json_array_size(list) == m->n_outputs) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "compile_config: %s has %zu entries for %zu outputs", key, json_array_size(list),
                     m->n_outputs);
}

/* Calls `put` with what stands for each output: the value itself for all of them, or the entry of its list or object. */
typedef lks_status (*put_fn)(lks_compiled *c, size_t output, const json_t *value, const char *key);

static lks_status spread(const lks_model *m, lks_compiled *c, const json_t *value, const char *key, put_fn put)
{
    const char *name;
    json_t *item;
    size_t i;

    if (value == NULL || json_is_null(value)) return LKS_OK;
    if (is_single(value) || json_is_number(value)) {
        for (i = 0; i < m->n_outputs; i++) LKS_TRY(put(c, i, value, key));
        return LKS_OK;
    }
    if (json_is_array(value)) {
        LKS_TRY(check_count(m, key, value));
        json_array_foreach((json_t *)value, i, item) LKS_TRY(put(c, i, item, key));
        return LKS_OK;
    }
    if (!json_is_object(value)) return lks__fail(LKS_E_FORMAT, "compile_config: %s has no form that Keras writes", key);
    json_object_foreach((json_t *)value, name, item)
    {
        LKS_TRY(output_of(m, key, name, &i));
        LKS_TRY(put(c, i, item, key));
    }
    return LKS_OK;
}

static lks_status put_loss(lks_compiled *c, size_t output, const json_t *value, const char *key)
{
    (void)key;
    return read_loss(value, &c->losses[output]);
}

static lks_status put_weight(lks_compiled *c, size_t output, const json_t *value, const char *key)
{
    if (!json_is_number(value)) return lks__fail(LKS_E_FORMAT, "compile_config: %s must hold numbers", key);
    c->loss_weights[output] = json_number_value(value);
    return LKS_OK;
}

static lks_status read_weights(const lks_model *m, lks_compiled *c, const json_t *value)
{
    if (value == NULL || json_is_null(value)) return LKS_OK;
    c->loss_weights = lks__calloc(m->n_outputs + 1, sizeof *c->loss_weights);
    if (c->loss_weights == NULL) return lks__fail(LKS_E_NOMEM, "no memory for compile");
    for (size_t i = 0; i < m->n_outputs; i++) c->loss_weights[i] = 1.0;
    return spread(m, c, value, "loss_weights", put_weight);
}

/* ---- metrics ---- */

static lks_status put_metric(lks_compiled *c, size_t output, const json_t *value, bool weighted)
{
    lks_metric *metric = NULL;

    LKS_TRY(lks__metric_from_config(plain(value), &metric));
    return lks__compiled_add_metric(c, weighted, output, metric);
}

static lks_status put_list(lks_compiled *c, size_t output, const json_t *value, bool weighted)
{
    json_t *item;
    size_t i;

    if (json_is_null(value)) return LKS_OK;
    if (!json_is_array(value)) return put_metric(c, output, value, weighted);
    json_array_foreach((json_t *)value, i, item)
    {
        if (!json_is_null(item)) LKS_TRY(put_metric(c, output, item, weighted));
    }
    return LKS_OK;
}

static lks_status put_plain(lks_compiled *c, size_t output, const json_t *value, const char *key)
{
    (void)key;
    return put_list(c, output, value, false);
}

static lks_status put_weighted(lks_compiled *c, size_t output, const json_t *value, const char *key)
{
    (void)key;
    return put_list(c, output, value, true);
}

static bool has_lists(const json_t *list)
{
    json_t *item;
    size_t i;

    json_array_foreach((json_t *)list, i, item)
    {
        if (json_is_array(item)) return true;
    }
    return false;
}

/* A flat list belongs to the only output; with several outputs it has one entry for each. */
static lks_status read_metrics(const lks_model *m, lks_compiled *c, const json_t *value, const char *key, bool weighted)
{
    if (json_is_array(value) && m->n_outputs == 1 && !has_lists(value)) return put_list(c, 0, value, weighted);
    return spread(m, c, value, key, weighted ? put_weighted : put_plain);
}

/* ---- all of it ---- */

/* Settings that say how Keras runs the step, not what it computes, are passed over; so is auto_scale_loss without
 * half-precision. */
static lks_status fill(const lks_model *m, lks_compiled *c, const json_t *config)
{
    const json_t *optimizer = json_object_get(config, "optimizer");

    if (!json_is_string(optimizer) && !json_is_object(optimizer)) {
        return lks__fail(LKS_E_FORMAT, "optimizer: expected a name or an object");
    }
    LKS_TRY(lks__optimizer_from_config(optimizer, &c->optimizer));
    LKS_TRY(spread(m, c, json_object_get(config, "loss"), "loss", put_loss));
    LKS_TRY(read_weights(m, c, json_object_get(config, "loss_weights")));
    LKS_TRY(read_metrics(m, c, json_object_get(config, "metrics"), "metrics", false));
    return read_metrics(m, c, json_object_get(config, "weighted_metrics"), "weighted_metrics", true);
}

lks_status lks__compile_from_config(lks_model *model, const json_t *config)
{
    lks_compiled *c = NULL;
    lks_status status;

    if (!json_is_object(config)) return lks__fail(LKS_E_FORMAT, "compile_config must be an object");
    if (!model->built) model->n_outputs = 1; /* a chain has one */
    LKS_TRY(lks__compiled_create(model->n_outputs, &c));
    status = fill(model, c, config);
    if (status == LKS_OK) return lks__model_set_compiled(model, c);
    lks__compiled_release(c, model->n_outputs);
    return lks__context(status, "compile_config");
}
