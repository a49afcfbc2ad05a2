/* compile.c - what a model is trained with: strings become objects, objects are taken over, trackers are made. */
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "function.h"
#include "names.h"

static void release_metrics(lks_metric ***lists, size_t *counts, size_t n)
{
    for (size_t i = 0; i < n && lists != NULL && counts != NULL; i++) {
        for (size_t k = 0; k < counts[i]; k++) lks_metric_release(lists[i][k]);
        lks__free(lists[i]);
    }
    lks__free(lists);
    lks__free(counts);
}

void lks__compiled_release(lks_compiled *c, size_t n_outputs)
{
    if (c == NULL) return;
    lks_optimizer_release(c->optimizer);
    for (size_t i = 0; i < n_outputs && c->losses != NULL; i++) lks_loss_release(c->losses[i]);
    lks__free(c->losses);
    lks__free(c->loss_weights);
    release_metrics(c->metrics, c->n_metrics, n_outputs);
    release_metrics(c->weighted_metrics, c->n_weighted_metrics, n_outputs);
    lks__free(c);
}

lks_status lks__compiled_create(size_t n_outputs, lks_compiled **out)
{
    lks_compiled *c = lks__calloc(1, sizeof *c);
    size_t n = n_outputs + 1;

    if (c == NULL) return lks__fail(LKS_E_NOMEM, "no memory for compile");
    c->losses = lks__calloc(n, sizeof *c->losses);
    c->metrics = lks__calloc(n, sizeof *c->metrics);
    c->n_metrics = lks__calloc(n, sizeof *c->n_metrics);
    c->weighted_metrics = lks__calloc(n, sizeof *c->weighted_metrics);
    c->n_weighted_metrics = lks__calloc(n, sizeof *c->n_weighted_metrics);
    if (!c->losses || !c->metrics || !c->n_metrics || !c->weighted_metrics || !c->n_weighted_metrics) {
        lks__compiled_release(c, n_outputs);
        return lks__fail(LKS_E_NOMEM, "no memory for compile");
    }
    *out = c;
    return LKS_OK;
}

lks_status lks__compiled_add_metric(lks_compiled *c, bool weighted, size_t output, lks_metric *metric)
{
    lks_metric ***list = weighted ? &c->weighted_metrics[output] : &c->metrics[output];
    size_t *n = weighted ? &c->n_weighted_metrics[output] : &c->n_metrics[output];
    lks_metric **more = lks__realloc(*list, (*n + 1) * sizeof *more);

    if (more == NULL) {
        lks_metric_release(metric);
        return lks__fail(LKS_E_NOMEM, "no memory for a metric");
    }
    more[(*n)++] = metric;
    *list = more;
    return LKS_OK;
}

/* ---- strings ---- */

/* The next piece of *rest up to `separator` into a new string; *rest moves behind it, NULL at the end. Commas inside options do not
 * separate names: "top_k_categorical_accuracy:k=3,name=top3,mse" is split before words that hold no '='. */
static lks_status next_piece(const char **rest, char separator, char **out)
{
    const char *begin = *rest, *end = begin;

    for (; *end != '\0'; end++) {
        const char *after = end + 1;
        if (*end != separator) continue;
        if (separator == ',' && memchr(begin, ':', (size_t)(end - begin)) != NULL) {
            size_t word = strcspn(after, ",;:=");
            if (after[word] == '=') continue;
        }
        break;
    }
    *out = lks__calloc((size_t)(end - begin) + 1, 1);
    if (*out == NULL) return lks__fail(LKS_E_NOMEM, "no memory for compile");
    memcpy(*out, begin, (size_t)(end - begin));
    *rest = *end != '\0' ? end + 1 : NULL;
    return LKS_OK;
}

static lks_status named_metric(const char *spec, lks_metric **out)
{
    *out = lks_metric_named(spec);
    return lks__metric_status(*out);
}

static lks_status named_loss(const char *spec, lks_loss **out)
{
    *out = lks_loss_named(spec);
    return lks__loss_status(*out);
}

static lks_status add_metric_list(lks_compiled *c, bool weighted, size_t output, const char *names)
{
    const char *rest = names;

    while (rest != NULL && *rest != '\0') {
        char *name = NULL;
        lks_metric *metric = NULL;
        lks_status status = next_piece(&rest, ',', &name);
        if (status == LKS_OK) status = named_metric(name, &metric);
        lks__free(name);
        if (status != LKS_OK) lks_metric_release(metric);
        LKS_TRY(status);
        LKS_TRY(lks__compiled_add_metric(c, weighted, output, metric));
    }
    return LKS_OK;
}

static lks_status add_metrics(lks_compiled *c, size_t output, const char *names)
{
    return add_metric_list(c, false, output, names);
}

static lks_status add_weighted_metrics(lks_compiled *c, size_t output, const char *names)
{
    return add_metric_list(c, true, output, names);
}

static lks_status add_loss(lks_compiled *c, size_t output, const char *name)
{
    return *name != '\0' ? named_loss(name, &c->losses[output]) : LKS_OK;
}

/* `text` is one piece for every output, or as many as there are outputs, separated by ';'; `add` gets each. */
static lks_status for_each_output(const lks_model *m, lks_compiled *c, const char *option, const char *text,
                                  lks_status (*add)(lks_compiled *c, size_t output, const char *piece))
{
    const char *rest = text;
    size_t pieces = 1;

    if (text == NULL) return LKS_OK;
    for (const char *p = text; *p != '\0'; p++) pieces += *p == ';';
    if (pieces != 1 && pieces != m->n_outputs)
        return lks__fail(LKS_E_ARG,
                         "%s \"%s\" has %zu parts for %zu output%s: say one for each, separated by ';', or one for all",
                         option, text, pieces, m->n_outputs, m->n_outputs == 1 ? "" : "s");
    for (size_t i = 0; i < m->n_outputs; i++) {
        char *piece = NULL;
        lks_status status;
        if (pieces == 1) rest = text;
        LKS_TRY(next_piece(&rest, ';', &piece));
        status = add(c, i, piece);
        lks__free(piece);
        LKS_TRY(status);
    }
    return LKS_OK;
}

