/* test_optimizers.c - optimizers on one weight: the table of spec Keras 5.2, and the machinery around the update. */
#include "support/run_graph.h"

#include <math.h>

#include "optimizers/optimizer.h"
#include "schedules/schedule.h"

static lks_variable *make_weight(const char *path, float value)
{
    lks_variable *v = NULL;

    assert_int_equal(lks__variable_create(path, LKS_FLOAT32, lks_shape(1), true, &v), LKS_OK);
    *lks__variable_floats(v) = value;
    return v;
}

/* The weight after each of the three steps with gradients .5, -.2, .1. */
static void three_steps(lks_optimizer *optimizer, float *after)
{
    static const float gradients[] = { .5f, -.2f, .1f };
    lks_variable *w = make_weight("kernel", 1);
    graph_run r;
    lks_node g;

    assert_int_equal(lks__optimizer_status(optimizer), LKS_OK);
    assert_int_equal(lks__optimizer_build(optimizer, 1, &w), LKS_OK);
    graph_run_init(&r, true);
    g = graph_feed(&r, 0, lks_shape(1), gradients);
    lks__optimizer_apply(optimizer, &r.trace, 1, &w, &g);
    for (int i = 0; i < 3; i++) {
        r.feeds[1].data = gradients + i;
        r.iterations = (float)i;
        assert_int_equal(graph_run_go(&r, 0, NULL, NULL), LKS_OK);
        after[i] = *lks__variable_floats(w);
    }
    graph_run_free(&r);
    lks__variable_release(w);
}

typedef struct row {
    const char *spec;
    float want[3];
} row;

static const row table[] = {
    { "sgd:learning_rate=0.1", { .95f, .97f, .96f } },
    { "sgd:learning_rate=0.1,momentum=0.9", { .95f, .925f, .8925f } },
    { "sgd:learning_rate=0.1,momentum=0.9,nesterov=true", { .905f, .9025f, .86325f } },
    { "sgd:learning_rate=0.1,weight_decay=0.1", { .94f, .9506f, .931094f } },
    { "rmsprop:learning_rate=0.1", { .6837729f, .8066317f, .7431957f } },
    { "rmsprop:learning_rate=0.1,momentum=0.9,centered=true", { .6666674f, .4910018f, .2680740f } },
    { "adam:learning_rate=0.1", { .9000013f, .8654413f, .8275024f } },
    { "Adam:learning_rate=0.1,amsgrad=true", { .9000013f, .8654413f, .8275024f } },
    { "adamw:learning_rate=0.1", { .8996013f, .8646814f, .8263967f } },
    { "adagrad:learning_rate=0.1", { .9154846f, .9475102f, .9316989f } },
    { "adadelta:learning_rate=1", { .9985858f, .9993451f, .9989406f } },
    { "adamax:learning_rate=0.1", { .9f, .8736579f, .8496247f } },
    { "nadam:learning_rate=0.1", { .8937219f, .9249869f, .9015436f } },
    { "lion:learning_rate=0.1", { .9f, 1, .9f } },
    { "ftrl:learning_rate=0.1", { .3809621f, .4129878f, .3971764f } },
    { "ftrl:learning_rate=0.1,l1_regularization_strength=0.01,l2_regularization_strength=0.02",
      { .3767247f, .4085465f, .3928345f } },
    { "sgd:learning_rate=0.1,clipnorm=0.1", { .99f, 1, .99f } },
    { "sgd:learning_rate=0.1,global_clipnorm=0.1", { .99f, 1, .99f } },
    { "sgd:learning_rate=0.1,clipvalue=0.1", { .99f, 1, .99f } },
    { "sgd:learning_rate=0.1,gradient_accumulation_steps=2", { 1, .985f, .985f } },
};

static void worked_values_of_the_update_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lks_optimizer *optimizer = lks_optimizer_named(table[i].spec);
        float after[3];
        three_steps(optimizer, after);
        for (int s = 0; s < 3; s++) {
            if (fabsf(after[s] - table[i].want[s]) > 2e-6f) {
                fail_msg("%s, step %d: %.8g, expected %.8g", table[i].spec, s + 1, (double)after[s],
                         (double)table[i].want[s]);
            }
        }
        lks_optimizer_release(optimizer);
    }
}

static void objects_and_strings_are_the_same(void **state)
{
    lks_optimizer *made[] = { lks_sgd(.learning_rate = 0.1, .momentum = 0.9, .nesterov = LKS_TRUE),
                              lks_rmsprop(.learning_rate = 0.1), lks_adam(.learning_rate = 0.1),
                              lks_adamw(.learning_rate = 0.1) };
    static const int rows[] = { 2, 4, 6, 8 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        float after[3];
        three_steps(made[i], after);
        assert_near(after, table[rows[i]].want, 3, 2e-6f);
        lks_optimizer_release(lks_optimizer_retain(made[i]));
        lks_optimizer_release(made[i]);
    }
}

