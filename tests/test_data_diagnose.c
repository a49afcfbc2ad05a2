/* test_data_diagnose.c - diagnosis names the stage that a pipeline is made slow in; well-known traps are said once; pipelines written as
 * JSON are the ones built by hand, and what is not understood is said.
 */
#include "test_data.h"

#include "lockstep/image_functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char warnings[4096];

static void note(void *user, const char *text)
{
    size_t n = strlen(warnings);

    (void)user;
    snprintf(warnings + n, sizeof warnings - n, "%s\n", text);
}

/* 2x after some work for the processor */
static lks_status slow_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    volatile uint32_t work = 0;

    for (int i = 0; i < 300000; i++) work += (uint32_t)i;
    (void)work;
    return twice_apply(context, in, out, user);
}
static const lks_map_fn slow = {
    .struct_size = sizeof(lks_map_fn), .name = "slow", .apply = slow_apply, .flags = LKS_FN_PURE
};
static const lks_map_fn noisy = {
    .struct_size = sizeof(lks_map_fn), .name = "noisy", .apply = twice_apply, .flags = LKS_FN_PURE | LKS_FN_RANDOM
};

static void nap(int ms)
{
    const struct timespec t = { 0, ms * 1000000L };

    nanosleep(&t, NULL);
}

static lks_status waiting_next(void *state, lks_element *out, void *user)
{
    lks_tensor *t = lks_element_output(out, 0);

    (void)state, (void)user;
    nap(2);
    if (t == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(t) = 1;
    return LKS_OK;
}

static lks_dataset *far_away(void)
{
    const lks_generator g = { .struct_size = sizeof g, .name = "far", .next = waiting_next };

    return lks_from_generator(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }), &g);
}

/* Diagnosed by times: other work on the machine may mislead it once, not five times. The stage named, or NULL for the consumer. */
static const lks_stage_report *expect_bound(lks_dataset *ds, const lks_diagnose_options *o, lks_bottleneck want,
                                            lks_diagnosis **out)
{
    lks_bottleneck found = want;
    int64_t stage = -1;

    for (int tries = 0; tries < 5; tries++) {
        assert_status(lks_dataset_diagnose_with(ds, out, o), LKS_OK);
        found = lks_diagnosis_bottleneck(*out, &stage);
        if (found == want) return stage < 0 ? NULL : lks_diagnosis_stage(*out, (size_t)stage);
        if (tries < 4) lks_diagnosis_release(*out);
    }
    fail_msg("bound by %d instead of %d:\n%s", (int)found, (int)want, lks_diagnosis_text(*out));
    return NULL;
}

static void a_slow_function_is_named(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_batch(lks_map(lks_range(0, 100000, 1), &slow), 2), 2);
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 40 };
    lks_diagnosis *d = NULL;
    const lks_stage_report *r = NULL;

    (void)state;
    for (int tries = 0; tries < 5; tries++) { /* who is put off the processor looks busy too */
        lks_diagnosis_release(d);
        r = expect_bound(ds, &o, LKS_BOUND_BY_STAGE, &d);
        if (strcmp(r->stage, "map") == 0) break;
    }
    assert_string_equal(r->stage, "map");
    assert_string_equal(r->what, "slow");
    assert_true(r->elements >= 80);
    assert_true(r->cpu_ms > 0.01);
    assert_non_null(strstr(lks_diagnosis_advice(d), "LKS_AUTOTUNE"));
    assert_int_equal(lks_diagnosis_elements(d), 40);
    assert_int_equal(lks_diagnosis_stages(d), 4);
    assert_true(lks_diagnosis_wait_share(d) > 0.5);
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

/* Keeps all, but sleeps once. */
static lks_status stalling_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *keep = lks_element_output(out, 0);

    (void)context, (void)user;
    if (*(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0)) == 8) nap(200);
    if (keep == NULL) return LKS_E_NOMEM;
    *(uint8_t *)lks_tensor_data(keep) = 1;
    return LKS_OK;
}

