/* op_argmax.c - the place of the largest element along an axis, int32; the first of equals. NaN counts as smaller than
 * everything. No gradient passes. */
#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    int64_t axis = *(const int64_t *)attrs;
    char text[LKS_TYPE_TEXT];
    lks_type t = { .dtype = LKS_INT32 };

    LKS_TRY(lks__expect_inputs("argmax", 1, n_in));
    LKS_TRY(lks__expect_dtype("argmax", in[0], LKS_FLOAT32));
    if (axis < 0 || axis >= in[0]->shape.rank)
        return lks__fail(LKS_E_SHAPE, "argmax: axis %lld is outside of %s", (long long)axis,
                         lks__type_text(in[0], text));
    if (in[0]->shape.dim[axis] < 1)
        return lks__fail(LKS_E_SHAPE, "argmax: %s has no elements along the axis", lks__type_text(in[0], text));
    t.batched = in[0]->batched;
    t.local = in[0]->local;
    for (int64_t i = 0; i < in[0]->shape.rank; i++)
        if (i != axis) t.shape.dim[t.shape.rank++] = in[0]->shape.dim[i];
    *out = t;
    return LKS_OK;
}

static int32_t first_largest(const float *x, int64_t n, int64_t stride)
{
    int32_t best = 0;
    float top = -__builtin_inff();

    for (int64_t i = 0; i < n; i++)
        if (x[i * stride] > top) {
            top = x[i * stride];
            best = (int32_t)i;
        }
    return best;
}

static void run(const lks_op_call *call)
{
    int64_t axis = *(const int64_t *)call->attrs, outer = call->n, inner = 1;
    const lks_shape *s = &call->in_type[0]->shape;
    const float *x = call->in[0];
    int32_t *y = call->out;

    for (int64_t i = 0; i < axis; i++) outer *= s->dim[i];
    for (int64_t i = axis + 1; i < s->rank; i++) inner *= s->dim[i];
    for (int64_t o = 0; o < outer; o++, x += s->dim[axis] * inner)
        for (int64_t i = 0; i < inner; i++) *y++ = first_largest(x + i, s->dim[axis], inner);
}

static const int64_t axis_0 = 0, axis_1 = 1;

static const lks_op_case cases[] = {
    { .name = "vector", .attrs = &axis_0, .n_in = 1, .in = { LKS_ROW(1, 10) } },
    { .name = "first axis", .attrs = &axis_0, .n_in = 1, .in = { LKS_ROW(2, 4, 5) } },
    { .name = "middle axis", .attrs = &axis_1, .n_in = 1, .in = { LKS_SHARED(3, 2, 4, 5) } },
    { .name = NULL },
};

const lks_op lks__op_argmax = {
    .name = "argmax",
    .attrs_size = sizeof(int64_t),
    .infer = infer,
    .run = run,
    .cases = cases,
};
