/* test_data_memory.c - every allocation may fail without a crash or a leak, and a warm pipeline allocates nothing. */
#include "test_data.h"

#include "support/failing_alloc.h"

static lks_dataset *pipeline(int64_t repeats)
{
    uint8_t pixels[12 * 4] = { 1, 2, 3 };
    int64_t labels[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1 };
    lks_tensor *x = lks_tensor_from(LKS_UINT8, lks_shape(12, 2, 2, 1), pixels);
    lks_tensor *y = lks_tensor_from(LKS_INT64, lks_shape(12), labels);
    lks_dataset *ds = lks_from_tensor_slices(x, y);

    lks_tensor_release(x);
    lks_tensor_release(y);
    ds = lks_map(ds, lks_cast_rescale_onehot, .depth = 10, .num_parallel_calls = LKS_AUTOTUNE);
    ds = lks_shuffle(ds, 5);
    ds = lks_repeat(lks_cache(ds), repeats);
    ds = lks_skip(lks_batch(ds, 5), 1);
    return lks_prefetch(ds, 2);
}

static void every_allocation_may_fail(void **state)
{
    lks_status status;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = read_some(pipeline(2), 100), {});
    EVERY_ALLOCATION_FAILS(
        status = read_some(lks_dataset_concatenate(lks_range(0, 3, 1), lks_map(lks_range(0, 3, 1), &twice)), 9), {});
    EVERY_ALLOCATION_FAILS(status = read_some(lks_take(lks_filter(lks_range(0, 9, 1), &even), 2), 9), {});
}

static void a_warm_pipeline_allocates_nothing(void **state)
{
    lks_iter *it = NULL;
    lks_element *e = NULL;
    lks_tensor *x, *y;
    lks_dataset *ds;
    long before = 0;

    (void)state;
    failing_start(0);
    x = lks_tensor_create(LKS_UINT8, lks_shape(40000, 4, 4, 1));
    y = lks_tensor_create(LKS_INT64, lks_shape(40000));
    ds = lks_from_tensor_slices(x, y);
    ds = lks_map(ds, lks_cast_rescale_onehot, .depth = 10, .num_parallel_calls = 8);
    ds = lks_prefetch(lks_batch(lks_shuffle(ds, 20), 16), 2);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    for (int i = 0; i < 2500; i++) {
        if (i == 100) before = failing.count;
        assert_status(lks_iter_next(it, &e), LKS_OK);
        lks_element_release(e);
    }
    assert_int_equal(failing.count - before, 0);
    lks_iter_release(it);
    lks_tensor_release(x);
    lks_tensor_release(y);
    assert_int_equal(failing.live, 0);
    failing_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_warm_pipeline_allocates_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
