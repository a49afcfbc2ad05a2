/* load.c - a model out of a .keras archive. Everything is checked before a single value is copied: a model that does not fit
 * its file is an error, never a model with some of its weights.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config_io.h"
#include "files/json.h"
#include "files/keras_archive.h"
#include "save.h"
#include "save_tree.h"
#include "tensor/tensor.h"

/* Values that will be copied once all are known to fit. */
typedef struct copies {
    const lks_weights *weights;
    struct copy {
        lks_variable *to;
        const lks_tensor *from;
    } * items;
    size_t n, capacity;
} copies;

/* ---- finding and checking ---- */

static lks_status plan_copy(copies *c, const char *path, size_t i, lks_variable *variable, const char *what)
{
    char have_text[LKS_SHAPE_TEXT], want_text[LKS_SHAPE_TEXT], *full;
    lks_text text = { 0 };
    const lks_tensor *tensor;
    lks_shape want, have;

    lks__text_printf(&text, "%s/%zu", path, i);
    LKS_TRY(lks__text_take(&text, &full));
    tensor = lks__weights_tensor(c->weights, full);
    lks__free(full);
    if (tensor == NULL) {
        return lks__fail(LKS_E_FORMAT, "%s: array %zu (\"%s\") is missing in the file at %s", what, i, variable->path,
                         path);
    }
    want = lks_tensor_shape(variable->value);
    have = lks_tensor_shape(tensor);
    if (!lks_shape_equal(&want, &have)) {
        return lks__fail(LKS_E_FORMAT, "%s, array %zu (\"%s\"): expected %s, found %s", what, i, variable->path,
                         lks__shape_text(&want, want_text), lks__shape_text(&have, have_text));
    }
    LKS_TRY(lks__grow(&c->items, &c->capacity, c->n + 1, sizeof *c->items));
    c->items[c->n++] = (struct copy){ variable, tensor };
    return LKS_OK;
}

/* Arrays directly below `path`. */
static size_t count_arrays(const lks_weights *w, const char *path)
{
    size_t n = 0, length = strlen(path);

    for (size_t i = 0; i < w->count; i++) {
        const lks_weight_entry *e = &w->entries[i];
        n += e->tensor != NULL && strncmp(e->path, path, length) == 0 && e->path[length] == '/';
    }
    return n;
}

static lks_status plan_layer(void *user, const char *path, const char *name, const lks_layer *layer)
{
    copies *c = user;
    char what[128];
    size_t n = count_arrays(c->weights, path), want = layer != NULL ? layer->n_weights : 0;

    snprintf(what, sizeof what, "%s \"%.80s\"", layer != NULL ? "layer" : "model", name);
    for (size_t i = 0; i < want && i < n; i++) LKS_TRY(plan_copy(c, path, i, layer->weights[i], what));
    if (n == want) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "%s has %zu weight%s, the file has %zu at %s", what, want, want == 1 ? "" : "s", n,
                     path);
}

static void copy_all(const copies *c)
{
    for (size_t i = 0; i < c->n; i++) {
        lks_tensor *to = c->items[i].to->value;
        const lks_tensor *from = c->items[i].from;
        lks__convert(lks_tensor_dtype(from), lks_tensor_cdata(from), lks_tensor_dtype(to), lks_tensor_data(to),
                     lks_tensor_size(to));
        lks__variable_changed(c->items[i].to);
    }
}

static lks_status read_weights(lks_model *model, const lks_weights *weights)
{
    copies c = { .weights = weights };
    lks_status status = lks__save_tree(model, plan_layer, &c);

    if (status == LKS_OK) copy_all(&c);
    lks__free(c.items);
    return status;
}

/* ---- the optimizer ---- */

static int64_t saved_iterations(const lks_weights *w)
{
    const lks_tensor *t = lks__weights_tensor(w, LKS_OPTIMIZER_PATH "/0");
    int64_t iterations = 0;

    if (t == NULL || lks_tensor_size(t) != 1) return 0;
    lks__convert(lks_tensor_dtype(t), lks_tensor_cdata(t), LKS_INT64, &iterations, 1);
    return iterations;
}

static bool has_scalar(const lks_weights *w, const char *path)
{
    const lks_tensor *t = lks__weights_tensor(w, path);

    return t != NULL && lks_tensor_shape(t).rank == 0;
}

/* Keras keeps fresh state, with a warning, if the number of variables differs; wrong shapes are an error. Keras 2 did not save the
 * learning rate, which stands second. */
