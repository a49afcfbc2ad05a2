/* logs.c - present values of the loss tracker and the metrics, under the names that Keras gives them (spec/keras.md 4.4), sorted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

static void zero(lks_variable *v)
{
    if (v != NULL)
        memset(lks_tensor_data(v->value), 0,
               (size_t)lks_tensor_size(v->value) * lks_dtype_size(lks_tensor_dtype(v->value)));
}

void lks__model_reset_metrics(lks_model *m)
{
    zero(m->loss_total);
    zero(m->loss_count);
    for (size_t i = 0; i < m->n_outputs; i++) {
        for (size_t k = 0; k < m->compiled->n_metrics[i]; k++) lks__metric_reset(m->compiled->metrics[i][k]);
        for (size_t k = 0; k < m->compiled->n_weighted_metrics[i]; k++)
            lks__metric_reset(m->compiled->weighted_metrics[i][k]);
        if (m->output_loss != NULL) zero(m->output_loss[2 * i]);
        if (m->output_loss != NULL) zero(m->output_loss[2 * i + 1]);
    }
}

static double mean(lks_variable *total, lks_variable *count)
{
    float n = *lks__variable_floats(count);

    return n == 0.0f ? 0.0 : (double)(*lks__variable_floats(total) / n);
}

typedef struct writer {
    lks_model *m;
    const char *prefix;
    size_t n;
    lks_status status;
} writer;

static bool name_used(const writer *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->m->log_names[i], name) == 0) return true;
    return false;
}

static void put(writer *w, const char *output, const char *mark, const char *name, double value)
{
    lks_model *m = w->m;
    char text[256];

    if (w->status != LKS_OK) return;
    if (w->n == m->n_logs) {
        w->status = lks__fail(LKS_E_INTERNAL, "more logs than were counted");
        return;
    }
    for (int k = 0;; k++) {
        if (k == 0) snprintf(text, sizeof text, "%s%s%s%s%s", w->prefix, output, output[0] ? "_" : "", mark, name);
        else snprintf(text, sizeof text, "%s%s%s%s%s_%d", w->prefix, output, output[0] ? "_" : "", mark, name, k);
        if (!name_used(w, text)) break;
    }
    snprintf(m->log_names[w->n], LKS_LOG_NAME, "%s", text);
    m->logs[w->n].name = m->log_names[w->n];
    m->logs[w->n++].value = value;
}

static bool collides(const lks_compiled *c, size_t output, const char *name)
{
    for (size_t k = 0; k < c->n_metrics[output]; k++)
        if (strcmp(lks__metric_name(c->metrics[output][k]), name) == 0) return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const lks_log *)a)->name, ((const lks_log *)b)->name);
}

static lks_status reserve(lks_model *m)
{
    size_t n = 1;

    if (m->logs != NULL) return LKS_OK;
    for (size_t i = 0; i < m->n_outputs; i++) n += 1 + m->compiled->n_metrics[i] + m->compiled->n_weighted_metrics[i];
    m->logs = lks__calloc(n, sizeof *m->logs);
    m->log_names = lks__calloc(n, sizeof *m->log_names);
    if (m->logs == NULL || m->log_names == NULL) return lks__fail(LKS_E_NOMEM, "no memory for logs");
    m->n_logs = n;
    for (size_t i = 0; i < n; i++) {
        m->log_names[i] = lks__calloc(1, LKS_LOG_NAME);
        if (m->log_names[i] == NULL) return lks__fail(LKS_E_NOMEM, "no memory for logs");
    }
    return LKS_OK;
}

lks_status lks__model_logs(lks_model *m, bool val, lks_logs *out)
{
    const lks_compiled *c = m->compiled;
    writer w = { m, val ? "val_" : "", 0, LKS_OK };

    LKS_TRY(reserve(m));
    put(&w, "", "", "loss", mean(m->loss_total, m->loss_count));
    for (size_t i = 0; i < m->n_outputs; i++) {
        const char *output = m->n_outputs > 1 ? lks__model_output_name(m, i) : "";
        if (m->output_loss != NULL && c->losses[i] != NULL)
            put(&w, output, "", "loss", mean(m->output_loss[2 * i], m->output_loss[2 * i + 1]));
        for (size_t k = 0; k < c->n_metrics[i]; k++)
            put(&w, output, "", lks__metric_name(c->metrics[i][k]), lks__metric_result(c->metrics[i][k]));
        for (size_t k = 0; k < c->n_weighted_metrics[i]; k++) {
            const char *name = lks__metric_name(c->weighted_metrics[i][k]);
            put(&w, output, collides(c, i, name) ? "weighted_" : "", name,
                lks__metric_result(c->weighted_metrics[i][k]));
        }
    }
    LKS_TRY(w.status);
    qsort(m->logs, w.n, sizeof *m->logs, by_name);
    *out = (lks_logs){ w.n, m->logs };
    return LKS_OK;
}
