/* test_cli_train.c - the command trains, saves, measures and predicts on small arrays; the weights depend on the seed and the
 * shards and on nothing else; Ctrl-C leaves nothing behind.
 * ctest labels: cli
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>

#include "lockstep.h"
#include "support/command.h"

enum { EXAMPLES = 96, FEATURES = 6, CLASSES = 3 };

/* ---- fixture: net.json and data.npz in the folder ---- */

static const char *in_command_folder(const char *name)
{
    static char paths[4][512];
    static int turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", command_folder(), name);
    return path;
}

static void write_model(const char *name, lks_node in, lks_node out)
{
    lks_model *model = lks_model_create(in, out);
    char *json = NULL;
    FILE *file;

    assert_int_equal(lks_model_to_json(model, &json), LKS_OK);
    file = fopen(in_command_folder(name), "w");
    assert_non_null(file);
    assert_true(fputs(json, file) >= 0);
    assert_int_equal(fclose(file), 0);
    lks_free(json);
    lks_model_release(model);
}

static void write_models(void)
{
    lks_node in = lks_input(lks_shape(FEATURES)), x = lks_dense(in, .units = 16, .activation = "relu");

    write_model("net.json", in, lks_dense(lks_dropout(x, .rate = 0.25), .units = CLASSES, .activation = "softmax"));
    in = lks_input(lks_shape(4, 4, 1));
    write_model("image.json", in,
                lks_conv2d(in, .filters = 1, .kernel_size = { 3, 3 }, .padding = "same", .activation = "sigmoid"));
}

/* Class = the largest of the first three features. */
static void write_data(const char *name, int64_t bad_label)
{
    static float x[EXAMPLES][FEATURES];
    static int64_t y[EXAMPLES];
    static const char *const keys[] = { "x_train", "y_train", "x_test", "y_test" };
    lks_tensor *tensors[4];
    unsigned random = 1;

    for (int i = 0; i < EXAMPLES; i++) {
        y[i] = 0;
        for (int k = 0; k < FEATURES; k++) {
            random = random * 1103515245u + 12345u;
            x[i][k] = (float)(random >> 16 & 1023) / 1024.0f;
            if (k < CLASSES && x[i][k] > x[i][y[i]]) y[i] = k;
        }
    }
    if (bad_label != 0) y[5] = bad_label;
    for (int i = 0; i < 4; i += 2) {
        tensors[i] = lks_tensor_from(LKS_FLOAT32, lks_shape(EXAMPLES, FEATURES), x);
        tensors[i + 1] = lks_tensor_from(LKS_INT64, lks_shape(EXAMPLES), y);
    }
    assert_int_equal(lks_write_npz(in_command_folder(name), 4, keys, tensors), LKS_OK);
    for (int i = 0; i < 4; i++) lks_tensor_release(tensors[i]);
}

static void write_images(void)
{
    static float x[EXAMPLES][4][4];
    static const char *const keys[] = { "x_train", "x_test" };
    lks_tensor *t[2];

    for (int i = 0; i < EXAMPLES * 16; i++) (&x[0][0][0])[i] = (float)(i * 7 % 11) / 11.0f;
    t[0] = t[1] = lks_tensor_from(LKS_FLOAT32, lks_shape(EXAMPLES, 4, 4), x);
    assert_int_equal(lks_write_npz(in_command_folder("images.npz"), 2, keys, t), LKS_OK);
    lks_tensor_release(t[0]);
}

static int write_all(void **state)
{
    (void)state;
    write_models();
    write_data("data.npz", 0);
    write_data("bad.npz", CLASSES);
    write_images();
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    command_remove_folder();
    return 0;
}

/* ---- running ---- */

#define FIT \
    "fit --model net.json --data npz:data.npz --loss categorical_crossentropy --metrics accuracy --optimizer adam "

static command_result r;

static void expect(int code)
{
    if (r.code != code) fail_msg("exit code %d, expected %d\n%s%s", r.code, code, r.out, r.err);
}

