/* test_api_spec.c - specs as users read them, and a dataset that cannot be had. Compiled with -Wconversion and -Werror. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <lockstep.h>

static lks_spec *picture_and_label(int64_t classes)
{
    return lks_spec_tuple_of(lks_spec_tensor(LKS_UINT8, lks_shape(28, 28, 1)),
                             lks_spec_label(LKS_INT64, lks_shape_of(0, NULL), classes));
}

static void a_spec_knows_its_leaves_and_classes(void **state)
{
    lks_spec *spec = picture_and_label(10), *other = picture_and_label(7), *ragged;

    (void)state;
    assert_int_equal(lks_spec_leaf_count(spec), 2);
    assert_int_equal(lks_spec_num_classes(lks_spec_leaf(spec, 0)), 0);
    assert_int_equal(lks_spec_num_classes(lks_spec_leaf(spec, 1)), 10);
    assert_true(lks_spec_equal(spec, other)); /* class counts may differ */
    assert_false(lks_spec_equal(spec, lks_spec_leaf(spec, 0)));
    ragged = lks_spec_ragged(LKS_FLOAT32, lks_shape(-1, -1, 2), 1);
    assert_int_equal(lks_spec_ragged_rank(ragged), 1);
    assert_int_equal(lks_spec_ragged_rank(spec), 0);
    lks_spec_release(spec);
    lks_spec_release(other);
    lks_spec_release(ragged);
}

static void a_dataset_without_such_a_split_is_a_failed_dataset(void **state)
{
    lks_dataset *data = lks_fashion_mnist("holiday");

    (void)state;
    assert_int_equal(lks_dataset_status(data), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "train"));
    lks_dataset_release(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_knows_its_leaves_and_classes),
        cmocka_unit_test(a_dataset_without_such_a_split_is_a_failed_dataset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
