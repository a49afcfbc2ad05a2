/* op_uniform.c - independent numbers of [0, 1), one row for each example.
 *
 * Element e of the example with index i in the global batch is word e % 4 of the Philox block with key = the seed and
 * counter = { e / 4, i, step, stream }: the same on any thread, slice, replica or machine.
 */
#include <string.h>

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

enum { BLOCKS = 8 }; /* Philox blocks side by side, so that their multiplications vectorise */

/* Words of BLOCKS blocks from `block` on: word w of block b at out[4 * b + w]. As lks__philox. */
static void draw(uint64_t seed, uint32_t block, uint32_t example, uint32_t step, uint32_t stream, float out[4 * BLOCKS])
{
    uint32_t c0[BLOCKS], c1[BLOCKS], c2[BLOCKS], c3[BLOCKS], k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

    for (int b = 0; b < BLOCKS; b++) {
        c0[b] = block + (uint32_t)b;
        c1[b] = example;
        c2[b] = step;
        c3[b] = stream;
    }
    for (int round = 0; round < 10; round++, k0 += LKS_PHILOX_W0, k1 += LKS_PHILOX_W1)
        for (int b = 0; b < BLOCKS; b++) {
            uint64_t p0 = (uint64_t)LKS_PHILOX_M0 * c0[b], p1 = (uint64_t)LKS_PHILOX_M1 * c2[b];
            c0[b] = (uint32_t)(p1 >> 32) ^ c1[b] ^ k0;
            c1[b] = (uint32_t)p1;
            c2[b] = (uint32_t)(p0 >> 32) ^ c3[b] ^ k1;
            c3[b] = (uint32_t)p0;
        }
    for (int b = 0; b < BLOCKS; b++) {
        out[4 * b] = lks__unit_float(c0[b]);
        out[4 * b + 1] = lks__unit_float(c1[b]);
        out[4 * b + 2] = lks__unit_float(c2[b]);
        out[4 * b + 3] = lks__unit_float(c3[b]);
    }
}

static void run(const lks_op_call *call)
{
    const lks_uniform_attrs *a = call->attrs;
    int64_t size = lks__type_size(call->out_type);
    float *y = call->out, numbers[4 * BLOCKS];

    for (int64_t i = 0; i < call->n; i++, y += size)
        for (int64_t e = 0; e < size; e += 4 * BLOCKS) {
            int64_t n = size - e < 4 * BLOCKS ? size - e : 4 * BLOCKS;
            draw(call->seed, (uint32_t)(e / 4), (uint32_t)(call->first + i), call->step, a->stream, numbers);
            memcpy(y + e, numbers, (size_t)n * sizeof *y);
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
