/* test_train.c - compile, fit, evaluate, predict: what they refuse and how they say it; running out of data; callbacks; own losses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/small_data.h"

enum { ROWS = 20 };

static lks_tensor *x, *y;

static int make_data(void **state)
{
    (void)state;
    return small_pattern(lks_shape(ROWS, 3), 11, 0.0f, 2, &x, &y) ? 0 : -1;
}

static int drop_data(void **state)
{
    (void)state;
    lks_tensor_release(x);
    lks_tensor_release(y);
    return 0;
}

static lks_model *mlp(void)
{
    lks_node in = lks_input(lks_shape(3));
    lks_node h = lks_dense(in, .units = 4, .activation = "relu");

    return lks_model_create(in, lks_dense(h, .units = 2));
}

static lks_model *compiled(void)
{
    lks_model *m = mlp();

    assert_int_equal(lks_compile(m, .optimizer = "sgd:learning_rate=0.1",
                                 .loss = "sparse_categorical_crossentropy:from_logits=true", .metrics = "accuracy"),
                     LKS_OK);
    return m;
}

static void expect(lks_status status, lks_status want, const char *word)
{
    if (status != want)
        fail_msg("expected %s, found %s: %s", lks_status_name(want), lks_status_name(status), lks_last_error());
    if (strstr(lks_last_error(), word) == NULL) fail_msg("no '%s' in: %s", word, lks_last_error());
}

static void fit_before_compile_is_refused(void **state)
{
    lks_model *m = mlp();
    lks_arrays a = { .x = x, .y = y };

    (void)state;
    expect(lks_fit_arrays(m, &a, .epochs = 1), LKS_E_STATE, "lks_compile");
    lks_model_release(m);
}

static void a_failed_layer_fails_the_model_with_the_first_cause(void **state)
{
    lks_node in = lks_input(lks_shape(8, 8, 1));
    lks_node h = lks_conv2d(in, .filters = 4, .kernel_size = { 3, 3 }, .padding = "sane");
    lks_model *m;
    lks_arrays a = { .x = x, .y = y };

    (void)state;
    h = lks_dense(lks_flatten(h), .units = -3);
    m = lks_model_create(in, h);
    expect(lks_model_status(m), LKS_E_ARG, "sane");
    expect(lks_compile(m, .optimizer = "adam", .loss = "mse"), LKS_E_ARG, "sane");
    expect(lks_fit_arrays(m, &a, .epochs = 1), LKS_E_ARG, "sane");
    lks_model_release(m);
}

static void unknown_words_get_a_suggestion(void **state)
{
    lks_model *m = mlp();

    (void)state;
    expect(lks_compile(m, .optimizer = "adamm", .loss = "mse"), LKS_E_ARG, "adam");
    expect(lks_compile(m, .optimizer = "adam", .loss = "categorical_crosentropy"), LKS_E_ARG,
           "categorical_crossentropy");
    expect(lks_compile(m, .optimizer = "adam", .loss = "mse", .metrics = "acuracy"), LKS_E_ARG, "accuracy");
    expect(lks_compile(m, .optimizer = "adam", .loss = "zzzz"), LKS_E_ARG, "there are: binary_crossentropy,");
    expect(lks_model_set_trainable(m, "dens", 0), LKS_E_NOTFOUND, "no layer \"dens\"; did you mean \"dense\"?");
    expect(lks_model_set_trainable(m, "zzzz", 0), LKS_E_NOTFOUND, "there are: ");
    lks_model_release(m);
}

static void losses_and_metrics_must_be_as_many_as_outputs(void **state)
{
    lks_node in = lks_input(lks_shape(3)), outputs[2];
    lks_model *m;

    (void)state;
    outputs[0] = lks_dense(in, .units = 2);
    outputs[1] = lks_dense(in, .units = 2);
    m = lks_model_create_io(1, &in, 2, outputs);
    expect(lks_compile(m, .loss = "mse;mae;mse"), LKS_E_ARG, "loss \"mse;mae;mse\" has 3 parts for 2 outputs");
    expect(lks_compile(m, .loss = "mse", .metrics = "mae;mse;"), LKS_E_ARG, "metrics");
    expect(lks_compile(m, .loss = "mse", .weighted_metrics = "mae;mse;mae"), LKS_E_ARG, "weighted_metrics");
    assert_int_equal(lks_compile(m, .loss = "mse;mae", .metrics = ";mse"), LKS_OK);
    assert_int_equal(lks_compile(m, .loss = ";mae", .metrics = "mse"), LKS_OK);
    lks_model_release(m);
    m = mlp();
    expect(lks_compile(m, .loss = "mse;mae"), LKS_E_ARG, "2 parts for 1 output:");
    lks_model_release(m);
}

static void wrong_data_are_refused_in_sentences(void **state)
{
    lks_model *m = compiled();
    lks_tensor *wide = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 5)),
               *few = lks_tensor_create(LKS_INT32, lks_shape(7));
    lks_tensor *empty = lks_tensor_create(LKS_FLOAT32, lks_shape(0, 3)),
               *none = lks_tensor_create(LKS_INT32, lks_shape(0));
    lks_arrays a = { .x = wide, .y = y }, b = { .x = x, .y = few }, c = { .x = empty, .y = none },
               d = { .x = x, .y = y };

    (void)state;
    expect(lks_fit_arrays(m, &a, .epochs = 1), LKS_E_SHAPE, "(None, 5)");
    expect(lks_fit_arrays(m, &b, .epochs = 1), LKS_E_SHAPE, "7 rows");
    expect(lks_fit_arrays(m, &c, .epochs = 1), LKS_E_ARG, "no examples");
    expect(lks_fit_arrays(m, &d, .epochs = 1, .batch_size = -4), LKS_E_ARG, "batch_size");
    expect(lks_fit_arrays(m, &d, .epochs = 1, .batch_size = LKS_ZERO_INT), LKS_E_ARG, "batch_size");
    expect(lks_fit_arrays(m, &d, .epochs = 1, .verbose = 7), LKS_E_ARG, "verbose");
    expect(lks_fit_arrays(m, &d, .epochs = 1, .validation_split = 1.5), LKS_E_ARG, "validation_split");
    lks_tensor_release(wide);
    lks_tensor_release(few);
    lks_tensor_release(empty);
    lks_tensor_release(none);
    lks_model_release(m);
}

static void a_class_out_of_range_is_named(void **state)
{
    lks_model *m = compiled();
    lks_arrays a = { .x = x, .y = y };
    int32_t *labels = lks_tensor_data(y), keep = labels[9];

    (void)state;
    labels[9] = 2;
    expect(lks_fit_arrays(m, &a, .epochs = 1, .shuffle = LKS_FALSE), LKS_E_ARG, "example 9");
    labels[9] = keep;
    assert_int_equal(lks_fit_arrays(m, &a, .epochs = 1), LKS_OK);
    lks_model_release(m);
}

static void a_loss_that_is_not_finite_stops_with_step_and_layer(void **state)
{
    lks_model *m = compiled();
    lks_arrays a = { .x = x, .y = y };
    float *data = lks_tensor_data(x), keep = data[30];
    char before[65], after[65];

    (void)state;
    assert_int_equal(lks_model_digest(m, before), LKS_OK);
    data[30] = INFINITY;
    expect(lks_fit_arrays(m, &a, .epochs = 1, .batch_size = ROWS, .shuffle = LKS_FALSE), LKS_E_NONFINITE, "step 1");
    assert_non_null(strstr(lks_last_error(), "dense"));
    assert_int_equal(lks_model_digest(m, after), LKS_OK);
    assert_string_equal(before, after);
    data[30] = keep;
    lks_model_release(m);
}

/* Five batches, three steps an epoch: epochs of 3, 2, 3, 2 steps. */
static void steps_per_epoch_runs_on_through_the_data(void **state)
{
    lks_model *m = compiled();
    lks_dataset *ds = lks_batch(lks_from_tensor_slices(x, y), 4);

    (void)state;
    assert_int_equal(lks_fit(m, ds, .epochs = 4, .steps_per_epoch = 3), LKS_OK);
    assert_int_equal(lks_model_iterations(m), 10);
    lks_model_release(m);
}

