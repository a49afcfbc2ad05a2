/* inquire.c - what programs that are handed a model they did not build can ask about it. */
#include "model.h"

static lks_shape with_batch(const lks_type *type)
{
    lks_shape s = { .rank = 0 };

    if (type->batched) s.dim[s.rank++] = -1;
    for (int64_t i = 0; i < type->shape.rank && s.rank < LKS_MAX_RANK; i++) s.dim[s.rank++] = type->shape.dim[i];
    return s;
}

lks_shape lks_model_input_shape(const lks_model *model, size_t i)
{
    if (lks_model_status(model) != LKS_OK || !model->built || i >= model->n_inputs) return (lks_shape){ .rank = -1 };
    return with_batch(lks__model_input_type(model, i));
}

lks_shape lks_model_output_shape(const lks_model *model, size_t i)
{
    if (lks_model_status(model) != LKS_OK || !model->built || i >= model->n_outputs) return (lks_shape){ .rank = -1 };
    return with_batch(lks__model_output_type(model, i));
}

int lks_model_is_compiled(const lks_model *model)
{
    return lks_model_status(model) == LKS_OK && model->compiled != NULL;
}

int lks_model_takes_classes(const lks_model *model, size_t i)
{
    const lks_loss *loss;

    if (lks_model_status(model) != LKS_OK || model->compiled == NULL || i >= model->n_outputs) return 0;
    loss = model->compiled->losses[i];
    return loss != NULL && loss->class_ != NULL && loss->class_->labels;
}

static lks_node value_of(lks_model *model, const char *what, size_t i, size_t n, const int64_t *values)
{
    if (lks_model_status(model) != LKS_OK) return lks__no_node;
    if (model->built && i < n) return lks__symbolic_node(model->recording, values[i]);
    if (model->built) lks__fail(LKS_E_ARG, "model '%s' has no %s %zu", model->name, what, i);
    else lks__fail(LKS_E_STATE, "model '%s' has no %s before its input shape is known", model->name, what);
    return lks__no_node;
}

lks_node lks_model_input(lks_model *model, size_t i)
{
    return value_of(model, "input", i, model != NULL ? model->n_inputs : 0, model != NULL ? model->inputs : NULL);
}

lks_node lks_model_output(lks_model *model, size_t i)
{
    return value_of(model, "output", i, model != NULL ? model->n_outputs : 0, model != NULL ? model->outputs : NULL);
}