static void one_stall_of_another_stage_is_not_named(void **state)
{
    const lks_map_fn once = { .struct_size = sizeof once,
                              .name = "once",
                              .output_spec = lks_spec_fn_bool,
                              .apply = stalling_apply,
                              .flags = LKS_FN_PURE };
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 60 };
    lks_diagnosis *d = NULL;
    lks_dataset *ds;

    (void)state;
    ds = lks_filter(lks_map(lks_range(0, 100000, 1), &slow), &once);
    assert_string_equal(expect_bound(ds, &o, LKS_BOUND_BY_STAGE, &d)->what, "slow");
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

static void functions_that_run_as_one_are_all_named(void **state)
{
    lks_dataset *ds = lks_map(lks_range(0, 200, 1), lks_fn_cast(LKS_FLOAT32));
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 20 };
    lks_diagnosis *d = NULL;
    const lks_stage_report *r;

    (void)state;
    ds = lks_map(lks_map(ds, lks_fn_rescale(0.5, 1)), lks_fn_expand_dims(0));
    assert_status(lks_dataset_diagnose_with(ds, &d, &o), LKS_OK);
    r = lks_diagnosis_stage(d, 0);
    assert_string_equal(r->stage, "map");
    assert_non_null(strstr(r->what, "cast"));
    assert_non_null(strstr(r->what, "rescale"));
    assert_true(strstr(r->what, "cast") < strstr(r->what, "rescale"));
    assert_non_null(strstr(strstr(r->what, "rescale"), ", expand_dims"));
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

static void bytes_of_files_are_counted(void **state)
{
    char path[] = "/tmp/lks-diagnose-XXXXXX", line[] = "a line of text that is read again and again\n", *name = path;
    lks_diagnosis *d = NULL;
    double rate = 0, busy = -1;
    lks_dataset *ds;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    for (int i = 0; i < 20000; i++) assert_int_equal(write(fd, line, sizeof line - 1), sizeof line - 1);
    close(fd);
    ds = lks_text_lines(1, (const char *const *)&name);
    assert_status(lks_dataset_diagnose_with(ds, &d, NULL), LKS_OK);
    lks_diagnosis_files(d, &rate, &busy);
    assert_true(rate * lks_diagnosis_seconds(d) >= 20000.0 * (sizeof line - 1) * 0.99);
    assert_true(busy >= 0);
    assert_non_null(strstr(lks_diagnosis_text(d), "Files: "));
    lks_diagnosis_files(d, NULL, NULL);
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
    unlink(path);
}

static void a_parallel_function_fills_the_cores(void **state)
{
    lks_dataset *ds = lks_map(lks_range(0, 100000, 1), &slow, .num_parallel_calls = LKS_AUTOTUNE);
    lks_diagnosis *d = NULL;
    const lks_stage_report *r;

    (void)state;
    assert_status(lks_dataset_diagnose(ds, &d, .elements = 400), LKS_OK);
    for (size_t i = 0; i < lks_diagnosis_stages(d); i++) {
        r = lks_diagnosis_stage(d, i);
        if (strcmp(r->stage, "map") == 0) assert_true(r->window > 0 && r->cpu_ms > 0.01);
    }
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

/* 2x after waiting: no core is busy */
static lks_status idle_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    nap(4);
    return twice_apply(context, in, out, user);
}

static void a_function_on_several_threads_is_not_told_to_be(void **state)
{
    static const lks_map_fn idle = {
        .struct_size = sizeof(lks_map_fn), .name = "idle", .apply = idle_apply, .flags = LKS_FN_PURE
    };
    lks_dataset *ds = lks_map(lks_range(0, 100000, 1), &idle, .num_parallel_calls = 2);
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 60 };
    lks_diagnosis *d = NULL;

    (void)state;
    assert_string_equal(expect_bound(ds, &o, LKS_BOUND_BY_STAGE, &d)->what, "idle");
    assert_non_null(strstr(lks_diagnosis_advice(d), "several threads already"));
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

static void a_waiting_source_is_named(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_batch(far_away(), 2), 2);
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 30 };
    lks_diagnosis *d = NULL;

    (void)state;
    assert_string_equal(expect_bound(ds, &o, LKS_BOUND_BY_SOURCE, &d)->stage, "from_generator");
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

