/* test_tensor.c - shapes, views and conversions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep/tensor.h"
#include "tensor/tensor.h"

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

static void come_home(void *owner, lks_tensor *tensor)
{
    *(lks_tensor **)owner = tensor;
}

static void strings_of_rows_that_were_cut_off_are_freed_and_gone(void **state)
{
    lks_tensor *back = NULL;
    lks_tensor *t = lks__tensor_create_homed(4 * sizeof(lks_bytes), come_home, &back);
    const lks_shape four = lks_shape(4);

    (void)state;
    assert_non_null(t);
    lks__tensor_revive(t, LKS_STRING, &four);
    for (int64_t i = 0; i < 3; i++) assert_int_equal(lks__tensor_set_bytes(t, i, "a record", 8), LKS_OK);
    lks__tensor_set_rows(t, 1);
    lks_tensor_release(t);
    assert_ptr_equal(back, t);
    lks__tensor_revive(t, LKS_STRING, &four);
    for (int64_t i = 0; i < 4; i++) assert_int_equal(((const lks_bytes *)lks_tensor_cdata(t))[i].size, 0);
    lks__tensor_set_rows(t, 2);
    lks_tensor_release(t);
    lks__tensor_destroy(back); /* under the address sanitizer: nothing is left */
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
        cmocka_unit_test(strings_of_rows_that_were_cut_off_are_freed_and_gone),
        cmocka_unit_test(floats_saturate_as_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
