/* test_layers_config.c - options from users, from strings and from Keras' JSON, and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "layers/layer.h"
#include "layers/weights.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optimizers/optimizer.h"
#include "support/failing_alloc.h"
#include "support/shared.h"

static void left_out_is_the_default_and_zero_can_be_said(void **state)
{
    lks_layer *plain = lks_batch_normalization_layer();
    lks_layer *set = lks_batch_normalization_layer(.epsilon = LKS_ZERO, .momentum = 0.5, .axis = 1,
                                                   .center = LKS_FALSE);
    const lks_batch_normalization_options *a = plain->options, *b = set->options;

    (void)state;
    assert_int_equal(lks__layer_status(plain), LKS_OK);
    assert_true(a->epsilon == 0.001 && a->momentum == 0.99 && a->axis == -1 && a->center == LKS_TRUE);
    assert_true(b->epsilon == 0 && b->momentum == 0.5 && b->axis == 1 && b->center == LKS_FALSE &&
                b->scale == LKS_TRUE);
    assert_string_equal(a->gamma_initializer, "ones");
    lks_layer_release(plain);
    lks_layer_release(set);
}

static void one_size_stands_for_both_axes(void **state)
{
    lks_layer *layer = lks_conv2d_layer(.filters = 2, .kernel_size = { 3 }, .strides = { 2, 1 });
    lks_layer *pool = lks_max_pooling2d_layer(.pool_size = { 3 }), *pad = lks_zero_padding2d_layer();
    const lks_conv2d_options *o = layer->options;
    const lks_max_pooling2d_options *p = pool->options;
    const lks_zero_padding2d_options *z = pad->options;

    (void)state;
    assert_true(o->kernel_size[0] == 3 && o->kernel_size[1] == 3 && o->strides[0] == 2 && o->strides[1] == 1);
    assert_true(p->strides[0] == 3 && p->strides[1] == 3);
    assert_true(z->padding[0][0] == 1 && z->padding[1][1] == 1);
    lks_layer_release(layer);
    lks_layer_release(pool);
    lks_layer_release(pad);
}

static void a_bad_option_is_told_where_it_stands(void **state)
{
    struct {
        lks_layer *layer;
        const char *says;
    } cases[] = {
        { lks_dense_layer(.units = -3), "Dense: units must be a positive integer, found -3" },
        { lks_dense_layer(.name = "x"), "units is missing" },
        { lks_dense_layer(.units = LKS_ZERO_INT), "positive integer, found 0" },
        { lks_dense_layer(.units = 3, .activation = "rellu"),
          "activation: there is no activation \"rellu\"; did you mean \"relu" },
        { lks_dense_layer(.units = 3, .kernel_initializer = "xavier"), "there is no initializer \"xavier\"" },
        { lks_dense_layer(.units = 3, .kernel_regularizer = "l3"), "there is no regularizer \"l3\"" },
        { lks_dense_layer(.units = 3, .kernel_regularizer = "l2:l3=1"), "no option \"l3\"; did you mean \"l2\"?" },
        { lks_dense_layer(.units = 3, .dtype = "float16"), "\"float16\" is not available yet" },
        { lks_dense_layer(.units = 3, .name = "a/b"), "cannot be a layer's name" },
        { lks_conv2d_layer(.filters = 4, .kernel_size = { 3 }, .strides = { 2 }, .dilation_rate = { 2 }),
          "cannot both be larger" },
        { lks_conv2d_layer(.filters = 5, .kernel_size = { 3 }, .groups = 2), "divisible by groups" },
        { lks_conv2d_layer(.filters = 4, .kernel_size = { 3 }, .padding = "sane"),
          "padding cannot be \"sane\"; did you mean \"same\"" },
        { lks_conv2d_layer(.filters = 4), "kernel_size is missing" },
        { lks_conv2d_transpose_layer(.filters = 3, .kernel_size = { 3 }, .strides = { 2 }, .output_padding = { 2 }),
          "smaller than strides" },
        { lks_dropout_layer(.rate = 1.5), "rate must lie between 0 and 1, found 1.5" },
        { lks_relu_layer(.max_value = -1), "max_value must not be negative" },
        { lks_leaky_relu_layer(.negative_slope = -0.1), "negative_slope must not be negative" },
        { lks_reshape_layer(.target_shape = { -1, -1 }), "at most one size" },
        { lks_permute_layer(.dims = { 1, 3 }), "each of 1 to 2 once" },
        { lks_lambda_layer(.user = NULL), "function is missing" },
        { lks_rescaling_layer(.offset = 1), "scale is missing" },
        { lks_batch_normalization_layer(.renorm = LKS_TRUE), "not available yet" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(lks__layer_status(cases[i].layer), LKS_OK);
        if (strstr(lks_last_error(), cases[i].says) == NULL) fail_msg("case %zu says: %s", i, lks_last_error());
        lks_layer_release(cases[i].layer);
    }
    assert_int_equal(lks__layer_status(NULL), LKS_E_NOMEM);
}

static void a_spec_is_an_object_in_one_line(void **state)
{
    char name[LKS_SPEC_NAME], *back;
    json_t *config, *object;

    (void)state;
    assert_int_equal(lks__spec_parse("thing:a=1,b=0.5,c=true,d=none,e=[1,2],f=some word", name, &config), LKS_OK);
    assert_string_equal(name, "thing");
    assert_int_equal(json_integer_value(json_object_get(config, "a")), 1);
    assert_true(json_real_value(json_object_get(config, "b")) == 0.5);
    assert_true(json_is_true(json_object_get(config, "c")) && json_is_null(json_object_get(config, "d")));
    assert_int_equal(json_array_size(json_object_get(config, "e")), 2);
    assert_string_equal(json_string_value(json_object_get(config, "f")), "some word");
    object = json_pack("{s:s, s:o}", "class_name", "thing", "config", config);
    assert_int_equal(lks__spec_from_json(object, &back), LKS_OK);
    assert_string_equal(back, "thing:a=1,b=0.5,c=true,e=[1,2],f=some word");
    lks_free(back);
    json_decref(object);
    assert_int_equal(lks__spec_parse("thing:oops", name, &config), LKS_E_ARG);
    assert_int_equal(lks__spec_parse("", name, &config), LKS_E_ARG);
}

static void older_files_and_unknown_keys_are_read(void **state)
{
    static const char text[] = "{\"class_name\": \"LeakyReLU\", \"config\": {\"name\": \"l\", \"trainable\": false, "
                               "\"dtype\": \"float32\", \"alpha\": 0.25, \"made_up\": [1]}}";
    json_t *object = json_loads(text, 0, NULL);
    lks_layer *layer = NULL;

    (void)state;
    assert_int_equal(lks__layer_from_config(object, &layer), LKS_OK);
    assert_true(((const lks_leaky_relu_options *)layer->options)->negative_slope == 0.25);
    assert_string_equal(lks_layer_name(layer), "l");
    assert_false(layer->trainable);
    lks_layer_release(layer);
    json_decref(object);
}

static void a_broken_config_is_refused(void **state)
{
    static const char *const cases[][2] = {
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": \"ten\"}}",
          "units: expected an integer, found \"ten\"" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2.5}}", "expected an integer, found 2.5" },
        { "{\"class_name\": \"Dense\", \"config\": {}}", "units is missing" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": null}}", "units must be given" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 9000000000000000000}}", "too large" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2, \"activation\": \"warp\"}}", "\"warp\"" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2, \"activation\": {\"class_name\": \"__lambda__\", \"config\": {}}}}",
          "lambda" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2, \"name\": \"a\\u0000b\"}}", "NUL" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2, \"use_bias\": \"yes\"}}", "true or false" },
        { "{\"class_name\": \"Dense\", \"config\": {\"units\": 2, \"dtype\": \"float16\"}}", "float16" },
        { "{\"class_name\": \"Conv2D\", \"config\": {\"filters\": 2, \"kernel_size\": [3, 3, 3]}}",
          "one number for each axis" },
        { "{\"class_name\": \"QuantumDense\", \"config\": {}}", "there is no layer \"QuantumDense\"" },
        { "{\"class_name\": \"Lambda\", \"config\": {}}", "nothing of it is run" },
        { "{\"class_name\": \"Dense\"}", "config is missing" },
        { "{\"config\": {}}", "class_name is missing" },
        { "[1]", "expected a name or an object" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *object = json_loads(cases[i][0], JSON_ALLOW_NUL, NULL);
        lks_layer *layer = NULL;
        assert_non_null(object);
        assert_int_not_equal(lks__layer_from_config(object, &layer), LKS_OK);
        if (strstr(lks_last_error(), cases[i][1]) == NULL) fail_msg("case %zu says: %s", i, lks_last_error());
        assert_null(layer);
        json_decref(object);
    }
}

/* ---- everything that Keras wrote for the golden cases comes out as it went in ---- */

