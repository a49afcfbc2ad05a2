/* test_backend.c - the executor: the same bits for any number of threads, slices and replicas; phases; in-place updates; a step that is not
 * finite changes nothing and names its place.
 *
 * ctest labels: concurrent
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

enum { N = 37, IN = 12, HIDDEN = 21, OUT = 5 };

typedef struct net {
    lks_trace trace;
    lks_variable *w1, *w2, *m;
    lks_node loss, hidden;
    lks_executable *exe;
    float x[N * IN];
} net;

static float value_at(int i)
{
    return sinf((float)i * 1.7f) * 0.5f;
}

static lks_variable *make_variable(const char *path, int64_t a, int64_t b)
{
    const int64_t dims[2] = { a, b };
    lks_variable *v = NULL;

    assert_int_equal(lks__variable_create(path, LKS_FLOAT32, lks_shape_of(2, dims), true, &v), LKS_OK);
    for (int64_t i = 0; i < a * b; i++) lks__variable_floats(v)[i] = value_at((int)i + (int)a);
    return v;
}

/* x -> relu(x w1) -> batch normalised -> w2 -> mean of squares; momentum update. Two batch sums in the middle: three phases. */
static void build(net *n, const lks_compile_spec *how)
{
    lks_type row = { .dtype = LKS_FLOAT32, .batched = true, .shape = { 1, { IN } } };
    const int64_t batch_axis[1] = { 0 };
    lks_node x, h, mean, centred, variance, y, wrt[2], grads[2];
    lks_compile_spec spec = *how;
    lks_node checks[3];

    memset(n, 0, sizeof *n);
    assert_int_equal(lks__trace_init(&n->trace, true, how->replicas), LKS_OK);
    n->w1 = make_variable("w1", IN, HIDDEN);
    n->w2 = make_variable("w2", HIDDEN, OUT);
    n->m = make_variable("m", HIDDEN, OUT);
    for (int i = 0; i < N * IN; i++) n->x[i] = value_at(i);
    x = lks__graph_input(n->trace.graph, row);
    lks__graph_scope(n->trace.graph, "first");
    h = lks_ops_relu(lks_ops_matmul(x, lks__graph_variable(n->trace.graph, n->w1)));
    mean = lks_ops_mean(h, 1, batch_axis, 0);
    centred = lks_ops_subtract(h, mean);
    variance = lks_ops_mean(lks_ops_square(centred), 1, batch_axis, 0);
    n->hidden = lks_ops_multiply(centred, lks_ops_rsqrt(lks_ops_add(variance, lks_ops_number(variance, 1e-3))));
    lks__graph_scope(n->trace.graph, "second");
    y = lks_ops_matmul(n->hidden, lks__graph_variable(n->trace.graph, n->w2));
    n->loss = lks_ops_mean(lks_ops_square(lks_ops_subtract(y, lks_ops_number(y, 0.25))), 0, NULL, 0);
    wrt[0] = lks__graph_variable(n->trace.graph, n->w1);
    wrt[1] = lks__graph_variable(n->trace.graph, n->w2);
    assert_int_equal(lks__graph_gradients(n->loss, 2, wrt, grads), LKS_OK);
    lks_node m = lks_ops_add(lks_ops_multiply(lks__graph_variable(n->trace.graph, n->m), lks_ops_number(x, 0.9)),
                             grads[1]);
    lks__trace_assign(&n->trace, n->w1, lks_ops_subtract(wrt[0], lks_ops_multiply(grads[0], lks_ops_number(x, 0.1))));
    lks__trace_assign(&n->trace, n->m, m);
    lks__trace_assign(&n->trace, n->w2, lks_ops_subtract(wrt[1], lks_ops_multiply(m, lks_ops_number(x, 0.1))));
    checks[0] = n->loss;
    checks[1] = grads[0];
    checks[2] = grads[1];
    spec.max_batch = N;
    spec.n_fetches = 1;
    spec.fetches = &n->loss;
    spec.n_checks = 3;
    spec.checks = checks;
    if (lks__executable_create(&n->trace, &spec, &n->exe) != LKS_OK) fail_msg("%s", lks_last_error());
}