static lks_status fill(lks_model *m, lks_compiled *c, const lks_compile_options *o)
{
    LKS_TRY(lks__optimizer_status(c->optimizer));
    LKS_TRY(for_each_output(m, c, "loss", o->loss, add_loss));
    if (o->loss_object != NULL) {
        LKS_TRY(lks__loss_status(o->loss_object));
        for (size_t i = 0; i < m->n_outputs; i++) {
            lks_loss_release(c->losses[i]);
            c->losses[i] = lks_loss_retain(o->loss_object);
        }
    }
    LKS_TRY(for_each_output(m, c, "metrics", o->metrics, add_metrics));
    LKS_TRY(for_each_output(m, c, "weighted_metrics", o->weighted_metrics, add_weighted_metrics));
    if (o->metric_object != NULL) LKS_TRY(lks__compiled_add_metric(c, false, 0, lks_metric_retain(o->metric_object)));
    if (o->loss_weights == NULL) return LKS_OK;
    if (o->n_loss_weights != (int64_t)m->n_outputs)
        return lks__fail(LKS_E_ARG, "%lld loss weights for %zu outputs", (long long)o->n_loss_weights, m->n_outputs);
    c->loss_weights = lks__memdup(o->loss_weights, m->n_outputs * sizeof *c->loss_weights);
    return c->loss_weights != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for compile");
}

/* ---- settling ---- */

static lks_status make_tracker(const char *name, lks_variable **out)
{
    lks_shape scalar = { 0 };

    LKS_TRY(lks__variable_create(name, LKS_FLOAT32, scalar, false, out));
    (*out)->metric_state = true;
    return LKS_OK;
}

static void drop_training(lks_model *m)
{
    lks__model_drop_functions(m);
    lks__compiled_release(m->compiled, m->n_outputs);
    m->compiled = NULL;
    m->optimizer_built = false;
    for (size_t i = 0; m->output_loss != NULL && i < 2 * m->n_outputs; i++) lks__variable_release(m->output_loss[i]);
    lks__free(m->output_loss);
    m->output_loss = NULL;
    for (size_t i = 0; i < m->n_logs; i++) lks__free(m->log_names[i]);
    lks__free(m->log_names);
    lks__free(m->logs);
    m->log_names = NULL;
    m->logs = NULL;
    m->n_logs = 0;
}

static lks_status make_output_trackers(lks_model *m)
{
    size_t with_loss = 0;

    for (size_t i = 0; i < m->n_outputs; i++) with_loss += m->compiled->losses[i] != NULL;
    if (with_loss < 2) return LKS_OK;
    m->output_loss = lks__calloc(2 * m->n_outputs, sizeof *m->output_loss);
    if (m->output_loss == NULL) return lks__fail(LKS_E_NOMEM, "no memory for compile");
    for (size_t i = 0; i < 2 * m->n_outputs; i++)
        if (m->compiled->losses[i / 2] != NULL)
            LKS_TRY(make_tracker(i % 2 ? "loss/count" : "loss/total", &m->output_loss[i]));
    return LKS_OK;
}

lks_status lks__model_set_compiled(lks_model *model, lks_compiled *compiled)
{
    drop_training(model);
    model->compiled = compiled;
    if (model->loss_total == NULL) LKS_TRY(make_tracker("loss/total", &model->loss_total));
    if (model->loss_count == NULL) LKS_TRY(make_tracker("loss/count", &model->loss_count));
    return make_output_trackers(model);
}

lks_status lks__model_build_optimizer(lks_model *model)
{
    lks_variable **vars = NULL;
    size_t n = 0;
    lks_status status;

    if (model->optimizer_built) return LKS_OK;
    LKS_TRY(lks__model_trainable_weights(model, &vars, &n));
    status = lks__optimizer_build(model->compiled->optimizer, n, vars);
    lks__free(vars);
    model->optimizer_built = status == LKS_OK;
    return status;
}

static lks_status settle(lks_model *m, const lks_compile_options *o, lks_optimizer *optimizer)
{
    lks_compiled *c = NULL;
    lks_status status = lks_model_status(m);

    if (status == LKS_OK && !m->built) { /* one chain, one output: enough to know how many losses there are */
        m->n_outputs = 1;
    }
    if (status == LKS_OK) status = lks__compiled_create(m->n_outputs, &c);
    if (status != LKS_OK) {
        lks_optimizer_release(optimizer);
        return status;
    }
    c->optimizer = optimizer;
    status = fill(m, c, o);
    if (status == LKS_OK) return lks__model_set_compiled(m, c);
    lks__compiled_release(c, m->n_outputs);
    return status;
}

lks_status lks_compile_with(lks_model *model, const lks_compile_options *options)
{
    lks_compile_options o = { 0 };
    lks_optimizer *optimizer = NULL;
    lks_status status;

    lks__options_copy(&o, sizeof o, options);
    if (o.optimizer_object != NULL) optimizer = o.optimizer_object;
    else optimizer = lks_optimizer_named(o.optimizer != NULL ? o.optimizer : "rmsprop");
    status = settle(model, &o, optimizer);
    lks_loss_release(o.loss_object);
    lks_metric_release(o.metric_object);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_compile");
}
