/* test_losses.c - losses: the worked values of spec Keras 3, weights, reductions, and losses of one's own. */
#include "support/run_graph.h"

#include <math.h>

#include "layers/weights.h"
#include "losses/loss.h"

/* Value reported for n examples of `width` numbers; weights may be NULL. */
static float value_of(const char *spec, int64_t n, int64_t width, const float *t, const float *p, const float *w)
{
    lks_loss *loss = lks_loss_named(spec);
    lks_node y, out, weight = lks__no_node, report;
    graph_run r;
    float value;

    assert_int_equal(lks__loss_status(loss), LKS_OK);
    graph_run_init(&r, true);
    y = graph_feed(&r, n, lks_shape(width), t);
    out = graph_feed(&r, n, lks_shape(width), p);
    if (w != NULL) weight = graph_feed(&r, n, lks_shape_of(0, NULL), w);
    lks__loss_apply(loss, &r.trace, y, out, weight, &report);
    graph_run_one(&r, report, &value);
    graph_run_free(&r);
    lks_loss_release(loss);
    return value;
}

static const float bce_t[] = { 0, 1, 0, 0 }, bce_p[] = { .6f, .4f, .4f, .6f };
static const float cce_t[] = { 0, 1, 0, 0, 0, 1 }, cce_p[] = { .05f, .95f, 0, .1f, .8f, .1f };

static void worked_values_of_the_cross_entropies(void **state)
{
    static const float first_only[] = { 1, 0 }, uneven[] = { .8f, .2f };
    struct {
        const char *spec;
        bool binary;
        const float *weights;
        float want;
    } cases[] = {
        { "binary_crossentropy", true, NULL, .8149f },
        { "bce", true, first_only, .4581f },
        { "bce:reduction=mean_with_sample_weight", true, first_only, .9163f },
        { "bce:reduction=sum", true, uneven, .8757f },
        { "bce:from_logits=true", true, NULL, .8753f },
        { "bce:label_smoothing=0.2", true, NULL, .7947f },
        { "categorical_crossentropy", false, NULL, 1.1769f },
        { "CategoricalCrossentropy:label_smoothing=0.1", false, NULL, 1.4591f },
        { "categorical_crossentropy:from_logits=true", false, NULL, .9869f },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float got = cases[i].binary ? value_of(cases[i].spec, 2, 2, bce_t, bce_p, cases[i].weights)
                                    : value_of(cases[i].spec, 2, 3, cce_t, cce_p, cases[i].weights);
        if (fabsf(got - cases[i].want) > 6e-5f) fail_msg("%s: %.6g", cases[i].spec, (double)got);
    }
}

static void class_numbers_can_be_ignored(void **state)
{
    static const int32_t labels[] = { 1, 2 };
    lks_loss *loss = lks_loss_named("sparse_categorical_crossentropy:ignore_class=2");
    graph_run r;
    lks_node y, out, report;
    lks_type label = { .dtype = LKS_INT32, .batched = true },
             rows = { .dtype = LKS_FLOAT32, .batched = true, .shape = { 1, { 3 } } };
    int64_t ignored;
    float value;

    (void)state;
    graph_run_init(&r, true);
    y = graph_feed_as(&r, LKS_INT32, 2, lks_shape_of(0, NULL), labels);
    out = graph_feed(&r, 2, lks_shape(3), cce_p);
    lks__loss_apply(loss, &r.trace, y, out, lks__no_node, &report);
    graph_run_one(&r, report, &value);
    assert_near(&value, (const float[]){ .0513f }, 1, 1e-4f);
    assert_int_equal(lks__loss_classes(loss, &label, &rows, &ignored), 3);
    assert_int_equal(ignored, 2);
    graph_run_free(&r);
    lks_loss_release(loss);
}

static void without_reduction_the_mean_is_shown_and_the_sum_followed(void **state)
{
    static const float t[] = { 0, 0 }, p[] = { 1, 3 };
    lks_loss *loss = lks_loss_named("mse:reduction=none");
    graph_run r;
    lks_node in, nodes[2];
    float objective, report, *out[] = { &objective, &report };

    (void)state;
    graph_run_init(&r, true);
    in = graph_feed(&r, 2, lks_shape(1), p);
    nodes[0] = lks__loss_apply(loss, &r.trace, graph_feed(&r, 2, lks_shape(1), t), in, lks__no_node, &nodes[1]);
    assert_int_equal(graph_run_go(&r, 2, nodes, out), LKS_OK);
    assert_true(objective == 10 && report == 5);
    graph_run_free(&r);
    lks_loss_release(loss);
}

/* Gradient of the loss for logits that saturate: clipped probabilities would give 0. */
static void a_softmax_is_seen_through(void **state)
{
    static const float z[] = { 40, 0, 0 }, t[] = { 0, 1, 0 };
    lks_loss *loss = lks_loss_named("categorical_crossentropy");
    graph_run r;
    lks_node in, report, objective, gradient;
    float d[3];

    (void)state;
    graph_run_init(&r, true);
    in = graph_feed(&r, 0, lks_shape(1, 3), z);
    objective = lks__loss_apply(loss, &r.trace, graph_feed(&r, 0, lks_shape(1, 3), t),
                                lks__activation_apply("softmax", in), lks__no_node, &report);
    assert_int_equal(lks__graph_gradients(objective, 1, &in, &gradient), LKS_OK);
    graph_run_one(&r, gradient, d);
    assert_near(d, (const float[]){ 1, -1, 0 }, 3, 1e-6f);
    graph_run_free(&r);
    lks_loss_release(loss);
}