static bool same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
    if (json_typeof(a) != json_typeof(b)) return false;
    if (json_is_array(a)) {
        if (json_array_size(a) != json_array_size(b)) return false;
        json_array_foreach((json_t *)a, i, value) if (!same(value, json_array_get(b, i))) return false;
        return true;
    }
    if (!json_is_object(a)) return json_equal((json_t *)a, (json_t *)b);
    if (json_object_size(a) != json_object_size(b)) return false;
    json_object_foreach((json_t *)a, key, value)
    {
        if (json_object_get(b, key) == NULL || !same(value, json_object_get(b, key))) return false;
    }
    return true;
}

static lks_status again(const json_t *config, const char *module, json_t **out)
{
    lks_layer *layer = NULL;
    lks_loss *loss = NULL;
    lks_metric *metric = NULL;
    lks_optimizer *optimizer = NULL;
    lks_status status = LKS_E_UNSUPPORTED;

    if (strcmp(module, "keras.layers") == 0) {
        status = lks__layer_from_config(config, &layer);
        if (status == LKS_OK) status = lks__layer_to_config(layer, out);
    } else if (strcmp(module, "keras.losses") == 0) {
        status = lks__loss_from_config(config, &loss);
        if (status == LKS_OK) status = lks__loss_to_config(loss, out);
    } else if (strcmp(module, "keras.metrics") == 0) {
        status = lks__metric_from_config(config, &metric);
        if (status == LKS_OK) status = lks__metric_to_config(metric, out);
    } else if (strcmp(module, "keras.optimizers") == 0) {
        status = lks__optimizer_from_config(config, &optimizer);
        if (status == LKS_OK) status = lks__optimizer_to_config(optimizer, out);
    }
    lks_layer_release(layer);
    lks_loss_release(loss);
    lks_metric_release(metric);
    lks_optimizer_release(optimizer);
    return status;
}

