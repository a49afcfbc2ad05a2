/* op_pad.c - a value around the row, and between neighbours (interior), on each axis. */
#include "build.h"
#include "move.h"
#include "tensor/tensor.h"

static lks_status padded_size(const lks_pad_attrs *a, int64_t axis, int64_t size, int64_t *out)
{
    const int64_t most = INT64_MAX / 4;
    int64_t gaps = size > 0 ? size - 1 : 0;

    if (a->before[axis] < 0 || a->after[axis] < 0 || a->interior[axis] < 0)
        return lks__fail(LKS_E_ARG, "pad: axis %lld: expected padding of 0 or more, got %lld before, %lld after",
                         (long long)axis, (long long)a->before[axis], (long long)a->after[axis]);
    if (a->before[axis] > most || a->after[axis] > most || (gaps > 0 && a->interior[axis] > most / gaps))
        return lks__fail(LKS_E_LIMIT, "pad: axis %lld grows too long", (long long)axis);
    *out = a->before[axis] + size + gaps * a->interior[axis] + a->after[axis];
    return LKS_OK;
}

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_pad_attrs *a = attrs;
    lks_type t;

    LKS_TRY(lks__expect_inputs("pad", 1, n_in));
    t = *in[0];
    for (int64_t i = 0; i < t.shape.rank; i++) LKS_TRY(padded_size(a, i, in[0]->shape.dim[i], &t.shape.dim[i]));
    LKS_TRY(lks__shape_check(&t.shape));
    *out = t;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    const lks_pad_attrs *a = call->attrs;
    const lks_shape *in = &call->in_type[0]->shape, *out = &call->out_type->shape;
    size_t element = lks_dtype_size(call->out_type->dtype);
    int64_t from[LKS_MAX_RANK], to[LKS_MAX_RANK], start = 0;
    lks_move m = { .axes = 0 };

    lks__move_fill(call->out_type->dtype, a->value, call->out, call->n * lks__type_size(call->out_type));
    lks__strides(in, from);
    lks__strides(out, to);
    lks__move_axis(&m, call->n, lks__type_size(call->in_type[0]), lks__type_size(call->out_type));
    for (int64_t i = 0; i < in->rank; i++) {
        lks__move_axis(&m, in->dim[i], from[i], to[i] * (1 + a->interior[i]));
        start += a->before[i] * to[i];
    }
    if (lks__type_size(call->in_type[0]) > 0)
        lks__move_run(&m, element, call->in[0], (char *)call->out + (size_t)start * element);
}

/* Cuts the padding off again, axis by axis. */
static void gradient(const lks_vjp *v)
{
    const lks_pad_attrs *a = v->attrs;
    const lks_shape shape = lks__node_type(v->in[0])->shape;
    lks_node d = v->d_out;

    for (int64_t i = 0; i < shape.rank; i++) {
        lks_slice_attrs s = { .axis = i, .begin = a->before[i], .step = a->interior[i] + 1 };
        if (a->before[i] == 0 && a->after[i] == 0 && a->interior[i] == 0) continue;
        s.end = s.begin + (shape.dim[i] > 0 ? (shape.dim[i] - 1) * s.step + 1 : 0);
        d = lks__graph_unary(&lks__op_slice, &s, d);
    }
    v->d_in[0] = d;
}

static const lks_pad_attrs around = { .before = { 1, 2 }, .after = { 2, 0 }, .value = 0.5 },
                           apart = { .before = { 0, 1 }, .interior = { 2, 0, 1 } };

static const lks_op_case cases[] = {
    { .name = "around an image", .attrs = &around, .n_in = 1, .in = { LKS_ROW(3, 3, 4, 2) }, .tolerance = 1e-2 },
    { .name = "interior", .attrs = &apart, .n_in = 1, .in = { LKS_SHARED(3, 3, 4, 2) }, .tolerance = 1e-2 },
    { .name = "no elements", .attrs = &around, .n_in = 1, .in = { LKS_ROW(2, 0, 2) } },
    { .name = "int32", .attrs = &around, .n_in = 1, .in = { LKS_ROW_OF(LKS_INT32, 2, 2, 2) }, .low = -9, .high = 9 },
    { .name = NULL },
};

const lks_op lks__op_pad = {
    .name = "pad",
    .attrs_size = sizeof(lks_pad_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
