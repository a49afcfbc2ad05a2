/* test_api_model.c - models as users write them: several inputs and outputs, nesting, operations on nodes in a layer of one's own,
 * single steps, plans, summaries. Compiled with -Wconversion and -Werror.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <lockstep.h>

enum { ROWS = 12 };

static lks_tensor *ramp(int64_t columns, double from, double step)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, columns));
    float *x = lks_tensor_data(t);

    for (int64_t i = 0; i < ROWS * columns; i++) x[i] = (float)(from + step * (double)i);
    return t;
}

/* ---- operations on nodes ---- */

typedef struct operation {
    const char *name;
    lks_node (*one)(lks_node x);
    lks_node (*two)(lks_node a, lks_node b);
    double (*want)(double x);
} operation;

static double greater(double x)
{
    return x > 0.5;
}

static double greater_equal(double x)
{
    return x >= 0.5;
}

static double less_equal(double x)
{
    return x <= 0.5;
}

static double not_equal(double x)
{
    return x != 0.5;
}

static const operation operations[] = {
    { "cos", lks_ops_cos, NULL, cos },
    { "sin", lks_ops_sin, NULL, sin },
    { "erf", lks_ops_erf, NULL, erf },
    { "erfc", lks_ops_erfc, NULL, erfc },
    { "expm1", lks_ops_expm1, NULL, expm1 },
    { "log", lks_ops_log, NULL, log },
    { "log1p", lks_ops_log1p, NULL, log1p },
    { "tanh", lks_ops_tanh, NULL, tanh },
    { "greater", NULL, lks_ops_greater, greater },
    { "greater_equal", NULL, lks_ops_greater_equal, greater_equal },
    { "less_equal", NULL, lks_ops_less_equal, less_equal },
    { "not_equal", NULL, lks_ops_not_equal, not_equal },
};

static lks_node apply(void *user, size_t n, const lks_node *inputs)
{
    const operation *o = user;
    lks_node half = lks_ops_number(inputs[0], 0.5);

    (void)n;
    if (o->one != NULL) return o->one(inputs[0]);
    return lks_ops_cast(o->two(inputs[0], half), LKS_FLOAT32);
}

static void a_layer_of_ones_own_is_made_of_operations(void **state)
{
    lks_tensor *x = ramp(2, 0.0625, 0.0625); /* 0.0625 .. 1.5, with 0.5 among them */

    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        operation o = operations[i];
        lks_node in = lks_input(lks_shape(2));
        lks_model *model = lks_model_create(in, lks_lambda(in, .function = apply, .user = &o));
        lks_tensor *y = lks_predict(model, x);
        if (y == NULL) fail_msg("%s: %s", o.name, lks_last_error());
        for (int64_t k = 0; k < lks_tensor_size(x); k++) {
            double want = o.want((double)((const float *)lks_tensor_cdata(x))[k]);
            double got = (double)((const float *)lks_tensor_cdata(y))[k];
            if (!(fabs(got - want) <= 1e-6)) fail_msg("%s, element %lld: %g, not %g", o.name, (long long)k, got, want);
        }
        lks_tensor_release(y);
        lks_model_release(model);
    }
    lks_tensor_release(x);
}

static lks_node either(void *user, size_t n, const lks_node *inputs)
{
    lks_node small = lks_ops_less(inputs[0], lks_ops_number(inputs[0], 0.25));
    lks_node large = lks_ops_greater(inputs[0], lks_ops_number(inputs[0], 0.75));

    (void)user;
    (void)n;
    return lks_ops_cast(lks_ops_logical_or(small, large), LKS_FLOAT32);
}

static void conditions_combine(void **state)
{
    lks_tensor *x = ramp(1, 0, 0.1), *y;
    lks_node in = lks_input(lks_shape(1));
    lks_model *model = lks_model_create(in, lks_lambda(in, .function = either));

    (void)state;
    y = lks_predict(model, x);
    assert_non_null(y);
    for (int i = 0; i < ROWS; i++)
        assert_true(((const float *)lks_tensor_cdata(y))[i] == (i < 3 || i > 7 ? 1.0f : 0.0f));
    lks_tensor_release(x);
    lks_tensor_release(y);
    lks_model_release(model);
}

/* ---- several inputs and outputs ---- */

/* Two inputs to a sum and a difference. */
static lks_model *two_to_two(void)
{
    lks_node in[2] = { lks_input(lks_shape(3), .name = "left"), lks_input(lks_shape(3), .name = "right") };
    lks_node out[2] = { lks_add(2, in), lks_subtract(2, in) };

    return lks_model_create_io(2, in, 2, out, .name = "two_to_two");
}

static void a_model_of_several_inputs_and_outputs_nests_in_another(void **state)
{
    lks_model *inner = two_to_two(), *outer, *kept;
    lks_node in[2] = { lks_input(lks_shape(3)), lks_input(lks_shape(3)) }, out[2];
    lks_tensor *x[2] = { ramp(3, 0, 1), ramp(3, 100, -1) }, *y[2] = { NULL, NULL };

    (void)state;
    lks_model_call_io(inner, 2, in, out);
    outer = lks_model_create_io(2, in, 2, out);
    kept = lks_model_retain(inner);
    lks_model_release(inner);
    assert_int_equal(lks_model_status(outer), LKS_OK);
    assert_int_equal(lks_predict_arrays_with(outer, 2, x, 2, y, NULL), LKS_OK);
    for (int i = 0; i < ROWS * 3; i++) {
        assert_true(((const float *)lks_tensor_cdata(y[0]))[i] == 100.0f);
        assert_true(((const float *)lks_tensor_cdata(y[1]))[i] == (float)(2 * i - 100));
    }
    for (int i = 0; i < 2; i++) {
        lks_tensor_release(x[i]);
        lks_tensor_release(y[i]);
    }
    lks_model_release(outer);
    lks_model_release(kept);
}

