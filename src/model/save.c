/* save.c - a model into a .keras archive: metadata, config, weights and optimizer state (spec/keras.md 7). */
#include "save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "config_io.h"
#include "files/json.h"
#include "files/keras_archive.h"
#include "save_tree.h"
#include "tensor/tensor.h"

/* The version of Keras whose files these are. */
#define KERAS_VERSION "3.15.1"

/* The time of the save, or SOURCE_DATE_EPOCH for files that are to be equal byte for byte (the convention of
 * reproducible-builds.org: a value that is no time is an error). The archive's own entries bear no time. */
static lks_status time_of_save(struct tm *out)
{
    const int64_t year_10000 = 253402300800;
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds = (int64_t)time(NULL);
    time_t when;

    if (fixed != NULL && *fixed != '\0' && (!lks__parse_int(fixed, &seconds) || seconds < 0 || seconds >= year_10000))
        return lks__fail(LKS_E_ARG,
                         "the environment's SOURCE_DATE_EPOCH is \"%.40s\": it must be a number of seconds since 1970, "
                         "at most %lld",
                         fixed, (long long)year_10000 - 1);
    when = (time_t)seconds;
    if (gmtime_r(&when, out) == NULL) memset(out, 0, sizeof *out);
    return LKS_OK;
}

static lks_status metadata(char **out)
{
    lks_text text = { 0 };
    struct tm tm;

    LKS_TRY(time_of_save(&tm));
    lks__text_printf(&text,
                     "{\"keras_version\": \"" KERAS_VERSION "\", \"date_saved\": \"%04d-%02d-%02d@%02d:%02d:%02d\"}",
                     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    return lks__text_take(&text, out);
}

static lks_status add_variables(lks_weights *w, const char *path, size_t n, lks_variable *const *variables)
{
    char *full;

    for (size_t i = 0; i < n; i++) {
        lks_text text = { 0 };
        lks_status status;
        lks__text_printf(&text, "%s/%zu", path, i);
        LKS_TRY(lks__text_take(&text, &full));
        status = lks__weights_add(w, full, variables[i]->value);
        lks__free(full);
        LKS_TRY(status);
    }
    return LKS_OK;
}

static lks_status add_layer(void *user, const char *path, const char *name, const lks_layer *layer)
{
    lks_weights *w = user;

    LKS_TRY(lks__weights_add_named_group(w, path, name));
    return layer != NULL ? add_variables(w, path, layer->n_weights, layer->weights) : LKS_OK;
}

static lks_status add_scalar(lks_weights *w, const char *path, lks_dtype dtype, double value)
{
    lks_tensor *t = lks_tensor_create(dtype, (lks_shape){ 0 });
    lks_status status;

    if (t == NULL) return LKS_E_NOMEM;
    lks__convert(LKS_FLOAT64, &value, dtype, lks_tensor_data(t), 1);
    status = lks__weights_add(w, path, t);
    lks_tensor_release(t);
    return status;
}

/* Before the first step there are no slots yet, but Keras has the counter and the rate. */
static lks_status add_optimizer(const lks_model *m, lks_weights *w)
{
    const lks_optimizer *optimizer = m->compiled->optimizer;
    const lks_optimizer_head *head = optimizer->options;
    size_t n;
    lks_variable **own = lks__optimizer_variables(optimizer, &n);

    LKS_TRY(lks__weights_add_named_group(w, LKS_OPTIMIZER_PATH, lks__optimizer_name(optimizer)));
    if (n > 0) return add_variables(w, LKS_OPTIMIZER_PATH, n, own);
    LKS_TRY(add_scalar(w, LKS_OPTIMIZER_PATH "/0", LKS_INT64, 0));
    if (head->schedule != NULL) return LKS_OK;
    return add_scalar(w, LKS_OPTIMIZER_PATH "/1", LKS_FLOAT32, lks_optimizer_learning_rate(optimizer));
}

static lks_status config(const lks_model *model, char **out)
{
    json_t *object = NULL;
    lks_status status;

    LKS_TRY(lks__model_to_config(model, true, &object));
    status = lks__json_dump(object, out);
    json_decref(object);
    return status;
}

static lks_status make(const lks_model *model, lks_archive *a)
{
    LKS_TRY(lks_model_status(model));
    LKS_TRY(metadata(&a->metadata));
    LKS_TRY(config(model, &a->config));
    LKS_TRY(lks__save_tree(model, add_layer, &a->weights));
    return model->compiled != NULL ? add_optimizer(model, &a->weights) : LKS_OK;
}

lks_status lks_save(const lks_model *model, const char *path)
{
    lks_archive a = { 0 };
    lks_status status = make(model, &a);

    if (path == NULL) status = lks__fail(LKS_E_ARG, "the path is NULL");
    if (status == LKS_OK) status = lks__archive_write(path, &a);
    lks__archive_free(&a);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_save");
}

lks_status lks__save_memory(const lks_model *model, void **out, size_t *n)
{
    lks_archive a = { 0 };
    lks_status status = make(model, &a);

    if (status == LKS_OK) status = lks__archive_write_memory(&a, out, n);
    lks__archive_free(&a);
    return status;
}

lks_status lks_save_weights(const lks_model *model, const char *path)
{
    lks_weights w = { 0 };
    lks_status status = lks_model_status(model);

    if (status == LKS_OK && path == NULL) status = lks__fail(LKS_E_ARG, "the path is NULL");
    if (status == LKS_OK) status = lks__save_tree(model, add_layer, &w);
    if (status == LKS_OK) status = lks__weights_save(path, &w);
    lks__weights_free(&w);
    return status == LKS_OK ? LKS_OK : lks__context(status, "lks_save_weights");
}