static int check_topic(const char *folder, const char *topic)
{
    char path[2200];
    json_t *all, *item;
    size_t i;
    int n = 0;

    snprintf(path, sizeof path, "%s/golden/math/%s.json", folder, topic);
    all = json_load_file(path, 0, NULL);
    assert_non_null(all);
    json_array_foreach(json_object_get(all, "cases"), i, item)
    {
        json_t *config = json_object_get(item, "config"), *written = NULL;
        const char *module = json_string_value(json_object_get(config, "module"));
        if (module == NULL || again(config, module, &written) != LKS_OK) continue;
        json_object_del(config, "build_config");
        if (!same(config, written)) {
            char *a = json_dumps(config, 0), *b = json_dumps(written, 0);
            fail_msg("%s/%s: %s\ncame out as %s", topic, json_string_value(json_object_get(item, "case")), a, b);
        }
        json_decref(written);
        n++;
    }
    json_decref(all);
    return n;
}

static void configs_of_keras_come_out_as_they_went_in(void **state)
{
    static const char *const topics[] = {
        "activations/by_name",
        "activations/layers",
        "layers/dense",
        "layers/conv2d",
        "layers/conv2d_transpose",
        "layers/depthwise_conv2d",
        "layers/pooling",
        "layers/shape",
        "layers/merge",
        "layers/batch_normalization",
        "layers/other_normalization",
        "losses/regression",
        "losses/binary",
        "losses/categorical",
        "losses/sparse_categorical",
        "losses/hinge_and_overlap",
        "metrics/accuracy",
        "metrics/means",
        "optimizers/sgd",
        "optimizers/adam",
        "optimizers/adamw",
        "optimizers/rmsprop",
        "optimizers/adagrad",
        "optimizers/ftrl",
        "optimizers/nadam",
    };
    const char *folder = NEED_SHARED();
    int n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) n += check_topic(folder, topics[i]);
    print_message("%d configs\n", n);
    assert_true(n > 900);
}

static lks_status make_and_write(void)
{
    lks_dense_options o = {
        .struct_size = sizeof o, .units = 4, .name = "d", .kernel_regularizer = "l2:l2=0.1", .activation = "relu"
    };
    lks_layer *layer = lks_dense_layer_with(&o);
    lks_status status = lks__layer_status(layer);

    lks_layer_release(layer);
    return status;
}

static void no_memory_is_a_failed_layer(void **state)
{
    lks_status status;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = make_and_write(), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_out_is_the_default_and_zero_can_be_said),
        cmocka_unit_test(one_size_stands_for_both_axes),
        cmocka_unit_test(a_bad_option_is_told_where_it_stands),
        cmocka_unit_test(a_spec_is_an_object_in_one_line),
        cmocka_unit_test(older_files_and_unknown_keys_are_read),
        cmocka_unit_test(a_broken_config_is_refused),
        cmocka_unit_test(configs_of_keras_come_out_as_they_went_in),
        cmocka_unit_test(no_memory_is_a_failed_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
