/* op_replica_mean.c - the mean (or with the attribute, a bool, the sum) over the replicas of a value that each replica has its
 * own of: equal everywhere.
 *
 * The executor computes it (it alone sees all replicas, and adds them in their order); for one replica it is a copy. The
 * mean serves moving statistics, the sum gradients, so no gradient passes.
 */
#include <string.h>

#include "build.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    char text[LKS_TYPE_TEXT];

    (void)attrs;
    LKS_TRY(lks__expect_inputs("replica_mean", 1, n_in));
    LKS_TRY(lks__expect_dtype("replica_mean", in[0], LKS_FLOAT32));
    if (in[0]->batched)
        return lks__fail(LKS_E_SHAPE, "replica_mean: %s carries the batch; reduce it first",
                         lks__type_text(in[0], text));
    *out = *in[0];
    out->local = false;
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    memcpy(call->out, call->in[0], lks__type_bytes(call->out_type));
}

static const bool mean = false;

static const lks_op_case cases[] = {
    { .name = "vector",
      .attrs = &mean,
      .n_in = 1,
      .in = { { .dtype = LKS_FLOAT32, .local = true, .shape = { 1, { 5 } } } } },
    { .name = NULL },
};

const lks_op lks__op_replica_mean = {
    .name = "replica_mean",
    .attrs_size = sizeof(bool),
    .infer = infer,
    .run = run,
    .cases = cases,
};
