/* test_layers_call.c - layers as graph: the worked values of Keras, what is left in the trace, and what is refused. */
#include "support/run_graph.h"

#include <math.h>

#include "layers/layer.h"

static void set_weight(lks_layer *layer, size_t i, const float *values)
{
    memcpy(lks__variable_floats(layer->weights[i]), values,
           (size_t)lks_tensor_size(layer->weights[i]->value) * sizeof *values);
}

static void fill_weight(lks_layer *layer, size_t i, float value)
{
    for (int64_t k = 0; k < lks_tensor_size(layer->weights[i]->value); k++)
        lks__variable_floats(layer->weights[i])[k] = value;
}

static lks_node call(lks_layer *layer, graph_run *r, lks_node x)
{
    lks_node y = lks__no_node;

    lks__layer_apply(layer, &r->trace, 1, &x, &y);
    return y;
}

static void dense_multiplies_adds_and_activates(void **state)
{
    const float x[] = { 1, 2, -1, 0.5f }, kernel[] = { 1, 0, 2, -1, 1, 3 }, bias[] = { 0.5f, 0, -10 };
    lks_layer *layer = lks_dense_layer(.units = 3, .activation = "relu");
    graph_run r;
    float y[6];
    lks_node out;

    (void)state;
    graph_run_init(&r, false);
    out = call(layer, &r, graph_feed(&r, 2, lks_shape(2), x));
    assert_int_equal(layer->n_weights, 2);
    set_weight(layer, 0, kernel);
    set_weight(layer, 1, bias);
    graph_run_one(&r, out, y);
    assert_near(y, (const float[]){ 0, 2, 0, 0, 0.5f, 0 }, 6, 1e-6f);
    graph_run_free(&r);
    lks_layer_release(layer);
}

static void convolution_pads_same_as_keras(void **state)
{
    static const float want4[] = { 54, 45, 72, 54 }, want5[] = { 16, 33, 28, 69, 117, 87, 76, 123, 88 };
    (void)state;
    for (int size = 4; size <= 5; size++) {
        lks_layer *layer = lks_conv2d_layer(.filters = 1, .kernel_size = { 3 }, .strides = { 2 }, .padding = "same");
        const float *want = size == 4 ? want4 : want5;
        graph_run r;
        float x[25], y[9];
        lks_node out;
        for (int i = 0; i < 25; i++) x[i] = (float)(i + 1);
        graph_run_init(&r, false);
        out = call(layer, &r, graph_feed(&r, 1, lks_shape(size, size, 1), x));
        fill_weight(layer, 0, 1);
        graph_run_one(&r, out, y);
        assert_near(y, want, size == 4 ? 4 : 9, 1e-5f);
        graph_run_free(&r);
        lks_layer_release(layer);
    }
}

typedef struct transposed {
    int64_t kernel, stride, output_padding;
    const char *padding;
    size_t n;
    float want[9];
} transposed;

/* kernel w[j] = 2^j, x = [1, 10, 100]: the table of spec Keras 1.3. */
static const transposed transposed_cases[] = {
    { 3, 2, 0, "same", 6, { 1, 2, 14, 20, 140, 200 } },
    { 3, 2, LKS_ZERO_INT, "same", 5, { 2, 14, 20, 140, 200 } },
    { 3, 2, 1, "same", 6, { 1, 2, 14, 20, 140, 200 } },
    { 4, 2, 0, "same", 6, { 2, 14, 28, 140, 280, 400 } },
    { 5, 2, 0, "same", 6, { 2, 14, 28, 156, 280, 560 } },
    { 3, 1, 0, "same", 3, { 12, 124, 240 } },
    { 3, 2, 0, "valid", 7, { 1, 2, 14, 20, 140, 200, 400 } },
    { 2, 3, 0, "valid", 9, { 1, 2, 0, 10, 20, 0, 100, 200, 0 } },
};

static void transposed_convolution_has_keras_sizes_and_crops(void **state)
{
    static const float x[] = { 1, 10, 100 };

    (void)state;
    for (size_t k = 0; k < sizeof transposed_cases / sizeof *transposed_cases; k++) {
        const transposed *t = &transposed_cases[k];
        lks_conv2d_transpose_options o = { .struct_size = sizeof o,
                                           .filters = 1,
                                           .kernel_size = { 1, t->kernel },
                                           .strides = { 1, t->stride },
                                           .padding = t->padding };
        lks_layer *layer;
        graph_run r;
        float y[16] = { 0 }, w[8];
        lks_node out;
        if (t->output_padding != 0) {
            o.output_padding[0] = LKS_ZERO_INT;
            o.output_padding[1] = t->output_padding;
        }
        layer = lks_conv2d_transpose_layer_with(&o);
        graph_run_init(&r, false);
        out = call(layer, &r, graph_feed(&r, 1, lks_shape(1, 3, 1), x));
        assert_int_equal(lks__graph_status(r.trace.graph), LKS_OK);
        assert_int_equal(lks_node_shape(out).dim[2], t->n);
        for (int j = 0; j < t->kernel; j++) w[j] = (float)(1 << j);
        set_weight(layer, 0, w);
        graph_run_one(&r, out, y);
        assert_near(y, t->want, t->n, 1e-4f);
        graph_run_free(&r);
        lks_layer_release(layer);
    }
}

