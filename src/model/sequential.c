/* sequential.c - a chain of layers. With an input shape every layer is called as it is added; without one the layers wait until
 * the first data or the first call as a layer gives the shape.
 */
#include "base/options.h"
#include "names.h"
#include "tensor/tensor.h"

static lks_status read_shape(const lks_sequential_options *o, lks_model *m)
{
    const char *dtype = o->input_dtype != NULL ? o->input_dtype : "float32";
    lks_shape s = { 0 };

    m->input_dtype = lks__dtype_from_name(dtype);
    if (m->input_dtype == 0) return lks__fail(LKS_E_ARG, "lks_sequential: input_dtype '%s' does not exist", dtype);
    while (s.rank < LKS_MAX_RANK - 1 && o->input_shape[s.rank] != 0) {
        s.dim[s.rank] = o->input_shape[s.rank];
        s.rank++;
    }
    if (s.rank == 0) return LKS_OK;
    LKS_TRY(lks__shape_check(&s));
    m->input_shape = s;
    return LKS_OK;
}

/* The chain so far ends in value outputs[0]; calls one more layer on it. */
static lks_status extend(lks_model *m, lks_layer *layer)
{
    lks_node in = lks__symbolic_node(m->recording, m->outputs[0]), out;
    int64_t value;

    lks__symbolic_call(layer, 1, &in, 1, &out);
    if (m->recording->base.error.code != LKS_OK) return lks__error_raise(&m->recording->base.error);
    lks__symbolic_of(out, &value);
    m->outputs[0] = value;
    return LKS_OK;
}

static lks_status start(lks_model *m, lks_type row, const char *name)
{
    lks_node in = lks__symbolic_input(row, name);
    int64_t value;

    m->recording = lks__symbolic_of(in, &value);
    if (m->recording == NULL) return LKS_E_NOMEM;
    m->recording->references++;
    if (value < 0) return lks__error_raise(&m->recording->base.error);
    m->inputs = lks__calloc(1, sizeof *m->inputs);
    m->outputs = lks__calloc(1, sizeof *m->outputs);
    if (m->inputs == NULL || m->outputs == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model");
    m->inputs[0] = m->outputs[0] = value;
    m->n_inputs = m->n_outputs = 1;
    m->built = true;
    return LKS_OK;
}

/* Names of waiting layers stay, so that weights found by name do not depend on when the shape became known. */
static lks_status rename_and_draw(lks_model *m)
{
    LKS_TRY(lks__model_assemble(m));
    return lks__model_initialize(m);
}

lks_status lks__sequential_build(lks_model *m, lks_type row)
{
    lks_layer **waiting = m->layers;
    size_t n = m->n_layers;
    lks_status status;

    if (m->built) return LKS_OK;
    row.batched = true;
    m->layers = NULL;
    m->n_layers = m->layers_capacity = 0;
    m->input_dtype = row.dtype;
    m->input_shape = row.shape;
    status = start(m, row, NULL);
    for (size_t i = 0; i < n; i++) {
        if (status == LKS_OK) status = extend(m, waiting[i]);
        lks_layer_release(waiting[i]);
    }
    lks__free(waiting);
    if (status == LKS_OK) status = rename_and_draw(m);
    lks__error_capture(&m->error, status);
    return status;
}

lks_model *lks_sequential_with(const lks_sequential_options *options)
{
    lks_sequential_options o = { 0 };
    lks_model *m;
    lks_status status;

    lks__options_copy(&o, sizeof o, options);
    m = lks__model_alloc(o.name, "sequential");
    if (m == NULL) return NULL;
    m->sequential = true;
    m->seed = lks__seed_option(o.seed);
    status = read_shape(&o, m);
    if (status == LKS_OK && m->input_shape.rank >= 0) {
        lks_type row = { .dtype = m->input_dtype, .batched = true, .shape = m->input_shape };
        status = start(m, row, NULL);
    }
    lks__error_capture(&m->error, status);
    return m;
}

static lks_status add(lks_model *m, lks_layer *layer)
{
    LKS_TRY(lks_model_status(m));
    LKS_TRY(lks__layer_status(layer));
    if (m->built) {
        LKS_TRY(extend(m, layer));
        return rename_and_draw(m);
    }
    LKS_TRY(lks__grow(&m->layers, &m->layers_capacity, m->n_layers + 1, sizeof *m->layers));
    m->layers[m->n_layers++] = lks_layer_retain(layer);
    return lks__name_layers(m);
}

void lks_sequential_add(lks_model *model, lks_layer *layer)
{
    lks_status status = LKS_OK;

    if (model != NULL && !model->sequential && model->error.code == LKS_OK)
        status = lks__fail(LKS_E_STATE, "model '%s' is not sequential: layers cannot be added to it", model->name);
    else if (model != NULL) status = add(model, layer);
    if (model != NULL) lks__error_capture(&model->error, status);
    lks_layer_release(layer);
}
