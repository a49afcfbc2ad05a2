/* test_lockstep.c - the promise: the same weights bit for bit for any number of threads, slices, replicas, instruction sets, with and
 * without a parallel, prefetched pipeline, run after run. And the tests that it can fail.
 *
 * ctest labels: concurrent
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/small_data.h"

enum { ROWS = 75, SIDE = 12, CLASSES = 4 }; /* 75 = 2 * 32 + 11: a partial last batch */

static lks_tensor *images, *targets;

static int make_data(void **state)
{
    (void)state;
    return small_pictures(12345, ROWS, SIDE, CLASSES, &images, &targets) ? 0 : -1;
}

static int drop_data(void **state)
{
    (void)state;
    lks_tensor_release(images);
    lks_tensor_release(targets);
    return 0;
}

static lks_model *build_cnn(void)
{
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 1));
    lks_node x = lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");

    x = lks_flatten(x);
    return lks_model_create(in, lks_dense(x, .units = CLASSES, .activation = "softmax"));
}

static lks_model *build_autoencoder(void)
{
    lks_model *encoder = lks_sequential(.name = "encoder", .input_shape = { SIDE, SIDE, 1 });
    lks_model *decoder = lks_sequential(.name = "decoder", .input_shape = { 3, 3, 8 });
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 1));
    lks_model *model;

    lks_sequential_add(encoder, lks_conv2d_layer(.filters = 16, .kernel_size = { 3 }, .strides = { 2 },
                                                 .padding = "same", .activation = "relu"));
    lks_sequential_add(encoder, lks_conv2d_layer(.filters = 8, .kernel_size = { 3 }, .strides = { 2 },
                                                 .padding = "same", .activation = "relu"));
    lks_sequential_add(decoder, lks_conv2d_transpose_layer(.filters = 8, .kernel_size = { 3 }, .strides = { 2 },
                                                           .padding = "same", .activation = "relu"));
    lks_sequential_add(decoder, lks_conv2d_transpose_layer(.filters = 16, .kernel_size = { 3 }, .strides = { 2 },
                                                           .padding = "same", .activation = "relu"));
    lks_sequential_add(
        decoder, lks_conv2d_layer(.filters = 1, .kernel_size = { 3 }, .padding = "same", .activation = "sigmoid"));
    model = lks_model_create(in, lks_model_call(decoder, lks_model_call(encoder, in)));
    lks_model_release(encoder);
    lks_model_release(decoder);
    return model;
}

/* Layers that run over the whole batch at once, the first of them on the caller's rows. */
static lks_model *build_wide(void)
{
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 1));
    lks_node x = lks_dense(lks_flatten(in), .units = 300, .activation = "relu");

    x = lks_dense(x, .units = 230, .activation = "tanh");
    x = lks_dropout(x, .rate = 0.2);
    return lks_model_create(in, lks_dense(x, .units = CLASSES, .activation = "softmax"));
}

static lks_model *build_normalised(void)
{
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 1));
    lks_node x = lks_conv2d(in, .filters = 6, .kernel_size = { 3, 3 });

    x = lks_batch_normalization(x, .synchronized = LKS_TRUE);
    x = lks_relu(x);
    x = lks_max_pooling2d(x);
    x = lks_dropout(x, .rate = 0.3);
    return lks_model_create(in, lks_dense(lks_flatten(x), .units = CLASSES, .activation = "softmax"));
}

typedef struct how {
    int threads, replicas, shards;
    const char *slice, *isa;
    int pipeline; /* 0 arrays, 1 dataset, 2 dataset with parallel map and prefetch */
    int64_t seed;
} how;

static lks_status pass_on(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_status status = lks_element_set(out, 0, lks_element_tensor(in, 0));

    (void)context;
    (void)user;
    return status == LKS_OK ? lks_element_set(out, 1, lks_element_tensor(in, 1)) : status;
}

static const lks_map_fn identity = {
    .struct_size = sizeof identity, .name = "identity", .apply = pass_on, .flags = LKS_FN_PURE
};

static lks_dataset *pipeline(const how *h, lks_tensor *y)
{
    lks_dataset *ds = lks_from_tensor_slices(images, y);

    if (h->pipeline == 2) ds = lks_map(ds, &identity, .num_parallel_calls = LKS_AUTOTUNE);
    ds = lks_shuffle(ds, 40, .seed = 7);
    ds = lks_batch(ds, 32);
    return h->pipeline == 2 ? lks_prefetch(ds, LKS_AUTOTUNE) : ds;
}

static void set_or_unset(const char *name, const char *value)
{
    if (value != NULL) setenv(name, value, 1);
    else unsetenv(name);
}