static void average_pooling_leaves_padding_out_of_the_divisor(void **state)
{
    const float x[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    lks_layer *layer = lks_average_pooling2d_layer(.padding = "same");
    graph_run r;
    float y[4];

    (void)state;
    graph_run_init(&r, false);
    graph_run_one(&r, call(layer, &r, graph_feed(&r, 1, lks_shape(3, 3, 1), x)), y);
    assert_near(y, (const float[]){ 3, 4.5f, 7.5f, 9 }, 4, 1e-6f);
    graph_run_free(&r);
    lks_layer_release(layer);
}

static void batch_normalization_trains_moves_and_freezes(void **state)
{
    const float x[] = { 1, 2, 3, 6 };
    lks_layer *layer = lks_batch_normalization_layer();
    graph_run r;
    float y[4];

    (void)state;
    graph_run_init(&r, true);
    lks_node out = call(layer, &r, graph_feed(&r, 2, lks_shape(2), x));
    assert_int_equal(lks__layer_initialize(layer, 0), LKS_OK);
    graph_run_one(&r, out, y);
    assert_near(y, (const float[]){ -.9995004f, -.99987507f, .9995004f, .99987507f }, 4, 1e-6f);
    assert_near(lks__variable_floats(layer->weights[2]), (const float[]){ .02f, .04f }, 2, 1e-7f);
    assert_near(lks__variable_floats(layer->weights[3]), (const float[]){ 1.0f, 1.03f }, 2, 1e-6f);
    graph_run_free(&r);

    lks_layer_set_trainable(layer, 0);
    graph_run_init(&r, true);
    graph_run_one(&r, call(layer, &r, graph_feed(&r, 2, lks_shape(2), x)), y);
    assert_near(y, (const float[]){ .9795104f, 1.9303086f, 2.978511f, 5.869714f }, 4, 2e-6f);
    assert_int_equal(r.trace.n_assignments, 0);
    graph_run_free(&r);
    lks_layer_release(layer);
}

/* Output of a batch normalisation of eight examples on so many replicas. */
static void normalise(int replicas, lks_tristate synchronized, float *y, float *moving)
{
    lks_layer *layer = lks_batch_normalization_layer(.synchronized = synchronized, .momentum = 0.5);
    graph_run r;
    float x[8];
    lks_node out;

    for (int i = 0; i < 8; i++) x[i] = (float)(i * i);
    graph_run_init(&r, true);
    r.replicas = r.trace.replicas = replicas;
    out = call(layer, &r, graph_feed(&r, 8, lks_shape(1), x));
    assert_int_equal(lks__layer_initialize(layer, 0), LKS_OK);
    graph_run_one(&r, out, y);
    *moving = lks__variable_floats(layer->weights[2])[0];
    graph_run_free(&r);
    lks_layer_release(layer);
}

static void synchronized_statistics_do_not_know_the_replicas(void **state)
{
    float one[8], two[8], local[8], moving[3];
    float first_mean = (0 + 1 + 4 + 9) / 4.0f, first_variance = 0;

    (void)state;
    normalise(1, LKS_DEFAULT, one, &moving[0]);
    normalise(2, LKS_TRUE, two, &moving[1]);
    normalise(2, LKS_DEFAULT, local, &moving[2]);
    assert_memory_equal(one, two, sizeof one);
    assert_memory_equal(&moving[0], &moving[1], sizeof *moving);
    for (int i = 0; i < 4; i++) first_variance += ((float)(i * i) - first_mean) * ((float)(i * i) - first_mean) / 4;
    for (int i = 0; i < 4; i++) {
        float want = ((float)(i * i) - first_mean) / sqrtf(first_variance + 0.001f);
        assert_near(&local[i], &want, 1, 1e-5f);
    }
    assert_near(&moving[2], &moving[0], 1, 1e-5f); /* the mean of two means of equal size */
}

static void dropout_draws_by_layer_and_scales_what_stays(void **state)
{
    enum { N = 50, WIDTH = 200 };
    lks_layer *layer = lks_dropout_layer(.rate = 0.25, .name = "drop"), *idle = lks_dropout_layer(.rate = LKS_ZERO);
    static float x[N * WIDTH], a[N * WIDTH], b[N * WIDTH], again[N * WIDTH];
    float *out[] = { a, b };
    int kept = 0, differ = 0;
    lks_node nodes[2], in;
    graph_run r;

    (void)state;
    for (int i = 0; i < N * WIDTH; i++) x[i] = 3;
    graph_run_init(&r, true);
    in = graph_feed(&r, N, lks_shape(WIDTH), x);
    nodes[0] = call(layer, &r, in);
    nodes[1] = call(layer, &r, in);
    assert_int_equal(call(idle, &r, in).id, in.id);
    assert_int_equal(graph_run_go(&r, 2, nodes, out), LKS_OK);
    graph_run_one(&r, nodes[0], again);
    assert_memory_equal(a, again, sizeof a);
    for (int i = 0; i < N * WIDTH; i++) {
        assert_true(a[i] == 0 || a[i] == 4);
        kept += a[i] != 0;
        differ += a[i] != b[i];
    }
    assert_true(kept > 7500 - 220 && kept < 7500 + 220); /* five deviations */
    assert_true(differ > 3000);
    r.step = 1;
    graph_run_one(&r, nodes[0], again);
    assert_memory_not_equal(a, again, sizeof a);
    graph_run_free(&r);

    graph_run_init(&r, false);
    in = graph_feed(&r, N, lks_shape(WIDTH), x);
    assert_int_equal(call(layer, &r, in).id, in.id);
    graph_run_free(&r);
    lks_layer_release(layer);
    lks_layer_release(idle);
}

static void a_shared_weight_is_penalised_once_and_an_output_at_each_call(void **state)
{
    const float x[] = { 1, 2 };
    lks_layer *layer = lks_dense_layer(.units = 1, .use_bias = LKS_FALSE, .kernel_regularizer = "l2:l2=0.5",
                                       .activity_regularizer = "l1:l1=0.1");
    graph_run r;
    float w = 3, losses[3];
    float *out[] = { &losses[0], &losses[1], &losses[2] };

    (void)state;
    graph_run_init(&r, true);
    call(layer, &r, call(layer, &r, graph_feed(&r, 2, lks_shape(1), x)));
    assert_int_equal(r.trace.n_losses, 3);
    set_weight(layer, 0, &w);
    assert_int_equal(graph_run_go(&r, 3, r.trace.losses, out), LKS_OK);
    assert_near(losses, (const float[]){ 0.1f * 9 / 2, 0.5f * 9, 0.1f * 27 / 2 }, 3, 1e-5f);
    graph_run_free(&r);

    lks_layer_set_trainable(layer, 0); /* a frozen weight costs nothing */
    graph_run_init(&r, true);
    call(layer, &r, graph_feed(&r, 2, lks_shape(1), x));
    assert_int_equal(r.trace.n_losses, 1);
    graph_run_free(&r);
    lks_layer_release(layer);
}

static lks_node twice(void *user, size_t n, const lks_node *in)
{
    (void)user;
    (void)n;
    return lks_ops_multiply(in[0], lks_ops_number(in[0], 2));
}

static lks_node nothing(void *user, size_t n, const lks_node *in)
{
    (void)user;
    (void)n;
    (void)in;
    return (lks_node){ NULL, -1 };
}

static void a_layer_of_ones_own_builds_graph(void **state)
{
    const float x[] = { 1, -2 };
    lks_layer *layer = lks_lambda_layer(.function = twice), *bad = lks_lambda_layer(.function = nothing);
    graph_run r;
    float y[2];
    json_t *config;

    (void)state;
    graph_run_init(&r, false);
    graph_run_one(&r, call(layer, &r, graph_feed(&r, 2, lks_shape_of(0, NULL), x)), y);
    assert_near(y, (const float[]){ 2, -4 }, 2, 0);
    assert_int_equal(lks__layer_to_config(layer, &config), LKS_E_UNSUPPORTED);
    assert_non_null(strstr(lks_last_error(), "cannot be saved"));
    graph_run_free(&r);

    graph_run_init(&r, false);
    call(bad, &r, graph_feed(&r, 2, lks_shape_of(0, NULL), x));
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "returned no node"));
    graph_run_free(&r);
    lks_layer_release(layer);
    lks_layer_release(bad);
}

