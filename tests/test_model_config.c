/* test_model_config.c - models to Keras' JSON and back, .keras files and back; and that a failure leaves nothing behind.
 * ctest labels: model
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/json.h"
#include "model/model.h"
#include "model/save.h"
#include "support/failing_alloc.h"

/* ---- models ---- */

static lks_model *chain(void)
{
    lks_model *m = lks_sequential(.name = "chain", .input_shape = { 4 });

    lks_sequential_add(m, lks_dense_layer(.units = 3, .activation = "relu"));
    lks_sequential_add(m, lks_dropout_layer(.rate = 0.5));
    lks_sequential_add(m, lks_dense_layer(.units = 2, .kernel_regularizer = "l2:l2=0.1"));
    return m;
}

/* Two inputs and outputs, a layer called twice, a model called twice, a nested chain. */
static lks_model *web(void)
{
    lks_node in[2] = { lks_input(lks_shape(4), .name = "a"), lks_input(lks_shape(4), .name = "b") }, out[2], both[2];
    lks_node inner_in = lks_input(lks_shape(4));
    lks_model *inner = lks_model_create(inner_in, lks_dense(inner_in, .units = 4, .name = "within"), .name = "inner");
    lks_model *tail = chain();
    lks_layer *shared = lks_dense_layer(.units = 4, .name = "shared");

    both[0] = lks_model_call(inner, lks_call(shared, in[0]));
    both[1] = lks_model_call(inner, lks_call(shared, in[1]));
    out[0] = lks_model_call(tail, lks_add(2, both));
    out[1] = lks_subtract(2, both);
    lks_layer_release(shared);
    lks_model_release(inner);
    lks_model_release(tail);
    return lks_model_create_io(2, in, 2, out, .name = "web");
}

static lks_tensor *numbers(lks_shape shape)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, shape);

    for (int64_t i = 0; i < lks_tensor_size(t); i++) ((float *)lks_tensor_data(t))[i] = (float)sin((double)i);
    return t;
}

static void assert_same_bits(const lks_tensor *a, const lks_tensor *b)
{
    lks_shape sa = lks_tensor_shape(a), sb = lks_tensor_shape(b);

    assert_true(lks_shape_equal(&sa, &sb));
    assert_memory_equal(lks_tensor_cdata(a), lks_tensor_cdata(b), (size_t)lks_tensor_size(a) * sizeof(float));
}

static void assert_same_weights(lks_model *a, lks_model *b)
{
    char da[65], db[65];

    assert_int_equal(lks_model_digest(a, da), LKS_OK);
    assert_int_equal(lks_model_digest(b, db), LKS_OK);
    assert_string_equal(da, db);
}

static lks_model *copy(const lks_model *m)
{
    lks_model *again = NULL;
    void *data = NULL;
    size_t n = 0;

    if (lks__save_memory(m, &data, &n) != LKS_OK) fail_msg("save: %s", lks_last_error());
    if (lks__load_memory(data, n, &again) != LKS_OK) fail_msg("load: %s", lks_last_error());
    lks_free(data);
    return again;
}

/* ---- JSON ---- */

static void json_of_a_read_model_is_the_json_it_was_read_from(void **state)
{
    lks_model *(*const makers[])(void) = { chain, web };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        lks_model *m = makers[i](), *again;
        char *first = NULL, *second = NULL;
        assert_int_equal(
            lks_compile(m, .optimizer = "adam:learning_rate=0.01", .loss = "mse", .metrics = "mae,accuracy"), LKS_OK);
        assert_int_equal(lks_model_to_json(m, &first), LKS_OK);
        again = lks_model_from_json(first);
        if (again == NULL) fail_msg("%s", lks_last_error());
        assert_int_equal(lks_model_to_json(again, &second), LKS_OK);
        assert_string_equal(first, second);
        lks_free(first);
        lks_free(second);
        lks_model_release(m);
        lks_model_release(again);
    }
}

