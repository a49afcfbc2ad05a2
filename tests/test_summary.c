/* test_summary.c - summaries against what Keras 3.15.1 printed for the same models, character for character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep/train.h"
#include "support/failing_alloc.h"

static const char web_text[] = "Model: \"web\"\n"
                               "┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓\n"
                               "┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃\n"
                               "┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩\n"
                               "│ a (InputLayer)      │ (None, 4)         │          0 │ -                 │\n"
                               "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                               "│ b (InputLayer)      │ (None, 4)         │          0 │ -                 │\n"
                               "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                               "│ a_layer_with_quite… │ (None, 1000)      │      5,000 │ a[0][0], b[0][0]  │\n"
                               "│ (Dense)             │                   │            │                   │\n"
                               "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                               "│ s (Add)             │ (None, 1000)      │          0 │ a_layer_with_qui… │\n"
                               "│                     │                   │            │ a_layer_with_qui… │\n"
                               "│                     │                   │            │ a_layer_with_qui… │\n"
                               "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                               "│ inner (Sequential)  │ (None, 2)         │      2,010 │ s[0][0],          │\n"
                               "│                     │                   │            │ a_layer_with_qui… │\n"
                               "└─────────────────────┴───────────────────┴────────────┴───────────────────┘\n"
                               " Total params: 7,010 (27.38 KB)\n"
                               " Trainable params: 7,006 (27.37 KB)\n"
                               " Non-trainable params: 4 (16.00 B)\n";

static const char web_narrow_trained_text[] = "Model: \"web\"\n"
                                              "┏━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                                              "┃ Layer (type)    ┃ Output Shape ┃ Param # ┃ Connected to  ┃\n"
                                              "┡━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                                              "│ a (InputLayer)  │ (None, 4)    │       0 │ -             │\n"
                                              "├─────────────────┼──────────────┼─────────┼───────────────┤\n"
                                              "│ b (InputLayer)  │ (None, 4)    │       0 │ -             │\n"
                                              "├─────────────────┼──────────────┼─────────┼───────────────┤\n"
                                              "│ a_layer_with_q… │ (None, 1000) │   5,000 │ a[0][0],      │\n"
                                              "│ (Dense)         │              │         │ b[0][0]       │\n"
                                              "├─────────────────┼──────────────┼─────────┼───────────────┤\n"
                                              "│ s (Add)         │ (None, 1000) │       0 │ a_layer_with… │\n"
                                              "│                 │              │         │ a_layer_with… │\n"
                                              "│                 │              │         │ a_layer_with… │\n"
                                              "├─────────────────┼──────────────┼─────────┼───────────────┤\n"
                                              "│ inner           │ (None, 2)    │   2,010 │ s[0][0],      │\n"
                                              "│ (Sequential)    │              │         │ a_layer_with… │\n"
                                              "└─────────────────┴──────────────┴─────────┴───────────────┘\n"
                                              " Total params: 21,024 (82.13 KB)\n"
                                              " Trainable params: 5,000 (19.53 KB)\n"
                                              " Non-trainable params: 2,010 (7.85 KB)\n"
                                              " Optimizer params: 14,014 (54.75 KB)\n";

static const char unbuilt_text[] = "Model: \"unbuilt\"\n"
                                   "┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                                   "┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃\n"
                                   "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                                   "│ d (Dense)                       │ ?                      │   0 (unbuilt) │\n"
                                   "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                                   "│ f (Flatten)                     │ ?                      │   0 (unbuilt) │\n"
                                   "└─────────────────────────────────┴────────────────────────┴───────────────┘\n"
                                   " Total params: 0 (0.00 B)\n"
                                   " Trainable params: 0 (0.00 B)\n"
                                   " Non-trainable params: 0 (0.00 B)\n";

static const char tiny_text[] = "Model: \"tiny\"\n"
                                "┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                                "┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃\n"
                                "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                                "│ big (Dense)                     │ (None, 32)             │           256 │\n"
                                "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                                "│ one (Dense)                     │ (None, 1)              │            33 │\n"
                                "└─────────────────────────────────┴────────────────────────┴───────────────┘\n"
                                " Total params: 289 (1.13 KB)\n"
                                " Trainable params: 289 (1.13 KB)\n"
                                " Non-trainable params: 0 (0.00 B)\n";

/* Long names, a layer called twice, several inputs of one layer, a nested chain called twice. */
static lks_model *web(void)
{
    lks_node a = lks_input(lks_shape(4), .name = "a"), b = lks_input(lks_shape(4), .name = "b"), x, y, out[2];
    lks_layer *layer = lks_dense_layer(.units = 1000, .name = "a_layer_with_quite_a_long_name_that_is_cut");
    lks_model *inner = lks_sequential(.name = "inner", .input_shape = { 1000 });

    x = lks_call(layer, a);
    y = lks_call(layer, b);
    lks_layer_release(layer);
    lks_sequential_add(inner, lks_dense_layer(.units = 2, .name = "q"));
    lks_sequential_add(inner, lks_batch_normalization_layer(.name = "bn"));
    out[0] = lks_model_call(inner, lks_add(3, ((lks_node[]){ x, y, x }), .name = "s"));
    out[1] = lks_model_call(inner, y);
    lks_model_release(inner);
    return lks_model_create_io(2, ((lks_node[]){ a, b }), 2, out, .name = "web");
}

