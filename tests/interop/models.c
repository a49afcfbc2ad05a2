/* models.c - one half of the test with real Keras (keras_opens.py is the other).
 *
 *   models write DIR   builds some models, trains each for three steps and writes NAME.keras and NAME.npz: inputs x*, targets t*,
 *                      predictions y*, and the weights n* after one more step
 *   models read DIR    opens what Keras made of them (NAME_keras.keras) and compares weights and predictions
 */
#include <lockstep.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 12, MAX_ARRAYS = 64 };

typedef struct recipe {
    const char *name;
    lks_model *(*make)(void);
    const char *optimizer, *loss, *metrics;
    const char *targets; /* for each output: 'v' = numbers of the output's shape, 'c' = class numbers, 'h' = one-hot */
} recipe;

static lks_model *cnn(void)
{
    lks_node in = lks_input(lks_shape(12, 12, 1)), x;

    x = lks_conv2d(in, .filters = 4, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");
    x = lks_max_pooling2d(x);
    x = lks_flatten(x);
    return lks_model_create(in, lks_dense(x, .units = 5, .activation = "softmax"), .seed = 3);
}

static lks_model *autoencoder(void)
{
    lks_node in = lks_input(lks_shape(8, 8, 1)), out;
    lks_model *encoder = lks_sequential(.name = "encoder", .input_shape = { 8, 8, 1 });
    lks_model *decoder = lks_sequential(.name = "decoder", .input_shape = { 4, 4, 3 });

    lks_sequential_add(encoder, lks_conv2d_layer(.filters = 3, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                 .padding = "same", .activation = "relu"));
    lks_sequential_add(decoder, lks_conv2d_transpose_layer(.filters = 3, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                                           .padding = "same", .activation = "relu"));
    lks_sequential_add(
        decoder, lks_conv2d_layer(.filters = 1, .kernel_size = { 3, 3 }, .padding = "same", .activation = "sigmoid"));
    out = lks_model_call(decoder, lks_model_call(encoder, in));
    lks_model_release(encoder);
    lks_model_release(decoder);
    return lks_model_create(in, out, .name = "autoencoder");
}

/* Two inputs, two outputs, a layer called twice. */
static lks_model *branches(void)
{
    lks_node in[2] = { lks_input(lks_shape(6), .name = "left"), lks_input(lks_shape(6), .name = "right") };
    lks_layer *shared = lks_dense_layer(.units = 5, .activation = "tanh", .name = "shared");
    lks_node both[2] = { lks_call(shared, in[0]), lks_call(shared, in[1]) }, joined, out[2];

    lks_layer_release(shared);
    joined = lks_concatenate(2, both);
    out[0] = lks_dense(joined, .units = 2, .name = "price", .kernel_regularizer = "l2:l2=0.01");
    out[1] = lks_dense(lks_subtract(2, both), .units = 3, .activation = "softmax", .name = "kind");
    return lks_model_create_io(2, in, 2, out, .name = "branches");
}

/* No biases before the normalisation: their gradient is rounding noise, which RMSprop would blow up. */
static lks_model *batchnorm(void)
{
    lks_node in = lks_input(lks_shape(6, 6, 2)), x, skip;

    x = lks_conv2d(in, .filters = 4, .kernel_size = { 3, 3 }, .padding = "same", .use_bias = LKS_FALSE);
    skip = lks_batch_normalization(x, .momentum = 0.9);
    x = lks_relu(skip);
    x = lks_depthwise_conv2d(x, .kernel_size = { 3, 3 }, .padding = "same", .use_bias = LKS_FALSE);
    x = lks_batch_normalization(x);
    x = lks_add(2, ((lks_node[]){ x, skip }));
    x = lks_global_average_pooling2d(x);
    return lks_model_create(in, lks_dense(x, .units = 3));
}

/* A chain without an InputLayer of its own, with random layers (not trained further: the numbers are ours). */
static lks_model *chain(void)
{
    lks_model *m = lks_sequential(.name = "chain", .input_shape = { 7, 7, 3 });

    lks_sequential_add(m, lks_rescaling_layer(.scale = 0.5, .offset = 0.1));
    lks_sequential_add(
        m, lks_conv2d_layer(.filters = 4, .kernel_size = { 2, 3 }, .strides = { 2, 1 }, .activation = "leaky_relu"));
    lks_sequential_add(m, lks_dropout_layer(.rate = 0.3));
    lks_sequential_add(m, lks_average_pooling2d_layer(.pool_size = { 2, 2 }));
    lks_sequential_add(m, lks_activation_layer(.activation = "gelu"));
    lks_sequential_add(m, lks_reshape_layer(.target_shape = { -1 }));
    lks_sequential_add(m, lks_dense_layer(.units = 2, .activation = "sigmoid"));
    return m;
}

static const recipe recipes[] = {
    { "cnn", cnn, "adam", "categorical_crossentropy", "accuracy", "h" },
    { "autoencoder", autoencoder, "adam:learning_rate=0.01", "mse", NULL, "v" },
    { "branches", branches, "sgd:learning_rate=0.1,momentum=0.9,nesterov=true", "mse;sparse_categorical_crossentropy",
      "mae;accuracy", "vc" },
    { "batchnorm", batchnorm, "rmsprop:momentum=0.5,centered=true", "huber:delta=0.5", "mse", "v" },
    { "chain", chain, "adamw", "binary_crossentropy", NULL, "v" },
};

/* ---- data ---- */

static float wave(int64_t i, int64_t salt)
{
    return (float)sin(0.7 * (double)i + 1.3 * (double)salt);
}

static lks_tensor *numbers(lks_shape shape, int64_t salt, int positive)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, shape);
    float *data = t != NULL ? lks_tensor_data(t) : NULL;

    for (int64_t i = 0; i < lks_tensor_size(t); i++) data[i] = positive ? 0.5f + 0.5f * wave(i, salt) : wave(i, salt);
    return t;
}

