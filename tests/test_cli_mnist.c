/* test_cli_mnist.c - builtin models on MNIST through the command, and the programs of examples/, on few steps.
 * ctest labels: cli
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "lockstep/files.h"
#include "support/command.h"
#include "support/shared.h"

static command_result r;

/* The real files where they are, else drawn digits: neither asks the network. */
static int offline(void **state)
{
    char data[2048];

    (void)state;
    if (shared_folder() != NULL) {
        char *whole;
        snprintf(data, sizeof data, "%s/data", shared_folder());
        whole = realpath(data, NULL);
        if (whole != NULL) setenv("LOCKSTEP_DATA", whole, 1);
        free(whole);
    }
    setenv("LOCKSTEP_OFFLINE", "1", 1);
    setenv("XDG_CACHE_HOME", command_folder(), 1);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    command_remove_folder();
    return 0;
}

static void expect_success(void)
{
    if (r.code != 0) fail_msg("exit code %d\n%s%s", r.code, r.out, r.err);
}

static json_t *last_line(void)
{
    json_error_t error;
    json_t *line = json_loads(command_last_line(r.out), 0, &error);

    assert_non_null(line);
    return line;
}

static void digest_of(const char *words, char digest[65])
{
    json_t *line;

    command_run(&r, LOCKSTEP_COMMAND, "fit --data mnist --epochs 1 --verbose 0 --json %s", words);
    expect_success();
    line = last_line();
    snprintf(digest, 65, "%s", json_string_value(json_object_get(line, "digest")));
    json_decref(line);
}

/* 300 examples: the last batch is a partial one in both. */
static void builtins_have_the_same_bits_on_any_threads(void **state)
{
    static const char *const models[] = { "mnist_cnn", "mnist_autoencoder" };
    static const char *const ways[] = { "--threads 1", "--threads 2", "--threads 3", "--replicas 3" };
    char first[65], digest[65], words[128];

    (void)state;
    for (size_t m = 0; m < 2; m++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            snprintf(words, sizeof words, "--model builtin:%s --limit 300 %s", models[m], ways[w]);
            digest_of(words, w == 0 ? first : digest);
            if (w > 0 && strcmp(digest, first) != 0) fail_msg("%s: %s, expected %s", words, digest, first);
        }
}

static void the_pipeline_of_the_tutorial_repeats(void **state)
{
    char a[65], b[65];

    (void)state;
    digest_of("--model builtin:mnist_cnn --limit 512 --pipeline --threads 1", a);
    digest_of("--model builtin:mnist_cnn --limit 512 --pipeline --threads 3", b);
    assert_string_equal(a, b);
}

/* The plan's peak, against the most that the run took. */
static void the_plan_tells_the_peak_memory(void **state)
{
    static const char *const models[] = { "mnist_cnn", "mnist_autoencoder" };

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    printf("skipped: sanitizers take memory of their own\n");
    skip();
#endif
    for (size_t m = 0; m < 2; m++) {
        double planned, peak;
        json_t *line;
        command_run(&r, LOCKSTEP_COMMAND, "plan --model builtin:%s --data mnist --json", models[m]);
        expect_success();
        line = last_line();
        planned = (double)json_integer_value(json_object_get(line, "peak_bytes"));
        json_decref(line);
        command_run(&r, LOCKSTEP_COMMAND,
                    "fit --model builtin:%s --data mnist --limit 2000 --epochs 1 --verbose 0 --json", models[m]);
        expect_success();
        line = last_line();
        peak = json_number_value(json_object_get(line, "peak_rss_mb")) * 1048576;
        json_decref(line);
        if (peak > 1.1 * planned || peak < 0.9 * planned)
            fail_msg("%s: planned %.1f MB, peak %.1f MB", models[m], planned / 1048576, peak / 1048576);
    }
}

static void is_a_picture(const char *name)
{
    char path[512];
    lks_tensor *picture = NULL;
    lks_status status;

    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    status = lks_read_png(path, 3, &picture);
    if (status == LKS_E_UNSUPPORTED) return;
    assert_int_equal(status, LKS_OK);
    assert_true(lks_tensor_shape(picture).dim[0] > 100);
    lks_tensor_release(picture);
}

static void predictions_are_drawn(void **state)
{
    static const char *const models[] = { "mnist_cnn", "mnist_autoencoder" };

    (void)state;
    for (size_t m = 0; m < 2; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s.png", models[m]);
        command_run(&r, LOCKSTEP_COMMAND, "predict --model builtin:%s --data mnist --limit 100 --verbose 0 --png %s",
                    models[m], name);
        if (strstr(r.err, "without cairo") != NULL) {
            printf("skipped: built without cairo\n");
            skip();
        }
        expect_success();
        is_a_picture(name);
    }
}

static const char *example(const char *name)
{
    static char path[4096];
    const char *slash = strrchr(LOCKSTEP_COMMAND, '/');

    snprintf(path, sizeof path, "%.*s/examples/%s", (int)(slash - LOCKSTEP_COMMAND), LOCKSTEP_COMMAND, name);
    if (access(path, X_OK) != 0) {
        printf("skipped: examples are not built\n");
        skip();
    }
    return path;
}

static void the_cnn_example_learns_and_saves(void **state)
{
    char path[512];

    (void)state;
    command_run(&r, example("mnist_cnn"), "2 10");
    expect_success();
    assert_non_null(strstr(r.out, "Epoch 2/2\n10/10 - "));
    assert_non_null(strstr(r.out, "test images: loss "));
    snprintf(path, sizeof path, "%s/mnist.keras", command_folder());
    assert_int_equal(access(path, R_OK), 0);
}

static void the_autoencoder_example_draws_eight_rows(void **state)
{
    (void)state;
    command_run(&r, example("mnist_autoencoder"), "1 10");
    if (strstr(r.err, "cairo") != NULL) {
        printf("skipped: built without cairo\n");
        skip();
    }
    expect_success();
    is_a_picture("autoencoder.png");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtins_have_the_same_bits_on_any_threads),
        cmocka_unit_test(the_pipeline_of_the_tutorial_repeats),
        cmocka_unit_test(the_plan_tells_the_peak_memory),
        cmocka_unit_test(predictions_are_drawn),
        cmocka_unit_test(the_cnn_example_learns_and_saves),
        cmocka_unit_test(the_autoencoder_example_draws_eight_rows),
    };
    return cmocka_run_group_tests(tests, offline, remove_all);
}
