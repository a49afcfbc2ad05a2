/* test_pool.c - the work pool: every task runs exactly once, whoever calls and with how many threads.
 * ctest labels: concurrent */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"

enum { TASKS = 1000 };

static void count_task(void *user, int task)
{
    ((int *)user)[task] += task + 1;
}

static void run_and_check(int threads)
{
    int count[TASKS] = { 0 };

    lks__pool_run(threads, TASKS, count_task, count);
    for (int i = 0; i < TASKS; i++)
        if (count[i] != i + 1) fail_msg("task %d ran %d times with %d threads", i, count[i] / (i + 1), threads);
}

static void every_task_runs_exactly_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        assert_int_equal(lks__pool_reserve(threads), LKS_OK);
        for (int again = 0; again < 50; again++) run_and_check(threads);
    }
}

static void *caller(void *user)
{
    int *count = user;

    for (int again = 0; again < 20; again++) lks__pool_run(3, TASKS, count_task, count);
    return NULL;
}

static void callers_from_several_threads_take_turns(void **state)
{
    static int count[3][TASKS];
    pthread_t thread[3];

    (void)state;
    memset(count, 0, sizeof count);
    assert_int_equal(lks__pool_reserve(3), LKS_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, caller, count[i]), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 3; i++)
        for (int task = 0; task < TASKS; task++) assert_int_equal(count[i][task], 20 * (task + 1));
}

static void too_many_threads_are_refused_in_a_sentence(void **state)
{
    (void)state;
    assert_int_equal(lks__pool_reserve(100000), LKS_E_LIMIT);
    assert_non_null(strstr(lks_last_error(), "100000 threads"));
}

static void see_rounding(void *user, int task)
{
    ((int *)user)[task] = fegetround();
}

static void a_hosts_rounding_mode_does_not_reach_the_tasks(void **state)
{
    int mode[64];
    lks_fenv saved;

    (void)state;
    fesetround(FE_UPWARD);
    lks__fenv_enter(&saved);
    lks__pool_run(2, 64, see_rounding, mode);
    lks__fenv_leave(&saved);
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 64; i++) assert_int_equal(mode[i], FE_TONEAREST);
}

static void a_forked_child_computes_alone(void **state)
{
    int code = -1;
    pid_t child;

    (void)state;
    assert_int_equal(lks__pool_reserve(2), LKS_OK);
    child = fork();
    if (child == 0) {
        int count[TASKS] = { 0 };
        lks__pool_run(2, TASKS, count_task, count);
        _exit(count[TASKS - 1] == TASKS ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_exactly_once),
        cmocka_unit_test(callers_from_several_threads_take_turns),
        cmocka_unit_test(too_many_threads_are_refused_in_a_sentence),
        cmocka_unit_test(a_hosts_rounding_mode_does_not_reach_the_tasks),
        cmocka_unit_test(a_forked_child_computes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
