/* test_metrics.c - metrics over several batches, their names, and which accuracy is meant. */
#include "support/run_graph.h"

#include "metrics/metric.h"

/* Adds n examples of `width` numbers. */
static void add_batch(lks_metric *metric, int64_t n, int64_t width, const float *t, const float *p, const float *w)
{
    graph_run r;
    lks_node y, out, weight = lks__no_node;

    graph_run_init(&r, true);
    y = graph_feed(&r, n, lks_shape(width), t);
    out = graph_feed(&r, n, lks_shape(width), p);
    if (w != NULL) weight = graph_feed(&r, n, lks_shape_of(0, NULL), w);
    lks__metric_update(metric, &r.trace, y, out, weight);
    assert_int_equal(graph_run_go(&r, 0, NULL, NULL), LKS_OK);
    graph_run_free(&r);
}

/* Five examples in batches of two: spec Keras 3.4. */
static void means_go_over_all_batches_by_weight(void **state)
{
    static const float t[] = { 1, 1, 1, 1, 3 }, zero[5] = { 0 }, w[] = { 1, 1, 1, 1, 4 };

    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        lks_metric *metric = lks_metric_named("mse");
        for (int i = 0; i < 5; i += 2) add_batch(metric, i < 4 ? 2 : 1, 1, t + i, zero, weighted ? w + i : NULL);
        assert_true(lks__metric_result(metric) == (weighted ? 5.0 : (double)2.6f));
        lks__metric_reset(metric);
        assert_true(lks__metric_result(metric) == 0);
        lks_metric_release(metric);
    }
}

static void accuracy_is_the_kind_that_the_shapes_say(void **state)
{
    static const float one[] = { 1, 0, 1 }, scores[] = { .9f, .6f, .2f }, hot[] = { 0, 1, 1, 0 },
                       p[] = { .2f, .8f, .4f, .6f };
    static const float labels[] = { 1, 1 };
    lks_metric *metric = lks_metric_named("accuracy");
    graph_run r;
    lks_node y, out;

    (void)state;
    add_batch(metric, 3, 1, one, scores, NULL); /* binary: right, wrong, wrong */
    assert_true(lks__metric_result(metric) == (double)(1.0f / 3.0f));
    lks__metric_reset(metric);
    add_batch(metric, 2, 2, hot, p, NULL); /* categorical: right, wrong */
    assert_true(lks__metric_result(metric) == 0.5);
    lks__metric_reset(metric);
    graph_run_init(&r, true); /* sparse: right, right */
    y = graph_feed(&r, 2, lks_shape_of(0, NULL), labels);
    out = graph_feed(&r, 2, lks_shape(2), p);
    lks__metric_update(metric, &r.trace, y, out, lks__no_node);
    assert_int_equal(graph_run_go(&r, 0, NULL, NULL), LKS_OK);
    assert_true(lks__metric_result(metric) == 1);
    graph_run_free(&r);
    lks_metric_release(metric);
}

static void a_metric_is_called_what_it_was_asked_by(void **state)
{
    static const char *const cases[][2] = {
        { "mse", "mse" },
        { "MeanSquaredError", "MeanSquaredError" },
        { "acc", "acc" },
        { "top_k_categorical_accuracy:k=3", "top_k_categorical_accuracy" },
        { "mae:name=mine", "mine" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_metric *metric = lks_metric_named(cases[i][0]);
        assert_int_equal(lks__metric_status(metric), LKS_OK);
        assert_string_equal(lks__metric_name(metric), cases[i][1]);
        lks_metric_release(lks_metric_retain(metric));
        lks_metric_release(metric);
    }
}

static lks_node distance(void *user, lks_node t, lks_node p)
{
    (void)user;
    return lks_ops_abs(lks_ops_subtract(t, p));
}

static void a_metric_of_ones_own_is_averaged(void **state)
{
    static const float t[] = { 0, 0 }, p[] = { 1, 4 };
    lks_metric *metric = lks_metric_create(distance, NULL, .name = "distance");
    lks_variable *variables[2];

    (void)state;
    add_batch(metric, 2, 1, t, p, NULL);
    add_batch(metric, 1, 1, t, p, NULL);
    assert_true(lks__metric_result(metric) == 2);
    assert_int_equal(lks__metric_variables(metric, variables), 2);
    assert_string_equal(variables[0]->path, "distance/total");
    assert_true(variables[0]->metric_state);
    lks_metric_release(metric);
}

static void an_unknown_metric_gets_a_suggestion(void **state)
{
    lks_metric *metric = NULL;

    (void)state;
    assert_int_equal(lks__metric_from_spec("binary_acuracy", &metric), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "did you mean \"binary_accuracy\""));
    assert_null(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_go_over_all_batches_by_weight),
        cmocka_unit_test(accuracy_is_the_kind_that_the_shapes_say),
        cmocka_unit_test(a_metric_is_called_what_it_was_asked_by),
        cmocka_unit_test(a_metric_of_ones_own_is_averaged),
        cmocka_unit_test(an_unknown_metric_gets_a_suggestion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