static void train(lks_model *(*build)(void), const how *h, char digest[65])
{
    lks_strategy *mirrored = lks_mirrored(.replicas = h->replicas, .virtual_shards = h->shards);
    lks_tensor *y = build == build_autoencoder ? images : targets;
    const char *loss = build == build_autoencoder ? "mse" : "categorical_crossentropy";
    lks_arrays arrays = { .x = images, .y = y };
    lks_model *model;
    lks_status status;

    set_or_unset("LOCKSTEP_SLICE", h->slice);
    set_or_unset("LOCKSTEP_ISA", h->isa);
    lks_set_seed((uint64_t)h->seed);
    lks_scope_enter(mirrored);
    model = build();
    lks_scope_exit(mirrored);
    lks_set_seed(0);
    status = lks_compile(model, .optimizer = "adam", .loss = loss, .metrics = "mse");
    if (status == LKS_OK && h->pipeline == 0)
        status = lks_fit_arrays(model, &arrays, .epochs = 2, .batch_size = 32, .threads = h->threads);
    else if (status == LKS_OK) status = lks_fit(model, pipeline(h, y), .epochs = 2, .threads = h->threads);
    if (status == LKS_OK) status = lks_model_digest(model, digest);
    if (status != LKS_OK) print_message("%s\n", lks_last_error());
    lks_model_release(model);
    lks_strategy_release(mirrored);
    set_or_unset("LOCKSTEP_SLICE", NULL);
    set_or_unset("LOCKSTEP_ISA", NULL);
    assert_int_equal(status, LKS_OK);
}

static const how first = { 1, 1, 16, NULL, NULL, 0, 0 };

static void same_bits(lks_model *(*build)(void))
{
    static const how others[] = {
        { 1, 1, 16, NULL, NULL, 0, 0 },  { 2, 1, 16, NULL, NULL, 0, 0 },   { 3, 1, 16, "1", NULL, 0, 0 },
        { 5, 1, 16, "2", NULL, 0, 0 },   { 16, 1, 16, "3", NULL, 0, 0 },   { 2, 1, 16, "100", NULL, 0, 0 },
        { 2, 2, 16, NULL, NULL, 0, 0 },  { 3, 3, 16, NULL, NULL, 0, 0 },   { 4, 4, 16, "1", NULL, 0, 0 },
        { 2, 1, 16, NULL, "ref", 0, 0 }, { 2, 1, 16, NULL, "avx2", 0, 0 }, { 2, 1, 16, NULL, "avx512", 0, 0 },
    };
    char want[65], have[65];

    train(build, &first, want);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        train(build, &others[i], have);
        if (strcmp(want, have) != 0)
            fail_msg("threads %d replicas %d slice %s isa %s: %.16s, expected %.16s", others[i].threads,
                     others[i].replicas, others[i].slice ? others[i].slice : "auto",
                     others[i].isa ? others[i].isa : "auto", have, want);
    }
}

static void same_bits_from_any_pipeline(lks_model *(*build)(void))
{
    how h = { 1, 1, 16, NULL, NULL, 1, 0 };
    char want[65], have[65];

    train(build, &h, want);
    h.pipeline = 2;
    h.threads = 3;
    for (int run = 0; run < 3; run++) {
        train(build, &h, have);
        assert_string_equal(want, have);
    }
}

static void the_cnn_keeps_its_bits(void **state)
{
    (void)state;
    same_bits(build_cnn);
    same_bits_from_any_pipeline(build_cnn);
}

static void the_autoencoder_keeps_its_bits(void **state)
{
    (void)state;
    same_bits(build_autoencoder);
    same_bits_from_any_pipeline(build_autoencoder);
}

static void a_wide_network_keeps_its_bits(void **state)
{
    (void)state;
    same_bits(build_wide);
    same_bits_from_any_pipeline(build_wide);
}

static void dropout_and_synchronised_batch_normalization_keep_their_bits(void **state)
{
    (void)state;
    same_bits(build_normalised);
    same_bits_from_any_pipeline(build_normalised);
}

static void shards_and_seed_show(void **state)
{
    how shards = first, seed = first;
    char a[65], b[65], c[65];

    (void)state;
    shards.shards = 3;
    seed.seed = 1;
    train(build_cnn, &first, a);
    train(build_cnn, &shards, b);
    train(build_cnn, &seed, c);
    assert_string_not_equal(a, b);
    assert_string_not_equal(a, c);
}

