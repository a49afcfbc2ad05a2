/* op_reshape.c - the same elements in another shape of the row (or of a shared value). A view: no kernel is needed. */
#include <string.h>

#include "build.h"
#include "tensor/tensor.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_shape *shape = attrs;
    char text_in[LKS_TYPE_TEXT], text[LKS_SHAPE_TEXT];

    LKS_TRY(lks__expect_inputs("reshape", 1, n_in));
    LKS_TRY(lks__shape_check(shape));
    if (lks_shape_size(shape) != lks__type_size(in[0]))
        return lks__fail(LKS_E_SHAPE, "reshape: %s (%lld elements%s) does not fit shape %s (%lld elements)",
                         lks__type_text(in[0], text_in), (long long)lks__type_size(in[0]),
                         in[0]->batched ? " an example" : "", lks__shape_text(shape, text),
                         (long long)lks_shape_size(shape));
    *out = *in[0];
    out->shape = *shape;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    memcpy(call->out, call->in[0], (size_t)call->n * lks__type_bytes(call->out_type));
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_unary(&lks__op_reshape, &lks__node_type(v->in[0])->shape, v->d_out);
}

static const lks_shape flat = { 1, { 24 } }, square = { 3, { 2, 3, 4 } };

static const lks_op_case cases[] = {
    { .name = "flatten", .attrs = &flat, .n_in = 1, .in = { LKS_ROW(3, 2, 3, 4) }, .tolerance = 1e-2 },
    { .name = "shared", .attrs = &square, .n_in = 1, .in = { LKS_SHARED(1, 24) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_reshape = {
    .name = "reshape",
    .flags = LKS_OP_VIEW,
    .attrs_size = sizeof(lks_shape),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
