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

int lks_model_takes_classes(const lks_model *model, size_t i)
{
    const lks_loss *loss;

    if (lks_model_status(model) != LKS_OK || model->compiled == NULL || i >= model->n_outputs) return 0;
    loss = model->compiled->losses[i];
    return loss != NULL && loss->class_ != NULL && loss->class_->labels;
}