static void a_shape_that_does_not_fit_is_told_with_the_layer(void **state)
{
    static const float x[64] = { 0 };
    struct {
        lks_layer *layer;
        lks_shape shape;
        const char *says;
    } cases[] = {
        { lks_dense_layer(.units = 3, .name = "top"), lks_shape_of(0, NULL),
          "layer \"top\" (Dense): expected an input of shape" },
        { lks_conv2d_layer(.filters = 4, .kernel_size = { 5 }), lks_shape(4, 4, 1), "does not fit into an axis of 4" },
        { lks_conv2d_layer(.filters = 4, .kernel_size = { 3 }, .groups = 2), lks_shape(4, 4, 3),
          "not divisible by groups" },
        { lks_conv2d_layer(.filters = 4, .kernel_size = { 3 }), lks_shape(8, 8), "(batch, height, width, channels)" },
        { lks_conv2d_transpose_layer(.filters = 1, .kernel_size = { 4 }, .strides = { 2 }, .padding = "same",
                                     .output_padding = { LKS_ZERO_INT, LKS_ZERO_INT }),
          lks_shape(4, 4, 1), "no convolution has that size" },
        { lks_max_pooling2d_layer(.pool_size = { 5 }), lks_shape(4, 4, 1), "does not fit" },
        { lks_cropping2d_layer(.cropping = { { 2, 2 }, { 0, 0 } }), lks_shape(4, 4, 1), "leaves nothing" },
        { lks_reshape_layer(.target_shape = { 5, 2 }), lks_shape(12), "(5, 2) does not hold the elements" },
        { lks_permute_layer(.dims = { 2, 1 }), lks_shape(2, 2, 2), "names 2 axes, the input has 3" },
        { lks_batch_normalization_layer(.axis = 3), lks_shape(4), "axis 3 is not one" },
        { lks_layer_normalization_layer(.axis = { 4 }), lks_shape(2, 4), "axis is not among" },
        { lks_dropout_layer(.rate = 0.5, .noise_shape = { -1, 3 }), lks_shape(4), "entry 1 is 3" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_run r;
        graph_run_init(&r, true);
        call(cases[i].layer, &r, graph_feed(&r, 1, cases[i].shape, x));
        assert_int_not_equal(lks__graph_status(r.trace.graph), LKS_OK);
        if (strstr(lks_last_error(), cases[i].says) == NULL) fail_msg("case %zu says: %s", i, lks_last_error());
        assert_non_null(strstr(lks_last_error(), "layer \""));
        graph_run_free(&r);
        lks_layer_release(cases[i].layer);
    }
}

static void a_layer_keeps_the_shape_it_was_built_for(void **state)
{
    static const float x[8] = { 0 };
    lks_layer *layer = lks_dense_layer(.units = 3);
    graph_run r;

    (void)state;
    graph_run_init(&r, false);
    call(layer, &r, graph_feed(&r, 1, lks_shape(4), x));
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_OK);
    call(layer, &r, graph_feed(&r, 1, lks_shape(5), x));
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_SHAPE);
    assert_non_null(strstr(lks_last_error(), "was built for 4 features, called with 5"));
    graph_run_free(&r);
    lks_layer_release(layer);
}