static void count_warnings(void *user, const char *sentence)
{
    (void)sentence;
    *(int *)user += 1;
}

/* As many steps as there are batches, and a divisor of them: every epoch is whole, and nothing is said. */
static void passes_that_end_with_an_epoch_start_anew(void **state)
{
    static const int64_t steps[] = { 5, 1 };
    int warnings = 0;

    (void)state;
    lks_set_warnings(count_warnings, &warnings);
    for (size_t i = 0; i < 2; i++) {
        lks_model *m = compiled();
        assert_int_equal(
            lks_fit(m, lks_batch(lks_from_tensor_slices(x, y), 4), .epochs = 7, .steps_per_epoch = steps[i]), LKS_OK);
        assert_int_equal(lks_model_iterations(m), 7 * steps[i]);
        lks_model_release(m);
    }
    lks_set_warnings(NULL, NULL);
    assert_int_equal(warnings, 0);
}

static void targets_of_another_rank_are_refused(void **state)
{
    lks_node in = lks_input(lks_shape(3));
    lks_model *m = lks_model_create(in, lks_dense(in, .units = 5));
    lks_tensor *cube = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 4, 4, 5));
    lks_arrays a = { .x = x, .y = cube };

    (void)state;
    assert_int_equal(lks_compile(m, .optimizer = "sgd", .loss = "mse"), LKS_OK);
    expect(lks_fit_arrays(m, &a, .epochs = 1), LKS_E_SHAPE, "(None, 4, 4, 5)");
    lks_tensor_release(cube);
    lks_model_release(m);
}

