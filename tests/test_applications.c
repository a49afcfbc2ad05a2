/* MobileNetV2 as Keras builds it: parameter counts, layers, shapes, options, weights files, and a frozen base under a head. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"
#include "model/model.h"
#include "support/shared.h"

static void parameters_are_keras_for_every_width(void **state)
{
    static const struct {
        double alpha;
        int64_t with_top, without;
    } table[] = {
        { 0.35, 1691208, 410208 }, { 0.5, 1987224, 706224 },  { 0.75, 2663064, 1382064 },
        { 1.0, 3538984, 2257984 }, { 1.3, 5431048, 3766048 }, { 1.4, 6156712, 4363712 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lks_model *top = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = table[i].alpha);
        lks_model *body = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = table[i].alpha,
                                           .include_top = LKS_FALSE);
        assert_int_equal(lks_model_status(top), LKS_OK);
        assert_int_equal(lks_model_count_params(top), table[i].with_top);
        assert_int_equal(lks_model_count_params(body), table[i].without);
        lks_model_release(top);
        lks_model_release(body);
    }
}

static void layers_weights_and_names_are_keras(void **state)
{
    static const char *const first[] = { "Conv1", "bn_Conv1", "Conv1_relu", "expanded_conv_depthwise",
                                         "expanded_conv_depthwise_BN" };
    lks_model *m = lks_mobilenet_v2(.classes = 1000);
    lks_shape shape;

    (void)state;
    assert_int_equal(lks_model_status(m), LKS_OK);
    assert_string_equal(lks_model_name(m), "mobilenetv2_1.00_224");
    assert_int_equal(m->n_layers, 156);
    assert_int_equal(lks_model_n_weights(m), 262);
    for (size_t i = 0; i < 5; i++) assert_string_equal(m->layers[i + 1]->name, first[i]);
    assert_string_equal(m->layers[155]->name, "predictions");
    assert_non_null(lks__model_find_layer(m, "block_16_project_BN"));
    assert_non_null(lks__model_find_layer(m, "block_15_add"));
    assert_null(lks__model_find_layer(m, "block_16_add"));
    assert_non_null(lks__model_find_layer(m, "block_13_pad"));
    assert_string_equal(lks_model_weight_path(m, 0), "Conv1/kernel");
    shape = lks_model_output_shape(m, 0);
    assert_int_equal(shape.dim[1], 1000);
    lks_model_release(m);
}

static void shapes_of_features(void **state)
{
    static const struct {
        int64_t in[3];
        const char *pooling;
        int64_t rank, out[3];
        const char *name;
    } table[] = {
        { { 224, 224, 3 }, NULL, 4, { 7, 7, 1280 }, "mobilenetv2_0.35_224" },
        { { 96, 128, 1 }, "none", 4, { 3, 4, 1280 }, "mobilenetv2_0.35_96" },
        { { 75, 33, 3 }, NULL, 4, { 3, 2, 1280 }, "mobilenetv2_0.35_75" }, /* odd sizes are padded on both sides */
        { { 64, 64, 3 }, "avg", 2, { 1280 }, "mobilenetv2_0.35_64" },
        { { 64, 64, 3 }, "max", 2, { 1280 }, "mobilenetv2_0.35_64" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lks_model *m = lks_mobilenet_v2(.input_shape = { table[i].in[0], table[i].in[1], table[i].in[2] },
                                        .alpha = 0.35, .include_top = LKS_FALSE, .pooling = table[i].pooling);
        lks_shape shape = lks_model_output_shape(m, 0);
        assert_int_equal(shape.rank, table[i].rank);
        for (int64_t k = 1; k < shape.rank; k++) assert_int_equal(shape.dim[k], table[i].out[k - 1]);
        assert_string_equal(lks_model_name(m), table[i].name);
        lks_model_release(m);
    }
}

static void bad_options_are_named(void **state)
{
    lks_model *m[] = {
        lks_mobilenet_v2(.input_shape = { 31, 64, 3 }),
        lks_mobilenet_v2(.alpha = -1.0),
        lks_mobilenet_v2(.classes = -3),
        lks_mobilenet_v2(.include_top = LKS_FALSE, .pooling = "middle"),
        lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = 0.35, .weights = "no such file.weights.h5"),
    };
    static const char *const said[] = { "at least 32", "alpha", "classes", "\"middle\"", "no such file" };

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_not_equal(lks_model_status(m[i]), LKS_OK);
        assert_non_null(strstr(lks_last_error(), said[i]));
        lks_model_release(m[i]);
    }
}

static void preprocessing_maps_bytes_to_minus_one_to_one(void **state)
{
    lks_tensor *bytes = lks_tensor_create(LKS_UINT8, lks_shape(1, 1, 1, 3)), *x;
    static const unsigned char pixels[] = { 0, 255, 51 };

    (void)state;
    memcpy(lks_tensor_data(bytes), pixels, 3);
    x = lks_mobilenet_v2_preprocess(bytes);
    assert_true(((float *)lks_tensor_data(x))[0] == -1.0f);
    assert_true(((float *)lks_tensor_data(x))[1] == 1.0f);
    assert_true(((float *)lks_tensor_data(x))[2] == 51.0f / 127.5f - 1.0f);
    assert_null(lks_mobilenet_v2_preprocess(NULL));
    lks_tensor_release(bytes);
    lks_tensor_release(x);
}

/* ---- a new head on a frozen base ---- */

static lks_model *with_head(lks_model *base, bool nested)
{
    lks_node in = nested ? lks_input(lks_shape(32, 32, 3)) : lks_model_input(base, 0);
    lks_node x = nested ? lks_model_call(base, in) : lks_model_output(base, 0);

    x = lks_dense(lks_global_average_pooling2d(x), .units = 1, .name = "head");
    return lks_model_create(in, x);
}