static void json_has_keras_classes_modules_and_histories(void **state)
{
    static const char *const parts[] = {
        "\"module\": \"keras.src.models.functional\", \"class_name\": \"Functional\"",
        "\"input_layers\": [[\"a\", 0, 0], [\"b\", 0, 0]]",
        "\"keras_history\": [\"shared\", 1, 0]",
        "\"output_layers\": [[\"chain\", 0, 0], [\"subtract\", 0, 0]]",
        "{\"module\": \"keras.layers\", \"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 4], \"dtype\": \"float32\"",
        "\"compile_config\": {}",
    };
    lks_model *m = web();
    char *text = NULL;

    (void)state;
    assert_int_equal(lks_model_to_json(m, &text), LKS_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(text, parts[i]) == NULL) fail_msg("%s is not in %s", parts[i], text);
    }
    lks_free(text);
    lks_model_release(m);
}

/* A model of one Dense, with the places that the cases change. */
static const char functional[] =
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": ["
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": %s, \"dtype\": \"float32\", \"name\": \"x\"}, \"name\": \"x\","
    " \"inbound_nodes\": []},"
    "{\"class_name\": \"%s\", \"config\": {\"name\": \"d\", \"units\": 2}, \"name\": \"d\", \"inbound_nodes\": [%s]}],"
    "\"input_layers\": %s, \"output_layers\": %s}}";

static void every_spelling_of_a_call_is_read(void **state)
{
    static const struct {
        const char *node, *inputs, *outputs;
    } cases[] = {
        { "{\"args\": [{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"x\", 0, 0]}}], \"kwargs\": {}}",
          "[\"x\", 0, 0]", "[\"d\", 0, 0]" },
        { "{\"args\": [{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"x\", 0, 0]}}], \"kwargs\": "
          "{\"training\": false, \"mask\": null}}",
          "[[\"x\", 0, 0]]", "[[\"d\", 0, 0]]" },
        { "[[\"x\", 0, 0, {}]]", "[[\"x\", 0, 0]]", "[[\"d\", 0, 0]]" },
        { "[\"x\", 0, 0, {}]", "{\"x\": [\"x\", 0, 0]}", "{\"out\": [\"d\", 0, 0]}" },
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_model *m;
        snprintf(text, sizeof text, functional, "[null, 3]", "Dense", cases[i].node, cases[i].inputs, cases[i].outputs);
        m = lks_model_from_json(text);
        if (m == NULL) fail_msg("case %zu: %s", i, lks_last_error());
        assert_int_equal(lks_model_n_weights(m), 2);
        lks_model_release(m);
    }
}

static void what_cannot_be_read_is_refused_in_a_sentence(void **state)
{
    static const char ok[] = "[[\"x\", 0, 0, {}]]";
    static const struct {
        const char *shape, *class_name, *node, *outputs, *said;
    } cases[] = {
        { "[null, 3]", "QuantumDense", ok, "[\"d\", 0, 0]", "QuantumDense" },
        { "[null, 3]", "Lambda", ok, "[\"d\", 0, 0]", "d" },
        { "[null, -3]", "Dense", ok, "[\"d\", 0, 0]", "-3" },
        { "[null, null]", "Dense", ok, "[\"d\", 0, 0]", "no fixed size" },
        { "3", "Dense", ok, "[\"d\", 0, 0]", "shape" },
        { "[null, 3]", "Dense", "[[\"ghost\", 0, 0, {}]]", "[\"d\", 0, 0]", "ghost" },
        { "[null, 3]", "Dense", "[[\"d\", 0, 0, {}]]", "[\"d\", 0, 0]", "cycle" },
        { "[null, 3]", "Dense", "[[\"x\", 0, 7, {}]]", "[\"d\", 0, 0]", "output 7" },
        { "[null, 3]", "Dense", ok, "[\"d\", 3, 0]", "call 3" },
        { "[null, 3]", "Dense", ok, "[]", "empty" },
        { "[null, 3]", "Dense", "[]", "[\"d\", 0, 0]", "nothing" },
        { "[null, 3]", "Dense", "[[\"x\", 0, 0, {\"mask\": [1]}]]", "[\"d\", 0, 0]", "mask" },
    };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, functional, cases[i].shape, cases[i].class_name, cases[i].node, "[\"x\", 0, 0]",
                 cases[i].outputs);
        if (lks_model_from_json(text) != NULL) fail_msg("case %zu was read", i);
        if (strstr(lks_last_error(), cases[i].said) == NULL)
            fail_msg("case %zu: \"%s\" says nothing of %s", i, lks_last_error(), cases[i].said);
    }
    assert_null(lks_model_from_json("[]"));
    assert_null(lks_model_from_json("{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\"}}"));
    assert_non_null(strstr(lks_last_error(), "layers is missing"));
    assert_null(lks_model_from_json(NULL));
}

