/* op_concatenate.c - any number of rows side by side along an axis; equal on the others. */
#include <string.h>

#include "build.h"

static bool joins(const lks_type *a, const lks_type *b, int64_t axis)
{
    if (a->dtype != b->dtype || a->batched != b->batched || a->shape.rank != b->shape.rank) return false;
    for (int64_t i = 0; i < a->shape.rank; i++)
        if (i != axis && a->shape.dim[i] != b->shape.dim[i]) return false;
    return true;
}

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    int64_t axis = *(const int64_t *)attrs;
    char text_a[LKS_TYPE_TEXT], text_b[LKS_TYPE_TEXT];
    lks_type t;

    if (n_in < 1) return lks__fail(LKS_E_ARG, "concatenate takes at least 1 input, got 0");
    t = *in[0];
    if (axis < 0 || axis >= t.shape.rank)
        return lks__fail(LKS_E_SHAPE, "concatenate: axis %lld is outside of %s", (long long)axis,
                         lks__type_text(in[0], text_a));
    for (int i = 1; i < n_in; i++) {
        if (!joins(in[0], in[i], axis))
            return lks__fail(LKS_E_SHAPE, "concatenate: %s and %s must be equal but for the axis they are joined along",
                             lks__type_text(in[0], text_a), lks__type_text(in[i], text_b));
        t.shape.dim[axis] += in[i]->shape.dim[axis];
        t.local = t.local || in[i]->local;
        if (lks_shape_size(&t.shape) < 0)
            return lks__fail(LKS_E_LIMIT, "concatenate: the result has too many elements");
    }
    *out = t;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    int64_t axis = *(const int64_t *)call->attrs, outer = call->n;
    const lks_shape *s = &call->out_type->shape;
    size_t inner = lks_dtype_size(call->out_type->dtype), pitch;
    char *out = call->out;

    for (int64_t i = 0; i < axis; i++) outer *= s->dim[i];
    for (int64_t i = axis + 1; i < s->rank; i++) inner *= (size_t)s->dim[i];
    pitch = inner * (size_t)s->dim[axis];
    for (int k = 0; k < call->n_in; k++) {
        size_t bytes = inner * (size_t)call->in_type[k]->shape.dim[axis];
        const char *in = call->in[k];
        for (int64_t o = 0; o < outer; o++) memcpy(out + (size_t)o * pitch, in + (size_t)o * bytes, bytes);
        out += bytes;
    }
}

static void gradient(const lks_vjp *v)
{
    lks_slice_attrs s = { .axis = *(const int64_t *)v->attrs, .step = 1 };

    for (int i = 0; i < v->n_in; i++) {
        s.begin = s.end;
        s.end += lks__node_type(v->in[i])->shape.dim[s.axis];
        if (v->wanted[i]) v->d_in[i] = lks__graph_unary(&lks__op_slice, &s, v->d_out);
    }
}

static const int64_t axis_0 = 0, axis_2 = 2;

static const lks_op_case cases[] = {
    { .name = "vectors",
      .attrs = &axis_0,
      .n_in = 3,
      .in = { LKS_ROW(1, 3), LKS_ROW(1, 1), LKS_ROW(1, 5) },
      .tolerance = 1e-2 },
    { .name = "channels",
      .attrs = &axis_2,
      .n_in = 2,
      .in = { LKS_ROW(3, 4, 4, 3), LKS_ROW(3, 4, 4, 2) },
      .tolerance = 1e-2 },
    { .name = "shared",
      .attrs = &axis_0,
      .n_in = 2,
      .in = { LKS_SHARED(2, 2, 3), LKS_SHARED(2, 4, 3) },
      .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_concatenate = {
    .name = "concatenate",
    .attrs_size = sizeof(int64_t),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