static lks_model *unbuilt(void)
{
    lks_model *m = lks_sequential(.name = "unbuilt");

    lks_sequential_add(m, lks_dense_layer(.units = 3, .name = "d"));
    lks_sequential_add(m, lks_flatten_layer(.name = "f"));
    return m;
}

static lks_model *tiny(void)
{
    lks_model *m = lks_sequential(.name = "tiny", .input_shape = { 8 });

    lks_sequential_add(m, lks_dense_layer(.units = 32, .use_bias = LKS_FALSE, .name = "big"));
    lks_sequential_add(m, lks_dense_layer(.units = 1, .name = "one"));
    return m;
}

static void assert_summary(const lks_model *m, int64_t line_length, const char *want)
{
    char *got = NULL;

    if (lks_summary_text(m, line_length, &got) != LKS_OK) fail_msg("%s", lks_last_error());
    if (strcmp(got, want) != 0) fail_msg("printed\n%s\nexpected\n%s", got, want);
    lks_free(got);
}

static void summaries_are_those_of_keras(void **state)
{
    static const struct {
        lks_model *(*make)(void);
        const char *text;
    } cases[] = { { web, web_text }, { unbuilt, unbuilt_text }, { tiny, tiny_text } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_model *m = cases[i].make();
        assert_summary(m, 0, cases[i].text);
        lks_model_release(m);
    }
}

static void the_optimizer_and_frozen_layers_count_as_in_keras(void **state)
{
    lks_model *m = web();
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(3, 4)),
               *y = lks_tensor_create(LKS_FLOAT32, lks_shape(3, 2));
    lks_tensor *xs[2] = { x, x }, *ys[2] = { y, y };
    lks_arrays arrays = { .xs = xs, .ys = ys, .n_xs = 2, .n_ys = 2 };
    lks_logs logs;

    (void)state;
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss = "mse"), LKS_OK);
    if (lks_train_on_batch(m, &arrays, &logs) != LKS_OK) fail_msg("%s", lks_last_error());
    assert_int_equal(lks_model_set_trainable(m, "inner", 0), LKS_OK);
    assert_summary(m, 60, web_narrow_trained_text);
    lks_tensor_release(x);
    lks_tensor_release(y);
    lks_model_release(m);
}

static void a_line_that_is_too_short_is_refused(void **state)
{
    lks_model *m = tiny();
    char *text = NULL;

    (void)state;
    assert_int_equal(lks_summary_text(m, 12, &text), LKS_E_ARG);
    assert_int_equal(lks_summary_text(m, -1, &text), LKS_E_ARG);
    assert_null(text);
    lks_model_release(m);
}

static char printed[4096];
static void keep(void *user, const char *text, size_t n)
{
    (void)user;
    if (strlen(printed) + n < sizeof printed) strncat(printed, text, n);
}

static void the_summary_goes_to_the_output_hook(void **state)
{
    lks_model *m = tiny();

    (void)state;
    lks_set_output(keep, NULL);
    assert_int_equal(lks_summary(m), LKS_OK);
    lks_set_output(NULL, NULL);
    assert_string_equal(printed, tiny_text);
    lks_model_release(m);
}

static void every_allocation_of_a_summary_may_fail(void **state)
{
    lks_model *m = web();
    lks_status status;
    char *text = NULL;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = lks_summary_text(m, 0, &text), {
        lks_free(text);
        text = NULL;
    });
    lks_model_release(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_are_those_of_keras),
        cmocka_unit_test(the_optimizer_and_frozen_layers_count_as_in_keras),
        cmocka_unit_test(a_line_that_is_too_short_is_refused),
        cmocka_unit_test(the_summary_goes_to_the_output_hook),
        cmocka_unit_test(every_allocation_of_a_summary_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