static void destroy(net *n)
{
    lks__executable_release(n->exe);
    lks__trace_free(&n->trace);
    lks__variable_release(n->w1);
    lks__variable_release(n->w2);
    lks__variable_release(n->m);
}

static lks_status run(net *n, int64_t batch)
{
    lks_feed feed = { n->x, NULL };
    void *none[1] = { NULL };
    lks_run_args args = { .n = batch, .feeds = &feed, .fetches = none };

    return lks__executable_run(n->exe, &args);
}

static void train(const lks_compile_spec *spec, float *w1, float *w2)
{
    net n;

    build(&n, spec);
    for (int s = 0; s < 3; s++) assert_int_equal(run(&n, s == 1 ? N - 8 : N), LKS_OK);
    memcpy(w1, lks__variable_floats(n.w1), IN * HIDDEN * sizeof *w1);
    memcpy(w2, lks__variable_floats(n.w2), HIDDEN * OUT * sizeof *w2);
    destroy(&n);
}

static void threads_slices_and_replicas_do_not_show(void **state)
{
    static const struct {
        int threads, replicas;
        const char *slice;
    } t[] = { { 1, 1, "1" },  { 2, 1, "3" },  { 3, 1, "100" }, { 5, 1, NULL },
              { 16, 1, "2" }, { 2, 2, NULL }, { 3, 3, "1" },   { 4, 4, NULL } };
    float w1[IN * HIDDEN], w2[HIDDEN * OUT], v1[IN * HIDDEN], v2[HIDDEN * OUT];

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lks_compile_spec spec = {
            .threads = t[i].threads, .replicas = t[i].replicas, .virtual_shards = 16, .isa = lks__isa_choose()
        };
        if (t[i].slice != NULL) setenv("LOCKSTEP_SLICE", t[i].slice, 1);
        else unsetenv("LOCKSTEP_SLICE");
        train(&spec, i == 0 ? w1 : v1, i == 0 ? w2 : v2);
        if (i == 0) continue;
        assert_memory_equal(w1, v1, sizeof w1);
        assert_memory_equal(w2, v2, sizeof w2);
    }
    unsetenv("LOCKSTEP_SLICE");
}

static void the_number_of_shards_shows(void **state)
{
    float w1[IN * HIDDEN], w2[HIDDEN * OUT], v1[IN * HIDDEN], v2[HIDDEN * OUT];
    lks_compile_spec spec = { .threads = 1, .replicas = 1, .virtual_shards = 16, .isa = lks__isa_choose() };

    (void)state;
    train(&spec, w1, w2);
    spec.virtual_shards = 3;
    train(&spec, v1, v2);
    assert_memory_not_equal(w1, v1, sizeof w1);
    for (int i = 0; i < IN * HIDDEN; i++) assert_true(fabsf(w1[i] - v1[i]) < 1e-4f);
}

static void a_step_that_is_not_finite_changes_nothing_and_is_named(void **state)
{
    lks_compile_spec spec = { .threads = 2, .replicas = 1, .virtual_shards = 4, .isa = lks__isa_choose() };
    float before[HIDDEN * OUT];
    net n;

    (void)state;
    build(&n, &spec);
    memcpy(before, lks__variable_floats(n.w2), sizeof before);
    n.x[7 * IN] = INFINITY;
    assert_int_equal(run(&n, N), LKS_E_NONFINITE);
    assert_non_null(strstr(lks_last_error(), "first"));
    assert_memory_equal(before, lks__variable_floats(n.w2), sizeof before);
    n.x[7 * IN] = 0.5f;
    assert_int_equal(run(&n, N), LKS_OK);
    destroy(&n);
}

static void too_large_a_batch_is_refused(void **state)
{
    lks_compile_spec spec = { .threads = 1, .replicas = 1, .isa = lks__isa_choose() };
    net n;

    (void)state;
    build(&n, &spec);
    assert_int_equal(run(&n, N + 1), LKS_E_ARG);
    assert_int_equal(run(&n, 0), LKS_E_NONFINITE); /* 0 / 0: the mean of nothing */
    destroy(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_slices_and_replicas_do_not_show),
        cmocka_unit_test(the_number_of_shards_shows),
        cmocka_unit_test(a_step_that_is_not_finite_changes_nothing_and_is_named),
        cmocka_unit_test(too_large_a_batch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