/* ---- training ---- */

static lks_model *regression(lks_strategy *strategy)
{
    lks_node in = lks_input(lks_shape(4));
    lks_model *model;

    lks_scope_enter(strategy);
    model = lks_model_create(in, lks_dense(lks_dense(in, .units = 3, .name = "frozen"), .units = 1));
    lks_scope_exit(strategy);
    return model;
}

static lks_status compile(lks_model *model)
{
    return lks_compile(model, .optimizer = "sgd:learning_rate=0.001", .loss = "mse");
}

static void single_steps_train_and_test(void **state)
{
    lks_strategy *strategy = lks_mirrored(), *kept = lks_strategy_retain(strategy);
    lks_model *model = regression(strategy);
    lks_arrays data = { .x = ramp(4, -1, 0.05), .y = ramp(1, 0, 0.1) };
    lks_logs logs;
    lks_plan plan;
    double before;

    (void)state;
    lks_strategy_release(strategy);
    assert_int_equal(compile(model), LKS_OK);
    assert_int_equal(lks_model_last_plan(model, &plan), LKS_E_STATE);
    assert_int_equal(lks_test_on_batch(model, &data, &logs), LKS_OK);
    before = lks_logs_get(&logs, "loss");
    for (int step = 0; step < 20; step++) assert_int_equal(lks_train_on_batch(model, &data, &logs), LKS_OK);
    assert_int_equal(lks_test_on_batch(model, &data, &logs), LKS_OK);
    assert_true(lks_logs_get(&logs, "loss") < before);
    assert_int_equal(lks_model_last_plan(model, &plan), LKS_OK);
    assert_int_equal(plan.params, 4 * 3 + 3 + 3 + 1);
    lks_tensor_release(data.x);
    lks_tensor_release(data.y);
    lks_model_release(model);
    lks_strategy_release(kept);
}

static void a_frozen_layer_keeps_its_weights(void **state)
{
    lks_strategy *strategy = lks_mirrored();
    lks_model *model = regression(strategy);
    lks_arrays data = { .x = ramp(4, -1, 0.05), .y = ramp(1, 0, 0.1) };
    lks_tensor *kernel, *before;
    lks_history *history = NULL;

    (void)state;
    assert_int_equal(lks_model_set_trainable(model, "frozen", 0), LKS_OK);
    assert_int_equal(lks_model_set_trainable(model, "nowhere", 0), LKS_E_NOTFOUND);
    assert_int_equal(compile(model), LKS_OK);
    kernel = lks_model_weight(model, 0);
    before = lks_tensor_cast(kernel, LKS_FLOAT32);
    assert_int_equal(lks_fit_arrays(model, &data, .epochs = 4, .initial_epoch = 2, .history = &history), LKS_OK);
    assert_memory_equal(lks_tensor_cdata(kernel), lks_tensor_cdata(before), 12 * sizeof(float));
    assert_int_equal(lks_history_epochs(history), 2);
    assert_int_equal(lks_history_epoch(history, 1), 3);
    lks_history_release(history);
    lks_tensor_release(kernel);
    lks_tensor_release(before);
    lks_tensor_release(data.x);
    lks_tensor_release(data.y);
    lks_model_release(model);
    lks_strategy_release(strategy);
}

static void predictions_of_a_dataset_are_those_of_its_arrays(void **state)
{
    lks_strategy *strategy = lks_mirrored();
    lks_model *model = regression(strategy);
    lks_tensor *x = ramp(4, -1, 0.05), *a = NULL, *b = lks_predict(model, x);

    (void)state;
    assert_int_equal(lks_predict_data_with(model, lks_batch(lks_from_tensor_slices(x), 5), 1, &a, NULL), LKS_OK);
    assert_non_null(b);
    assert_memory_equal(lks_tensor_cdata(a), lks_tensor_cdata(b), ROWS * sizeof(float));
    lks_tensor_release(x);
    lks_tensor_release(a);
    lks_tensor_release(b);
    lks_model_release(model);
    lks_strategy_release(strategy);
}

/* ---- output ---- */

static void collect(void *user, const char *text, size_t length)
{
    char *all = user;
    size_t n = strlen(all);

    if (n + length >= 4096) length = 4095 - n;
    memcpy(all + n, text, length);
    all[n + length] = '\0';
}

static void a_summary_goes_to_the_output_hook(void **state)
{
    char text[4096] = "";
    lks_strategy *strategy = lks_mirrored();
    lks_model *model = regression(strategy);

    (void)state;
    lks_set_output(collect, text);
    assert_int_equal(lks_summary(model), LKS_OK);
    lks_set_output(NULL, NULL);
    assert_non_null(strstr(text, "frozen (Dense)"));
    assert_non_null(strstr(text, "Total params: 19"));
    lks_model_release(model);
    lks_strategy_release(strategy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_of_ones_own_is_made_of_operations),
        cmocka_unit_test(conditions_combine),
        cmocka_unit_test(a_model_of_several_inputs_and_outputs_nests_in_another),
        cmocka_unit_test(single_steps_train_and_test),
        cmocka_unit_test(a_frozen_layer_keeps_its_weights),
        cmocka_unit_test(predictions_of_a_dataset_are_those_of_its_arrays),
        cmocka_unit_test(a_summary_goes_to_the_output_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
