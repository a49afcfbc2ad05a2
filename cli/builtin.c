/* builtin.c - the models that come with the command, as their tutorials have them. */
#include "program.h"

/* Convolution, flatten, softmax: the first tutorial's digits. */
static lks_model *mnist_cnn(const char *settings)
{
    lks_node in = lks_input(lks_shape(28, 28, 1));
    lks_node x = lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");

    (void)settings;
    x = lks_flatten(x);
    return lks_model_create(in, lks_dense(x, .units = 10, .activation = "softmax"), .name = "mnist_cnn");
}

static lks_layer *down(int64_t filters)
{
    return lks_conv2d_layer(.filters = filters, .kernel_size = { 3, 3 }, .strides = { 2, 2 }, .padding = "same",
                            .activation = "relu");
}

static lks_layer *up(int64_t filters)
{
    return lks_conv2d_transpose_layer(.filters = filters, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                      .padding = "same", .activation = "relu");
}

/* Encoder and decoder, each a Sequential model, one after the other: the third tutorial's autoencoder. */
static lks_model *mnist_autoencoder(const char *settings)
{
    lks_model *encoder = lks_sequential(.name = "encoder", .input_shape = { 28, 28, 1 });
    lks_model *decoder = lks_sequential(.name = "decoder", .input_shape = { 7, 7, 8 });
    lks_node in = lks_input(lks_shape(28, 28, 1));
    lks_model *model;

    (void)settings;
    lks_sequential_add(encoder, down(16));
    lks_sequential_add(encoder, down(8));
    lks_sequential_add(decoder, up(8));
    lks_sequential_add(decoder, up(16));
    lks_sequential_add(
        decoder, lks_conv2d_layer(.filters = 1, .kernel_size = { 3, 3 }, .padding = "same", .activation = "sigmoid"));
    model = lks_model_create(in, lks_model_call(decoder, lks_model_call(encoder, in)), .name = "mnist_autoencoder");
    lks_model_release(encoder);
    lks_model_release(decoder);
    return model;
}

const cli_builtin cli_builtins[] = {
    { "mnist_cnn", "adam", "categorical_crossentropy", "accuracy", 256, 10, true, NULL, mnist_cnn },
    { "mnist_autoencoder", "adam", "mse", NULL, 128, 5, true, NULL, mnist_autoencoder },
    { "mobilenet_v2", "adam", "categorical_crossentropy", "accuracy", 16, 1, false, cli_mobilenet_settings,
      cli_mobilenet },
    { NULL, NULL, NULL, NULL, 0, 0, false, NULL, NULL },
};