/* A column of them would be spread over the classes. */
static void class_numbers_are_no_rows_of_shares(void **state)
{
    const lks_shape shapes[] = { lks_shape(ROWS), lks_shape(ROWS, 1) };

    (void)state;
    for (int i = 0; i < 2; i++) {
        lks_node in = lks_input(lks_shape(3));
        lks_model *m = lks_model_create(in, lks_dense(in, .units = 5, .activation = "softmax"));
        lks_tensor *classes = lks_tensor_create(LKS_INT32, shapes[i]);
        lks_arrays a = { .x = x, .y = classes };
        assert_int_equal(lks_compile(m, .optimizer = "sgd", .loss = "categorical_crossentropy"), LKS_OK);
        expect(lks_fit_arrays(m, &a, .epochs = 1), LKS_E_SHAPE, "sparse_categorical_crossentropy");
        lks_tensor_release(classes);
        lks_model_release(m);
    }
}

static void retain_keeps_what_builders_steal(void **state)
{
    lks_dataset *rows = lks_from_tensor_slices(x, y), *batches = lks_batch(lks_retain(rows), 4);
    lks_model *m = lks_retain(compiled());

    (void)state;
    lks_release(m);
    assert_int_equal(lks_dataset_cardinality(rows), ROWS);
    assert_int_equal(lks_dataset_cardinality(batches), ROWS / 4);
    lks_release(rows);
    lks_release(batches);
    lks_release(m);
}

static void history_holds_validation_and_metrics(void **state)
{
    lks_model *m = compiled();
    lks_arrays a = { .x = x, .y = y };
    lks_history *h = NULL;
    const double *values;
    size_t n;

    (void)state;
    assert_int_equal(lks_fit_arrays(m, &a, .epochs = 3, .batch_size = 5, .validation_split = 0.25, .validation_freq = 2,
                                    .history = &h),
                     LKS_OK);
    assert_int_equal(lks_history_epochs(h), 3);
    assert_non_null(lks_history_values(h, "loss", &n));
    assert_int_equal(n, 3);
    values = lks_history_values(h, "val_accuracy", &n);
    assert_non_null(values);
    assert_int_equal(n, 1);
    assert_string_equal(lks_history_key(h, 0), "accuracy");
    lks_history_release(h);
    lks_model_release(m);
}