static void an_example_predicts_the_same_bits_alone_and_in_a_batch(void **state)
{
    lks_model *model = build_normalised();
    lks_tensor *all = lks_predict(model, images, .batch_size = 64), *one, *row;
    const float *want = lks_tensor_cdata(all);

    (void)state;
    assert_non_null(all);
    for (int i = 0; i < ROWS; i += 7) {
        row = lks_tensor_rows(images, i, i + 1);
        one = lks_predict(model, row, .batch_size = 1);
        assert_non_null(one);
        assert_memory_equal(lks_tensor_cdata(one), want + i * CLASSES, CLASSES * sizeof(float));
        lks_tensor_release(one);
        lks_tensor_release(row);
    }
    lks_tensor_release(all);
    lks_model_release(model);
}

/* Two replicas see 0, 2 and 10, 12 everywhere: the variance of each is 1, of all 26. The sums are taken inside fused programs. */
static void local_batch_normalization_sums_each_replica_alone(void **state)
{
    static const float values[] = { 0, 2, 10, 12 };
    lks_strategy *two = lks_mirrored(.replicas = 2);
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(4, 3, 2, 8)),
               *y = lks_tensor_create(LKS_FLOAT32, lks_shape(4, 1));
    lks_arrays arrays = { .x = x, .y = y };
    lks_model *model;
    lks_logs logs;

    (void)state;
    for (int64_t i = 0; i < lks_tensor_size(x); i++) ((float *)lks_tensor_data(x))[i] = values[i / 48];
    lks_scope_enter(two);
    model = lks_sequential(.input_shape = { 3, 2, 8 });
    lks_sequential_add(model, lks_batch_normalization_layer(.momentum = 0.5));
    lks_sequential_add(model, lks_flatten_layer(.name = "flat"));
    lks_sequential_add(model, lks_dense_layer(.units = 1));
    assert_int_equal(lks_compile(model, .optimizer = "sgd", .loss = "mse"), LKS_OK);
    lks_scope_exit(two);
    if (lks_train_on_batch(model, &arrays, &logs) != LKS_OK) fail_msg("%s", lks_last_error());
    for (int w = 2; w < 4; w++) { /* the moving mean from 0 to 6, the moving variance from 1 to 1 */
        lks_tensor *moving = lks_model_weight(model, (size_t)w);
        for (int c = 0; c < 8; c++)
            assert_float_equal(((float *)lks_tensor_data(moving))[c], w == 2 ? 3.0f : 1.0f, 1e-5f);
        lks_tensor_release(moving);
    }
    lks_model_release(model);
    lks_strategy_release(two);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static lks_model *build_large_pictures(void)
{
    lks_node in = lks_input(lks_shape(61, 60, 12));
    lks_node x = lks_conv2d(in, .filters = 40, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");

    x = lks_depthwise_conv2d(x, .kernel_size = { 3, 3 }, .strides = { 2, 2 }, .padding = "same");
    x = lks_batch_normalization(x);
    x = lks_relu(x);
    x = lks_conv2d(x, .filters = 72, .kernel_size = { 1, 1 });
    x = lks_conv2d(x, .filters = 9, .kernel_size = { 5, 4 }, .strides = { 3, 2 }, .activation = "tanh");
    return lks_model_create(in, lks_dense(lks_flatten(x), .units = CLASSES));
}

static void one_picture_predicts_the_same_bits_on_any_number_of_threads(void **state)
{
    lks_model *model = build_large_pictures();
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(1, 61, 60, 12)), *want, *have;
    float *p = lks_tensor_data(x);

    (void)state;
    for (int64_t i = 0; i < lks_tensor_size(x); i++) p[i] = (float)(i * 7919 % 1009 - 500) / 500.0f;
    want = lks_predict(model, x, .batch_size = 1, .threads = 1);
    assert_non_null(want);
    for (int threads = 2; threads < 8; threads++) {
        have = lks_predict(model, x, .batch_size = 1, .threads = threads);
        assert_non_null(have);
        assert_memory_equal(lks_tensor_cdata(have), lks_tensor_cdata(want), CLASSES * sizeof(float));
        lks_tensor_release(have);
    }
    lks_tensor_release(want);
    lks_tensor_release(x);
    lks_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cnn_keeps_its_bits),
        cmocka_unit_test(the_autoencoder_keeps_its_bits),
        cmocka_unit_test(a_wide_network_keeps_its_bits),
        cmocka_unit_test(dropout_and_synchronised_batch_normalization_keep_their_bits),
        cmocka_unit_test(local_batch_normalization_sums_each_replica_alone),
        cmocka_unit_test(shards_and_seed_show),
        cmocka_unit_test(one_picture_predicts_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(an_example_predicts_the_same_bits_alone_and_in_a_batch),
    };
    return cmocka_run_group_tests(tests, make_data, drop_data);
}
