/* mlp.c - a dense network with many weights: 784 - 4096 - 4096 - 10, batches of 256, Adam, softmax cross-entropy.
 *
 * usage: mlp [THREADS [STEPS [UNITS [BATCH]]]]; prints the seconds of a step and the useful GFLOP/s.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "lockstep.h"

enum { FEATURES = 784, CLASSES = 10 };

static int64_t argument(int argc, char **argv, int i, int64_t otherwise)
{
    return argc > i ? strtoll(argv[i], NULL, 10) : otherwise;
}

static lks_model *build(int64_t units)
{
    lks_node in = lks_input(lks_shape(FEATURES));
    lks_node x = lks_dense(in, .units = units, .activation = "relu");

    x = lks_dense(x, .units = units, .activation = "relu");
    return lks_model_create(in, lks_dense(x, .units = CLASSES, .activation = "softmax"));
}

static void fill(lks_tensor *x, lks_tensor *y, int64_t rows)
{
    float *p = lks_tensor_data(x);
    int32_t *label = lks_tensor_data(y);

    for (int64_t i = 0; i < rows * FEATURES; i++) p[i] = (float)(i * 7919 % 1009) / 1009.0f;
    for (int64_t i = 0; i < rows; i++) label[i] = (int32_t)(i % CLASSES);
}

int main(int argc, char **argv)
{
    const int64_t threads = argument(argc, argv, 1, 0), steps = argument(argc, argv, 2, 8);
    const int64_t units = argument(argc, argv, 3, 4096), batch = argument(argc, argv, 4, 256);
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(batch, FEATURES));
    lks_tensor *y = lks_tensor_create(LKS_INT32, lks_shape(batch));
    lks_arrays arrays = { .x = x, .y = y };
    lks_model *model = build(units);
    lks_status status;
    double best = 1e9, flop;

    if (x == NULL || y == NULL) return 1;
    fill(x, y, batch);
    status = lks_compile(model, .optimizer = "adam", .loss = "sparse_categorical_crossentropy");
    for (int64_t i = 0; i < steps && status == LKS_OK; i++) {
        const double start = lks__now();

        status = lks_fit_arrays(model, &arrays, .epochs = 1, .batch_size = batch, .threads = threads);
        if (lks__now() - start < best) best = lks__now() - start;
    }
    if (status != LKS_OK) {
        fprintf(stderr, "%s\n", lks_last_error());
        return 1;
    }
    flop = (double)batch * (4.0 * FEATURES * (double)units + 6.0 * (double)units * (double)(units + CLASSES));
    printf("%.1f ms a step, %.1f GFLOP/s, peak memory %.0f MB\n", best * 1e3, flop / best * 1e-9,
           (double)lks__peak_rss_bytes() / 1e6);
    lks_model_release(model);
    lks_tensor_release(x);
    lks_tensor_release(y);
    return 0;
}
