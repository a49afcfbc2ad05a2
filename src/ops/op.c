/* op.c - the table of all ops, type helpers, common shape rules. */
#include "op.h"

#include <stdio.h>
#include <string.h>

const lks_op *const lks__ops[] = {
#define LKS_OP(name) &lks__op_##name,
#include "op_list.h"
#undef LKS_OP
    NULL
};

const lks_op *lks__op_find(const char *name)
{
    for (const lks_op *const *op = lks__ops; *op != NULL; op++)
        if (strcmp((*op)->name, name) == 0) return *op;
    return NULL;
}

int64_t lks__type_size(const lks_type *type)
{
    return lks_shape_size(&type->shape);
}

size_t lks__type_bytes(const lks_type *type)
{
    return (size_t)lks__type_size(type) * lks_dtype_size(type->dtype);
}

const char *lks__type_text(const lks_type *type, char *buffer)
{
    const lks_shape *s = &type->shape;
    size_t n = (size_t)snprintf(buffer, LKS_TYPE_TEXT, type->batched ? "(None" : "(");
    int64_t axes = s->rank + type->batched;

    for (int64_t i = 0; i < s->rank && n < LKS_TYPE_TEXT; i++)
        n += (size_t)snprintf(buffer + n, LKS_TYPE_TEXT - n, i > 0 || type->batched ? ", %lld" : "%lld",
                              (long long)s->dim[i]);
    if (n < LKS_TYPE_TEXT)
        snprintf(buffer + n, LKS_TYPE_TEXT - n, axes == 1 ? ",) %s" : ") %s", lks_dtype_name(type->dtype));
    return buffer;
}

lks_status lks__expect_inputs(const char *op, int want, int got)
{
    if (want == got) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s takes %d input%s, got %d", op, want, want == 1 ? "" : "s", got);
}

lks_status lks__expect_dtype(const char *op, const lks_type *type, lks_dtype want)
{
    char text[LKS_TYPE_TEXT];

    if (type->dtype == want) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s: expected a %s value, got %s; convert it with lks_ops_cast", op,
                     lks_dtype_name(want), lks__type_text(type, text));
}

static lks_status broadcast_shapes(const lks_shape *a, const lks_shape *b, lks_shape *out)
{
    int64_t rank = a->rank > b->rank ? a->rank : b->rank;
    lks_shape s = { .rank = rank };

    for (int64_t i = 1; i <= rank; i++) { /* from the last axis */
        int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1, y = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1) return LKS_E_SHAPE;
        s.dim[rank - i] = x == 1 ? y : x;
    }
    *out = s;
    return LKS_OK;
}

lks_status lks__broadcast_types(const char *op, const lks_type *a, const lks_type *b, lks_type *out)
{
    char text_a[LKS_TYPE_TEXT], text_b[LKS_TYPE_TEXT];
    lks_type t = { .dtype = a->dtype, .batched = a->batched || b->batched };

    t.local = !t.batched && (a->local || b->local);
    if (broadcast_shapes(&a->shape, &b->shape, &t.shape) != LKS_OK)
        return lks__fail(LKS_E_SHAPE, "%s: %s and %s do not broadcast: from the last axis, sizes must be equal or 1",
                         op, lks__type_text(a, text_a), lks__type_text(b, text_b));
    if (lks__type_size(&t) < 0) return lks__fail(LKS_E_LIMIT, "%s: the result has too many elements", op);
    *out = t;
    return LKS_OK;
}
