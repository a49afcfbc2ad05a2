/* metric.c - see metric.h: metric objects, their state, and the graph that updates it. */
#include "metric.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "values.h"

/* ---- objects ---- */

static lks_metric *new_metric(void)
{
    lks_metric *metric = lks__calloc(1, sizeof *metric);

    if (metric == NULL) lks__fail(LKS_E_NOMEM, "metric: out of memory");
    else metric->references = 1;
    return metric;
}

static lks_status make_state(lks_metric *metric, const char *name, lks_variable **out)
{
    lks_text path = { 0 };
    lks_shape scalar = { 0 };
    char *text;
    lks_status status;

    lks__text_printf(&path, "%s/%s", lks__metric_name(metric), name);
    LKS_TRY(lks__text_take(&path, &text));
    status = lks__variable_create(text, LKS_FLOAT32, scalar, false, out);
    lks__free(text);
    if (status == LKS_OK) (*out)->metric_state = true;
    return status;
}

/* Takes the options over, also when it fails. */
static lks_status adopt(lks_metric *metric, const lks_config_class *class_, void *options)
{
    metric->class_ = (const lks_metric_class *)class_;
    metric->options = options;
    LKS_TRY(make_state(metric, "total", &metric->total));
    return (metric->class_->traits & LKS_METRIC_SUM) != 0 ? LKS_OK : make_state(metric, "count", &metric->count);
}

