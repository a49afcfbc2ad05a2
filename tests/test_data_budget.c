/* test_data_budget.c - the memory budget holds, measured from outside; elements do not depend on it; sizes in the environment.
 *
 * Each pipeline runs in a process of its own, whose peak of resident memory the parent reads. (Skipped under sanitizers, which need
 * memory of their own.)
 */
#include "test_data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MB = 1 << 20, ELEMENT_MB = 40, ELEMENTS = 30, BUDGET_MB = 300 };

static lks_spec *large_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tensor(LKS_INT64, lks_shape(ELEMENT_MB * MB / 8));
}

static lks_status fill_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    for (int64_t i = 0; i < lks_tensor_size(y); i += 512) ((int64_t *)lks_tensor_data(y))[i] = x + i;
    return LKS_OK;
}
static const lks_map_fn fill = { .struct_size = sizeof(lks_map_fn),
                                 .name = "fill",
                                 .output_spec = large_spec,
                                 .apply = fill_apply,
                                 .flags = LKS_FN_PURE };

static lks_status more_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);
    const int64_t *x = lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    for (int64_t i = 0; i < lks_tensor_size(y); i += 512) ((int64_t *)lks_tensor_data(y))[i] = x[i] + 1;
    return LKS_OK;
}
static const lks_map_fn more = {
    .struct_size = sizeof(lks_map_fn), .name = "more", .apply = more_apply, .flags = LKS_FN_PURE
};

static lks_dataset *large(int kind)
{
    lks_dataset *ds = lks_map_indexed(ELEMENTS, &fill, .num_parallel_calls = LKS_AUTOTUNE);

    if (kind == 1) ds = lks_prefetch(ds, LKS_AUTOTUNE);
    if (kind == 2) ds = lks_map(lks_prefetch(ds, LKS_AUTOTUNE), &more, .num_parallel_calls = LKS_AUTOTUNE);
    return kind == 0 ? ds : lks_prefetch(ds, LKS_AUTOTUNE);
}

typedef struct outcome {
    int64_t sum, budget, tensors_peak;
    long peak_mb;
} outcome;

/* A pass with a consumer that lets every queue fill. */
static void consume(int kind, int64_t budget_mb, outcome *out)
{
    lks_data_budget b = { .struct_size = sizeof b, .memory_bytes = budget_mb * MB, .threads = 4 };
    lks_data_usage usage = { .struct_size = sizeof usage };
    lks_dataset *ds;
    lks_iter *it = NULL;
    lks_element *e;

    if (budget_mb > 0 && lks_set_data_budget(&b) != LKS_OK) _exit(3);
    ds = large(kind);
    if (lks_iter_create(ds, &it) != LKS_OK) _exit(4);
    for (int64_t n = 1; lks_iter_next(it, &e) == LKS_OK; n++) {
        out->sum = (int64_t)((uint64_t)out->sum * 31 +
                             (uint64_t)((const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0)))[512 * n]);
        if (n % 3 == 0) usleep(30000);
        lks_element_release(e);
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_get_data_usage(&usage);
    out->budget = usage.memory_budget;
    out->tensors_peak = usage.peak_bytes;
    if (usage.memory_bytes != 0) _exit(5);
}

static outcome in_a_process(int kind, int64_t budget_mb)
{
    outcome out = { 0 };
    struct rusage usage;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        consume(kind, budget_mb, &out);
        _exit(write(ends[1], &out, sizeof out) == sizeof out ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &out, sizeof out), sizeof out);
    close(ends[0]);
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    if (status != 0) fail_msg("pipeline %d with %lld MB: exit status %x", kind, (long long)budget_mb, (unsigned)status);
    out.peak_mb = usage.ru_maxrss / 1024;
    return out;
}

static void the_budget_holds_by_resident_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    for (int kind = 0; kind < 3; kind++) {
        outcome small = in_a_process(kind, BUDGET_MB), ample = in_a_process(kind, 4000);
        assert_true(small.sum == ample.sum);
        if (small.peak_mb >= BUDGET_MB)
            fail_msg("pipeline %d: %ld MB resident with a budget of %d MB (%ld MB without)", kind, small.peak_mb,
                     BUDGET_MB, ample.peak_mb);
    }
}

static void sizes_come_from_the_environment(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes; /* 0: refused, so that the default holds */
    } sizes[] = {
        { "300M", 300 * (int64_t)MB }, { "2g", 2048 * (int64_t)MB }, { "4096", 4096 }, { "7x", 0 }, { "-1", 0 }
    };
    lks_data_budget none = { .struct_size = sizeof none };
    lks_data_usage usage = { .struct_size = sizeof usage };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        setenv("LOCKSTEP_DATA_MEMORY", sizes[i].text, 1);
        assert_status(lks_set_data_budget(&none), LKS_OK);
        lks_get_data_usage(&usage);
        if (sizes[i].bytes > 0) assert_true(usage.memory_budget == sizes[i].bytes);
        else assert_true(usage.memory_budget > 4096);
    }
    unsetenv("LOCKSTEP_DATA_MEMORY");
    assert_status(lks_set_data_budget(&none), LKS_OK);
    none.memory_bytes = -1;
    assert_status(lks_set_data_budget(&none), LKS_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_budget_holds_by_resident_memory),
        cmocka_unit_test(sizes_come_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
