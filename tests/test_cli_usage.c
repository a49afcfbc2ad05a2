/* test_cli_usage.c - the command explains itself: help, exit codes, and what to do about a word it does not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/command.h"

typedef struct usage_case {
    const char *words;
    int code;
    const char *out, *err; /* must be in there; NULL: nothing at all may be there */
} usage_case;

#define CNN "--model builtin:mnist_cnn "

static const usage_case cases[] = {
    { "", 2, "Commands:", NULL },
    { "--help", 0, "Exit codes: 0", NULL },
    { "help", 0, "fit", NULL },
    { "help fit", 0, "--epochs N", NULL },
    { "--version", 0, "lockstep " LOCKSTEP_VERSION, NULL },
    { "fti", 2, NULL, "did you mean \"fit\"?" },
    { "eval", 2, NULL, "did you mean \"evaluate\"?" },
    { "gibberish", 2, NULL, "there is no command \"gibberish\"\nTry \"lockstep --help\"" },
    { "fit --modle x", 2, NULL, "did you mean \"--model\"?" },
    { "fit --learning-rate 1", 2, NULL, "fit has no option --learning-rate" },
    { "fit mnist", 2, NULL, "takes options only, not \"mnist\"" },
    { "fit", 2, NULL, "needs --model" },
    { "fit --epochs", 2, NULL, "--epochs needs a value: --epochs N" },
    { "fit --epochs ten", 2, NULL, "--epochs takes a whole number from 1, not \"ten\"" },
    { "fit --epochs 0", 2, NULL, "--epochs takes a whole number from 1, not \"0\"" },
    { "fit --epochs 1e3", 2, NULL, "not \"1e3\"" },
    { "fit --epochs 99999999999999999999", 2, NULL, "--epochs takes" },
    { "fit --epochs 1 --epochs=2", 2, NULL, "--epochs is given twice" },
    { "fit --json=yes", 2, NULL, "--json takes no value" },
    { "fit --verbose 3", 2, NULL, "--verbose takes 0, 1 or 2, not 3" },
    { "fit --validation-split 1.5", 2, NULL, "between 0 and 1, not \"1.5\"" },
    { "fit --validation-split nan", 2, NULL, "between 0 and 1, not \"nan\"" },
    { "fit --model builtin:mnist_cn --data mnist", 2, NULL, "did you mean \"mnist_cnn\"?" },
    { "fit --model mnist_cnn --data mnist", 2, NULL, "did you mean \"builtin:mnist_cnn\"?" },
    { "fit " CNN, 2, NULL, "needs --data: mnist, images:DIR or npz:FILE" },
    { "fit " CNN "--data minst", 2, NULL, "did you mean \"mnist\"?" },
    { "fit " CNN "--data mnist --save out.h5", 2, NULL, "ends in .keras" },
    { "fit " CNN "--data mnist --save nowhere/out.keras", 1, NULL, "nowhere" },
    { "predict " CNN "--data mnist --png nowhere/a.png", 1, NULL, "nowhere/a.png cannot be written" },
    { "fit " CNN "--data npz:a.npz --pipeline", 2, NULL, "--pipeline is for pictures" },
    { "fit " CNN "--data mnist --validate --validation-split 0.5", 2, NULL, "exclude each other" },
    { "fit " CNN "--data mnist --optimizer adamm", 2, NULL, "adam" },
    { "fit " CNN "--data mnist --loss no_such_loss", 2, NULL, "no_such_loss" },
    { "fit " CNN "--data npz:missing.npz", 1, NULL, "missing.npz" },
    { "fit " CNN "--data random:many", 2, NULL, "random:N takes a number of examples, not \"many\"" },
    { "bench --roofline --limits", 2, NULL, "--limits goes with neither" },
    { "evaluate --model missing.keras --data mnist", 1, NULL, "missing.keras" },
    { "summary --model missing.json", 1, NULL, "missing.json" },
    { "summary --model builtin:mobilenet_v2", 0, "Total params: 3,538,984 (", NULL },
    { "summary --model builtin:mobilenet_v2:alpha=0.35,input=96,include_top=false", 0, "Total params: 410,208 (",
      NULL },
    { "summary --model builtin:mobilenet_v2:input=64x96x1,classes=10", 0, "(None, 64, 96, 1)", NULL },
    { "summary --model builtin:mobilenet_v2:alpha=wide", 2, NULL, "does not understand alpha=wide" },
    { "summary --model builtin:mobilenet_v2:beta=1", 2, NULL, "alpha, input, classes" },
    { "summary --model builtin:mobilenet_v2:input=16", 1, NULL, "at least 32 rows" },
    { "summary --model builtin:mnist_cnn:alpha=1", 2, NULL, "takes no settings" },
    { "summary --model missing.keras --optimizer adam", 2, NULL, "summary has no option --optimizer" },
};

static void every_misuse_is_explained(void **state)
{
    static command_result r;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const usage_case *c = &cases[i];
        command_run(&r, LOCKSTEP_COMMAND, "%s", c->words);
        if (r.code != c->code)
            fail_msg("lockstep %s: exit code %d, expected %d\n%s%s", c->words, r.code, c->code, r.out, r.err);
        if (c->out != NULL ? strstr(r.out, c->out) == NULL : r.out[0] != '\0')
            fail_msg("lockstep %s: standard output is\n%s\nexpected: %s", c->words, r.out,
                     c->out != NULL ? c->out : "nothing");
        if (c->err != NULL ? strstr(r.err, c->err) == NULL : r.err[0] != '\0')
            fail_msg("lockstep %s: standard error is\n%s\nexpected: %s", c->words, r.err,
                     c->err != NULL ? c->err : "nothing");
        if (c->err != NULL && strncmp(r.err, "lockstep: ", 10) != 0) fail_msg("lockstep %s: %s", c->words, r.err);
    }
}

static void every_command_has_help(void **state)
{
    static const char *const commands[] = { "fit", "evaluate", "predict", "summary", "plan", "bench" };
    static command_result r;

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        command_run(&r, LOCKSTEP_COMMAND, "%s --help", commands[i]);
        assert_int_equal(r.code, 0);
        assert_string_equal(r.err, "");
        assert_non_null(strstr(r.out, "Options:\n  --model MODEL"));
        assert_non_null(strstr(r.out, "Examples:\n  lockstep "));
        for (const char *line = r.out; *line != '\0'; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 120)
                fail_msg("%s --help: a line has %zu characters", commands[i], strcspn(line, "\n"));
    }
}

static void a_closed_output_is_noticed(void **state)
{
    static command_result r;

    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        printf("skipped: /dev/full not found\n");
        skip();
    }
    command_run(&r, "/bin/sh", "-c '%s summary --model builtin:mnist_cnn >/dev/full'", LOCKSTEP_COMMAND);
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "cannot write to standard output"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_misuse_is_explained),
        cmocka_unit_test(every_command_has_help),
        cmocka_unit_test(a_closed_output_is_noticed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    command_remove_folder();
    return failed;
}