/* ---- compile settings ---- */

static lks_model *with_settings(const char *settings)
{
    lks_model *m = web(), *again = NULL;
    char *text = NULL, *end, *joined;
    size_t n;

    assert_int_equal(lks_model_to_json(m, &text), LKS_OK);
    lks_model_release(m);
    end = strstr(text, ", \"compile_config\": {}}");
    while (end != NULL && strstr(end + 1, ", \"compile_config\": {}}") != NULL)
        end = strstr(end + 1, ", \"compile_config\": {}}");
    assert_non_null(end);
    n = strlen(text) + strlen(settings) + 64;
    joined = malloc(n);
    *end = '\0';
    snprintf(joined, n, "%s, \"compile_config\": {\"optimizer\": \"sgd\", %s}}", text, settings);
    again = lks_model_from_json(joined);
    free(joined);
    lks_free(text);
    return again;
}

static void losses_and_metrics_are_read_in_every_form(void **state)
{
    static const struct {
        const char *settings;
        int losses, metrics[2];
        double weight;
    } cases[] = {
        { "\"loss\": \"mse\"", 2, { 0, 0 }, 0 },
        { "\"loss\": [\"mse\", null], \"metrics\": [[\"mae\", \"mse\"], null]", 1, { 2, 0 }, 0 },
        { "\"loss\": {\"subtract\": \"mae\"}, \"metrics\": {\"subtract\": [\"mae\"]}", 1, { 0, 1 }, 0 },
        { "\"loss\": {\"class_name\": \"Huber\", \"config\": {\"delta\": 2.0}}, \"loss_weights\": [0.5, 2]",
          2,
          { 0, 0 },
          0.5 },
        { "\"loss\": {\"class_name\": \"function\", \"config\": \"mean_squared_error\"}, \"loss_weights\": {\"chain\": 3}",
          2,
          { 0, 0 },
          3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_model *m = with_settings(cases[i].settings);
        int losses = 0;
        if (m == NULL) fail_msg("case %zu: %s", i, lks_last_error());
        for (size_t k = 0; k < 2; k++) {
            losses += m->compiled->losses[k] != NULL;
            assert_int_equal(m->compiled->n_metrics[k], cases[i].metrics[k]);
        }
        assert_int_equal(losses, cases[i].losses);
        if (cases[i].weight != 0) assert_true(m->compiled->loss_weights[0] == cases[i].weight);
        else assert_null(m->compiled->loss_weights);
        lks_model_release(m);
    }
    assert_null(with_settings("\"loss\": [\"mse\"]"));
    assert_null(with_settings("\"loss\": {\"nobody\": \"mse\"}"));
    assert_null(with_settings("\"loss\": \"mse\", \"loss_weights\": [\"heavy\", 1]"));
}

/* ---- files ---- */

static void a_saved_model_has_the_same_weights_and_predicts_the_same_bits(void **state)
{
    lks_model *m = web(), *again = copy(m);
    lks_tensor *x[2] = { numbers(lks_shape(5, 4)), numbers(lks_shape(5, 4)) }, *a[2], *b[2];
    lks_predict_options options = { .struct_size = sizeof options };

    (void)state;
    assert_same_weights(m, again);
    assert_int_equal(lks_predict_arrays_with(m, 2, x, 2, a, &options), LKS_OK);
    assert_int_equal(lks_predict_arrays_with(again, 2, x, 2, b, &options), LKS_OK);
    for (int i = 0; i < 2; i++) {
        assert_same_bits(a[i], b[i]);
        lks_tensor_release(a[i]);
        lks_tensor_release(b[i]);
        lks_tensor_release(x[i]);
    }
    lks_model_release(m);
    lks_model_release(again);
}

static void step(lks_model *m, lks_tensor *x, lks_tensor *y)
{
    lks_arrays arrays = { .x = x, .y = y };
    lks_logs logs;

    if (lks_train_on_batch(m, &arrays, &logs) != LKS_OK) fail_msg("%s", lks_last_error());
}

static lks_model *small(void)
{
    lks_node in = lks_input(lks_shape(4)), x = lks_dense(in, .units = 3, .activation = "tanh");

    return lks_model_create(in, lks_dense(lks_batch_normalization(x), .units = 2));
}

static size_t saved_bytes(const lks_model *m, char *bytes, size_t size)
{
    char path[] = "/tmp/lockstep-dated-XXXXXX";
    int fd = mkstemp(path);
    FILE *f;
    size_t n;

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(lks_save(m, path), LKS_OK);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(bytes, 1, size, f);
    fclose(f);
    unlink(path);
    assert_in_range(n, 1, size - 1);
    return n;
}

static void equal_models_are_equal_files_when_the_date_is_given(void **state)
{
    enum { SIZE = 1 << 16 };
    static char first[SIZE], second[SIZE];
    const char *const wrong[] = { "yesterday", "-1", "1e9", "253402300800" };
    lks_model *m = chain();
    size_t n;

    (void)state;
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    n = saved_bytes(m, first, SIZE);
    assert_non_null(memmem(first, n, "2023-11-14@22:13:20", 19));
    sleep(1); /* the clock goes on: nothing but the variable may date the file */
    assert_int_equal(saved_bytes(m, second, SIZE), n);
    assert_memory_equal(first, second, n);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("SOURCE_DATE_EPOCH", wrong[i], 1);
        assert_int_equal(lks_save(m, "/tmp/lockstep-undated.keras"), LKS_E_ARG);
        assert_non_null(strstr(lks_last_error(), "SOURCE_DATE_EPOCH"));
    }
    unsetenv("SOURCE_DATE_EPOCH");
    lks_model_release(m);
}

