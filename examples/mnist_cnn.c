/* mnist_cnn.c - the first tutorial: a small convolutional network learns handwritten digits, fed by a pipeline.
 *
 *     mnist_cnn [EPOCHS [STEPS]]     (10 epochs of the whole training set; STEPS a shorter epoch)
 *
 * Writes mnist.keras, which Keras opens too.
 */
#include <lockstep.h>

#include <stdio.h>
#include <stdlib.h>

static lks_model *build_cnn(void)
{
    lks_node in = lks_input(lks_shape(28, 28, 1));
    lks_node x = lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");
    x = lks_flatten(x);
    return lks_model_create(in, lks_dense(x, .units = 10, .activation = "softmax"));
}

/* The 10,000 test images, which training has not seen. */
static lks_status evaluate(lks_model *model, int batch)
{
    lks_dataset *test = lks_batch(lks_map(lks_mnist("test"), lks_cast_rescale_onehot), batch);
    lks_logs logs;
    lks_status status = lks_evaluate(model, test, &logs, .verbose = 0);

    if (status == LKS_OK)
        printf("test images: loss %.4f, accuracy %.4f\n", lks_logs_get(&logs, "loss"), lks_logs_get(&logs, "accuracy"));
    return status;
}

int main(int argc, char **argv)
{
    const int epochs = argc > 1 ? atoi(argv[1]) : 10;
    lks_strategy *mirrored = lks_mirrored(); /* 1 replica on the CPU, or .replicas = N */
    const int batch = 256 * lks_num_replicas(mirrored);
    const int steps = argc > 2 ? atoi(argv[2]) : 60000 / batch;

    lks_dataset *train = lks_mnist("train"); /* uint8 images, int labels */
    train = lks_map(train, lks_cast_rescale_onehot, .num_parallel_calls = LKS_AUTOTUNE);
    train = lks_shuffle(train, 256);
    train = lks_batch(train, batch);
    train = lks_repeat(train, epochs);
    train = lks_prefetch(train, LKS_AUTOTUNE);

    lks_scope_enter(mirrored);
    lks_model *model = build_cnn();
    lks_compile(model, .optimizer = "adam", .loss = "categorical_crossentropy", .metrics = "accuracy");
    lks_scope_exit(mirrored);

    lks_status status = lks_fit(model, train, .epochs = epochs, .steps_per_epoch = steps, .verbose = 2);
    if (status == LKS_OK) status = evaluate(model, batch);
    if (status == LKS_OK) status = lks_save(model, "mnist.keras");
    if (status != LKS_OK) fprintf(stderr, "%s\n", lks_last_error());

    lks_model_release(model);
    lks_strategy_release(mirrored);
    return status == LKS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
