/* test_api_dataset.c - the pipeline of the first tutorial compiles without one warning in the user's file, with and without
 * options, and runs. */
#include <lockstep.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void the_tutorials_pipeline_reads_as_written(void **state)
{
    const int batch = 4, epochs = 2;
    uint8_t pixels[10 * 4] = { 0 };
    int64_t labels[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    lks_tensor *x = lks_tensor_wrap(LKS_UINT8, lks_shape(10, 2, 2, 1), pixels, NULL, NULL);
    lks_tensor *y = lks_tensor_wrap(LKS_INT64, lks_shape(10), labels, NULL, NULL);
    lks_dataset *train = lks_from_tensor_slices(x, y);
    lks_iter *it = NULL;
    lks_element *e = NULL;
    int64_t examples = 0;

    (void)state;
    train = lks_cache(train);
    train = lks_map(train, lks_cast_rescale_onehot, .num_parallel_calls = LKS_AUTOTUNE, .depth = 10);
    train = lks_shuffle(train, 256);
    train = lks_shuffle(train, 256, .seed = 7, .reshuffle_each_iteration = LKS_FALSE);
    train = lks_batch(train, batch, .drop_remainder = LKS_FALSE);
    train = lks_repeat(train, epochs);
    train = lks_prefetch(train, LKS_AUTOTUNE);
    assert_int_equal(lks_iter_create(train, &it), LKS_OK);
    while (lks_iter_next(it, &e) == LKS_OK) {
        examples += lks_tensor_shape(lks_element_tensor(e, 0)).dim[0];
        assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 1)).dim[1], 10);
        lks_element_release(e);
    }
    assert_int_equal(examples, 20);
    lks_iter_release(it);
    lks_dataset_release(train);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_tutorials_pipeline_reads_as_written) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