static lks_status stop_in_second_step(void *user, lks_model *model, int64_t step, const lks_logs *logs)
{
    assert_true(lks_logs_get(logs, "loss") > 0);
    *(int *)user += 1;
    if (step == 1) lks_model_stop_training(model);
    return LKS_OK;
}

static void a_callback_can_stop_training(void **state)
{
    lks_model *m = compiled();
    lks_arrays a = { .x = x, .y = y };
    int calls = 0;
    lks_callback c = { .struct_size = sizeof c, .user = &calls, .on_train_batch_end = stop_in_second_step };

    (void)state;
    assert_int_equal(lks_fit_arrays(m, &a, .epochs = 5, .batch_size = 4, .callbacks = &c, .n_callbacks = 1), LKS_OK);
    assert_int_equal(calls, 2);
    lks_model_release(m);
}

/* mean over the batch of sum |t - p|^1.5 e^-p / 7: nobody's loss; its gradient is checked by differences. */
static lks_node odd_loss(void *user, lks_node y_true, lks_node y_pred)
{
    const int64_t last[1] = { -1 };
    lks_node e = lks_ops_abs(lks_ops_subtract(y_true, y_pred));

    (void)user;
    e = lks_ops_multiply(lks_ops_power(e, lks_ops_number(e, 1.5)), lks_ops_exp(lks_ops_negative(y_pred)));
    return lks_ops_divide(lks_ops_sum(e, 1, last, 0), lks_ops_number(e, 7.0));
}

static double odd_value(const float *w, const float *t)
{
    double total = 0;

    for (int i = 0; i < ROWS; i++) {
        const float *row = (const float *)lks_tensor_cdata(x) + i * 3;
        double p = w[3];
        for (int k = 0; k < 3; k++) p += (double)row[k] * w[k];
        total += pow(fabs(t[i] - p), 1.5) * exp(-p) / 7.0;
    }
    return total / ROWS;
}

static void an_own_loss_trains_by_its_own_gradient(void **state)
{
    lks_node in = lks_input(lks_shape(3));
    lks_model *m = lks_model_create(in, lks_dense(in, .units = 1));
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 1)), *kernel, *bias;
    lks_arrays a = { .x = x, .y = t };
    float w[4], after[4];
    lks_logs logs;

    (void)state;
    for (int i = 0; i < ROWS; i++) ((float *)lks_tensor_data(t))[i] = 2.0f + (float)(i % 3);
    assert_int_equal(
        lks_compile(m, .optimizer = "sgd:learning_rate=1.0", .loss_object = lks_loss_create(odd_loss, NULL)), LKS_OK);
    kernel = lks_model_weight(m, 0);
    bias = lks_model_weight(m, 1);
    memcpy(w, lks_tensor_cdata(kernel), 3 * sizeof *w);
    memcpy(w + 3, lks_tensor_cdata(bias), sizeof *w);
    if (lks_train_on_batch(m, &a, &logs) != LKS_OK) fail_msg("%s", lks_last_error());
    assert_true(fabs(lks_logs_get(&logs, "loss") - odd_value(w, lks_tensor_cdata(t))) < 1e-5);
    memcpy(after, lks_tensor_cdata(kernel), 3 * sizeof *after);
    memcpy(after + 3, lks_tensor_cdata(bias), sizeof *after);
    for (int k = 0; k < 4; k++) {
        float up[4], down[4];
        memcpy(up, w, sizeof up);
        memcpy(down, w, sizeof down);
        up[k] += 1e-2f;
        down[k] -= 1e-2f;
        double slope = (odd_value(up, lks_tensor_cdata(t)) - odd_value(down, lks_tensor_cdata(t))) /
                       (double)(up[k] - down[k]);
        assert_true(fabs((double)(w[k] - after[k]) - slope) < 1e-3 * (1.0 + fabs(slope)));
    }
    lks_tensor_release(kernel);
    lks_tensor_release(bias);
    lks_tensor_release(t);
    lks_model_release(m);
}

