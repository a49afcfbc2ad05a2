/* op_broadcast.c - a value repeated to a given type, from the last axis as in NumPy; the batch axis may be added.
 *
 * Elementwise: a copy whose operand is broadcast to the output. Alone it knows all dtypes.
 */
#include "ops/ew_op.h"
#include "ops/move.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_type *to = attrs;
    char text_in[LKS_TYPE_TEXT], text_to[LKS_TYPE_TEXT];
    bool fits = n_in == 1 && in[0]->shape.rank <= to->shape.rank && (to->batched || !in[0]->batched);

    LKS_TRY(lks__expect_inputs("broadcast", 1, n_in));
    for (int64_t i = 1; fits && i <= in[0]->shape.rank; i++) {
        int64_t size = in[0]->shape.dim[in[0]->shape.rank - i];
        if (size != 1 && size != to->shape.dim[to->shape.rank - i]) fits = false;
    }
    if (!fits)
        return lks__fail(LKS_E_SHAPE, "broadcast: %s does not broadcast to %s", lks__type_text(in[0], text_in),
                         lks__type_text(to, text_to));
    *out = *to;
    out->dtype = in[0]->dtype;
    out->local = !out->batched && (to->local || in[0]->local);
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    const lks_shape *in = &call->in_type[0]->shape, *out = &call->out_type->shape;
    int64_t from[LKS_MAX_RANK], to[LKS_MAX_RANK];
    lks_move m = { .axes = 0 };

    lks__strides(in, from);
    lks__strides(out, to);
    lks__move_axis(&m, call->out_type->batched ? call->n : 1,
                   call->in_type[0]->batched ? lks__type_size(call->in_type[0]) : 0, lks__type_size(call->out_type));
    for (int64_t i = 0; i < out->rank; i++) {
        int64_t k = i - (out->rank - in->rank);
        lks__move_axis(&m, out->dim[i], k >= 0 && in->dim[k] != 1 ? from[k] : 0, to[i]);
    }
    lks__move_run(&m, lks_dtype_size(call->out_type->dtype), call->in[0], call->out);
}

static void gradient(const lks_vjp *v)
{
    v->d_in[0] = lks__graph_unbroadcast(v->d_out, v->in[0]);
}

static const lks_type image = LKS_ROW(3, 4, 5, 3), matrix = LKS_SHARED(2, 3, 4);

static const lks_op_case cases[] = {
    { .name = "channels", .attrs = &image, .n_in = 1, .in = { LKS_SHARED(1, 3) }, .tolerance = 1e-2 },
    { .name = "space", .attrs = &image, .n_in = 1, .in = { LKS_ROW(3, 1, 1, 3) }, .tolerance = 1e-2 },
    { .name = "one channel", .attrs = &image, .n_in = 1, .in = { LKS_ROW(3, 4, 5, 1) }, .tolerance = 1e-2 },
    { .name = "scalar of each", .attrs = &image, .n_in = 1, .in = { LKS_ROW(0, 0) }, .tolerance = 1e-2 },
    { .name = "shared", .attrs = &matrix, .n_in = 1, .in = { LKS_SHARED(2, 3, 1) }, .tolerance = 1e-2 },
    { .name = NULL },
};

const lks_op lks__op_broadcast = {
    .name = "broadcast",
    .flags = LKS_OP_ELEMENTWISE,
    .attrs_size = sizeof(lks_type),
    .elementwise = LKS_EW_COPY,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