static json_t *last_line(void)
{
    json_error_t error;
    json_t *line = json_loads(command_last_line(r.out), 0, &error);

    if (line == NULL) fail_msg("the last line is no JSON (%s): %s", error.text, r.out);
    return line;
}

static void digest_of(const char *words, char digest[65])
{
    json_t *line;

    command_run(&r, LOCKSTEP_COMMAND, FIT "--epochs 2 --batch-size 20 --verbose 0 --json %s", words);
    expect(0);
    line = last_line();
    snprintf(digest, 65, "%s", json_string_value(json_object_get(line, "digest")));
    assert_int_equal(strlen(digest), 64);
    json_decref(line);
}

/* ---- tests ---- */

static void the_json_line_has_every_figure(void **state)
{
    static const char *const numbers[] = { "loss",           "accuracy", "val_loss",  "val_accuracy", "images_per_s",
                                           "threads",        "slices",   "slice",     "peak_rss_mb",  "start_s",
                                           "virtual_shards", "replicas", "batch_size" };
    json_t *line;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, FIT "--epochs 3 --verbose 0 --validate --threads 2 --json");
    expect(0);
    line = last_line();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!json_is_number(json_object_get(line, numbers[i]))) fail_msg("%s is no number in %s", numbers[i], r.out);
    assert_int_equal(json_array_size(json_object_get(line, "epoch_s")), 3);
    assert_true(json_is_string(json_object_get(line, "isa")));
    assert_int_equal(json_integer_value(json_object_get(line, "threads")), 2);
    assert_true(json_number_value(json_object_get(line, "start_s")) > 0);
    assert_true(json_number_value(json_object_get(line, "peak_rss_mb")) > 1);
    json_decref(line);
}

static void threads_cannot_change_the_weights(void **state)
{
    static const char *const same[] = { "--threads 1",  "--threads 2",  "--threads 3",         "--threads 5",
                                        "--replicas 2", "--replicas 3", "--threads 2 --seed 0" };
    char first[65], digest[65];

    (void)state;
    digest_of("", first);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        digest_of(same[i], digest);
        if (strcmp(digest, first) != 0) fail_msg("%s: %s, expected %s", same[i], digest, first);
    }
}

static void seed_and_shards_do_change_them(void **state)
{
    static const char *const others[] = { "--seed 1", "--virtual-shards 3", "--no-shuffle", "--limit 90" };
    char first[65], digest[65];

    (void)state;
    digest_of("", first);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        digest_of(others[i], digest);
        if (strcmp(digest, first) == 0) fail_msg("%s: the weights are the same", others[i]);
    }
}

static void more_replicas_than_shards_are_refused(void **state)
{
    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, FIT "--replicas 5 --virtual-shards 4");
    expect(1);
    assert_non_null(strstr(r.err, "5"));
    assert_non_null(strstr(r.err, "4"));
}

static void who_gets_the_same_weights_is_said_in_a_word(void **state)
{
    static const char *const words[] = { "any_world", "same_world", "fastest" };
    json_t *line;

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char command[256];

        snprintf(command, sizeof command, "%s--verbose 0 --json --threads 2 --reproducible %s", FIT, words[i]);
        command_run(&r, LOCKSTEP_COMMAND, command);
        expect(0);
        line = last_line();
        assert_string_equal(json_string_value(json_object_get(line, "reproducible")), words[i]);
        json_decref(line);
    }
    command_run(&r, LOCKSTEP_COMMAND, FIT "--reproducible same_word");
    expect(2);
    assert_non_null(strstr(r.err, "did you mean \"same_world\""));
    command_run(&r, LOCKSTEP_COMMAND, FIT "--reproducible fastest --virtual-shards 4");
    assert_int_not_equal(r.code, 0);
    assert_non_null(strstr(r.err, "virtual_shards 4"));
}