static void training_goes_on_at_the_same_bits_after_saving_and_loading(void **state)
{
    static const char *const optimizers[] = { "adam", "sgd:momentum=0.9,nesterov=true",
                                              "rmsprop:centered=true,momentum=0.5", "adamw:clipnorm=1",
                                              "adam:use_ema=true,gradient_accumulation_steps=2" };
    lks_tensor *x = numbers(lks_shape(6, 4)), *y = numbers(lks_shape(6, 2));

    (void)state;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        lks_model *m = small(), *again;
        assert_int_equal(lks_compile(m, .optimizer = optimizers[i], .loss = "huber:delta=0.3", .metrics = "mse"),
                         LKS_OK);
        for (int k = 0; k < 3; k++) step(m, x, y);
        again = copy(m);
        assert_int_equal(lks_model_iterations(again), 3);
        for (int k = 0; k < 3; k++) {
            step(m, x, y);
            step(again, x, y);
        }
        assert_same_weights(m, again);
        lks_model_release(m);
        lks_model_release(again);
    }
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static lks_node odd_loss(void *user, lks_node y_true, lks_node y_pred)
{
    (void)user;
    return lks_ops_abs(lks_ops_subtract(y_true, y_pred));
}

static int warnings;
static void count_warning(void *user, const char *sentence)
{
    (void)user;
    assert_non_null(strstr(sentence, "without it"));
    warnings++;
}

