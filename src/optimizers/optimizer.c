/* optimizer.c - see optimizer.h: optimizer objects, and their variables in Keras' order (which is the order in files). */
#include "optimizer.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "schedules/schedule.h"

static const lks_config_class *const list[] = {
#define LKS_OPTIMIZER(word) &lks__optimizer_##word.config,
#include "optimizer_list.h"
#undef LKS_OPTIMIZER
    NULL,
};
const lks_config_family lks__optimizer_family = { "optimizer", "keras.optimizers", list };

/* ---- objects ---- */

static lks_optimizer *new_optimizer(void)
{
    lks_optimizer *optimizer = lks__calloc(1, sizeof *optimizer);

    if (optimizer == NULL) lks__fail(LKS_E_NOMEM, "optimizer: out of memory");
    else optimizer->references = 1;
    return optimizer;
}

/* A word where a number was meant is read as a schedule's name. */
static lks_status check_schedule(const char *spec)
{
    lks_status status = lks__schedule_check(spec);

    if (status == LKS_OK || status == LKS_E_NOMEM || strchr(spec, ':') != NULL) return status;
    return lks__context(status, "learning_rate: \"%.40s\" is not a number; as a schedule", spec);
}

static lks_status check(const lks_optimizer *optimizer)
{
    const lks_optimizer_head *o = optimizer->options;
    int clips = !isnan(o->clipnorm) + !isnan(o->global_clipnorm) + !isnan(o->clipvalue);

    if (clips > 1) return lks__fail(LKS_E_ARG, "give at most one of clipnorm, global_clipnorm and clipvalue");
    if (o->gradient_accumulation_steps == 1) {
        return lks__fail(LKS_E_ARG, "gradient_accumulation_steps must be at least 2, or left out");
    }
    return o->schedule != NULL ? check_schedule(o->schedule) : LKS_OK;
}

static lks_status adopt(lks_optimizer *optimizer, const lks_config_class *class_, void *options)
{
    optimizer->class_ = (const lks_optimizer_class *)class_;
    optimizer->options = options;
    return check(optimizer);
}

lks_optimizer *lks__optimizer_create(const lks_optimizer_class *class_, const void *options)
{
    lks_optimizer *optimizer = new_optimizer();
    void *made;
    lks_status status;

    if (optimizer == NULL) return NULL;
    status = lks__options_create(class_->config.fields, class_->config.options_size, options, &made);
    if (status == LKS_OK) status = adopt(optimizer, &class_->config, made);
    if (status != LKS_OK)
        lks__error_capture(&optimizer->error, lks__context(status, "optimizer %s", class_->config.name));
    return optimizer;
}

lks_optimizer *lks_optimizer_named(const char *spec)
{
    lks_optimizer *optimizer = new_optimizer();
    const lks_config_class *class_;
    void *made;
    lks_status status;

    if (optimizer == NULL) return NULL;
    status = spec == NULL ? lks__fail(LKS_E_ARG, "the name is missing")
                          : lks__config_from_spec(&lks__optimizer_family, spec, &class_, &made);
    if (status == LKS_OK) status = adopt(optimizer, class_, made);
    if (status != LKS_OK) lks__error_capture(&optimizer->error, lks__context(status, "optimizer"));
    return optimizer;
}

lks_status lks__optimizer_from_spec(const char *spec, lks_optimizer **out)
{
    lks_optimizer *optimizer = lks_optimizer_named(spec);
    lks_status status = lks__optimizer_status(optimizer);

    if (status == LKS_OK) *out = optimizer;
    else lks_optimizer_release(optimizer);
    return status;
}

/* Files of the Torch back end name "TorchAdam" with the registered name "Adam". */
static lks_status find_and_read(const json_t *value, const lks_config_class **class_, void **made)
{
    const char *registered = json_string_value(json_object_get(value, "registered_name"));
    const char *own = json_string_value(json_object_get(value, "class_name"));
    json_t *renamed;
    lks_status status;

    if (registered == NULL || own == NULL || strncmp(own, "Torch", 5) != 0) {
        return lks__config_from_json(&lks__optimizer_family, value, class_, made);
    }
    renamed = json_copy((json_t *)value);
    if (renamed == NULL || json_object_set_new(renamed, "class_name", json_string(registered)) != 0) {
        json_decref(renamed);
        return lks__fail(LKS_E_NOMEM, "out of memory");
    }
    status = lks__config_from_json(&lks__optimizer_family, renamed, class_, made);
    json_decref(renamed);
    return status;
}

