/* test_tensor.c - shapes, views and conversions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep/tensor.h"

static void a_view_keeps_its_base_alive(void **state)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(4, 2)), *rows;
    float *x = lks_tensor_data(t);

    (void)state;
    for (int i = 0; i < 8; i++) x[i] = (float)i;
    rows = lks_tensor_rows(t, 1, 3);
    lks_tensor_release(t);
    assert_int_equal(lks_tensor_size(rows), 4);
    assert_true(((const float *)lks_tensor_cdata(rows))[0] == 2.0f);
    lks_tensor_release(rows);
}

static void rows_outside_are_refused_in_a_sentence(void **state)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(4, 2));

    (void)state;
    assert_null(lks_tensor_rows(t, 2, 5));
    assert_non_null(strstr(lks_last_error(), "4 rows"));
    lks_tensor_release(t);
}

static void floats_saturate_as_integers(void **state)
{
    const float in[4] = { -3.0f, 1.9f, 300.0f, 7.0f };
    lks_tensor *t = lks_tensor_from(LKS_FLOAT32, lks_shape(4), in), *u = lks_tensor_cast(t, LKS_UINT8);
    const uint8_t want[4] = { 0, 1, 255, 7 };

    (void)state;
    assert_memory_equal(lks_tensor_cdata(u), want, 4);
    lks_tensor_release(u);
    lks_tensor_release(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_keeps_its_base_alive),
        cmocka_unit_test(rows_outside_are_refused_in_a_sentence),
        cmocka_unit_test(floats_saturate_as_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
