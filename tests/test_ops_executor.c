/* test_ops_executor.c - every op's cases, and their gradients, through the executor: for each instruction set that this
 * machine has and for slices of one example and more, the bits equal those of the ops' own kernels run node by node.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "ops/build.h"
#include "support/evaluate.h"

enum { EXAMPLES = 5, MOST_INPUTS = 4 };

typedef struct program {
    lks_trace trace;
    size_t n; /* fetched: the output and the gradients that there are */
    lks_node fetch[1 + MOST_INPUTS];
    void *data[MOST_INPUTS];
} program;

static size_t bytes_of(const lks_type *t)
{
    return lks__type_bytes(t) * (t->batched ? EXAMPLES : 1);
}

static void *random_data(const lks_op_case *k, int i)
{
    double low = k->low, high = k->high;
    const lks_type *t = &k->in[i];
    int64_t n = (int64_t)(bytes_of(t) / lks_dtype_size(t->dtype));
    void *data = malloc(bytes_of(t) + 1);

    if (low == 0 && high == 0) low = -1, high = 1;
    for (int64_t j = 0; j < n; j++) {
        double value = low + (high - low) * ((double)((j * 7919 + i * 104729) % 10007) + 0.5) / 10007;
        if (t->dtype == LKS_FLOAT32) ((float *)data)[j] = (float)value;
        else if (t->dtype == LKS_INT32) ((int32_t *)data)[j] = (int32_t)floor(value);
        else if (t->dtype == LKS_INT64) ((int64_t *)data)[j] = (int64_t)floor(value);
        else ((unsigned char *)data)[j] = t->dtype == LKS_BOOL ? value > (low + high) / 2 : (unsigned char)value;
    }
    return data;
}

static void build(program *p, const lks_op *op, const lks_op_case *k)
{
    lks_node in[MOST_INPUTS], d[MOST_INPUTS], loss;

    memset(p, 0, sizeof *p);
    assert_int_equal(lks__trace_init(&p->trace, true, 1), LKS_OK);
    for (int i = 0; i < k->n_in; i++) {
        in[i] = lks__graph_input(p->trace.graph, k->in[i]);
        p->data[i] = random_data(k, i);
    }
    p->fetch[p->n++] = lks__node_create(p->trace.graph, op, k->attrs, k->n_in, in);
    if (!lks__node_ok(p->fetch[0])) fail_msg("%s, %s: %s", op->name, k->name, lks_last_error());
    if (k->tolerance == 0) return;
    loss = lks_ops_sum(lks_ops_square(p->fetch[0]), 0, NULL, 0);
    assert_int_equal(lks__graph_gradients(loss, (size_t)k->n_in, in, d), LKS_OK);
    for (int i = 0; i < k->n_in; i++)
        if (lks__node_ok(d[i])) p->fetch[p->n++] = d[i];
}

static void compare(const program *p, const lks_op *op, const lks_op_case *k, lks_isa isa)
{
    lks_compile_spec spec = {
        .max_batch = EXAMPLES, .threads = 1, .virtual_shards = 1, .isa = isa, .n_fetches = p->n, .fetches = p->fetch
    };
    lks_feed feeds[MOST_INPUTS];
    void *rows[1 + MOST_INPUTS];
    lks_run_args args = { .n = EXAMPLES, .feeds = feeds, .fetches = rows, .seed = 9, .step = 4 };
    evaluation want = evaluate(p->trace.graph, EXAMPLES, (const void *const *)p->data, 9, 4);
    lks_executable *exe;

    if (lks__executable_create((lks_trace *)&p->trace, &spec, &exe) != LKS_OK)
        fail_msg("%s, %s: %s", op->name, k->name, lks_last_error());
    for (int i = 0; i < k->n_in; i++) feeds[i] = (lks_feed){ p->data[i], NULL };
    for (size_t i = 0; i < p->n; i++) rows[i] = malloc(bytes_of(lks__node_type(p->fetch[i])) + 1);
    if (lks__executable_run(exe, &args) != LKS_OK) fail_msg("%s, %s: %s", op->name, k->name, lks_last_error());
    for (size_t i = 0; i < p->n; i++) {
        const lks_type *t = lks__node_type(p->fetch[i]);
        const void *got = t->batched ? rows[i] : lks__executable_value(exe, i);
        if (memcmp(got, want.value[p->fetch[i].id], bytes_of(t)) != 0)
            fail_msg("%s, %s, %s: %s differs", op->name, k->name, lks__isa_name(isa),
                     i == 0 ? "the value" : "a gradient");
    }
    for (size_t i = 0; i < p->n; i++) free(rows[i]);
    lks__executable_release(exe);
    evaluation_free(&want);
}

