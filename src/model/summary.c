/* summary.c - what Keras' model.summary() prints, character for character (spec/keras.md 6.7). */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "summary_table.h"

enum { DEFAULT_LINE = 76 }; /* of an 80-column pipe */

/* ---- numbers ---- */

static void put_thousands(lks_text *out, int64_t n)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) lks__text_puts(out, ",");
        lks__text_append(out, digits + i, 1);
    }
}

/* "3.94 KB", halves rounded to even as Python does. By hand, since snprintf follows the locale's decimal point; the
 * product is exact. */
static void put_size(lks_text *out, double bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
    size_t unit = 0;
    int64_t hundredths;
    double rest;

    while (bytes >= 1024 && unit < 5) bytes /= 1024, unit++;
    hundredths = (int64_t)(bytes * 100);
    rest = bytes * 100 - (double)hundredths;
    if (rest > 0.5 || (rest == 0.5 && hundredths % 2 == 1)) hundredths++;
    lks__text_printf(out, "%lld.%02d %s", (long long)(hundredths / 100), (int)(hundredths % 100), units[unit]);
}

static void put_total(lks_text *out, const char *what, int64_t params, double bytes)
{
    lks__text_printf(out, " %s params: ", what);
    put_thousands(out, params);
    lks__text_puts(out, " (");
    put_size(out, bytes);
    lks__text_puts(out, ")\n");
}

static void count(lks_variable *const *v, size_t n, int64_t *params, double *bytes)
{
    for (size_t i = 0; i < n; i++) {
        *params += lks_tensor_size(v[i]->value);
        *bytes += (double)lks_tensor_size(v[i]->value) * (double)lks_dtype_size(lks_tensor_dtype(v[i]->value));
    }
}

/* ---- cells ---- */

static void put_shape(lks_text *out, const lks_type *type)
{
    const char *before = "";

    lks__text_puts(out, "(");
    if (type->batched) lks__text_puts(out, "None"), before = ", ";
    for (int64_t i = 0; i < type->shape.rank; i++) {
        lks__text_printf(out, "%s%lld", before, (long long)type->shape.dim[i]);
        before = ", ";
    }
    lks__text_puts(out, ")");
}

/* The outputs of the layer's last call in the model. */
static void put_output(lks_text *out, const lks_model *m, const lks_layer *layer)
{
    const lks_sym_call *call = NULL;

    for (size_t i = 0; i < m->n_calls; i++) {
        if (m->calls[i]->layer == layer) call = m->calls[i];
    }
    if (call == NULL) {
        lks__text_puts(out, "?");
        return;
    }
    if (call->n_out > 1) lks__text_puts(out, "[");
    for (int k = 0; k < call->n_out; k++) {
        if (k > 0) lks__text_puts(out, ", ");
        put_shape(out, &m->recording->base.nodes[call->out[k]]->type);
    }
    if (call->n_out > 1) lks__text_puts(out, "]");
}

static int64_t layer_params(const lks_layer *layer)
{
    int64_t params = 0;

    if (layer->model != NULL) return lks_model_count_params(layer->model);
    for (size_t i = 0; i < layer->n_weights; i++) params += lks_tensor_size(layer->weights[i]->value);
    return params;
}

static bool is_unbuilt(const lks_model *m, const lks_layer *layer)
{
    if (layer->model != NULL) return !layer->model->built;
    return !m->built && !layer->built;
}

static void put_params(lks_text *out, const lks_model *m, const lks_layer *layer)
{
    if (is_unbuilt(m, layer)) lks__text_puts(out, "0 (unbuilt)");
    else put_thousands(out, layer_params(layer));
}

static const lks_sym_call *producer(const lks_model *m, int64_t value, int *tensor)
{
    const lks_sym_call *call = m->recording->calls[m->recording->call_of[value]];

    for (*tensor = 0; *tensor < call->n_out - 1 && call->out[*tensor] != value;) ++*tensor;
    return call;
}

static void put_connections(lks_text *out, const lks_model *m, const lks_layer *layer)
{
    size_t before = out->length;

    for (size_t i = 0; i < m->n_calls; i++) {
        const lks_sym_call *call = m->calls[i];
        for (int k = 0; call->layer == layer && k < call->n_in; k++) {
            int tensor;
            const lks_sym_call *from = producer(m, call->in[k], &tensor);
            lks__text_printf(out, "%s%s[%d][%d]", out->length > before ? ", " : "", from->layer->name, from->node_index,
                             tensor);
        }
    }
    if (out->length == before) lks__text_puts(out, "-");
}

/* ---- the table ---- */