static void a_loss_of_the_user_is_left_out_with_a_warning(void **state)
{
    lks_model *m = small(), *again;

    (void)state;
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss_object = lks_loss_create(odd_loss, NULL)), LKS_OK);
    warnings = 0;
    lks_set_warnings(count_warning, NULL);
    again = copy(m);
    lks_set_warnings(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_same_weights(m, again);
    assert_null(again->compiled->losses[0]);
    lks_model_release(m);
    lks_model_release(again);
}

static void a_layer_of_the_user_refuses_to_be_saved(void **state)
{
    lks_node in = lks_input(lks_shape(3));
    lks_model *m = lks_model_create(in, lks_lambda_n(1, &in, NULL, NULL));

    (void)state;
    assert_int_not_equal(lks_save(m, "refused.keras"), LKS_OK);
    assert_null(fopen("refused.keras", "rb"));
    lks_model_release(m);
}

static void every_allocation_of_saving_and_loading_may_fail(void **state)
{
    lks_status status;
    lks_model *m = small(), *again = NULL;
    lks_tensor *x = numbers(lks_shape(6, 4)), *y = numbers(lks_shape(6, 2));
    void *data = NULL, *kept = NULL;
    size_t n = 0, kept_n = 0;

    (void)state;
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss = "mse", .metrics = "mae"), LKS_OK);
    step(m, x, y);
    assert_int_equal(lks__save_memory(m, &kept, &kept_n), LKS_OK);
    EVERY_ALLOCATION_FAILS(status = lks__save_memory(m, &data, &n), {
        lks_free(data);
        data = NULL;
    });
    EVERY_ALLOCATION_FAILS(status = lks__load_memory(kept, kept_n, &again), {
        lks_model_release(again);
        again = NULL;
    });
    lks_free(kept);
    lks_model_release(m);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static void every_allocation_of_reading_a_graph_may_fail(void **state)
{
    lks_status status;
    lks_model *m = web(), *again = NULL;
    char *text = NULL, *copy_of_text = NULL;

    (void)state;
    assert_int_equal(lks_model_to_json(m, &text), LKS_OK);
    EVERY_ALLOCATION_FAILS(status = lks_model_to_json(m, &copy_of_text), {
        lks_free(copy_of_text);
        copy_of_text = NULL;
    });
    EVERY_ALLOCATION_FAILS(status = (again = lks_model_from_json(text)) != NULL ? LKS_OK : LKS_E_NOMEM, {
        lks_model_release(again);
        again = NULL;
    });
    lks_free(text);
    lks_model_release(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_a_read_model_is_the_json_it_was_read_from),
        cmocka_unit_test(json_has_keras_classes_modules_and_histories),
        cmocka_unit_test(every_spelling_of_a_call_is_read),
        cmocka_unit_test(what_cannot_be_read_is_refused_in_a_sentence),
        cmocka_unit_test(losses_and_metrics_are_read_in_every_form),
        cmocka_unit_test(a_saved_model_has_the_same_weights_and_predicts_the_same_bits),
        cmocka_unit_test(equal_models_are_equal_files_when_the_date_is_given),
        cmocka_unit_test(training_goes_on_at_the_same_bits_after_saving_and_loading),
        cmocka_unit_test(a_loss_of_the_user_is_left_out_with_a_warning),
        cmocka_unit_test(a_layer_of_the_user_refuses_to_be_saved),
        cmocka_unit_test(every_allocation_of_saving_and_loading_may_fail),
        cmocka_unit_test(every_allocation_of_reading_a_graph_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
