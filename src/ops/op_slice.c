/* op_slice.c - every step-th element of [begin, end) along an axis of the row. */
#include "build.h"
#include "move.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_slice_attrs *a = attrs;
    char text[LKS_TYPE_TEXT];
    int64_t size;

    LKS_TRY(lks__expect_inputs("slice", 1, n_in));
    if (a->axis < 0 || a->axis >= in[0]->shape.rank)
        return lks__fail(LKS_E_SHAPE, "slice: axis %lld is outside of %s", (long long)a->axis,
                         lks__type_text(in[0], text));
    size = in[0]->shape.dim[a->axis];
    if (a->step < 1 || a->begin < 0 || a->end < a->begin || a->end > size)
        return lks__fail(LKS_E_ARG, "slice: %lld up to %lld in steps of %lld does not lie in an axis of size %lld",
                         (long long)a->begin, (long long)a->end, (long long)a->step, (long long)size);
    *out = *in[0];
    out->shape.dim[a->axis] = a->end == a->begin ? 0 : (a->end - a->begin - 1) / a->step + 1;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    const lks_slice_attrs *a = call->attrs;
    const lks_shape *in = &call->in_type[0]->shape, *out = &call->out_type->shape;
    size_t element = lks_dtype_size(call->out_type->dtype);
    int64_t from[LKS_MAX_RANK], to[LKS_MAX_RANK];
    lks_move m = { .axes = 0 };

    lks__strides(in, from);
    lks__strides(out, to);
    lks__move_axis(&m, call->n, lks__type_size(call->in_type[0]), lks__type_size(call->out_type));
    for (int64_t i = 0; i < out->rank; i++)
        lks__move_axis(&m, out->dim[i], from[i] * (i == a->axis ? a->step : 1), to[i]);
    lks__move_run(&m, element, (const char *)call->in[0] + (size_t)(a->begin * from[a->axis]) * element, call->out);
}

/* Back to its place, zeros elsewhere. */
static void gradient(const lks_vjp *v)
{
    const lks_slice_attrs *a = v->attrs;
    lks_pad_attrs p = { .value = 0 };
    int64_t n = lks__node_type(v->out)->shape.dim[a->axis], size = lks__node_type(v->in[0])->shape.dim[a->axis];

    p.before[a->axis] = a->begin;
    p.interior[a->axis] = a->step - 1;
    p.after[a->axis] = size - a->begin - (n > 0 ? (n - 1) * a->step + 1 : 0);
    v->d_in[0] = lks__graph_unary(&lks__op_pad, &p, v->d_out);
}

static const lks_slice_attrs inner = { .axis = 2, .begin = 1, .end = 3, .step = 1 },
                             every_third = { .axis = 0, .begin = 1, .end = 8, .step = 3 },
                             every_second = { .axis = 2, .begin = 0, .end = 5, .step = 2 },
                             nothing = { .axis = 1, .begin = 2, .end = 2, .step = 1 };

static const lks_op_case cases[] = {
    { .name = "inner axis", .attrs = &inner, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 5) }, .tolerance = 1e-2 },
    { .name = "every third row", .attrs = &every_third, .n_in = 1, .in = { LKS_ROW(2, 8, 3) }, .tolerance = 1e-2 },
    { .name = "every second element",
      .attrs = &every_second,
      .n_in = 1,
      .in = { LKS_SHARED(3, 2, 3, 5) },
      .tolerance = 1e-2 },
    { .name = "nothing", .attrs = &nothing, .n_in = 1, .in = { LKS_ROW(2, 2, 3) } },
    { .name = NULL },
};

const lks_op lks__op_slice = {
    .name = "slice",
    .attrs_size = sizeof(lks_slice_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
