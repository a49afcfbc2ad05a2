/* ops.h - for tests of single ops: random operands, one run of the op's own kernel, comparison with double.
 */
#ifndef LKS_TEST_OPS_H
#define LKS_TEST_OPS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/philox.h"
#include "ops/build.h"
#include "ops/order.h"

enum { N = 3 }; /* examples */

static uint32_t draws;

static inline uint32_t draw(uint32_t below)
{
    const uint32_t counter[4] = { draws++, 0, 0, 0 };

    return lks__philox(11, counter).word[0] % below;
}

static inline float *random_floats(int64_t n)
{
    float *x = malloc((size_t)n * sizeof *x + 1);

    for (int64_t i = 0; i < n; i++) x[i] = (float)draw(2001) / 1000.0f - 1.0f;
    return x;
}

/* Runs an op on N examples; the result, to be freed. Accumulators start at `start`. */
static inline float *run_op(const lks_op *op, const void *attrs, int n_in, const lks_type *const *types,
                            const void *const *in, lks_type *out, float start)
{
    lks_op_call call = {
        .attrs = attrs, .n_in = n_in, .in_type = types, .out_type = out, .in = in, .n = N, .batch = N
    };
    int64_t n;
    float *y;

    if (op->infer(attrs, n_in, types, out) != LKS_OK) fail_msg("%s: %s", op->name, lks_last_error());
    n = lks__type_size(out) * (out->batched ? N : 1);
    call.out = y = malloc((size_t)n * sizeof *y + 1);
    for (int64_t i = 0; i < n; i++) y[i] = start;
    call.scratch = malloc(op->scratch != NULL ? op->scratch(attrs, types, out) + 1 : 1);
    op->run(&call);
    free(call.scratch);
    return y;
}

static inline void assert_near(const char *what, const float *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= 1e-5 * (1 + fabs(want[i]))))
            fail_msg("%s: element %lld is %.9g, expected %.9g", what, (long long)i, (double)got[i], want[i]);
}

#endif
