/* op_where.c - (condition, a, b) -> a where the condition holds, else b. The other branch's gradient is 0. */
#include "ops/ew_op.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    lks_type branches;

    (void)attrs;
    LKS_TRY(lks__expect_inputs("where", 3, n_in));
    LKS_TRY(lks__expect_dtype("where", in[0], LKS_BOOL));
    if (in[1]->dtype != LKS_INT32 && in[1]->dtype != LKS_BOOL) LKS_TRY(lks__expect_dtype("where", in[1], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype("where", in[2], in[1]->dtype));
    LKS_TRY(lks__broadcast_types("where", in[1], in[2], &branches));
    return lks__broadcast_types("where", &branches, in[0], out);
}

static void run(const lks_op_call *call)
{
    lks__ew_run(call, lks__ew_for(LKS_EW_WHERE, call->in_type[1]->dtype));
}

static void gradient(const lks_vjp *v)
{
    lks_node condition = v->in[0], zero = lks_ops_number(v->out, 0.0);

    if (v->wanted[1]) v->d_in[1] = lks__graph_unbroadcast(lks_ops_where(condition, v->d_out, zero), v->in[1]);
    if (v->wanted[2]) v->d_in[2] = lks__graph_unbroadcast(lks_ops_where(condition, zero, v->d_out), v->in[2]);
}

static const lks_op_case cases[] = {
    { .name = "rows",
      .n_in = 3,
      .tolerance = 1e-2,
      .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4), LKS_ROW(2, 3, 4), LKS_ROW(2, 3, 4) } },
    { .name = "broadcast",
      .n_in = 3,
      .tolerance = 1e-2,
      .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 1), LKS_ROW(1, 4), LKS_SHARED(0, 0) } },
    { .name = "int32",
      .n_in = 3,
      .low = -9,
      .high = 9,
      .in = { LKS_SHARED_OF(LKS_BOOL, 1, 5), LKS_ROW_OF(LKS_INT32, 1, 5), LKS_SHARED_OF(LKS_INT32, 1, 5) } },
    { .name = NULL },
};

const lks_op lks__op_where = {
    .name = "where",
    .flags = LKS_OP_ELEMENTWISE,
    .elementwise = LKS_EW_WHERE,
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .cases = cases,
};
