/* test_progress.c - what is printed while training equals Keras' bytes, under the same fake clock.
 *
 * The golden texts hold the values of the drawn steps; they are read from there and given back, one a step. A step that
 * Keras did not draw gets no values, so that a line drawn there can't pass for Keras'.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "model/progress.h"
#include "support/failing_alloc.h"
#include "support/shared.h"

enum { MAX_LOGS = 16, MAX_STEPS = 256 };

typedef struct logs_copy {
    size_t n;
    lks_log items[MAX_LOGS];
    char names[MAX_LOGS][64];
} logs_copy;

static double clock_now;

static double fake_clock(void *user)
{
    (void)user;
    return clock_now;
}

static lks_text printed;

static void collect(void *user, const char *text, size_t length)
{
    (void)user;
    lks__text_append(&printed, text, length);
}

/* ---- reading a golden line ---- */

static void read_logs(const char *line, size_t length, logs_copy *out)
{
    const char *end = line + length;

    out->n = 0;
    for (const char *p = line; p + 3 < end; p++) {
        const char *colon;
        size_t n;
        if (memcmp(p, " - ", 3) != 0) continue;
        colon = memchr(p, ':', (size_t)(end - p));
        if (colon == NULL) break;
        n = (size_t)(colon - p - 3);
        if (n >= sizeof out->names[0] || out->n == MAX_LOGS || memchr(p + 3, ' ', n) != NULL)
            continue; /* " - 1s - 100ms/step" */
        memcpy(out->names[out->n], p + 3, n);
        out->names[out->n][n] = '\0';
        out->items[out->n].name = out->names[out->n];
        out->items[out->n].value = strtod(colon + 1, NULL);
        out->n++;
    }
}

/* The step that a line drawn by verbose 1 shows. */
static long shown_step(const char *line)
{
    const char *p = strstr(line, "\x1b[1m");

    while (*line == '\b' || *line == '\r') line++;
    if (p == line) line += 4;
    return strtol(line, NULL, 10);
}

/* ---- one case ---- */

typedef struct run {
    const char *text;
    double dt;
    int64_t verbose, epochs, initial, steps, target, validation;
} run;

/* Runs one epoch along `text`, which starts at this epoch's first draw; returns what follows its final line. */
static const char *run_epoch(const run *r, lks_progress *bar, const char *text)
{
    static logs_copy at[MAX_STEPS], final;
    const char *end = strchr(text, '\n'), *line = text;

    for (int i = 0; i < MAX_STEPS; i++) at[i].n = 0;
    if (r->verbose == 2) read_logs(text, (size_t)(end - text), &final);
    while (r->verbose == 1 && line < end) {
        const char *next = line + strspn(line, "\b\r");
        long step = shown_step(line);
        next += strcspn(next, "\b\n");
        assert_in_range(step, 1, MAX_STEPS - 1);
        read_logs(line, (size_t)(next - line), *next == '\n' ? &final : &at[step]);
        line = next;
    }
    for (int64_t i = 1; i <= r->steps; i++) {
        lks_logs logs = { at[i].n, at[i].items };
        clock_now += r->dt;
        if (lks__progress_step(bar, i)) lks__progress_draw(bar, &logs);
    }
    for (int64_t i = 0; i < r->validation; i++) clock_now += r->dt;
    lks__progress_finish(bar, &(lks_logs){ final.n, final.items });
    return end + 1;
}

static void run_case(const run *r)
{
    lks_progress bar;
    const char *text = r->text;

    clock_now = 1000;
    lks__progress_begin(
        &bar,
        &(lks_progress_setup){ .verbose = r->verbose, .epochs = r->epochs, .target = r->target, .clock = fake_clock });
    for (int64_t e = r->initial; e < r->epochs; e++) {
        lks__progress_epoch(&bar, e);
        if (r->epochs > 1 && r->verbose != 0) text = strchr(text, '\n') + 1;
        if (r->verbose == 0) lks__progress_finish(&bar, NULL);
        else text = run_epoch(r, &bar, text);
    }
    lks__progress_end(&bar);
}

