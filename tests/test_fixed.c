/* test_fixed.c - what predictions keep between calls (packed weights, a normalisation's factors) follows every change of the weights:
 * by training, by lks_model_set_weight, by a file, and by writing into a weight that somebody holds. ctest labels: concurrent */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/small_data.h"

enum { ROWS = 4, SIDE = 9, CLASSES = 3 };

static lks_tensor *x, *y;

static int make_data(void **state)
{
    (void)state;
    return small_pattern(lks_shape(ROWS, SIDE, SIDE, 3), 23, -1.0f, CLASSES, &x, &y) ? 0 : -1;
}

static int drop_data(void **state)
{
    (void)state;
    lks_tensor_release(x);
    lks_tensor_release(y);
    return 0;
}

static lks_node pointwise(lks_node in, int64_t filters)
{
    return lks_batch_normalization(lks_conv2d(in, .filters = filters, .kernel_size = { 1, 1 }, .use_bias = LKS_FALSE));
}

/* An inverted residual with its shortcut. */
static lks_model *network(void)
{
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 3)), a, b;
    lks_model *m;

    a = pointwise(in, 24);
    b = lks_relu(pointwise(a, 40), .max_value = 6.0);
    b = lks_relu(lks_batch_normalization(lks_depthwise_conv2d(b, .kernel_size = { 3, 3 }, .padding = "same")),
                 .max_value = 6.0);
    b = lks_global_average_pooling2d(lks_add(2, ((lks_node[]){ a, pointwise(b, 24) })));
    m = lks_model_create(in, lks_dense(b, .units = CLASSES));
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss = "sparse_categorical_crossentropy:from_logits=true"),
                     LKS_OK);
    return m;
}

static lks_tensor *answers(lks_model *m, int64_t batch, int64_t threads)
{
    lks_tensor *out = lks_predict(m, x, .batch_size = batch, .threads = threads);

    assert_non_null(out);
    return out;
}

static bool same(const lks_tensor *a, const lks_tensor *b)
{
    return memcmp(lks_tensor_cdata(a), lks_tensor_cdata(b), ROWS * CLASSES * sizeof(float)) == 0;
}

/* The model's answers, now one by one and together, are those of a new model with the same weights. */
static void check(lks_model *m, const char *what)
{
    lks_model *fresh = network();
    lks_tensor *want, *got;

    for (size_t i = 0; i < lks_model_n_weights(m); i++) {
        lks_tensor *w = lks_model_weight(m, i);
        assert_int_equal(lks_model_set_weight(fresh, i, w), LKS_OK);
        lks_tensor_release(w);
    }
    want = answers(fresh, ROWS, 1);
    for (int64_t threads = 1; threads <= 3; threads++)
        for (int again = 0; again < 2; again++) {
            got = answers(m, 1, threads);
            if (!same(want, got)) print_message("%s, %d threads\n", what, (int)threads);
            assert_true(same(want, got));
            lks_tensor_release(got);
        }
    got = answers(m, ROWS, 2);
    assert_true(same(want, got));
    lks_tensor_release(got);
    lks_tensor_release(want);
    lks_model_release(fresh);
}

static void double_weight(lks_model *m, size_t i)
{
    lks_tensor *w = lks_model_weight(m, i);

    for (int64_t k = 0; k < lks_tensor_size(w); k++) ((float *)lks_tensor_data(w))[k] *= 2.0f;
    lks_tensor_release(w);
}

static void answers_follow_what_changes_weights(void **state)
{
    lks_model *m = network();
    lks_tensor *first = answers(m, 1, 2), *later, *held;
    lks_arrays arrays;

    (void)state;
    check(m, "as drawn");
    for (size_t i = 0; i < lks_model_n_weights(m); i++) {
        double_weight(m, i);
        check(m, lks_model_weight_path(m, i));
    }
    arrays = (lks_arrays){ .x = x, .y = y };
    assert_int_equal(lks_fit_arrays(m, &arrays, .epochs = 1, .batch_size = 2, .verbose = 0), LKS_OK);
    check(m, "trained");
    later = answers(m, 1, 2);
    assert_false(same(first, later));
    lks_tensor_release(later);
    held = lks_model_weight(m, 0); /* written while it is held, between calls that see it held */
    later = answers(m, 1, 2);
    ((float *)lks_tensor_data(held))[0] += 1.0f;
    lks_tensor_release(first);
    first = answers(m, 1, 2);
    assert_false(same(first, later));
    ((float *)lks_tensor_data(held))[0] += 1.0f;
    lks_tensor_release(held);
    check(m, "written and let go");
    lks_tensor_release(first);
    lks_tensor_release(later);
    lks_model_release(m);
}