/* Normalisation by the batch's own statistics and a capped relu, as gradients see them: phases, values made again in later
 * ones, sums taken as a program goes, merged steps. Inputs: rows, a factor and an offset for each channel. */
static void build_normalised(program *p, const lks_op_case *k)
{
    const uint32_t all_but_last = (1u << (k->in[0].shape.rank - 1)) - 1u;
    lks_node in[3], d[3], mean, deviation, variance, y, capped;

    memset(p, 0, sizeof *p);
    assert_int_equal(lks__trace_init(&p->trace, true, 1), LKS_OK);
    for (int i = 0; i < 3; i++) {
        in[i] = lks__graph_input(p->trace.graph, k->in[i]);
        p->data[i] = random_data(k, i);
    }
    mean = lks_ops_multiply(lks__graph_batch_sum(in[0], all_but_last, false), lks_ops_number(in[0], 0.01));
    deviation = lks_ops_subtract(in[0], mean);
    variance = lks__graph_batch_sum(lks_ops_square(deviation), all_but_last, false);
    y = lks_ops_add(lks_ops_multiply(deviation, lks_ops_multiply(lks_ops_rsqrt(variance), in[1])), in[2]);
    capped = lks_ops_where(lks_ops_greater_equal(y, lks_ops_number(y, 0.25)), lks_ops_number(y, 0.25), lks_ops_relu(y));
    p->fetch[p->n++] = capped;
    assert_int_equal(lks__graph_gradients(lks_ops_sum(lks_ops_square(capped), 0, NULL, 0), 3, in, d), LKS_OK);
    for (int i = 0; i < 3; i++) p->fetch[p->n++] = d[i];
}

static const lks_op_case normalised[] = {
    { .name = "a vector", .n_in = 3, .in = { LKS_ROW(3, 6, 5, 8), LKS_SHARED(1, 8), LKS_SHARED(1, 8) } },
    { .name = "odd", .n_in = 3, .in = { LKS_ROW(3, 7, 9, 13), LKS_SHARED(1, 13), LKS_SHARED(1, 13) } },
    { .name = "few", .n_in = 3, .in = { LKS_ROW(3, 5, 5, 3), LKS_SHARED(1, 3), LKS_SHARED(1, 3) } },
    { .name = "a block", .n_in = 3, .in = { LKS_ROW(2, 3, 512), LKS_SHARED(1, 512), LKS_SHARED(1, 512) } },
    { .name = "beyond", .n_in = 3, .in = { LKS_ROW(3, 3, 2, 576), LKS_SHARED(1, 576), LKS_SHARED(1, 576) } },
    { .name = NULL },
};

static void normalised_rows_have_the_same_bits_in_the_executor(void **state)
{
    (void)state;
    for (int isa = 0; isa < LKS_ISA_COUNT; isa++) {
        if (!lks__isa_available((lks_isa)isa)) continue;
        for (const lks_op_case *k = normalised; k->name != NULL; k++) {
            program p;
            build_normalised(&p, k);
            compare(&p, &lks__op_batch_sum, k, (lks_isa)isa);
            for (int i = 0; i < k->n_in; i++) free(p.data[i]);
            lks__trace_free(&p.trace);
        }
    }
}

static void every_op_has_the_same_bits_in_the_executor(void **state)
{
    static const char *const slices[] = { "1", "3" };

    (void)state;
    for (int isa = 0; isa < LKS_ISA_COUNT; isa++) {
        if (!lks__isa_available((lks_isa)isa)) continue;
        for (int s = 0; s < 2; s++) {
            setenv("LOCKSTEP_SLICE", slices[s], 1);
            for (const lks_op *const *op = lks__ops; *op != NULL; op++)
                for (const lks_op_case *k = (*op)->cases; k != NULL && k->name != NULL; k++) {
                    program p;
                    if (k->n_in > 0 && k->in[0].local) continue; /* inputs are not fed to each replica */
                    build(&p, *op, k);
                    compare(&p, *op, k, (lks_isa)isa);
                    for (int i = 0; i < k->n_in; i++) free(p.data[i]);
                    lks__trace_free(&p.trace);
                }
        }
    }
    unsetenv("LOCKSTEP_SLICE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_the_same_bits_in_the_executor),
        cmocka_unit_test(normalised_rows_have_the_same_bits_in_the_executor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
