/* op_transpose.c - the axes of the row in another order. */
#include "build.h"
#include "move.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_transpose_attrs *a = attrs;
    char text[LKS_TYPE_TEXT];
    unsigned seen = 0;
    lks_type t;

    LKS_TRY(lks__expect_inputs("transpose", 1, n_in));
    t = *in[0];
    for (int64_t i = 0; i < t.shape.rank; i++) {
        int64_t p = a->perm[i];
        if (p < 0 || p >= t.shape.rank || (seen >> p & 1) != 0)
            return lks__fail(LKS_E_ARG, "transpose: the axes are not a permutation of those of %s",
                             lks__type_text(in[0], text));
        seen |= 1u << p;
        t.shape.dim[i] = in[0]->shape.dim[p];
    }
    *out = t;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    const lks_transpose_attrs *a = call->attrs;
    const lks_shape *out = &call->out_type->shape;
    int64_t from[LKS_MAX_RANK], to[LKS_MAX_RANK], size = lks__type_size(call->out_type);
    lks_move m = { .axes = 0 };

    lks__strides(&call->in_type[0]->shape, from);
    lks__strides(out, to);
    lks__move_axis(&m, call->n, size, size);
    for (int64_t i = 0; i < out->rank; i++) lks__move_axis(&m, out->dim[i], from[a->perm[i]], to[i]);
    if (size > 0) lks__move_run(&m, lks_dtype_size(call->out_type->dtype), call->in[0], call->out);
}

static void gradient(const lks_vjp *v)
{
    const lks_transpose_attrs *a = v->attrs;
    lks_transpose_attrs back = { { 0 } };

    for (int64_t i = 0; i < lks__node_type(v->out)->shape.rank; i++) back.perm[a->perm[i]] = i;
    v->d_in[0] = lks__graph_unary(&lks__op_transpose, &back, v->d_out);
}

static const lks_transpose_attrs swap = { { 1, 0 } }, cycle = { { 2, 0, 1 } }, channels = { { 1, 0, 2 } };

static const lks_op_case cases[] = {
    { .name = "matrix", .attrs = &swap, .n_in = 1, .in = { LKS_SHARED(2, 3, 5) }, .tolerance = 1e-2 },
    { .name = "cycle", .attrs = &cycle, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 5) }, .tolerance = 1e-2 },
    { .name = "last axis stays", .attrs = &channels, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 5) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_transpose = {
    .name = "transpose",
    .attrs_size = sizeof(lks_transpose_attrs),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
