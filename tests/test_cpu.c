/* test_cpu.c - how many threads are started when nobody says: quotas of control groups of both versions at any level, the affinity
 * mask, OMP_NUM_THREADS, and --threads above them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/quota.h"
#include "support/command.h"

typedef struct quota_case {
    const char *self;        /* contents of /proc/self/cgroup; NULL: no such file */
    const char *files[4][2]; /* path below the mounted folder, contents */
    double limit;
} quota_case;

static const quota_case cases[] = {
    { "0::/\n", { { "cpu.max", "250000 100000\n" } }, 2.5 },
    { "0::/\n", { { "cpu.max", "max 100000\n" } }, 0 },
    { "0::/\n", { { NULL, NULL } }, 0 },
    { "0::/a/b\n", { { "a/b/cpu.max", "400000 100000\n" } }, 4 },
    { "0::/a/b\n", { { "a/b/cpu.max", "max 100000\n" }, { "a/cpu.max", "150000 100000\n" } }, 1.5 },
    { "0::/a/b\n", { { "a/b/cpu.max", "100000 100000\n" }, { "a/cpu.max", "300000 100000\n" } }, 1 },
    { "0::/not/here\n", { { "cpu.max", "50000 100000\n" } }, 0.5 }, /* a container's view of a group outside it */
    { NULL, { { "cpu.max", "200000 100000\n" } }, 2 },
    { "0::/a\n", { { "a/cpu.max", "rubbish\n" }, { "cpu.max", "" } }, 0 },
    { "0::/a\n", { { "a/cpu.max", "0 0\n" } }, 0 },
    { "4:cpu,cpuacct:/x\n0::/\n",
      { { "cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n" }, { "cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" } },
      3 },
    { "4:cpu,cpuacct:/x\n",
      { { "cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n" }, { "cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" } },
      0 },
    { "7:cpuset:/x\n4:cpu:/\n", { { "cpu/cpu.cfs_quota_us", "150000\n" }, { "cpu/cpu.cfs_period_us", "50000\n" } }, 3 },
    { "nonsense\n\n:::\n", { { NULL, NULL } }, 0 },
};

static void put(const char *root, const char *name, const char *text)
{
    char line[1024], path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", root, name);
    snprintf(line, sizeof line, "mkdir -p \"$(dirname '%s')\"", path);
    assert_int_equal(system(line), 0);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const quota_case memory_cases[] = {
    { "0::/\n", { { "memory.max", "1048576\n" } }, 1048576 },
    { "0::/\n", { { "memory.max", "max\n" } }, 0 },
    { "0::/a/b/c\n",
      { { "a/b/c/memory.max", "max\n" }, { "a/b/memory.max", "5000000\n" }, { "a/memory.max", "9000000\n" } },
      5000000 },
    { "0::/a/b\n", { { "a/b/memory.max", "8000000\n" }, { "memory.max", "2000000\n" } }, 2000000 },
    { "0::/not/here\n", { { "memory.max", "3000000\n" } }, 3000000 },
    { "5:cpu,memory:/x/y\n",
      { { "cpu,memory/x/y/memory.limit_in_bytes", "9223372036854771712\n" },
        { "cpu,memory/x/memory.limit_in_bytes", "7000000\n" } },
      7000000 },
    { "3:memory:/x\n0::/x\n",
      { { "memory/memory.limit_in_bytes", "4000000\n" }, { "memory/x/memory.limit_in_bytes", "6000000\n" } },
      4000000 },
    { NULL, { { "memory/memory.limit_in_bytes", "123456\n" } }, 123456 },
    { "0::/a\n", { { "a/memory.max", "rubbish\n" }, { "memory.max", "0\n" } }, 0 },
};

static void look(const quota_case *list, size_t n, const char *name, double (*limit)(const char *, const char *))
{
    for (size_t i = 0; i < n; i++) {
        char root[300], self[310];
        double found;
        snprintf(root, sizeof root, "%s/%s%zu", command_folder(), name, i);
        snprintf(self, sizeof self, "%s.self", root);
        if (list[i].self != NULL) put(command_folder(), strrchr(self, '/') + 1, list[i].self);
        for (int k = 0; k < 4 && list[i].files[k][0] != NULL; k++) put(root, list[i].files[k][0], list[i].files[k][1]);
        found = limit(root, self);
        if (fabs(found - list[i].limit) > 1e-9)
            fail_msg("%s case %zu: expected %g, found %g", name, i, list[i].limit, found);
    }
}

static void limits_of_control_groups_are_found(void **state)
{
    (void)state;
    look(cases, sizeof cases / sizeof *cases, "cpu", lks__cgroup_cores);
    look(memory_cases, sizeof memory_cases / sizeof *memory_cases, "memory", lks__cgroup_memory);
}

static void the_affinity_mask_and_the_environment_bound_the_threads(void **state)
{
    cpu_set_t before, one;
    int all;

    (void)state;
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    all = lks__usable_cores();
    assert_in_range(all, 1, CPU_COUNT(&before));
    setenv("OMP_NUM_THREADS", "1", 1);
    assert_int_equal(lks__usable_cores(), 1);
    setenv("OMP_NUM_THREADS", "1,4", 1);
    assert_int_equal(lks__usable_cores(), 1);
    setenv("OMP_NUM_THREADS", "100000", 1); /* more than there are */
    assert_int_equal(lks__usable_cores(), all);
    setenv("OMP_NUM_THREADS", "many", 1);
    assert_int_equal(lks__usable_cores(), all);
    unsetenv("OMP_NUM_THREADS");
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(lks__usable_cores(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void a_run_takes_the_threads_that_it_is_given(void **state)
{
#define PLAN "plan --model builtin:mnist_cnn --json"
    static command_result r;

    (void)state;
    setenv("OMP_NUM_THREADS", "1", 1);
    command_run(&r, LOCKSTEP_COMMAND, PLAN);
    assert_non_null(strstr(r.out, "\"threads\": 1,"));
    command_run(&r, LOCKSTEP_COMMAND, PLAN " --threads 3"); /* said outright: counts more */
    assert_non_null(strstr(r.out, "\"threads\": 3,"));
    unsetenv("OMP_NUM_THREADS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_control_groups_are_found),
        cmocka_unit_test(the_affinity_mask_and_the_environment_bound_the_threads),
        cmocka_unit_test(a_run_takes_the_threads_that_it_is_given),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    command_remove_folder();
    return failed;
}