static void a_sequential_model_takes_its_shape_from_the_data(void **state)
{
    lks_model *m = lks_sequential();
    lks_arrays a = { .x = x, .y = y };

    (void)state;
    lks_sequential_add(m, lks_dense_layer(.units = 5, .activation = "tanh"));
    lks_sequential_add(m, lks_dense_layer(.units = 2));
    assert_int_equal(lks_compile(m, .loss = "sparse_categorical_crossentropy:from_logits=true"), LKS_OK);
    if (lks_fit_arrays(m, &a, .epochs = 2) != LKS_OK) fail_msg("%s", lks_last_error());
    assert_int_equal(lks_model_count_params(m), 3 * 5 + 5 + 5 * 2 + 2);
    assert_string_equal(lks_model_weight_path(m, 0), "sequential/dense/kernel");
    lks_model_release(m);
}

/* It would be passed over in silence: nothing of it lies within its size. */
static void a_callback_without_its_size_is_refused(void **state)
{
    lks_model *m = lks_sequential();
    lks_arrays a = { .x = x, .y = y };
    lks_callback c = { .struct_size = 0 };

    (void)state;
    lks_sequential_add(m, lks_dense_layer(.units = 2));
    assert_int_equal(lks_compile(m, .loss = "sparse_categorical_crossentropy:from_logits=true"), LKS_OK);
    expect(lks_fit_arrays(m, &a, .callbacks = &c, .n_callbacks = 1), LKS_E_ARG, "set it to sizeof(lks_callback)");
    lks_model_release(m);
}

static void one_hot_rows_are_no_class_numbers(void **state)
{
    lks_model *m = lks_sequential();
    lks_arrays a = { .x = x, .y = y, .y_one_hot = 2 };

    (void)state;
    lks_sequential_add(m, lks_dense_layer(.units = 2));
    assert_int_equal(lks_compile(m, .loss = "sparse_categorical_crossentropy:from_logits=true"), LKS_OK);
    expect(lks_fit_arrays(m, &a), LKS_E_SHAPE, "one-hot rows belong to categorical_crossentropy");
    lks_model_release(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_before_compile_is_refused),
        cmocka_unit_test(a_failed_layer_fails_the_model_with_the_first_cause),
        cmocka_unit_test(unknown_words_get_a_suggestion),
        cmocka_unit_test(losses_and_metrics_must_be_as_many_as_outputs),
        cmocka_unit_test(wrong_data_are_refused_in_sentences),
        cmocka_unit_test(a_class_out_of_range_is_named),
        cmocka_unit_test(a_loss_that_is_not_finite_stops_with_step_and_layer),
        cmocka_unit_test(steps_per_epoch_runs_on_through_the_data),
        cmocka_unit_test(passes_that_end_with_an_epoch_start_anew),
        cmocka_unit_test(targets_of_another_rank_are_refused),
        cmocka_unit_test(one_hot_rows_are_no_class_numbers),
        cmocka_unit_test(class_numbers_are_no_rows_of_shares),
        cmocka_unit_test(a_callback_without_its_size_is_refused),
        cmocka_unit_test(retain_keeps_what_builders_steal),
        cmocka_unit_test(history_holds_validation_and_metrics),
        cmocka_unit_test(a_callback_can_stop_training),
        cmocka_unit_test(an_own_loss_trains_by_its_own_gradient),
        cmocka_unit_test(a_sequential_model_takes_its_shape_from_the_data),
    };
    return cmocka_run_group_tests(tests, make_data, drop_data);
}
