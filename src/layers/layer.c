/* layer.c - see layer.h: the life of a layer, its weights, and the frame around every call.
 *
 * Invariant: a layer is built by its first call and never again; later calls must fit the weights that it has.
 */
#include "layer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "initializers/initializer.h"
#include "weights.h"

typedef struct layer_head {
    LKS_LAYER_OPTIONS;
} layer_head;

void lks__layer_fail(lks_layer *layer, lks_status code)
{
    lks__error_capture(&layer->error, code);
}

lks_status lks__layer_status(const lks_layer *layer)
{
    if (layer == NULL) return lks__fail(LKS_E_NOMEM, "a layer could not be made: out of memory");
    return layer->error.code == LKS_OK ? LKS_OK : lks__error_raise(&layer->error);
}

static lks_status take_head(lks_layer *layer, const layer_head *head)
{
    if (head == NULL || head->struct_size < sizeof *head) return LKS_OK;
    layer->trainable = head->trainable != LKS_FALSE;
    if (head->dtype != NULL && strcmp(head->dtype, "float32") != 0) {
        return lks__fail(LKS_E_UNSUPPORTED, "dtype \"%.40s\" is not available yet; use \"float32\"", head->dtype);
    }
    if (head->name == NULL) return LKS_OK;
    if (*head->name == '\0' || strchr(head->name, '/') != NULL) {
        return lks__fail(LKS_E_ARG, "\"%.80s\" cannot be a layer's name: it must not be empty or hold \"/\"",
                         head->name);
    }
    layer->name = lks__strdup(head->name);
    return layer->name != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
}

static lks_layer *new_layer(const lks_layer_class *class_)
{
    lks_layer *layer = lks__calloc(1, sizeof *layer);

    if (layer == NULL) {
        lks__fail(LKS_E_NOMEM, "%s: out of memory", class_->name);
        return NULL;
    }
    layer->references = 1;
    layer->class_ = class_;
    layer->trainable = true;
    return layer;
}

lks_layer *lks__layer_create(const lks_layer_class *class_, const void *options)
{
    lks_layer *layer = new_layer(class_);
    lks_status status;

    if (layer == NULL) return NULL;
    status = take_head(layer, options);
    if (status == LKS_OK) status = lks__options_create(class_->fields, class_->options_size, options, &layer->options);
    if (status == LKS_OK && class_->check != NULL) status = class_->check(layer);
    if (status != LKS_OK) lks__layer_fail(layer, lks__context(status, "%s", class_->name));
    return layer;
}

/* The head's strings belong to the user or to JSON: nothing of them stays in the normalised options. */
lks_layer *lks__layer_create_normalised(const lks_layer_class *class_, void *options)
{
    lks_layer *layer = new_layer(class_);
    lks_status status;

    if (layer == NULL) {
        lks__options_free(class_->fields, options);
        return NULL;
    }
    layer->options = options;
    status = class_->check != NULL ? class_->check(layer) : LKS_OK;
    if (status != LKS_OK) lks__layer_fail(layer, lks__context(status, "%s", class_->name));
    return layer;
}

lks_layer *lks_layer_retain(lks_layer *layer)
{
    if (layer != NULL) __atomic_add_fetch(&layer->references, 1, __ATOMIC_RELAXED);
    return layer;
}

void lks_layer_release(lks_layer *layer)
{
    if (layer == NULL || __atomic_sub_fetch(&layer->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    if (layer->class_->release != NULL) layer->class_->release(layer);
    for (size_t i = 0; i < layer->n_weights; i++) {
        lks__variable_release(layer->weights[i]);
        lks__free(layer->info[i].initializer);
        lks__free(layer->info[i].regularizer);
        lks__free(layer->info[i].constraint);
    }
    lks__free(layer->weights);
    lks__free(layer->info);
    lks__free(layer->input_types);
    lks__free(layer->name);
    if (layer->options != NULL) lks__options_free(layer->class_->fields, layer->options);
    lks__free(layer);
}

const char *lks_layer_name(const lks_layer *layer)
{
    return layer != NULL ? layer->name : NULL;
}

lks_status lks_layer_set_trainable(lks_layer *layer, int trainable)
{
    LKS_TRY(lks__layer_status(layer));
    layer->trainable = trainable != 0;
    return LKS_OK;
}

/* ---- weights ---- */

static lks_status copy_spec(const char *spec, char **out)
{
    *out = spec != NULL ? lks__strdup(spec) : NULL;
    return spec == NULL || *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
}

lks_status lks__layer_add_weight(lks_layer *layer, const lks_weight_options *w)
{
    size_t n = layer->n_weights;
    lks_weight_info *info;
    lks_status status;

    LKS_TRY(lks__shape_check(&w->shape));
    LKS_TRY(lks__grow(&layer->weights, &layer->weights_capacity, n + 1, sizeof *layer->weights));
    LKS_TRY(lks__grow(&layer->info, &layer->info_capacity, n + 1, sizeof *layer->info));
    info = &layer->info[n];
    *info = (lks_weight_info){ 0 };
    status = copy_spec(w->initializer, &info->initializer);
    if (status == LKS_OK) status = copy_spec(w->regularizer, &info->regularizer);
    if (status == LKS_OK) status = copy_spec(w->constraint, &info->constraint);
    if (status == LKS_OK) {
        status = lks__variable_create(w->name, LKS_FLOAT32, w->shape, !w->frozen, &layer->weights[n]);
    }
    if (status != LKS_OK) {
        lks__free(info->initializer);
        lks__free(info->regularizer);
        lks__free(info->constraint);
        return lks__context(status, "weight %s", w->name);
    }
    layer->n_weights = n + 1;
    return LKS_OK;
}

lks_node lks__layer_weight(const lks_layer *layer, lks_trace *trace, size_t i)
{
    return i < layer->n_weights ? lks__graph_variable(trace->graph, layer->weights[i]) : lks__no_node;
}

lks_status lks__layer_initialize(lks_layer *layer, uint64_t seed)
{
    LKS_TRY(lks__layer_status(layer));
    for (size_t i = 0; i < layer->n_weights; i++) {
        lks_variable *v = layer->weights[i];
        lks_weight_info *info = &layer->info[i];
        lks_status status;
        if (info->initialized || info->initializer == NULL) continue;
        status = lks__initializer_draw(info->initializer, lks_tensor_shape(v->value), seed, v->path,
                                       lks__variable_floats(v));
        if (status != LKS_OK) return lks__context(status, "%s", v->path);
        info->initialized = true;
    }
    return LKS_OK;
}