static lks_tensor *classes(lks_shape output, int one_hot)
{
    lks_shape flat = { 1, { ROWS } };
    int64_t n = output.dim[output.rank - 1];
    lks_tensor *t = lks_tensor_create(one_hot ? LKS_FLOAT32 : LKS_INT32, one_hot ? output : flat);

    for (int64_t i = 0; i < ROWS && t != NULL; i++) {
        int64_t k = (i * 5 + 1) % n;
        if (one_hot) ((float *)lks_tensor_data(t))[i * n + k] = 1.0f;
        else ((int32_t *)lks_tensor_data(t))[i] = (int32_t)k;
    }
    return t;
}

typedef struct data {
    size_t n_x, n_t;
    lks_tensor *x[4], *t[4], *y[4];
} data;

static int fail(const char *what, const char *doing)
{
    fprintf(stderr, "%s: %s: %s\n", what, doing, lks_last_error());
    return 1;
}

static int predict(const recipe *r, lks_model *m, data *d)
{
    lks_predict_options options = { .struct_size = sizeof options };

    if (lks_predict_arrays_with(m, d->n_x, d->x, d->n_t, d->y, &options) != LKS_OK) return fail(r->name, "predict");
    return 0;
}

static int make_data(const recipe *r, lks_model *m, data *d)
{
    static const lks_shape inputs[] = { { 4, { ROWS, 12, 12, 1 } },
                                        { 4, { ROWS, 8, 8, 1 } },
                                        { 2, { ROWS, 6 } },
                                        { 4, { ROWS, 6, 6, 2 } },
                                        { 4, { ROWS, 7, 7, 3 } } };
    size_t k = (size_t)(r - recipes);

    d->n_t = strlen(r->targets);
    d->n_x = d->n_t;
    for (size_t i = 0; i < d->n_x; i++) d->x[i] = numbers(inputs[k], (int64_t)(k + i), 0);
    if (predict(r, m, d) != 0) return 1;
    for (size_t i = 0; i < d->n_t; i++) {
        lks_shape shape = lks_tensor_shape(d->y[i]);
        d->t[i] = r->targets[i] == 'v' ? numbers(shape, 9, 1) : classes(shape, r->targets[i] == 'h');
        lks_tensor_release(d->y[i]);
        d->y[i] = NULL;
    }
    return 0;
}

static void free_data(data *d)
{
    for (size_t i = 0; i < 4; i++) {
        lks_tensor_release(d->x[i]);
        lks_tensor_release(d->t[i]);
        lks_tensor_release(d->y[i]);
    }
}

/* ---- writing ---- */

static int train(const recipe *r, lks_model *m, const data *d, int steps)
{
    lks_arrays arrays = { .xs = d->x, .ys = d->t, .n_xs = (int64_t)d->n_x, .n_ys = (int64_t)d->n_t };
    lks_logs logs;

    for (int i = 0; i < steps; i++) {
        if (lks_train_on_batch(m, &arrays, &logs) != LKS_OK) return fail(r->name, "train_on_batch");
    }
    return 0;
}