static void progress_prints_as_keras(void **state)
{
    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, FIT "--epochs 2 --verbose 2 --digest");
    expect(0);
    assert_int_equal(strncmp(r.out, "Epoch 1/2\n3/3 - 0s - ", 20), 0);
    assert_non_null(strstr(r.out, "/step - accuracy: "));
    assert_non_null(strstr(r.out, "Epoch 2/2\n"));
    assert_non_null(strstr(r.out, "digest "));
}

static void a_saved_model_is_measured_asked_and_trained_on(void **state)
{
    lks_tensor *predictions = NULL, *classes = NULL;
    json_t *line;
    double loss;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, FIT "--epochs 5 --verbose 0 --save net.keras");
    expect(0);
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model net.keras --data npz:data.npz --verbose 0 --json");
    expect(0);
    line = last_line();
    loss = json_number_value(json_object_get(line, "loss"));
    assert_true(json_is_number(json_object_get(line, "accuracy")));
    assert_int_equal(json_integer_value(json_object_get(line, "examples")), EXAMPLES);
    json_decref(line);

    command_run(&r, LOCKSTEP_COMMAND, "predict --model net.keras --data npz:data.npz --verbose 0 --output out.npz");
    expect(0);
    assert_int_equal(lks_read_npz(in_command_folder("out.npz"), "predictions", &predictions), LKS_OK);
    assert_int_equal(lks_read_npz(in_command_folder("out.npz"), "classes", &classes), LKS_OK);
    assert_int_equal(lks_tensor_size(predictions), EXAMPLES * CLASSES);
    assert_int_equal(lks_tensor_size(classes), EXAMPLES);
    lks_tensor_release(predictions);
    lks_tensor_release(classes);

    command_run(&r, LOCKSTEP_COMMAND,
                "fit --model net.keras --data npz:data.npz --epochs 20 --verbose 0 --save net.keras");
    expect(0);
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model net.keras --data npz:data.npz --verbose 0 --json");
    expect(0);
    line = last_line();
    assert_true(json_number_value(json_object_get(line, "loss")) < loss);
    json_decref(line);
}

static void sparse_losses_take_class_numbers(void **state)
{
    char words[] =
        "--epochs 2 --batch-size 20 --verbose 0 --json --loss sparse_categorical_crossentropy --optimizer adam";
    json_t *line;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, "fit --model net.json --data npz:data.npz --metrics accuracy %s", words);
    expect(0);
    line = last_line();
    assert_true(json_number_value(json_object_get(line, "accuracy")) > 0);
    json_decref(line);
}

static void a_model_of_pictures_learns_its_input(void **state)
{
    lks_tensor *predictions = NULL;

    (void)state;
    command_run(
        &r, LOCKSTEP_COMMAND,
        "fit --model image.json --data npz:images.npz --loss mse --optimizer adam --verbose 0 --save image.keras");
    expect(0);
    command_run(&r, LOCKSTEP_COMMAND,
                "predict --model image.keras --data npz:images.npz --output image.npz --verbose 0");
    expect(0);
    assert_int_equal(lks_read_npz(in_command_folder("image.npz"), "predictions", &predictions), LKS_OK);
    assert_int_equal(lks_tensor_size(predictions), EXAMPLES * 16);
    lks_tensor_release(predictions);
}

static void labels_out_of_range_are_named(void **state)
{
    (void)state;
    command_run(&r, LOCKSTEP_COMMAND,
                "fit --model net.json --data npz:bad.npz --loss categorical_crossentropy --save bad.keras");
    expect(1);
    assert_string_equal(r.err,
                        "lockstep: label 3 of example 5 does not lie in [0, 3), the classes that the model knows\n");
    assert_int_equal(access(in_command_folder("bad.keras"), F_OK), -1);
}

static void a_model_without_settings_says_what_to_give(void **state)
{
    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, "fit --model net.json --data npz:data.npz --optimizer adam");
    expect(2);
    assert_non_null(strstr(r.err, "--loss"));
    command_run(&r, LOCKSTEP_COMMAND, "fit --model net.json --data npz:data.npz");
    expect(2);
    assert_non_null(strstr(r.err, "net.json says nothing of a loss, so fit needs --loss"));
    command_run(&r, LOCKSTEP_COMMAND, "fit --model net.json --data npz:missing.npz"); /* said before data are read */
    expect(2);
    assert_non_null(strstr(r.err, "--loss"));
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model net.json --data npz:missing.npz");
    expect(2);
    assert_non_null(strstr(r.err, "evaluate needs --loss"));
}