lks_status lks__optimizer_from_config(const json_t *value, lks_optimizer **out)
{
    const lks_config_class *class_;
    void *made;
    lks_optimizer *optimizer;
    lks_status status = find_and_read(value, &class_, &made);

    if (status != LKS_OK) return lks__context(status, "optimizer");
    optimizer = new_optimizer();
    if (optimizer == NULL) {
        lks__options_free(class_->fields, made);
        return LKS_E_NOMEM;
    }
    status = adopt(optimizer, class_, made);
    if (status == LKS_OK) *out = optimizer;
    else lks_optimizer_release(optimizer);
    return status;
}

lks_status lks__optimizer_to_config(const lks_optimizer *optimizer, json_t **out)
{
    LKS_TRY(lks__optimizer_status(optimizer));
    if (optimizer->learning_rate != NULL) {
        ((lks_optimizer_head *)optimizer->options)->learning_rate = lks_optimizer_learning_rate(optimizer);
    }
    return lks__config_to_json(&lks__optimizer_family, &optimizer->class_->config, optimizer->options, out);
}

lks_optimizer *lks_optimizer_retain(lks_optimizer *optimizer)
{
    if (optimizer != NULL) __atomic_add_fetch(&optimizer->references, 1, __ATOMIC_RELAXED);
    return optimizer;
}

static void release_variables(lks_variable **vars, size_t n)
{
    for (size_t i = 0; vars != NULL && i < n; i++) lks__variable_release(vars[i]);
    lks__free(vars);
}

void lks_optimizer_release(lks_optimizer *optimizer)
{
    if (optimizer == NULL || __atomic_sub_fetch(&optimizer->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    release_variables(optimizer->all, optimizer->n_all);
    release_variables(optimizer->model, optimizer->n);
    lks__free(optimizer->average);
    lks__free(optimizer->accumulator);
    for (int i = 0; i < LKS_MAX_SLOTS; i++) lks__free(optimizer->slot[i]);
    if (optimizer->options != NULL) lks__options_free(optimizer->class_->config.fields, optimizer->options);
    lks__free(optimizer);
}

lks_status lks__optimizer_status(const lks_optimizer *optimizer)
{
    if (optimizer == NULL) return lks__fail(LKS_E_NOMEM, "an optimizer could not be made: out of memory");
    return optimizer->error.code == LKS_OK ? LKS_OK : lks__error_raise(&optimizer->error);
}

const char *lks__optimizer_name(const lks_optimizer *optimizer)
{
    const lks_optimizer_head *o = optimizer != NULL ? optimizer->options : NULL;

    return o != NULL && o->name != NULL ? o->name : "optimizer";
}

double lks_optimizer_learning_rate(const lks_optimizer *optimizer)
{
    if (optimizer == NULL || optimizer->options == NULL) return 0;
    if (((const lks_optimizer_head *)optimizer->options)->schedule != NULL) return (double)NAN;
    if (optimizer->learning_rate != NULL) return (double)*lks__variable_floats(optimizer->learning_rate);
    return ((const lks_optimizer_head *)optimizer->options)->learning_rate;
}

lks_status lks_optimizer_set_learning_rate(lks_optimizer *optimizer, double rate)
{
    LKS_TRY(lks__optimizer_status(optimizer));
    if (!isfinite(rate) || rate < 0)
        return lks__fail(LKS_E_ARG, "the learning rate must be finite and not negative, found %g", rate);
    if (((lks_optimizer_head *)optimizer->options)->schedule != NULL) {
        return lks__fail(LKS_E_STATE, "the learning rate is decided by a schedule");
    }
    ((lks_optimizer_head *)optimizer->options)->learning_rate = (double)(float)rate;
    if (optimizer->learning_rate != NULL) *lks__variable_floats(optimizer->learning_rate) = (float)rate;
    return LKS_OK;
}
