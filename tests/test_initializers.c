/* test_initializers.c - initial weights: their distribution, and that they depend on seed and path alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "initializers/initializer.h"

enum { N = 40000 };
static float sample[N], other[N];

static void draw(const char *spec, uint64_t seed, const char *path, float *out)
{
    if (lks__initializer_draw(spec, lks_shape(200, 200), seed, path, out) != LKS_OK) fail_msg("%s", lks_last_error());
}

static void numbers_depend_on_seed_and_path_alone(void **state)
{
    (void)state;
    draw("glorot_uniform", 1, "dense/kernel", sample);
    draw("glorot_uniform", 1, "dense/kernel", other);
    assert_memory_equal(sample, other, sizeof sample);
    draw("glorot_uniform", 2, "dense/kernel", other);
    assert_memory_not_equal(sample, other, sizeof sample);
    draw("glorot_uniform", 1, "dense_1/kernel", other);
    assert_memory_not_equal(sample, other, sizeof sample);
    draw("glorot_uniform:seed=5", 1, "a", sample);
    draw("glorot_uniform:seed=5", 2, "b", other);
    assert_memory_equal(sample, other, sizeof sample); /* a seed of its own wins */
}

static void distributions_have_their_mean_deviation_and_bounds(void **state)
{
    struct {
        const char *spec;
        double mean, deviation, most;
    } cases[] = {
        { "glorot_uniform", 0, 0.07071, 0.122474487 }, /* sqrt(6 / 400) */
        { "he_uniform", 0, 0.1, 0.173205081 },
        { "lecun_normal", 0, 0.070711, 2 * 0.0707107 / 0.8796256610 },
        { "random_normal:mean=1,stddev=0.5", 1, 0.5, INFINITY },
        { "truncated_normal:stddev=1", 0, 0.879626, 2 },
        { "random_uniform:minval=0,maxval=1", 0.5, 0.288675, 1 },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double sum = 0, squares = 0, s = cases[k].deviation;
        draw(cases[k].spec, 3, "w", sample);
        for (int i = 0; i < N; i++) {
            sum += (double)sample[i];
            assert_true(fabs((double)sample[i]) <= cases[k].most * (1 + 1e-6));
        }
        for (int i = 0; i < N; i++) squares += pow((double)sample[i] - sum / N, 2);
        if (fabs(sum / N - cases[k].mean) > 5 * s / sqrt(N)) fail_msg("%s: mean %g", cases[k].spec, sum / N);
        if (fabs(sqrt(squares / N) / s - 1) > 5 / sqrt(2.0 * N))
            fail_msg("%s: deviation %g", cases[k].spec, sqrt(squares / N));
    }
}

static void orthogonal_columns_are_orthogonal(void **state)
{
    float q[6 * 4], wide[4 * 6];

    (void)state;
    assert_int_equal(lks__initializer_draw("orthogonal:gain=2", lks_shape(2, 3, 4), 1, "r", q), LKS_OK);
    assert_int_equal(lks__initializer_draw("orthogonal", lks_shape(4, 6), 1, "r", wide), LKS_OK);
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            double columns = 0, rows = 0;
            for (int i = 0; i < 6; i++) columns += (double)q[i * 4 + a] * (double)q[i * 4 + b];
            for (int i = 0; i < 6; i++) rows += (double)wide[a * 6 + i] * (double)wide[b * 6 + i];
            assert_true(fabs(columns - (a == b ? 4 : 0)) < 2e-6);
            assert_true(fabs(rows - (a == b ? 1 : 0)) < 1e-6);
        }
    }
}

static void fans_are_those_of_keras(void **state)
{
    struct {
        lks_shape shape;
        double in, out;
    } cases[] = { { lks_shape(50), 50, 50 },
                  { lks_shape(3, 7), 3, 7 },
                  { lks_shape(3, 3, 8, 16), 72, 144 },
                  { { 0, { 0 } }, 1, 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double in, out;
        lks__initializer_fans(&cases[i].shape, &in, &out);
        assert_true(in == cases[i].in && out == cases[i].out);
    }
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    assert_int_equal(lks__initializer_draw("identity", lks_shape(3), 0, "w", sample), LKS_E_SHAPE);
    assert_int_equal(lks__initializer_draw("orthogonal", lks_shape(3), 0, "w", sample), LKS_E_SHAPE);
    assert_int_equal(lks__initializer_check("glorot_unifrom"), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "did you mean \"glorot_uniform\""));
    assert_int_equal(lks__initializer_check("variance_scaling:mode=fan"), LKS_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_depend_on_seed_and_path_alone),
        cmocka_unit_test(distributions_have_their_mean_deviation_and_bounds),
        cmocka_unit_test(orthogonal_columns_are_orthogonal),
        cmocka_unit_test(fans_are_those_of_keras),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