static lks_tensor *noise(int64_t n)
{
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(n, 32, 32, 3));
    float *p = lks_tensor_data(x);
    uint32_t s = 1;

    for (int64_t i = 0; i < lks_tensor_size(x); i++) {
        s = s * 1664525u + 1013904223u;
        p[i] = (float)(s >> 8) / 8388608.0f - 1.0f;
    }
    return x;
}

static void train(lks_model *m, lks_tensor *x)
{
    lks_tensor *y = lks_tensor_create(LKS_FLOAT32, lks_shape(lks_tensor_shape(x).dim[0], 1));
    lks_arrays arrays = { .x = x, .y = y };
    lks_logs logs;

    ((float *)lks_tensor_data(y))[0] = 1;
    assert_int_equal(lks_compile(m, .optimizer = "sgd:learning_rate=0.1", .loss = "mse"), LKS_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(lks_train_on_batch(m, &arrays, &logs), LKS_OK);
    lks_tensor_release(y);
}

/* Batch normalisation of a frozen base uses and keeps its moving statistics also in training, flat or nested. */
static void a_frozen_base_keeps_its_bits(void **state)
{
    lks_tensor *x = noise(4);

    (void)state;
    for (int nested = 0; nested < 2; nested++) {
        lks_model *base = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = 0.35, .include_top = LKS_FALSE), *m;
        char before[65], after[65];
        assert_int_equal(lks_model_set_trainable(base, NULL, 0), LKS_OK);
        m = with_head(base, nested != 0);
        assert_int_equal(lks_model_digest(base, before), LKS_OK);
        train(m, x);
        assert_int_equal(lks_model_digest(base, after), LKS_OK);
        assert_string_equal(before, after);
        assert_int_equal(lks_model_set_trainable(base, NULL, 1), LKS_OK);
        train(m, x);
        assert_int_equal(lks_model_digest(base, after), LKS_OK);
        assert_string_not_equal(before, after);
        lks_model_release(m);
        lks_model_release(base);
    }
    lks_tensor_release(x);
}

static void weights_survive_a_file(void **state)
{
    lks_model *a = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = 0.35, .classes = 7, .seed = 3), *b;
    char path[] = "/tmp/lockstep_XXXXXX", file[64], one[65], two[65];

    (void)state;
    assert_non_null(mkdtemp(path));
    snprintf(file, sizeof file, "%s/m.weights.h5", path);
    assert_int_equal(lks_save_weights(a, file), LKS_OK);
    b = lks_mobilenet_v2(.input_shape = { 64, 64, 3 }, .alpha = 0.35, .classes = 7, .weights = file);
    assert_int_equal(lks_model_status(b), LKS_OK);
    lks_model_digest(a, one);
    lks_model_digest(b, two);
    assert_string_equal(one, two);
    lks_model_release(b);
    b = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .alpha = 0.35, .classes = 8);
    assert_int_equal(lks_model_digest(b, one), LKS_OK);
    assert_int_equal(lks_load_weights(b, file), LKS_E_FORMAT); /* and nothing has changed */
    assert_int_equal(lks_model_digest(b, two), LKS_OK);
    assert_string_equal(one, two);
    lks_model_release(b);
    lks_model_release(a);
    remove(file);
    remove(path);
}

/* Three convolutions' outputs an element would be kept for each normalisation; one is. (160x160, batch 16: TensorFlow and PyTorch
 * take 1,450 MB and more.) */
static void training_keeps_one_value_for_each_convolution(void **state)
{
    lks_model *m = lks_mobilenet_v2(.input_shape = { 160, 160, 3 }, .classes = 2);
    lks_plan plan;

    (void)state;
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss = "categorical_crossentropy"), LKS_OK);
    assert_int_equal(lks_model_plan(m, 16, 2, &plan), LKS_OK);
    assert_true(plan.total_bytes < (int64_t)480 << 20);
    lks_model_release(m);
}

/* The file of genuine ImageNet weights gives healthy features: finite, not all zero. */
static void imagenet_weights_fit(void **state)
{
    char file[4096];
    lks_model *m;
    lks_tensor *x, *y;
    double sum = 0;

    (void)state;
    if (shared_folder() == NULL) {
        printf("skipped: ../shared not found\n");
        return;
    }
    snprintf(file, sizeof file, "%s/data/mobilenet_v2/mobilenet_v2_imagenet_notop.weights.h5", shared_folder());
    m = lks_mobilenet_v2(.input_shape = { 32, 32, 3 }, .include_top = LKS_FALSE, .pooling = "avg", .weights = file);
    assert_int_equal(lks_model_status(m), LKS_OK);
    x = noise(1);
    y = lks_predict(m, x, .threads = 1);
    assert_non_null(y);
    for (int64_t i = 0; i < 1280; i++) sum += ((float *)lks_tensor_data(y))[i];
    assert_true(sum > 1 && sum < 1280 * 6);
    lks_tensor_release(y);
    lks_tensor_release(x);
    lks_model_release(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_keras_for_every_width),
        cmocka_unit_test(layers_weights_and_names_are_keras),
        cmocka_unit_test(shapes_of_features),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(preprocessing_maps_bytes_to_minus_one_to_one),
        cmocka_unit_test(a_frozen_base_keeps_its_bits),
        cmocka_unit_test(weights_survive_a_file),
        cmocka_unit_test(training_keeps_one_value_for_each_convolution),
        cmocka_unit_test(imagenet_weights_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
