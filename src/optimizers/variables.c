/* variables.c - see optimizer.h: the variables of an optimizer, made in the order in which Keras makes (and saves) them. */
#include <string.h>

#include "base/text.h"
#include "optimizer.h"

/* "adam/dense_kernel_momentum": the path of the weight with its slashes replaced, as Keras names slots. */
static lks_status make(lks_optimizer *o, const char *of, const char *what, lks_dtype dtype, lks_shape shape,
                       double initial, lks_variable **out)
{
    lks_text path = { 0 };
    char *text;
    lks_status status;

    lks__text_printf(&path, "%s/", lks__optimizer_name(o));
    for (const char *c = of; c != NULL && *c != '\0'; c++) lks__text_append(&path, *c == '/' ? "_" : c, 1);
    lks__text_printf(&path, "%s%s", of != NULL ? "_" : "", what);
    LKS_TRY(lks__text_take(&path, &text));
    status = lks__grow(&o->all, &o->all_capacity, o->n_all + 1, sizeof *o->all);
    if (status == LKS_OK) status = lks__variable_create(text, dtype, shape, false, out);
    lks__free(text);
    LKS_TRY(status);
    o->all[o->n_all++] = *out;
    if (dtype == LKS_FLOAT32 && initial != 0) {
        for (int64_t i = 0; i < lks_shape_size(&shape); i++) lks__variable_floats(*out)[i] = (float)initial;
    }
    return LKS_OK;
}

static lks_status make_beside(lks_optimizer *o, size_t i, const char *what, double initial, lks_variable ***list)
{
    if (*list == NULL) *list = lks__calloc(o->n + 1, sizeof **list);
    if (*list == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    return make(o, o->model[i]->path, what, LKS_FLOAT32, lks_tensor_shape(o->model[i]->value), initial, &(*list)[i]);
}

static lks_status make_slots(lks_optimizer *o)
{
    lks_slot slots[LKS_MAX_SLOTS];
    int n = o->class_->slots(o->options, slots);

    for (int first = 0, last; first < n; first = last + 1) {
        for (last = first; slots[last].paired && last + 1 < n; last++) {}
        for (size_t i = 0; i < o->n; i++) {
            for (int k = first; k <= last; k++) {
                LKS_TRY(make_beside(o, i, slots[k].name, slots[k].initial, &o->slot[slots[k].number]));
            }
        }
    }
    return LKS_OK;
}

static lks_status make_all(lks_optimizer *o)
{
    const lks_optimizer_head *head = o->options;
    lks_shape scalar = { 0 };

    LKS_TRY(make(o, NULL, "iteration", LKS_INT64, scalar, 0, &o->iteration));
    if (head->schedule == NULL) {
        LKS_TRY(make(o, NULL, "learning_rate", LKS_FLOAT32, scalar, head->learning_rate, &o->learning_rate));
    }
    for (size_t i = 0; i < o->n && head->use_ema == LKS_TRUE; i++)
        LKS_TRY(make_beside(o, i, "average", 0, &o->average));
    for (size_t i = 0; i < o->n && head->gradient_accumulation_steps != LKS_NONE_INT; i++) {
        LKS_TRY(make_beside(o, i, "gradient_accumulator", 0, &o->accumulator));
    }
    LKS_TRY(make_slots(o));
    return o->class_->scalar == NULL ? LKS_OK : make(o, NULL, o->class_->scalar, LKS_FLOAT32, scalar, 1, &o->scalar);
}

lks_status lks__optimizer_build(lks_optimizer *o, size_t n, lks_variable *const *vars)
{
    lks_status status;

    LKS_TRY(lks__optimizer_status(o));
    if (o->built) return lks__fail(LKS_E_STATE, "optimizer %s already belongs to a model", lks__optimizer_name(o));
    o->model = lks__calloc(n + 1, sizeof *o->model);
    if (o->model == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) o->model[i] = lks__variable_retain(vars[i]);
    o->n = n;
    o->built = true;
    status = make_all(o);
    if (status != LKS_OK) lks__error_capture(&o->error, lks__context(status, "optimizer %s", lks__optimizer_name(o)));
    return status;
}

lks_variable **lks__optimizer_variables(const lks_optimizer *o, size_t *n)
{
    *n = o != NULL ? o->n_all : 0;
    return o != NULL ? o->all : NULL;
}

void lks__optimizer_set_iterations(lks_optimizer *o, int64_t n)
{
    if (o != NULL && o->iteration != NULL) *(int64_t *)lks_tensor_data(o->iteration->value) = n;
}

int64_t lks__optimizer_iterations(const lks_optimizer *o)
{
    return o != NULL && o->iteration != NULL ? *(const int64_t *)lks_tensor_cdata(o->iteration->value) : 0;
}

void lks__optimizer_finalize(lks_optimizer *o)
{
    if (o == NULL || o->average == NULL) return;
    for (size_t i = 0; i < o->n; i++) {
        size_t bytes = (size_t)lks_tensor_size(o->model[i]->value) * sizeof(float);
        memcpy(lks__variable_floats(o->model[i]), lks__variable_floats(o->average[i]), bytes);
    }
}