static int64_t number(json_t *args, const char *key, int64_t otherwise)
{
    json_t *value = json_object_get(args, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

/* The toy data have 100 rows to train on and 40 to validate on; batches of 16. */
static void setup_case(json_t *c, run *r)
{
    json_t *args = json_object_get(c, "args");
    const char *name = json_string_value(json_object_get(c, "name"));
    const char *mode = json_string_value(json_object_get(c, "mode"));
    int64_t batch = number(args, "batch_size", 16), rows = strcmp(mode, "fit") == 0 ? 100 : 40;

    r->text = json_string_value(json_object_get(c, "text"));
    r->dt = json_number_value(json_object_get(c, "dt"));
    r->verbose = number(args, "verbose", 1);
    r->epochs = number(args, "epochs", 1);
    r->initial = number(args, "initial_epoch", 0);
    if (strstr(name, "120 batches") != NULL) rows = 120;
    if (strstr(name, "40 batches") != NULL) rows = 40;
    r->steps = (rows + batch - 1) / batch;
    r->target = number(args, "steps_per_epoch", strstr(name, "unknown length") != NULL ? -1 : r->steps);
    r->validation = strstr(name, "with validation") != NULL ? 3 : 0;
}

static json_t *golden_cases(json_t **root)
{
    json_error_t error;

    *root = json_load_file(in_folder(NEED_SHARED(), "golden/runs/progress_text.json"), 0, &error);
    assert_non_null(*root);
    return json_object_get(*root, "cases");
}

static void every_line_equals_keras(void **state)
{
    json_t *root = NULL, *cases = golden_cases(&root), *c;
    size_t i, compared = 0;

    (void)state;
    lks_set_output(collect, NULL);
    json_array_foreach(cases, i, c)
    {
        const char *name = json_string_value(json_object_get(c, "name"));
        run r;
        if (strstr(name, "steps_per_execution") != NULL) continue; /* Keras passes the end there: see below */
        setup_case(c, &r);
        printed.length = 0;
        lks__text_puts(&printed, "");
        run_case(&r);
        if (strcmp(printed.data, r.text) != 0) fail_msg("%s:\n%s\n%s", name, printed.data, r.text);
        compared++;
    }
    lks_set_output(NULL, NULL);
    lks__text_free(&printed);
    assert_true(compared >= 30);
    json_decref(root);
}

static void steps_beyond_the_end_do_not_lengthen_the_bar(void **state)
{
    lks_progress bar;

    (void)state;
    clock_now = 0;
    lks_set_output(collect, NULL);
    lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .target = 2, .clock = fake_clock });
    lks__progress_epoch(&bar, 0);
    assert_true(lks__progress_step(&bar, 5));
    lks__progress_draw(&bar, NULL);
    lks__progress_end(&bar);
    lks_set_output(NULL, NULL);
    assert_non_null(strstr(printed.data, "\x1b[1m2/2\x1b[0m"));
    assert_non_null(strstr(printed.data, "\x1b[37m\x1b[0m"));
    lks__text_free(&printed);
}

static void odd_numbers_print_as_python(void **state)
{
    static const struct {
        double value;
        const char *text;
    } t[] = {
        { (double)NAN, "loss: nan" },
        { -(double)NAN, "loss: nan" },
        { (double)INFINITY, "loss: inf" },
        { 0.0, "loss: 0.0000e+00" },
        { 1e-3, "loss: 1.0000e-03" },
        { 0.0011, "loss: 0.0011" },
        { -2.5, "loss: -2.5000" },
        { 123456.78, "loss: 123456.7800" },
        { 1e300, "loss: 1000000000000000052504760255204420" },
    };
    lks_progress bar;

    (void)state;
    lks_set_output(collect, NULL);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lks_log item = { "loss", t[i].value };
        printed.length = 0;
        lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .target = 1, .clock = fake_clock });
        lks__progress_epoch(&bar, 0);
        lks__progress_step(&bar, 1);
        lks__progress_finish(&bar, &(lks_logs){ 1, &item });
        lks__progress_end(&bar);
        if (strstr(printed.data, t[i].text) == NULL) fail_msg("%s is not in %s", t[i].text, printed.data);
    }
    lks_set_output(NULL, NULL);
    lks__text_free(&printed);
}

/* The first step builds and warms up. */
static void a_slow_first_step_does_not_spoil_the_estimate(void **state)
{
    static const double ends[] = { 10, 11, 12 };
    lks_progress bar;

    (void)state;
    clock_now = 0;
    lks_set_output(collect, NULL);
    lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .target = 12, .clock = fake_clock });
    lks__progress_epoch(&bar, 0);
    for (int64_t i = 0; i < 3; i++) {
        printed.length = 0;
        clock_now = ends[i];
        assert_true(lks__progress_step(&bar, i + 1));
        lks__progress_draw(&bar, NULL);
        assert_non_null(strstr(printed.data, i == 0 ? " 10s/step" : " 1s/step"));
    }
    lks__progress_end(&bar);
    lks_set_output(NULL, NULL);
    lks__text_free(&printed);
}

/* After the first line a training step allocates nothing. */
static void later_lines_allocate_nothing(void **state)
{
    lks_log items[2] = { { "accuracy", 0.5 }, { "loss", 0.25 } };
    lks_logs logs = { 2, items };
    lks_progress bar;

    (void)state;
    clock_now = 0;
    lks__text_append(&printed, "", 0);
    failing_start(0);
    lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .epochs = 1, .target = 10, .clock = fake_clock });
    lks__progress_epoch(&bar, 0);
    lks_set_output(collect, NULL);
    for (int64_t i = 1; i <= 10; i++) {
        long before;
        clock_now += 1;
        printed.length = 0;
        before = failing.count;
        assert_true(lks__progress_step(&bar, i));
        lks__progress_draw(&bar, &logs);
        if (i > 2) assert_int_equal(failing.count - before, 0);
    }
    lks_set_output(NULL, NULL);
    lks__progress_end(&bar);
    lks__text_free(&printed);
    failing_stop();
}

static void without_memory_nothing_is_printed(void **state)
{
    lks_progress bar;

    (void)state;
    lks_set_output(collect, NULL);
    lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .target = 1, .clock = fake_clock });
    lks__progress_epoch(&bar, 0);
    failing_start(1);
    lks__progress_step(&bar, 1);
    lks__progress_draw(&bar, NULL);
    failing_stop();
    lks__progress_end(&bar);
    lks_set_output(NULL, NULL);
    assert_null(printed.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_equals_keras),      cmocka_unit_test(steps_beyond_the_end_do_not_lengthen_the_bar),
        cmocka_unit_test(odd_numbers_print_as_python),  cmocka_unit_test(a_slow_first_step_does_not_spoil_the_estimate),
        cmocka_unit_test(later_lines_allocate_nothing), cmocka_unit_test(without_memory_nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