static lks_status rename_to(lks_metric *metric, const char *name)
{
    char *copy = lks__strdup(name);

    if (copy == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    lks__free((char *)metric->options->loss.name);
    metric->options->loss.name = copy;
    return LKS_OK;
}

/* A string names its metric: "mse" is reported as "mse". */
static lks_status open_spec(lks_metric *metric, const char *spec)
{
    static const lks_config_family shorthands = { "metric", "keras.metrics", lks__metric_shorthands };
    char word[LKS_SPEC_NAME];
    const lks_config_class *class_ = NULL;
    bool shorthand, named;
    json_t *config;
    void *options;

    LKS_TRY(lks__spec_parse(spec, word, &config));
    named = json_object_get(config, "name") != NULL;
    json_decref(config);
    shorthand = lks__same_word(word, "accuracy") || lks__same_word(word, "acc") ||
                lks__same_word(word, "crossentropy") || lks__same_word(word, "ce");
    LKS_TRY(lks__config_from_spec(shorthand ? &shorthands : &lks__metric_family, spec, &class_, &options));
    LKS_TRY(adopt(metric, class_, options));
    return named ? LKS_OK : rename_to(metric, word);
}

lks_metric *lks_metric_named(const char *spec)
{
    lks_metric *metric = new_metric();
    lks_status status;

    if (metric == NULL) return NULL;
    status = spec == NULL ? lks__fail(LKS_E_ARG, "the name of a metric is missing") : open_spec(metric, spec);
    if (status != LKS_OK) lks__error_capture(&metric->error, lks__context(status, "metric"));
    return metric;
}

lks_status lks__metric_from_spec(const char *spec, lks_metric **out)
{
    lks_metric *metric = lks_metric_named(spec);
    lks_status status = lks__metric_status(metric);

    if (status == LKS_OK) *out = metric;
    else lks_metric_release(metric);
    return status;
}

/* {"class_name": "function", "config": "huber"}: a loss's function, averaged. */
static lks_status open_function(lks_metric *metric, const char *function)
{
    lks_text spec = { 0 };
    const lks_config_class *class_;
    char *text;
    void *options;
    lks_status status;

    if (lks__config_find(&lks__loss_family, function) == NULL)
        return lks__fail(LKS_E_ARG, "there is no metric \"%.80s\"", function);
    lks__text_printf(&spec, "mean_metric_wrapper:fn=%s,name=%s", function, function);
    LKS_TRY(lks__text_take(&spec, &text));
    status = lks__config_from_spec(&lks__metric_family, text, &class_, &options);
    lks__free(text);
    return status == LKS_OK ? adopt(metric, class_, options) : status;
}

lks_status lks__metric_from_config(const json_t *value, lks_metric **out)
{
    const json_t *function = json_object_get(value, "config");
    const lks_config_class *class_;
    void *options;
    lks_metric *metric;
    lks_status status;

    if (json_is_string(value)) return lks__metric_from_spec(json_string_value(value), out);
    metric = new_metric();
    if (metric == NULL) return LKS_E_NOMEM;
    if (json_is_string(function)) {
        status = open_function(metric, json_string_value(function));
    } else {
        status = lks__config_from_json(&lks__metric_family, value, &class_, &options);
        if (status == LKS_OK) status = adopt(metric, class_, options);
    }
    if (status == LKS_OK) *out = metric;
    else lks_metric_release(metric);
    return status;
}

lks_status lks__metric_to_config(const lks_metric *metric, json_t **out)
{
    LKS_TRY(lks__metric_status(metric));
    if (metric->fn != NULL) {
        return lks__fail(LKS_E_UNSUPPORTED, "metric \"%s\" is a function of yours: it cannot be saved",
                         lks__metric_name(metric));
    }
    if ((metric->class_->traits & LKS_METRIC_SHAPES) != 0) {
        *out = json_string(lks__metric_name(metric));
        return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
    }
    return lks__config_to_json(&lks__metric_family, &metric->class_->config, metric->options, out);
}

static const lks_field own_fields[] = {
    { "name", LKS_FIELD_TEXT, offsetof(lks_metric_config, loss.name), "metric", 0, NULL, 0 }, LKS_FIELDS_END
};
static const lks_metric_class own_class = {
    { "function", "function", NULL, sizeof(lks_metric_config), own_fields }, 0, NULL, 1, NULL
};

lks_metric *lks_metric_create_with(lks_metric_fn fn, void *user, const lks_metric_options *options)
{
    lks_metric *metric = new_metric();
    lks_metric_config given = { .struct_size = sizeof given };
    void *made;
    lks_status status;

    if (metric == NULL) return NULL;
    if (options != NULL && options->struct_size >= sizeof *options) given.loss.name = options->name;
    status = fn == NULL ? lks__fail(LKS_E_ARG, "the function is missing")
                        : lks__options_create(own_fields, sizeof given, &given, &made);
    if (status == LKS_OK) status = adopt(metric, &own_class.config, made);
    if (status != LKS_OK) lks__error_capture(&metric->error, lks__context(status, "metric"));
    metric->fn = fn;
    metric->user = user;
    return metric;
}

lks_metric *lks_metric_retain(lks_metric *metric)
{
    if (metric != NULL) __atomic_add_fetch(&metric->references, 1, __ATOMIC_RELAXED);
    return metric;
}

void lks_metric_release(lks_metric *metric)
{
    if (metric == NULL || __atomic_sub_fetch(&metric->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    lks__variable_release(metric->total);
    lks__variable_release(metric->count);
    if (metric->options != NULL) lks__options_free(metric->class_->config.fields, metric->options);
    lks__free(metric);
}

lks_status lks__metric_status(const lks_metric *metric)
{
    if (metric == NULL) return lks__fail(LKS_E_NOMEM, "a metric could not be made: out of memory");
    return metric->error.code == LKS_OK ? LKS_OK : lks__error_raise(&metric->error);
}

const char *lks__metric_name(const lks_metric *metric)
{
    const lks_metric_config *o = metric != NULL ? metric->options : NULL;

    return o != NULL && o->loss.name != NULL ? o->loss.name : "metric";
}

/* ---- state ---- */

void lks__metric_reset(lks_metric *metric)
{
    if (metric->total != NULL) *lks__variable_floats(metric->total) = 0.0f;
    if (metric->count != NULL) *lks__variable_floats(metric->count) = 0.0f;
}

double lks__metric_result(const lks_metric *metric)
{
    float total, count;

    if (metric == NULL || metric->total == NULL) return 0;
    total = *lks__variable_floats(metric->total);
    if (metric->count == NULL) return (double)total;
    count = *lks__variable_floats(metric->count);
    if (count == 0) return 0;
    return (double)((metric->class_->traits & LKS_METRIC_ROOT) != 0 ? sqrtf(total / count) : total / count);
}

size_t lks__metric_variables(const lks_metric *metric, lks_variable *out[2])
{
    size_t n = 0;

    if (metric->total != NULL) out[n++] = metric->total;
    if (metric->count != NULL) out[n++] = metric->count;
    return n;
}
