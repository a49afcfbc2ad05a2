/* test_data_threads.c - iterators are let go at any moment, from any state, without a leak, a hang or a lost thread; orders don't
 * depend on threads; a child of fork() lets inherited iterators go.
 *
 * ctest labels: concurrent
 */
#include "test_data.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Busy for a time that depends on the element, so that pieces finish out of order. */
static lks_status uneven_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    volatile uint32_t work = 0;

    for (int64_t i = 0; i < (x * 7919) % 13 * 200; i++) work += (uint32_t)i;
    (void)work;
    return twice_apply(context, in, out, user);
}
static const lks_map_fn uneven = {
    .struct_size = sizeof(lks_map_fn), .name = "uneven", .apply = uneven_apply, .flags = LKS_FN_PURE
};

static lks_dataset *busy(int64_t n, int64_t calls, int64_t ahead)
{
    lks_dataset *ds = lks_map(lks_range(0, n, 1), &uneven, .num_parallel_calls = calls);

    ds = lks_shuffle(ds, 16, .seed = 3);
    ds = lks_prefetch(ds, ahead);
    ds = lks_map(ds, &twice, .num_parallel_calls = LKS_AUTOTUNE);
    ds = lks_repeat(lks_batch(ds, 4), 3);
    return lks_prefetch(ds, LKS_AUTOTUNE);
}

static uint64_t digest(lks_dataset *ds)
{
    lks_iter *it = NULL;
    lks_element *e = NULL;
    uint64_t h = 1469598103934665603u;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    while (lks_iter_next(it, &e) == LKS_OK) {
        const lks_tensor *t = lks_element_tensor(e, 0);
        for (int64_t i = 0; i < lks_tensor_size(t); i++)
            h = (h ^ (uint64_t)((const int64_t *)lks_tensor_cdata(t))[i]) * 1099511628211u;
        lks_element_release(e);
    }
    lks_iter_release(it);
    return h;
}

static void the_order_does_not_depend_on_parallelism(void **state)
{
    uint64_t expected = digest(busy(300, 0, 0));
    static const int64_t calls[] = { 1, 3, 16, LKS_AUTOTUNE }, ahead[] = { 1, 5, LKS_AUTOTUNE, 0 };

    (void)state;
    for (int i = 0; i < 4; i++) assert_true(digest(busy(300, calls[i], ahead[i])) == expected);
    assert_true(digest(busy(299, 0, 0)) != expected);
}

static void iterators_may_go_at_any_moment(void **state)
{
    unsigned random = 12345;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        lks_dataset *ds = busy(200, round % 3 ? LKS_AUTOTUNE : 3, round % 4 - 1);
        lks_iter *it = NULL;
        lks_element *e = NULL, *kept = NULL;
        int n;
        random = random * 1664525u + 1013904223u;
        n = (int)(random >> 16) % 40;
        if (n > 20) n = 0;
        assert_status(lks_iter_create(ds, &it), LKS_OK);
        for (int i = 0; i < n; i++) {
            if (lks_iter_next(it, &e) != LKS_OK) break;
            if (i == n / 2) kept = lks_element_retain(e);
            lks_element_release(e);
        }
        if (round % 2) lks_dataset_release(ds);
        lks_iter_release(it);
        if (round % 2 == 0) lks_dataset_release(ds);
        lks_element_release(kept);
    }
}

static lks_status never_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);

    (void)context, (void)in, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    *(char *)lks_tensor_data(y) = 0;
    return LKS_OK;
}
static const lks_map_fn never = {
    .struct_size = sizeof(lks_map_fn), .name = "never", .output_spec = lks_spec_fn_bool, .apply = never_apply
};

/* The thread of the prefetch below will never find an element. */
static void an_endless_search_ends_with_its_iterator(void **state)
{
    lks_dataset *ds = lks_filter(lks_repeat(lks_range(0, 10, 1), -1), &never);
    lks_iter *it = NULL;

    (void)state;
    ds = lks_dataset_concatenate(lks_range(0, 1, 1), lks_prefetch(ds, 2));
    ds = lks_prefetch(ds, 2);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_element *e = NULL;
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void *cancel_soon(void *it)
{
    usleep(2000);
    lks_iter_cancel(it);
    return NULL;
}

static void a_blocked_consumer_gets_canceled(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_filter(lks_repeat(lks_range(0, 10, 1), -1), &never), 2);
    lks_iter *it = NULL;
    lks_element *e = NULL;
    pthread_t thread;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, it), 0);
    assert_status(lks_iter_next(it, &e), LKS_E_CANCELED);
    assert_status(lks_iter_next(it, &e), LKS_E_CANCELED);
    pthread_join(thread, NULL);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

typedef struct sharing {
    lks_iter *it;
    int64_t sum, n;
} sharing;

static void *share(void *arg)
{
    sharing *s = arg;
    lks_element *e = NULL;

    while (lks_iter_next(s->it, &e) == LKS_OK) {
        s->sum += *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0));
        s->n++;
        lks_element_release(e);
    }
    return NULL;
}

static void several_consumers_share_the_elements(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_map(lks_range(0, 2000, 1), &twice, .num_parallel_calls = LKS_AUTOTUNE), 8);
    sharing s[3] = { { NULL, 0, 0 } };
    pthread_t thread[3];
    lks_iter *it = NULL;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int i = 0; i < 3; i++) {
        s[i].it = it;
        assert_int_equal(pthread_create(&thread[i], NULL, share, &s[i]), 0);
    }
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    assert_int_equal(s[0].n + s[1].n + s[2].n, 2000);
    assert_int_equal(s[0].sum + s[1].sum + s[2].sum, 2000 * 1999);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

#if !defined(__SANITIZE_THREAD__)
static void a_child_of_fork_lets_inherited_iterators_go(void **state)
{
    lks_dataset *ds = busy(200, LKS_AUTOTUNE, 4);
    lks_iter *it = NULL;
    lks_element *e = NULL;
    int result = 0;
    pid_t child;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    child = fork();
    if (child == 0) {
        lks_element *mine = NULL;
        alarm(20); /* a hang ends the child with a signal */
        if (lks_iter_next(it, &mine) != LKS_E_STATE) _exit(2);
        lks_element_release(e);
        lks_iter_release(it);
        if (lks_iter_create(ds, &it) != LKS_OK || lks_iter_next(it, &mine) != LKS_OK) _exit(3);
        lks_element_release(mine);
        lks_iter_release(it);
        lks_dataset_release(ds);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_does_not_depend_on_parallelism),
        cmocka_unit_test(iterators_may_go_at_any_moment),
        cmocka_unit_test(an_endless_search_ends_with_its_iterator),
        cmocka_unit_test(a_blocked_consumer_gets_canceled),
        cmocka_unit_test(several_consumers_share_the_elements),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(a_child_of_fork_lets_inherited_iterators_go),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