static int write_arrays(const recipe *r, const char *folder, lks_model *m, const data *d)
{
    char names[MAX_ARRAYS][24], path[1024];
    const char *keys[MAX_ARRAYS];
    lks_tensor *tensors[MAX_ARRAYS], *weights[MAX_ARRAYS];
    size_t n = 0, n_weights = lks_model_n_weights(m);
    lks_status status;

    for (size_t i = 0; i < d->n_x; i++) snprintf(names[n], 24, "x%zu", i), tensors[n++] = d->x[i];
    for (size_t i = 0; i < d->n_t; i++) snprintf(names[n], 24, "t%zu", i), tensors[n++] = d->t[i];
    for (size_t i = 0; i < d->n_t; i++) snprintf(names[n], 24, "y%zu", i), tensors[n++] = d->y[i];
    for (size_t i = 0; i < n_weights && n < MAX_ARRAYS; i++) {
        snprintf(names[n], 24, "n%03zu", i % 1000);
        tensors[n++] = weights[i] = lks_model_weight(m, i);
    }
    for (size_t i = 0; i < n; i++) keys[i] = names[i];
    snprintf(path, sizeof path, "%s/%s.npz", folder, r->name);
    status = lks_write_npz(path, n, keys, tensors);
    for (size_t i = 0; i < n_weights; i++) lks_tensor_release(weights[i]);
    return status == LKS_OK ? 0 : fail(r->name, path);
}

static int write_one(const recipe *r, const char *folder, lks_model *m, data *d)
{
    char path[1024];

    if (lks_compile(m, .optimizer = r->optimizer, .loss = r->loss, .metrics = r->metrics) != LKS_OK)
        return fail(r->name, "compile");
    if (make_data(r, m, d) != 0 || train(r, m, d, 3) != 0 || predict(r, m, d) != 0) return 1;
    snprintf(path, sizeof path, "%s/%s.keras", folder, r->name);
    if (lks_save(m, path) != LKS_OK) return fail(r->name, path);
    if (train(r, m, d, 1) != 0) return 1;
    return write_arrays(r, folder, m, d);
}

/* ---- reading ---- */

static int compare(const recipe *r, size_t i, const lks_tensor *got, const lks_tensor *want)
{
    const float *a = lks_tensor_cdata(got), *b = lks_tensor_cdata(want);
    double largest = 0, worst = 0;

    for (int64_t k = 0; k < lks_tensor_size(want); k++) {
        largest = fmax(largest, fabs((double)b[k]));
        worst = fmax(worst, fabs((double)a[k] - (double)b[k]));
    }
    printf("%s: output %zu of the model that Keras saved: largest difference %.2g of the largest value\n", r->name, i,
           worst / largest);
    return worst <= 1e-6 * largest ? 0 : 1;
}

static int read_one(const recipe *r, const char *folder, data *d)
{
    char path[1024], npz[1024], name[24];
    lks_model *m;
    int bad = 0;

    snprintf(path, sizeof path, "%s/%s_keras.keras", folder, r->name);
    snprintf(npz, sizeof npz, "%s/%s.npz", folder, r->name);
    m = lks_load(path);
    if (m == NULL) return fail(r->name, "load what Keras saved");
    d->n_x = d->n_t = strlen(r->targets);
    for (size_t i = 0; i < d->n_x; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        if (lks_read_npz(npz, name, &d->x[i]) != LKS_OK) bad = fail(r->name, npz);
    }
    if (bad == 0) bad = predict(r, m, d);
    for (size_t i = 0; i < d->n_t && bad == 0; i++) {
        lks_tensor *want = NULL;
        snprintf(name, sizeof name, "y%zu", i);
        if (lks_read_npz(npz, name, &want) != LKS_OK) bad = fail(r->name, npz);
        else bad = compare(r, i, d->y[i], want);
        lks_tensor_release(want);
    }
    lks_model_release(m);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0, writing;

    if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
        fprintf(stderr, "usage: models write|read DIR\n");
        return 2;
    }
    writing = strcmp(argv[1], "write") == 0;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        data d = { 0 };
        lks_model *m = writing ? recipes[i].make() : NULL;
        bad |= writing ? write_one(&recipes[i], argv[2], m, &d) : read_one(&recipes[i], argv[2], &d);
        free_data(&d);
        lks_model_release(m);
    }
    return bad;
}