static void a_slow_consumer_is_named(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_batch(lks_range(0, 1000, 1), 2), 2);
    const lks_diagnose_options o = { .struct_size = sizeof o, .elements = 15, .consumer_ms = 20 };
    lks_diagnosis *d = NULL;

    (void)state;
    assert_null(expect_bound(ds, &o, LKS_BOUND_BY_CONSUMER, &d));
    lks_diagnosis_release(d);
    assert_status(lks_dataset_diagnose(ds, &d, .elements = -1), LKS_E_ARG);
    lks_dataset_release(ds);
}

static lks_dataset *split_after_shuffle(void)
{
    return lks_take(lks_shuffle(lks_range(0, 100, 1), 100), 20);
}
static lks_dataset *split_after_fixed_shuffle(void)
{
    return lks_take(lks_shuffle(lks_range(0, 100, 1), 100, .reshuffle_each_iteration = LKS_FALSE), 20);
}
static lks_dataset *part_of_a_cache(void)
{
    return lks_take(lks_cache(lks_range(0, 100, 1)), 20);
}
static lks_dataset *random_under_cache(void)
{
    return lks_cache(lks_map(lks_range(0, 100, 1), &noisy));
}
static lks_dataset *random_over_cache(void)
{
    return lks_map(lks_cache(lks_range(0, 100, 1)), &noisy);
}
static lks_dataset *shard_of_a_shuffle(void)
{
    return lks_shard(lks_shuffle(lks_range(0, 100, 1), 100), 2, 0);
}
static lks_dataset *small_shuffle(void)
{
    return lks_shuffle(lks_range(0, 1000, 1), 10);
}
static lks_dataset *deep_prefetch(void)
{
    lks_dataset *ds = lks_zip(lks_range(0, 100, 1), lks_range(0, 100, 1));

    return lks_prefetch(lks_batch(ds, 1 << 20), 1 << 18);
}
static lks_dataset *nothing_wrong(void)
{
    lks_dataset *ds = lks_shuffle(lks_cache(lks_map(lks_range(0, 100, 1), &twice)), 100);

    return lks_prefetch(lks_batch(ds, 10), LKS_AUTOTUNE);
}

static lks_dataset *many_batches(void)
{
    return lks_prefetch(lks_batch(lks_range(0, 100000, 1), 64), 64);
}