static void averages_start_as_copies(void **state)
{
    lks_optimizer *optimizer = lks_optimizer_named("sgd:learning_rate=0.1,use_ema=true,ema_momentum=0.9");
    float after[3];

    (void)state;
    three_steps(optimizer, after);
    assert_near(after, (const float[]){ .95f, .97f, .96f }, 3, 2e-6f);
    assert_near(lks__variable_floats(optimizer->average[0]), (const float[]){ .9528f }, 1, 2e-6f);
    lks_optimizer_release(optimizer);
}

static void variables_have_keras_order_and_names(void **state)
{
    static const char *const want[] = { "adam/iteration",
                                        "adam/learning_rate",
                                        "adam/dense_kernel_average",
                                        "adam/dense_bias_average",
                                        "adam/dense_kernel_momentum",
                                        "adam/dense_kernel_velocity",
                                        "adam/dense_bias_momentum",
                                        "adam/dense_bias_velocity",
                                        "adam/dense_kernel_velocity_hat",
                                        "adam/dense_bias_velocity_hat" };
    lks_optimizer *optimizer = lks_adam(.amsgrad = LKS_TRUE, .use_ema = LKS_TRUE);
    lks_variable *w[] = { make_weight("dense/kernel", 2), make_weight("dense/bias", 3) }, **all;
    size_t n;

    (void)state;
    assert_int_equal(lks__optimizer_build(optimizer, 2, w), LKS_OK);
    all = lks__optimizer_variables(optimizer, &n);
    assert_int_equal(n, sizeof want / sizeof *want);
    for (size_t i = 0; i < n; i++) assert_string_equal(all[i]->path, want[i]);
    assert_int_equal(lks_tensor_dtype(all[0]->value), LKS_INT64);
    lks__optimizer_set_iterations(optimizer, 41);
    assert_int_equal(lks__optimizer_iterations(optimizer), 41);
    *lks__variable_floats(optimizer->average[1]) = 7;
    lks__optimizer_finalize(optimizer);
    assert_true(*lks__variable_floats(w[1]) == 7 && *lks__variable_floats(w[0]) == 0);
    assert_int_equal(lks__optimizer_build(optimizer, 2, w), LKS_E_STATE);
    lks_optimizer_release(optimizer);
    lks__variable_release(w[0]);
    lks__variable_release(w[1]);
}

static void decay_spares_what_is_excluded(void **state)
{
    static const float zero[] = { 0 };
    lks_optimizer *optimizer = lks_sgd(.learning_rate = 1, .weight_decay = 0.5,
                                       .exclude_from_weight_decay = "gamma,bias");
    lks_variable *w[] = { make_weight("bias/kernel", 2), make_weight("dense/bias", 3) };
    lks_node g[2];
    graph_run r;

    (void)state;
    assert_int_equal(lks__optimizer_build(optimizer, 2, w), LKS_OK);
    graph_run_init(&r, true);
    g[0] = g[1] = graph_feed(&r, 0, lks_shape(1), zero);
    lks__optimizer_apply(optimizer, &r.trace, 2, w, g);
    assert_int_equal(graph_run_go(&r, 0, NULL, NULL), LKS_OK);
    assert_true(*lks__variable_floats(w[0]) == 1 && *lks__variable_floats(w[1]) == 3);
    graph_run_free(&r);
    lks_optimizer_release(optimizer);
    lks__variable_release(w[0]);
    lks__variable_release(w[1]);
}

static int warnings;
static void count_warning(void *user, const char *sentence)
{
    (void)user;
    assert_non_null(strstr(sentence, "no gradient reaches"));
    warnings++;
}

static void a_weight_without_a_gradient_stays_and_none_at_all_is_an_error(void **state)
{
    static const float half[] = { .5f };
    lks_optimizer *optimizer = lks_sgd(.learning_rate = 1, .loss_scale_factor = 2);
    lks_variable *w[] = { make_weight("a", 2), make_weight("b", 3) };
    lks_node g[2], loss;
    graph_run r;
    float scaled;

    (void)state;
    lks_set_warnings(count_warning, NULL);
    assert_int_equal(lks__optimizer_build(optimizer, 2, w), LKS_OK);
    graph_run_init(&r, true);
    g[0] = graph_feed(&r, 0, lks_shape(1), half);
    g[1] = lks__no_node;
    loss = lks__optimizer_scale_loss(optimizer, lks_ops_sum(g[0], 0, NULL, 0));
    lks__optimizer_apply(optimizer, &r.trace, 2, w, g);
    graph_run_one(&r, loss, &scaled);
    assert_true(scaled == 1);
    assert_true(*lks__variable_floats(w[0]) == 1.75f && *lks__variable_floats(w[1]) == 3);
    assert_int_equal(warnings, 1);
    g[0] = lks__no_node;
    lks__optimizer_apply(optimizer, &r.trace, 2, w, g);
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_STATE);
    assert_non_null(strstr(lks_last_error(), "nothing to train"));
    lks_set_warnings(NULL, NULL);
    graph_run_free(&r);
    lks_optimizer_release(optimizer);
    lks__variable_release(w[0]);
    lks__variable_release(w[1]);
}