static lks_status read_optimizer(lks_model *model, const lks_weights *weights)
{
    copies c = { .weights = weights };
    size_t n = count_arrays(weights, LKS_OPTIMIZER_PATH), want;
    int64_t iterations = saved_iterations(weights);
    lks_optimizer *optimizer = model->compiled->optimizer;
    lks_variable **own;
    bool without_rate;
    lks_status status = LKS_OK;

    if (n == 0 || (n <= 2 && iterations == 0)) return LKS_OK; /* saved before the first step */
    LKS_TRY(lks__model_build_optimizer(model));
    own = lks__optimizer_variables(optimizer, &want);
    without_rate = n + 1 == want && optimizer->learning_rate != NULL && !has_scalar(weights, LKS_OPTIMIZER_PATH "/1");
    if (n != want && !without_rate) {
        lks__warn("the file has %zu optimizer variables, the model's optimizer %zu: its state starts anew", n, want);
        return LKS_OK;
    }
    for (size_t i = 0; i < n && status == LKS_OK; i++) {
        status = plan_copy(&c, LKS_OPTIMIZER_PATH, i, own[without_rate && i > 0 ? i + 1 : i], "optimizer");
    }
    if (status == LKS_OK && iterations < 0)
        status = lks__fail(LKS_E_FORMAT, "optimizer: iteration %lld", (long long)iterations);
    if (status == LKS_OK) {
        copy_all(&c);
        lks__optimizer_set_iterations(optimizer, iterations);
    }
    lks__free(c.items);
    return status;
}

/* ---- the archive ---- */

/* What a model may allocate for weights: what the file holds, twice over for layers that its config lists twice. */
static int64_t weight_budget(const lks_weights *w)
{
    int64_t elements = 1 << 16;

    for (size_t i = 0; i < w->count; i++) {
        if (w->entries[i].tensor != NULL) elements += 2 * lks_tensor_size(w->entries[i].tensor);
    }
    return elements;
}

static lks_status build(const json_t *config, const lks_weights *weights, lks_model **out)
{
    int64_t former = lks__variable_limit(weight_budget(weights));
    lks_status status = lks__model_from_config(config, false, out);

    lks__variable_limit(former);
    return status;
}

static lks_status make_model(const json_t *config, const lks_archive *a, lks_model **out)
{
    const json_t *compile = json_object_get(config, "compile_config");
    lks_model *model = NULL;
    lks_status status;

    LKS_TRY(build(config, &a->weights, &model));
    status = read_weights(model, &a->weights);
    if (status == LKS_OK && json_object_size(compile) > 0) status = lks__compile_from_config(model, compile);
    if (status == LKS_OK && model->compiled != NULL) status = read_optimizer(model, &a->weights);
    if (status == LKS_OK) *out = model;
    else lks_model_release(model);
    return status;
}

static lks_status from_archive(const lks_archive *a, lks_model **out)
{
    json_t *config = NULL;
    lks_status status;

    LKS_TRY(lks__json_parse(a->config, strlen(a->config), "config.json", &config));
    status = make_model(config, a, out);
    json_decref(config);
    return status;
}

lks_model *lks_load(const char *path)
{
    lks_archive a = { 0 };
    lks_model *model = NULL;
    lks_status status;

    if (path == NULL) {
        lks__fail(LKS_E_ARG, "lks_load: the path is NULL");
        return NULL;
    }
    status = lks__archive_read(path, &a);
    if (status == LKS_OK) {
        status = from_archive(&a, &model);
        if (status != LKS_OK) lks__context(status, "%s", path);
    }
    lks__archive_free(&a);
    return status == LKS_OK ? model : NULL;
}

lks_status lks__load_memory(const void *data, size_t n, lks_model **out)
{
    lks_archive a = { 0 };
    lks_status status = lks__archive_read_memory(data, n, &a);

    if (status == LKS_OK) status = from_archive(&a, out);
    lks__archive_free(&a);
    return status;
}

lks_status lks_load_weights(lks_model *model, const char *path)
{
    lks_weights w = { 0 };
    lks_status status = lks_model_status(model);

    if (status == LKS_OK && path == NULL) status = lks__fail(LKS_E_ARG, "lks_load_weights: the path is NULL");
    if (status == LKS_OK && !model->built)
        status = lks__fail(LKS_E_STATE, "model '%s' has no weights before its input shape is known", model->name);
    LKS_TRY(status);
    status = lks__weights_load(path, &w);
    if (status == LKS_OK) status = read_weights(model, &w);
    if (status != LKS_OK) lks__context(status, "%s", path);
    lks__weights_free(&w);
    return status;
}
