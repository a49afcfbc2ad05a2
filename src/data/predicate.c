/* predicate.c - asking a function for one scalar. */
#include "predicate.h"

lks_status lks__scalar_open(lks_scalar_call *c, const lks_data_fn *f, const lks_spec *in)
{
    lks_spec *spec = lks__data_fn_spec(f, in);

    if (spec == NULL) return lks__error_code();
    c->f = f;
    c->index = 0;
    c->results = lks__buffers_create(spec, 0);
    lks_spec_release(spec);
    return c->results == NULL ? LKS_E_NOMEM : LKS_OK;
}

void lks__scalar_close(lks_scalar_call *c)
{
    lks__buffers_release(c->results);
    c->results = NULL;
}

int64_t lks__scalar_value(const lks_tensor *t)
{
    const void *data = lks_tensor_cdata(t);

    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: return *(const int64_t *)data;
    case LKS_INT32: return *(const int32_t *)data;
    default: return *(const char *)data != 0;
    }
}

lks_status lks__scalar_of(lks_scalar_call *c, uint64_t lineage, lks_element *e, int64_t *out)
{
    lks_call_place place = { .index = c->index, .lineage = lineage };
    lks_element *result;

    c->index++;
    LKS_TRY(lks__data_fn_apply(c->f, place, e, c->results, &result));
    *out = lks__scalar_value(lks_element_tensor(result, 0));
    lks_element_release(result);
    return LKS_OK;
}