static void answers_follow_files(void **state)
{
    lks_model *m = network(), *other = network();
    char path[] = "fixed-XXXXXX.weights.h5";
    lks_tensor *before;

    (void)state;
    snprintf(path, sizeof path, "fixed-%06d.weights.h5", (int)getpid() % 1000000);
    for (size_t i = 0; i < lks_model_n_weights(other); i++) double_weight(other, i);
    assert_int_equal(lks_save_weights(other, path), LKS_OK);
    before = answers(m, 1, 2);
    assert_int_equal(lks_load_weights(m, path), LKS_OK);
    check(m, "loaded");
    remove(path);
    lks_tensor_release(before);
    lks_model_release(m);
    lks_model_release(other);
}

/* Shared layers: a second model trains what the first one predicts with. */
static void answers_follow_a_model_that_shares_layers(void **state)
{
    lks_model *m = network(), *other;
    lks_arrays arrays = { .x = x, .y = y };

    (void)state;
    check(m, "as drawn");
    other = lks_model_create(lks_model_input(m, 0), lks_dense(lks_model_output(m, 0), .units = CLASSES));
    assert_int_equal(lks_compile(other, .optimizer = "sgd", .loss = "sparse_categorical_crossentropy:from_logits=true"),
                     LKS_OK);
    assert_int_equal(lks_fit_arrays(other, &arrays, .epochs = 1, .batch_size = 2, .verbose = 0), LKS_OK);
    check(m, "trained by another model");
    lks_model_release(other);
    lks_model_release(m);
}

/* ---- images large enough for bands of rows ---- */

typedef struct banded_case {
    int rows, columns, filters, stride, kernel;
    const char *padding, *first_padding;
} banded_case;

/* A convolution or an expansion, a depthwise layer, a projection; behind the first three a shortcut. */
static lks_model *banded(const banded_case *c)
{
    lks_node in = lks_input(lks_shape(c->rows, c->columns, 3)), a, b;
    lks_model *m;

    a = lks_conv2d(in, .filters = 70, .kernel_size = { 3, 3 }, .padding = c->first_padding, .activation = "relu");
    a = lks_depthwise_conv2d(a, .kernel_size = { 3, 3 }, .padding = "same");
    a = pointwise(a, 11);
    b = lks_relu(pointwise(a, c->filters), .max_value = 6.0);
    b = lks_depthwise_conv2d(b, .kernel_size = { c->kernel, c->kernel }, .strides = { c->stride, c->stride },
                             .padding = c->padding, .use_bias = LKS_FALSE);
    b = pointwise(lks_relu(lks_batch_normalization(b), .max_value = 6.0), 11);
    if (c->stride == 1 && strcmp(c->padding, "same") == 0) b = lks_add(2, ((lks_node[]){ a, b }));
    m = lks_model_create(in, pointwise(b, 5));
    assert_int_equal(lks_compile(m, .optimizer = "sgd", .loss = "mse"), LKS_OK);
    return m;
}

/* One by one in bands, by as many threads as there may be, and together without. */
static void bands_of_rows_change_no_bit(void **state)
{
    static const banded_case cases[] = {
        { 40, 41, 96, 1, 3, "same", "same" },   { 37, 43, 85, 2, 3, "same", "same" },
        { 41, 38, 90, 2, 3, "valid", "valid" }, { 60, 23, 97, 1, 5, "valid", "same" },
        { 23, 61, 103, 2, 2, "same", "valid" }, { 25, 57, 130, 3, 3, "valid", "same" },
        { 300, 5, 100, 1, 3, "same", "same" },  { 9, 180, 100, 1, 3, "same", "same" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_model *m = banded(&cases[i]);
        lks_tensor *pictures = lks_tensor_create(LKS_FLOAT32, lks_shape(2, cases[i].rows, cases[i].columns, 3)), *want;

        assert_non_null(pictures);
        for (int64_t k = 0; k < lks_tensor_size(pictures); k++)
            ((float *)lks_tensor_data(pictures))[k] = (float)(k * 7 % 23) * 0.1f - 1.0f;
        want = lks_predict(m, pictures, .batch_size = 2, .threads = 1);
        assert_non_null(want);
        for (int64_t threads = 1; threads <= 5; threads++) {
            lks_tensor *got = lks_predict(m, pictures, .batch_size = 1, .threads = threads);

            assert_non_null(got);
            if (memcmp(lks_tensor_cdata(want), lks_tensor_cdata(got), (size_t)lks_tensor_size(want) * 4) != 0)
                fail_msg("case %d, %d threads", (int)i, (int)threads);
            lks_tensor_release(got);
        }
        lks_tensor_release(want);
        lks_tensor_release(pictures);
        lks_model_release(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_what_changes_weights),
        cmocka_unit_test(answers_follow_files),
        cmocka_unit_test(answers_follow_a_model_that_shares_layers),
        cmocka_unit_test(bands_of_rows_change_no_bit),
    };

    return cmocka_run_group_tests(tests, make_data, drop_data);
}