static void the_rate_can_be_read_and_set(void **state)
{
    lks_optimizer *optimizer = lks_adam();

    (void)state;
    assert_true(lks_optimizer_learning_rate(optimizer) == (double)0.001f);
    assert_int_equal(lks_optimizer_set_learning_rate(optimizer, 0.25), LKS_OK);
    assert_true(lks_optimizer_learning_rate(optimizer) == 0.25);
    assert_int_equal(lks_optimizer_set_learning_rate(optimizer, -1), LKS_E_ARG);
    assert_int_equal(lks_optimizer_set_learning_rate(optimizer, (double)NAN), LKS_E_ARG);
    lks_optimizer_release(optimizer);
}

static void schedules_give_the_rate_of_each_step(void **state)
{
    static const struct {
        const char *spec;
        float step[4], want[4];
    } cases[] = {
        { "piecewise_constant_decay:boundaries=[5,10],values=[1,0.5,0.1]", { 5, 6, 10, 11 }, { 1, .5f, .5f, .1f } },
        { "polynomial_decay:initial_learning_rate=0.1,decay_steps=10,end_learning_rate=0.01,power=2",
          { 5, 10, 20, 0 },
          { .0325f, .01f, .01f, .1f } },
        { "polynomial_decay:initial_learning_rate=0.1,decay_steps=10,end_learning_rate=0.01,cycle=true",
          { 15, 25, 0, 5 },
          { .0325f, .025f, .1f, .055f } },
        { "cosine_decay:initial_learning_rate=0,decay_steps=10,alpha=0.1,warmup_target=0.1,warmup_steps=5",
          { 2, 5, 10, 15 },
          { .04f, .1f, .055f, .01f } },
        { "cosine_decay_restarts:initial_learning_rate=0.1,first_decay_steps=10",
          { 5, 10, 20, 35 },
          { .05f, .1f, .05f, .096194f } },
        { "ExponentialDecay:initial_learning_rate=1,decay_steps=10,decay_rate=0.25",
          { 0, 5, 10, 20 },
          { 1, .5f, .25f, .0625f } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_run r;
        float rate[4];
        assert_int_equal(lks__schedule_check(cases[i].spec), LKS_OK);
        graph_run_init(&r, true);
        graph_run_one(&r, lks__schedule_apply(cases[i].spec, graph_feed(&r, 0, lks_shape(4), cases[i].step)), rate);
        assert_near(rate, cases[i].want, 4, 2e-7f);
        graph_run_free(&r);
    }
}

static void a_schedule_takes_the_place_of_the_rate(void **state)
{
    lks_optimizer *optimizer =
        lks_sgd(.schedule = "exponential_decay:initial_learning_rate=0.1,decay_steps=1,decay_rate=0.5");
    float after[3];
    size_t n;

    (void)state;
    assert_true(isnan(lks_optimizer_learning_rate(optimizer)));
    assert_int_equal(lks_optimizer_set_learning_rate(optimizer, 1), LKS_E_STATE);
    three_steps(optimizer, after);
    assert_near(after, (const float[]){ .95f, .96f, .9575f }, 3, 1e-6f);
    lks__optimizer_variables(optimizer, &n);
    assert_int_equal(n, 1); /* the iteration alone */
    lks_optimizer_release(optimizer);
}

static void a_bad_optimizer_is_told(void **state)
{
    static const char *const cases[][2] = {
        { "adamm", "did you mean \"adam" },
        { "adam:learning_rat=1", "did you mean \"learning_rate\"" },
        { "adam:lr=1", "did you mean \"learning_rate\"" },
        { "adam:foo=1", "there are: " },
        { "adam:learning_rate=x",
          "\"x\" is not a number; as a schedule: there is no learning-rate schedule \"x\"; there are: " },
        { "adam:learning_rate=nan", "finite number" },
        { "sgd:clipnorm=1,clipvalue=1", "at most one" },
        { "sgd:gradient_accumulation_steps=1", "at least 2" },
        { "sgd:clipnorm=-1", "must be positive" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_optimizer *optimizer = lks_optimizer_named(cases[i][0]);
        assert_int_not_equal(lks__optimizer_status(optimizer), LKS_OK);
        if (strstr(lks_last_error(), cases[i][1]) == NULL) fail_msg("%s says: %s", cases[i][0], lks_last_error());
        lks_optimizer_release(optimizer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_values_of_the_update_rules),
        cmocka_unit_test(objects_and_strings_are_the_same),
        cmocka_unit_test(averages_start_as_copies),
        cmocka_unit_test(variables_have_keras_order_and_names),
        cmocka_unit_test(decay_spares_what_is_excluded),
        cmocka_unit_test(a_weight_without_a_gradient_stays_and_none_at_all_is_an_error),
        cmocka_unit_test(the_rate_can_be_read_and_set),
        cmocka_unit_test(schedules_give_the_rate_of_each_step),
        cmocka_unit_test(a_schedule_takes_the_place_of_the_rate),
        cmocka_unit_test(a_bad_optimizer_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