static void each_trap_is_said_once(void **state)
{
    static const struct {
        lks_dataset *(*make)(void);
        const char *word; /* NULL: nothing is said */
    } traps[] = {
        { split_after_shuffle, "lks_dataset_split" },
        { split_after_fixed_shuffle, NULL },
        { part_of_a_cache, "take first, then cache" },
        { random_under_cache, "'noisy'" },
        { random_over_cache, NULL },
        { shard_of_a_shuffle, "shard first" },
        { small_shuffle, "1.0 %" },
        { deep_prefetch, "whole batches" },
        { many_batches, "64 of them hold 4096 rows, about 0.0 MB" },
        { nothing_wrong, NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        lks_dataset *ds = traps[i].make();
        char *line;
        assert_status(lks_dataset_status(ds), LKS_OK);
        warnings[0] = '\0';
        lks_dataset_warn_traps(ds);
        lks_dataset_warn_traps(ds);
        line = strchr(warnings, '\n');
        if (traps[i].word == NULL && line != NULL) fail_msg("trap %zu: %s", i, warnings);
        if (traps[i].word != NULL && (line == NULL || line[1] != '\0' || strstr(warnings, traps[i].word) == NULL))
            fail_msg("trap %zu: '%s' is not the one sentence of: %s", i, traps[i].word, warnings);
        lks_dataset_release(ds);
    }
}

/* It ends by its own limit: what the pipeline could do about that is nothing. */
static void a_short_measurement_blames_no_cache(void **state)
{
    lks_dataset *ds = lks_map(lks_cache(lks_range(0, 1000, 1)), lks_fn_rescale(0.00784, 0));
    lks_diagnosis *d = NULL;

    (void)state;
    ds = lks_map(ds, lks_fn_chain(lks_fn_rescale(2, 0.1), lks_fn_rescale(3, 0.1), lks_fn_rescale(4, 0.1),
                                  lks_fn_rescale(5, 0.1)));
    warnings[0] = '\0';
    assert_status(lks_dataset_diagnose(ds, &d, .elements = 1), LKS_OK);
    assert_string_equal(warnings, "");
    assert_null(strstr(lks_diagnosis_text(d), "waited"));
    assert_non_null(strstr(lks_diagnosis_text(d), "rescale(0.00784, 0)"));
    for (const char *line = strstr(lks_diagnosis_text(d), "\nstage "), *next; line != NULL && line[1] != '\n';
         line = next) {
        next = strchr(line + 1, '\n'); /* columns end at the same place in each line */
        assert_int_equal(next - line, strchr(strstr(lks_diagnosis_text(d), "\nstage ") + 1, '\n') -
                                          strstr(lks_diagnosis_text(d), "\nstage "));
    }
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
}

static int own_functions(const char *name, lks_map_fn *out, void *user)
{
    (void)user;
    if (strcmp(name, "twice") != 0) return 0;
    *out = twice;
    return 1;
}

static void json_pipelines_are_those_built_by_hand(void **state)
{
    (void)state;
    assert_yields(lks_dataset_from_json(
                      "[{\"op\":\"range\",\"args\":[0,10]},{\"op\":\"map\",\"f\":\"twice\"},"
                      "{\"op\":\"shuffle\",\"buffer_size\":10,\"seed\":42},{\"op\":\"batch\",\"batch_size\":4}]",
                      .function = own_functions),
                  "[10 18 12 8] [14 2 4 16] [6 0] ");
    assert_yields(lks_dataset_from_json("[{\"op\":\"range\",\"args\":[0,3]},{\"op\":\"concatenate\",\"inputs\":"
                                        "[[{\"op\":\"range\",\"args\":[7,9]}]]},{\"op\":\"repeat\",\"count\":2}]"),
                  "0 1 2 7 8 0 1 2 7 8 ");
}

static void json_that_is_not_understood_is_said(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { "[", "pipeline" },
        { "[]", "list of stages" },
        { "[{\"op\":\"rang\"}]", "\"rang\"" },
        { "[{\"op\":\"range\",\"args\":[3]},{\"op\":\"btch\"}]", "\"btch\"" },
        { "[{\"op\":\"range\",\"args\":[3]},{\"batch_size\":3}]", "no \"op\"" },
        { "[{\"op\":\"range\",\"args\":[3]},{\"op\":\"map\",\"f\":\"twixe\"}]", "\"twixe\"" },
        { "[{\"op\":\"tfrecord\"}]", "files" },
        { "[{\"op\":\"zip\",\"inputs\":[]}]", "inputs" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_dataset *ds = lks_dataset_from_json(cases[i].text);
        assert_true(lks_dataset_status(ds) != LKS_OK);
        if (strstr(lks_last_error(), cases[i].word) == NULL) fail_msg("%s: %s", cases[i].text, lks_last_error());
        lks_dataset_release(ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_function_is_named),
        cmocka_unit_test(one_stall_of_another_stage_is_not_named),
        cmocka_unit_test(functions_that_run_as_one_are_all_named),
        cmocka_unit_test(bytes_of_files_are_counted),
        cmocka_unit_test(a_parallel_function_fills_the_cores),
        cmocka_unit_test(a_function_on_several_threads_is_not_told_to_be),
        cmocka_unit_test(a_waiting_source_is_named),
        cmocka_unit_test(a_slow_consumer_is_named),
        cmocka_unit_test(each_trap_is_said_once),
        cmocka_unit_test(a_short_measurement_blames_no_cache),
        cmocka_unit_test(json_pipelines_are_those_built_by_hand),
        cmocka_unit_test(json_that_is_not_understood_is_said),
    };

    lks_set_warnings(note, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