static void merging_counts_its_inputs(void **state)
{
    static const float x[6] = { 1, 2, 3, 4, 5, 6 };
    lks_layer *subtract = lks_subtract_layer(), *average = lks_average_layer(), *flatten = lks_flatten_layer();
    lks_node in[3], out;
    graph_run r;
    float y[2];

    (void)state;
    graph_run_init(&r, false);
    for (int i = 0; i < 3; i++) in[i] = graph_feed(&r, 2, lks_shape(1), x + 2 * i);
    lks__layer_apply(average, &r.trace, 3, in, &out);
    graph_run_one(&r, out, y);
    assert_near(y, (const float[]){ 3, 4 }, 2, 1e-6f);
    lks__layer_apply(subtract, &r.trace, 3, in, &out);
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "exactly two inputs, found 3"));
    graph_run_free(&r);

    graph_run_init(&r, false);
    for (int i = 0; i < 2; i++) in[i] = graph_feed(&r, 2, lks_shape(1), x);
    lks__layer_apply(flatten, &r.trace, 2, in, &out);
    assert_int_equal(lks__graph_status(r.trace.graph), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "takes one input, found 2"));
    graph_run_free(&r);
    lks_layer_release(subtract);
    lks_layer_release(average);
    lks_layer_release(flatten);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_multiplies_adds_and_activates),
        cmocka_unit_test(convolution_pads_same_as_keras),
        cmocka_unit_test(transposed_convolution_has_keras_sizes_and_crops),
        cmocka_unit_test(average_pooling_leaves_padding_out_of_the_divisor),
        cmocka_unit_test(batch_normalization_trains_moves_and_freezes),
        cmocka_unit_test(synchronized_statistics_do_not_know_the_replicas),
        cmocka_unit_test(dropout_draws_by_layer_and_scales_what_stays),
        cmocka_unit_test(a_shared_weight_is_penalised_once_and_an_output_at_each_call),
        cmocka_unit_test(a_layer_of_ones_own_builds_graph),
        cmocka_unit_test(a_shape_that_does_not_fit_is_told_with_the_layer),
        cmocka_unit_test(a_layer_keeps_the_shape_it_was_built_for),
        cmocka_unit_test(merging_counts_its_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
