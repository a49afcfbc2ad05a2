/* op_uniform.c - independent numbers of [0, 1), one row for each example.
 *
 * Element e of the example with index i in the global batch is word e % 4 of the Philox block with key = the seed and
 * counter = { e / 4, i, step, stream }: the same on any thread, slice, replica or machine.
 */
#include "base/philox.h"
#include "build.h"
#include "tensor/tensor.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    const lks_uniform_attrs *a = attrs;

    (void)in;
    LKS_TRY(lks__expect_inputs("uniform", 0, n_in));
    LKS_TRY(lks__shape_check(&a->shape));
    if (lks_shape_size(&a->shape) / 4 > UINT32_MAX)
        return lks__fail(LKS_E_LIMIT, "uniform: an example has at most 2^34 random numbers");
    *out = (lks_type){ .dtype = LKS_FLOAT32, .batched = true, .shape = a->shape };
    return LKS_OK;
}

static void run(const lks_op_call *call)
{
    const lks_uniform_attrs *a = call->attrs;
    int64_t size = lks__type_size(call->out_type);
    float *y = call->out;

    for (int64_t i = 0; i < call->n; i++, y += size)
        for (int64_t e = 0; e < size; e += 4) {
            uint32_t counter[4] = { (uint32_t)(e / 4), (uint32_t)(call->first + i), call->step, a->stream };
            lks_philox_block block = lks__philox(call->seed, counter);
            for (int64_t k = 0; k < 4 && e + k < size; k++) y[e + k] = lks__unit_float(block.word[k]);
        }
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    (void)attrs;
    (void)in;
    return 25.0 * (double)lks__type_size(out); /* ten rounds of ten operations make four numbers */
}

static const lks_uniform_attrs row = { .stream = 7, .shape = { 2, { 3, 5 } } };

static const lks_op_case cases[] = {
    { .name = "rows", .attrs = &row },
    { .name = NULL },
};

const lks_op lks__op_uniform = {
    .name = "uniform",
    .flags = LKS_OP_RANDOM,
    .attrs_size = sizeof(lks_uniform_attrs),
    .infer = infer,
    .run = run,
    .flop = flop,
    .cases = cases,
};