static void plan_and_summary_describe_the_builtins(void **state)
{
    json_t *line;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, "plan --model builtin:mnist_cnn --json");
    expect(0);
    line = last_line();
    assert_int_equal(json_integer_value(json_object_get(line, "params")), 62810);
    assert_int_equal(json_integer_value(json_object_get(line, "batch_size")), 256);
    assert_true(json_number_value(json_object_get(line, "flop_per_step")) > 1e8);
    json_decref(line);
    command_run(&r, LOCKSTEP_COMMAND, "plan --model builtin:mnist_autoencoder --threads 1");
    expect(0);
    assert_non_null(strstr(r.out, "1 thread, kernels "));
    command_run(&r, LOCKSTEP_COMMAND, "summary --model builtin:mnist_cnn");
    expect(0);
    assert_non_null(strstr(r.out, " Total params: 62,810"));
    command_run(&r, LOCKSTEP_COMMAND, "summary --model builtin:mnist_autoencoder");
    expect(0);
    assert_non_null(strstr(r.out, "encoder (Sequential)"));
}

/* Waits for a word in a pipe; false at its end. */
static int wait_for(int from, const char *word)
{
    static char seen[1 << 16];
    size_t n = 0;
    ssize_t got;

    while (n < sizeof seen - 1 &&
           ((got = read(from, seen + n, sizeof seen - 1 - n)) > 0 || (got < 0 && errno == EINTR))) {
        if (got > 0) n += (size_t)got;
        seen[n] = '\0';
        if (strstr(seen, word) != NULL) return 1;
    }
    return 0;
}

static void ctrl_c_ends_training_and_saves_nothing(void **state)
{
    int out[2], status;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(out), 0);
    child = fork();
    if (child == 0) {
        int err = open(in_command_folder("interrupted.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (chdir(command_folder()) != 0 || dup2(out[1], 1) < 0 || dup2(err, 2) < 0) _exit(99);
        close(out[0]);
        execl(LOCKSTEP_COMMAND, "lockstep", "fit", "--model", "net.json", "--data", "npz:data.npz", "--loss", "mse",
              "--epochs", "1000000", "--verbose", "2", "--save", "interrupted.keras", (char *)NULL);
        _exit(98);
    }
    close(out[1]);
    assert_true(wait_for(out[0], "Epoch 3/"));
    assert_int_equal(kill(child, SIGINT), 0);
    while (wait_for(out[0], "no such word")) continue;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(out[0]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    command_read(in_command_folder("interrupted.txt"), r.err, sizeof r.err);
    assert_non_null(strstr(r.err, "Ctrl-C"));
    assert_int_equal(access(in_command_folder("interrupted.keras"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_line_has_every_figure),
        cmocka_unit_test(threads_cannot_change_the_weights),
        cmocka_unit_test(seed_and_shards_do_change_them),
        cmocka_unit_test(more_replicas_than_shards_are_refused),
        cmocka_unit_test(who_gets_the_same_weights_is_said_in_a_word),
        cmocka_unit_test(progress_prints_as_keras),
        cmocka_unit_test(a_saved_model_is_measured_asked_and_trained_on),
        cmocka_unit_test(sparse_losses_take_class_numbers),
        cmocka_unit_test(a_model_of_pictures_learns_its_input),
        cmocka_unit_test(labels_out_of_range_are_named),
        cmocka_unit_test(a_model_without_settings_says_what_to_give),
        cmocka_unit_test(plan_and_summary_describe_the_builtins),
        cmocka_unit_test(ctrl_c_ends_training_and_saves_nothing),
    };
    return cmocka_run_group_tests(tests, write_all, remove_all);
}