/* A chain: one call at every depth, each of one input. */
static lks_status is_chain(const lks_model *m, bool *out)
{
    int *depth;
    bool *taken;

    *out = true;
    if (m->sequential) return LKS_OK;
    depth = lks__calloc(m->recording->n_calls + 1, sizeof *depth);
    taken = lks__calloc(m->n_calls + 1, sizeof *taken);
    if (depth == NULL || taken == NULL) *out = false;
    for (size_t i = m->n_calls; i-- > 0 && *out;) {
        const lks_sym_call *call = m->calls[i];
        int here = 0;
        for (size_t k = i + 1; k < m->n_calls; k++) {
            for (int j = 0; j < m->calls[k]->n_in; j++) {
                if (m->recording->calls[m->recording->call_of[m->calls[k]->in[j]]] == call && here <= depth[k])
                    here = depth[k] + 1;
            }
        }
        depth[i] = here;
        *out = call->n_in <= 1 && call->node_index == 0 && !taken[here];
        taken[here] = true;
    }
    lks__free(depth);
    lks__free(taken);
    return depth != NULL && taken != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a summary");
}

static lks_status put_layer(lks_summary_table *t, const lks_model *m, const lks_layer *layer)
{
    lks_text cells[LKS_SUMMARY_COLUMNS] = { { 0 } };
    const char *texts[LKS_SUMMARY_COLUMNS];
    bool failed = false;

    lks__text_printf(&cells[0], "%s (%s)", layer->name != NULL ? layer->name : layer->class_->snake,
                     layer->class_->name);
    put_output(&cells[1], m, layer);
    put_params(&cells[2], m, layer);
    if (t->n_columns > 3) put_connections(&cells[3], m, layer);
    for (int i = 0; i < t->n_columns; i++) {
        failed = failed || cells[i].failed;
        texts[i] = cells[i].data;
    }
    if (!failed) lks__summary_row(t, texts);
    for (int i = 0; i < t->n_columns; i++) lks__text_free(&cells[i]);
    return failed ? lks__fail(LKS_E_NOMEM, "no memory for a summary") : LKS_OK;
}

static lks_status put_table(const lks_model *m, int64_t line_length, lks_text *out)
{
    static const double chain[] = { 0.45, 0.80, 1.0 }, graph[] = { 0.30, 0.56, 0.74, 1.0 };
    lks_summary_table t = { .n_columns = 3,
                            .head = { "Layer (type)", "Output Shape", "Param #", "Connected to" },
                            .right = { false, false, true, false },
                            .out = out };
    bool is_chained;

    LKS_TRY(is_chain(m, &is_chained));
    if (!is_chained) t.n_columns = 4;
    LKS_TRY(lks__summary_layout(&t, line_length, is_chained ? chain : graph));
    lks__summary_head(&t);
    for (size_t i = 0; i < m->n_layers; i++) {
        if (m->sequential && m->layers[i]->class_ == &lks__input_layer_class) continue;
        LKS_TRY(put_layer(&t, m, m->layers[i]));
    }
    lks__summary_end(&t);
    return LKS_OK;
}

static lks_status put_totals(const lks_model *m, lks_text *out)
{
    lks_variable **all = NULL, **trainable = NULL;
    size_t n_all, n_trainable;
    int64_t params = 0, trained = 0, optimizer = 0;
    double bytes = 0, trained_bytes = 0, optimizer_bytes = 0;
    bool built = m->compiled != NULL && m->optimizer_built;
    size_t n_own = 0;
    lks_variable **own = built ? lks__optimizer_variables(m->compiled->optimizer, &n_own) : NULL;
    lks_status status = lks__model_weights(m, &all, &n_all);

    if (status == LKS_OK) status = lks__model_trainable_weights(m, &trainable, &n_trainable);
    if (status == LKS_OK) {
        count(all, n_all, &params, &bytes);
        count(trainable, n_trainable, &trained, &trained_bytes);
        if (built) count(own, n_own, &optimizer, &optimizer_bytes);
        put_total(out, "Total", params + optimizer, bytes + optimizer_bytes);
        put_total(out, "Trainable", trained, trained_bytes);
        put_total(out, "Non-trainable", params - trained, bytes - trained_bytes);
        if (built) put_total(out, "Optimizer", optimizer, optimizer_bytes);
    }
    lks__free(all);
    lks__free(trainable);
    return status;
}

lks_status lks_summary_text(const lks_model *model, int64_t line_length, char **out)
{
    lks_text text = { 0 };
    lks_status status;

    LKS_TRY(lks_model_status(model));
    if (line_length < 0)
        return lks__fail(LKS_E_ARG, "summary: line_length must be positive, or 0 for %d", (int)DEFAULT_LINE);
    lks__text_printf(&text, "Model: \"%s\"\n", model->name);
    status = put_table(model, line_length != 0 ? line_length : DEFAULT_LINE, &text);
    if (status == LKS_OK) status = put_totals(model, &text);
    if (status == LKS_OK) return lks__text_take(&text, out);
    lks__text_free(&text);
    return status;
}

lks_status lks_summary(const lks_model *model)
{
    char *text;

    LKS_TRY(lks_summary_text(model, 0, &text));
    lks__print(text, strlen(text));
    lks__free(text);
    return LKS_OK;
}
