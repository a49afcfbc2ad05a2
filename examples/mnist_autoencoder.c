/* mnist_autoencoder.c - the third tutorial: an encoder squeezes each digit into 7 x 7 x 8 numbers, a decoder draws it again
 * from them. The loss is one of our own, written as graph.
 *
 *     mnist_autoencoder [EPOCHS [STEPS]]     (5 epochs of the whole training set; STEPS a shorter epoch)
 *
 * Writes autoencoder.png: eight test digits on the left, what the network makes of them on the right.
 */
#include <lockstep.h>

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 128, ROWS = 8 };

/* ---- the loss ---- */

/* The squared error of each example (no reduction over the batch), then the mean over the batch, times 1 / scale. The batch is
 * the global one, whatever the number of replicas, so nothing else has to be divided by hand. */
typedef struct scaled_error {
    double scale;
} scaled_error;

static lks_node scaled_squared_error(void *user, lks_node y_true, lks_node y_pred)
{
    static const int64_t pixels[] = { 1, 2, 3 }, batch[] = { 0 };
    const scaled_error *options = user;
    lks_node per_example = lks_ops_mean(lks_ops_square(lks_ops_subtract(y_pred, y_true)), 3, pixels, 0);
    lks_node mean = lks_ops_mean(per_example, 1, batch, 0);

    return lks_ops_multiply(mean, lks_ops_number(mean, 1.0 / options->scale));
}

/* ---- the model: two models in one ---- */

static lks_model *build_encoder(void)
{
    lks_model *encoder = lks_sequential(.name = "encoder", .input_shape = { 28, 28, 1 });

    lks_sequential_add(encoder, lks_conv2d_layer(.filters = 16, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                 .padding = "same", .activation = "relu"));
    lks_sequential_add(encoder, lks_conv2d_layer(.filters = 8, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                 .padding = "same", .activation = "relu"));
    return encoder;
}

static lks_model *build_decoder(void)
{
    lks_model *decoder = lks_sequential(.name = "decoder", .input_shape = { 7, 7, 8 });

    lks_sequential_add(decoder, lks_conv2d_transpose_layer(.filters = 8, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                           .padding = "same", .activation = "relu"));
    lks_sequential_add(decoder, lks_conv2d_transpose_layer(.filters = 16, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                           .padding = "same", .activation = "relu"));
    lks_sequential_add(
        decoder, lks_conv2d_layer(.filters = 1, .kernel_size = { 3, 3 }, .padding = "same", .activation = "sigmoid"));
    return decoder;
}

static lks_model *build_autoencoder(void)
{
    lks_model *encoder = build_encoder(), *decoder = build_decoder();
    lks_node in = lks_input(lks_shape(28, 28, 1));
    lks_model *model = lks_model_create(in, lks_model_call(decoder, lks_model_call(encoder, in)),
                                        .name = "autoencoder");

    lks_model_release(encoder); /* the model holds its own references */
    lks_model_release(decoder);
    return model;
}

/* ---- the data: the answer is the image itself ---- */

static lks_spec *twin_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const lks_spec *image = lks_spec_leaf(in, 0);

    (void)context, (void)user;
    return lks_spec_tuple_of(lks_spec_retain(image), lks_spec_retain(image));
}

static lks_status twin(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *image = lks_element_tensor(in, 0);
    lks_status status = lks_element_set(out, 0, image); /* shared, not copied */

    (void)context, (void)user;
    return status == LKS_OK ? lks_element_set(out, 1, image) : status;
}

static const lks_map_fn image_to_image[1] = { { .struct_size = sizeof(lks_map_fn),
                                                .name = "image_to_image",
                                                .output_spec = twin_spec,
                                                .apply = twin,
                                                .flags = LKS_FN_PURE } };

static lks_dataset *images(const char *split)
{
    lks_dataset *data = lks_map(lks_mnist(split), lks_cast_rescale, .num_parallel_calls = LKS_AUTOTUNE);

    return lks_batch(lks_map(lks_shuffle(data, 1024), image_to_image), BATCH);
}

/* ---- predict and draw ---- */

/* The first batch of test images as float32 in [0, 1]; NULL on failure. */
static lks_tensor *test_batch(void)
{
    lks_dataset *test = lks_batch(lks_map(lks_mnist("test"), lks_cast_rescale), BATCH);
    lks_iter *it = NULL;
    lks_element *element = NULL;
    lks_tensor *batch = NULL;

    if (lks_iter_create(test, &it) == LKS_OK && lks_iter_next(it, &element) == LKS_OK)
        batch = lks_tensor_retain(lks_element_tensor(element, 0));
    lks_element_release(element);
    lks_iter_release(it);
    lks_dataset_release(test);
    return batch;
}

static lks_status draw(lks_model *model, const char *path)
{
    static const char *const titles[] = { "real", "predicted" };
    lks_tensor *batch = test_batch(), *predicted = NULL, *left = NULL, *right = NULL;
    lks_status status = LKS_E_ARG;

    if (batch != NULL) predicted = lks_predict(model, batch, .batch_size = BATCH);
    if (predicted != NULL) left = lks_tensor_rows(batch, 0, ROWS);
    if (predicted != NULL) right = lks_tensor_rows(predicted, 0, ROWS);
    if (left != NULL && right != NULL) status = lks_draw_grid(path, left, .beside = right, .column_titles = titles);
    lks_tensor_release(right);
    lks_tensor_release(left);
    lks_tensor_release(predicted);
    lks_tensor_release(batch);
    if (status == LKS_OK) printf("drew %s\n", path);
    return status;
}

int main(int argc, char **argv)
{
    scaled_error scale = { .scale = 1.0 };
    const int epochs = argc > 1 ? atoi(argv[1]) : 5;
    const int steps = argc > 2 ? atoi(argv[2]) : 0; /* 0: all */
    lks_model *model = build_autoencoder();
    lks_status status = lks_compile(model, .optimizer = "adam",
                                    .loss_object = lks_loss_create(scaled_squared_error, &scale));

    if (status == LKS_OK)
        status = lks_fit(model, images("train"), .epochs = epochs, .steps_per_epoch = steps, .verbose = 2);
    if (status == LKS_OK) status = draw(model, "autoencoder.png");
    if (status != LKS_OK) fprintf(stderr, "%s\n", lks_last_error());
    lks_model_release(model);
    return status == LKS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
