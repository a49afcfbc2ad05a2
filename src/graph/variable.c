/* variable.c - values that outlive a step. */
#include "graph.h"
#include "tensor/tensor.h"

static _Thread_local int64_t limit = INT64_MAX;

int64_t lks__variable_limit(int64_t elements)
{
    int64_t former = limit;

    limit = elements;
    return former;
}

static lks_status count_against_limit(const char *path, const lks_shape *shape)
{
    int64_t size = lks_shape_size(shape);
    char text[LKS_SHAPE_TEXT];

    if (limit == INT64_MAX) return LKS_OK;
    if (size < 0 || size > limit) {
        return lks__fail(LKS_E_FORMAT, "'%s' of shape %s is larger than what the file holds", path,
                         lks__shape_text(shape, text));
    }
    limit -= size;
    return LKS_OK;
}

lks_status lks__variable_create(const char *path, lks_dtype dtype, lks_shape shape, bool trainable, lks_variable **out)
{
    lks_variable *v;

    LKS_TRY(count_against_limit(path, &shape));
    v = lks__calloc(1, sizeof *v);
    if (v == NULL) return lks__fail(LKS_E_NOMEM, "no memory for variable '%s'", path);
    v->references = 1;
    v->trainable = trainable;
    v->path = lks__strdup(path);
    v->value = lks_tensor_create(dtype, shape);
    if (v->path == NULL || v->value == NULL) {
        lks_status status = v->path == NULL ? lks__fail(LKS_E_NOMEM, "no memory for variable '%s'", path)
                                            : lks__context(LKS_E_NOMEM, "variable '%s'", path);
        lks__variable_release(v);
        return status;
    }
    *out = v;
    return LKS_OK;
}

lks_variable *lks__variable_retain(lks_variable *v)
{
    v->references++;
    return v;
}

void lks__variable_release(lks_variable *v)
{
    if (v == NULL || --v->references > 0) return;
    lks__free(v->path);
    lks_tensor_release(v->value);
    lks__free(v);
}

void lks__variable_changed(lks_variable *v)
{
    atomic_fetch_add_explicit(&v->version, 1, memory_order_relaxed);
}

bool lks__variable_is_shared(const lks_variable *v)
{
    return lks__tensor_references(v->value) > 1;
}

float *lks__variable_floats(lks_variable *v)
{
    lks__variable_changed(v);
    return lks_tensor_data(v->value);
}
