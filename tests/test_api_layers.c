/* test_api_layers.c - every layer as users write it: fluent and as an object, with and without options. Compiled with -Wconversion and
 * -Werror; runs as one chain of symbolic calls whose shapes are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep.h"

static void expect(lks_node x, lks_shape row)
{
    lks_shape shape = lks_node_shape(x);

    assert_int_equal(shape.rank, row.rank + 1);
    for (int64_t i = 0; i < row.rank; i++) assert_int_equal(shape.dim[i + 1], row.dim[i]);
}

static void image_layers_are_called_by_name(void **state)
{
    lks_node in = lks_input(lks_shape(28, 28, 1)), x, y;

    (void)state;
    x = lks_rescaling(in, .scale = 1.0 / 255);
    x = lks_conv2d(x, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");
    expect(x, lks_shape(28, 28, 8));
    x = lks_batch_normalization(x);
    x = lks_relu(x, .max_value = 6);
    x = lks_leaky_relu(lks_elu(lks_prelu(x)), .negative_slope = 0.1);
    x = lks_depthwise_conv2d(x, .kernel_size = { 3 }, .strides = { 2 }, .padding = "same");
    expect(x, lks_shape(14, 14, 8));
    x = lks_max_pooling2d(x);
    x = lks_average_pooling2d(x, .pool_size = { 2, 2 }, .strides = { 1, 1 }, .padding = "same");
    expect(x, lks_shape(7, 7, 8));
    x = lks_zero_padding2d(x, .padding = { { 0, 1 }, { 0, 1 } });
    x = lks_cropping2d(x, .cropping = { { 1, 1 }, { 1, 1 } });
    x = lks_up_sampling2d(x, .size = { 2 });
    expect(x, lks_shape(12, 12, 8));
    x = lks_conv2d_transpose(x, .filters = 4, .kernel_size = { 3 }, .strides = { 2 }, .padding = "same");
    x = lks_spatial_dropout2d(x, .rate = 0.1);
    expect(x, lks_shape(24, 24, 4));
    y = lks_global_max_pooling2d(x);
    x = lks_global_average_pooling2d(x, .keepdims = LKS_TRUE);
    expect(x, lks_shape(1, 1, 4));
    expect(y, lks_shape(4));
    lks_node_discard(in);
}

static lks_node halves(void *user, size_t n, const lks_node *inputs)
{
    (void)user;
    return n == 1 ? lks_ops_multiply(inputs[0], lks_ops_number(inputs[0], 0.5)) : lks_ops_add(inputs[0], inputs[1]);
}

static void vector_layers_are_called_by_name(void **state)
{
    lks_node in = lks_input(lks_shape(3, 4), .name = "features", .dtype = "float32"), x, pair[2];

    (void)state;
    x = lks_layer_normalization(lks_permute(in, .dims = { 2, 1 }));
    expect(x, lks_shape(4, 3));
    x = lks_flatten(x);
    x = lks_dense(x, .units = 6, .use_bias = LKS_FALSE, .kernel_regularizer = "l2", .name = "wide");
    x = lks_dropout(lks_identity(x), .rate = 0.5);
    x = lks_activity_regularization(x, .l1 = 0.01);
    pair[0] = lks_activation(x, .activation = "tanh");
    pair[1] = lks_lambda(x, .function = halves);
    x = lks_add(2, pair);
    pair[0] = lks_subtract(2, pair);
    pair[1] = lks_multiply(2, pair, .name = "product");
    pair[0] = lks_average(2, pair);
    pair[1] = lks_maximum(2, pair);
    pair[0] = lks_minimum(2, pair);
    x = lks_concatenate(2, pair, .axis = -1);
    expect(x, lks_shape(12));
    expect(lks_repeat_vector(x, .n = 5), lks_shape(5, 12));
    x = lks_softmax(lks_reshape(x, .target_shape = { 3, -1 }));
    expect(x, lks_shape(3, 4));
    pair[0] = pair[1] = x;
    expect(lks_lambda_n(2, pair, halves, NULL), lks_shape(3, 4));
    lks_node_discard(in);
}

static void a_layer_object_is_called_twice_and_keeps_its_weights(void **state)
{
    lks_layer *shared = lks_dense_layer(.units = 4, .name = "shared"), *join = lks_concatenate_layer();
    lks_node in = lks_input(lks_shape(4)), pair[2];
    lks_model *model;

    (void)state;
    pair[0] = lks_call(shared, in);
    pair[1] = lks_call(shared, pair[0]);
    assert_string_equal(lks_layer_name(shared), "shared");
    assert_int_equal(lks_layer_set_trainable(shared, 0), LKS_OK);
    model = lks_model_create(in, lks_call_n(join, 2, pair));
    assert_int_equal(lks_model_status(model), LKS_OK);
    lks_layer_release(lks_layer_retain(shared));
    lks_layer_release(shared);
    lks_layer_release(join);
    lks_model_release(model);
}

static void every_layer_can_be_made_as_an_object(void **state)
{
    lks_layer *layers[] = {
        lks_dense_layer(.units = 1),
        lks_conv2d_layer(.filters = 1, .kernel_size = { 1 }),
        lks_conv2d_transpose_layer(.filters = 1, .kernel_size = { 1 }),
        lks_depthwise_conv2d_layer(.kernel_size = { 1 }),
        lks_activation_layer(.activation = "relu"),
        lks_relu_layer(),
        lks_leaky_relu_layer(),
        lks_elu_layer(),
        lks_prelu_layer(),
        lks_softmax_layer(),
        lks_batch_normalization_layer(),
        lks_layer_normalization_layer(),
        lks_dropout_layer(.rate = 0.5),
        lks_spatial_dropout2d_layer(.rate = 0.5),
        lks_activity_regularization_layer(),
        lks_max_pooling2d_layer(),
        lks_average_pooling2d_layer(),
        lks_global_average_pooling2d_layer(),
        lks_global_max_pooling2d_layer(),
        lks_flatten_layer(),
        lks_reshape_layer(.target_shape = { 1 }),
        lks_permute_layer(.dims = { 1 }),
        lks_zero_padding2d_layer(),
        lks_cropping2d_layer(),
        lks_up_sampling2d_layer(),
        lks_repeat_vector_layer(.n = 1),
        lks_rescaling_layer(.scale = 2),
        lks_identity_layer(),
        lks_add_layer(),
        lks_subtract_layer(),
        lks_multiply_layer(),
        lks_average_layer(),
        lks_maximum_layer(),
        lks_minimum_layer(),
        lks_concatenate_layer(),
        lks_lambda_layer(.function = halves),
    };

    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        assert_non_null(layers[i]);
        assert_int_equal(lks_layer_set_trainable(layers[i], 1), LKS_OK); /* fails on a failed layer */
        lks_layer_release(layers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_layers_are_called_by_name),
        cmocka_unit_test(vector_layers_are_called_by_name),
        cmocka_unit_test(a_layer_object_is_called_twice_and_keeps_its_weights),
        cmocka_unit_test(every_layer_can_be_made_as_an_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