static void a_sigmoid_at_zero_still_learns(void **state)
{
    static const float z[] = { 0 }, t[] = { 1 };
    lks_loss *loss = lks_loss_named("binary_crossentropy");
    graph_run r;
    lks_node in, report, objective, gradient;
    float d;

    (void)state;
    graph_run_init(&r, true);
    in = graph_feed(&r, 0, lks_shape(1, 1), z);
    objective = lks__loss_apply(loss, &r.trace, graph_feed(&r, 0, lks_shape(1, 1), t), lks_ops_sigmoid(in),
                                lks__no_node, &report);
    assert_int_equal(lks__graph_gradients(objective, 1, &in, &gradient), LKS_OK);
    graph_run_one(&r, gradient, &d);
    assert_near(&d, (const float[]){ -0.5f }, 1, 1e-6f);
    graph_run_free(&r);
    lks_loss_release(loss);
}

/* An odd loss: the third power of the error, the first column counting double. */
static lks_node cubes(void *user, lks_node t, lks_node p)
{
    const int64_t last = -1;
    lks_node e = lks_ops_abs(lks_ops_subtract(t, p));

    e = lks_ops_multiply(lks_ops_multiply(e, e), lks_ops_multiply(e, lks_ops_number(p, *(const double *)user)));
    return lks_ops_sum(e, 1, &last, 0);
}

static lks_node overall(void *user, lks_node t, lks_node p)
{
    (void)user;
    return lks_ops_mean(lks_ops_square(lks_ops_subtract(t, p)), 0, NULL, 0);
}

static void a_loss_of_ones_own_is_for_each_example_or_one_number(void **state)
{
    static const float t[] = { 0, 0, 0, 0 }, p[] = { 1, 2, -1, 0 };
    double two = 2;
    lks_loss *each = lks_loss_create(cubes, &two, .name = "cubes", .reduction = "sum"),
             *one = lks_loss_create(overall, NULL);
    graph_run r;
    lks_node y, out, nodes[2];
    float a, b, *got[] = { &a, &b };
    json_t *config;

    (void)state;
    graph_run_init(&r, true);
    y = graph_feed(&r, 2, lks_shape(2), t);
    out = graph_feed(&r, 2, lks_shape(2), p);
    lks__loss_apply(each, &r.trace, y, out, lks__no_node, &nodes[0]);
    lks__loss_apply(one, &r.trace, y, out, lks__no_node, &nodes[1]);
    assert_int_equal(graph_run_go(&r, 2, nodes, got), LKS_OK);
    assert_true(a == 20 && b == 1.5f);
    assert_string_equal(lks__loss_name(each), "cubes");
    assert_int_equal(lks__loss_to_config(each, &config), LKS_E_UNSUPPORTED);
    graph_run_free(&r);
    lks_loss_release(each);
    lks_loss_release(one);
}

static void weights_that_do_not_fit_are_refused(void **state)
{
    static const float t[8] = { 0 }, w[2] = { 1, 1 };
    lks_loss *loss = lks_loss_named("mse");
    graph_run r;
    lks_node y, out, report;

    (void)state;
    graph_run_init(&r, true);
    y = graph_feed(&r, 2, lks_shape(2, 2), t);
    out = graph_feed(&r, 2, lks_shape(2, 2), t);
    lks__loss_apply(loss, &r.trace, y, out, graph_feed(&r, 2, lks_shape_of(0, NULL), w), &report);
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_SHAPE);
    assert_non_null(strstr(lks_last_error(), "sample weights (None,)"));
    graph_run_free(&r);
    lks_loss_release(loss);
}

static void an_unknown_loss_gets_a_suggestion(void **state)
{
    static const char *const cases[][2] = {
        { "categorical_crosentropy", "did you mean \"categorical_crossentropy\"" },
        { "mses", "did you mean \"mse\"" },
        { "huber:detla=1", "no option \"detla\"; did you mean \"delta\"" },
        { "mse:reduction=avg", "reduction cannot be \"avg\"" },
        { "bce:label_smoothing=2", "between 0 and 1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_loss *loss = lks_loss_named(cases[i][0]);
        assert_int_not_equal(lks__loss_status(loss), LKS_OK);
        if (strstr(lks_last_error(), cases[i][1]) == NULL) fail_msg("%s says: %s", cases[i][0], lks_last_error());
        lks_loss_release(lks_loss_retain(loss));
        lks_loss_release(loss);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_values_of_the_cross_entropies),
        cmocka_unit_test(class_numbers_can_be_ignored),
        cmocka_unit_test(without_reduction_the_mean_is_shown_and_the_sum_followed),
        cmocka_unit_test(a_softmax_is_seen_through),
        cmocka_unit_test(a_sigmoid_at_zero_still_learns),
        cmocka_unit_test(a_loss_of_ones_own_is_for_each_example_or_one_number),
        cmocka_unit_test(weights_that_do_not_fit_are_refused),
        cmocka_unit_test(an_unknown_loss_gets_a_suggestion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
