/* test_api_status.c - the smallest public chapter as a C11 user sees it: status, hooks, shapes, tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <lockstep.h>

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i <= LKS_E_INTERNAL; i++) {
        assert_int_equal(strncmp(lks_status_name((lks_status)i), "LKS_", 4), 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(lks_status_name((lks_status)i), lks_status_name((lks_status)j));
    }
    assert_string_equal(lks_status_name(LKS_END), "LKS_END");
    assert_string_equal(lks_status_name((lks_status)77), "LKS_?");
}

static void the_version_is_that_of_the_build(void **state)
{
    (void)state;
    assert_string_equal(lks_version(), LOCKSTEP_VERSION);
}

typedef struct counter {
    long alive, calls;
} counter;

static void *count_alloc(void *user, size_t bytes)
{
    counter *c = user;
    c->alive++;
    c->calls++;
    return malloc(bytes);
}

static void *count_resize(void *user, void *old, size_t bytes)
{
    counter *c = user;
    if (old == NULL) c->alive++;
    c->calls++;
    return realloc(old, bytes);
}

static void count_release(void *user, void *old)
{
    counter *c = user;
    if (old != NULL) c->alive--;
    free(old);
}

static void *refuse_alloc(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    return NULL;
}

static void the_allocator_hook_sees_every_allocation_and_release(void **state)
{
    counter c = { 0, 0 };
    const lks_allocator hook = { count_alloc, count_resize, count_release, &c };

    (void)state;
    lks_set_allocator(&hook);
    lks_tensor *t = lks_tensor_create(LKS_INT32, lks_shape(3, 5));
    assert_non_null(t);
    assert_true(c.calls > 0);
    lks_tensor_release(t);
    lks_free(NULL);
    assert_int_equal(c.alive, 0);
    lks_set_allocator(NULL);
}

static void a_refused_allocation_is_a_status_and_a_sentence(void **state)
{
    const lks_allocator hook = { refuse_alloc, NULL, count_release, NULL };

    (void)state;
    lks_set_allocator(&hook);
    assert_null(lks_tensor_create(LKS_INT32, lks_shape(3, 5)));
    lks_set_allocator(NULL);
    assert_non_null(strstr(lks_last_error(), "memory"));
}

static void shapes_are_plain_values(void **state)
{
    const int64_t dims[2] = { 4, 7 };
    const lks_shape a = lks_shape_of(2, dims), b = lks_shape(4, 7), c = lks_shape(4, 8);
    const lks_shape deep = lks_shape(1, 2, 3, 4, 5, 6, 7, 8, 9), unknown = lks_shape(-1, 3);

    (void)state;
    assert_true(lks_shape_equal(&a, &b));
    assert_false(lks_shape_equal(&a, &c));
    assert_int_equal(lks_shape_size(&a), 28);
    assert_int_equal(deep.rank, -1);
    assert_int_equal(lks_shape_size(&unknown), -1);
}

static void dtypes_have_the_names_of_keras(void **state)
{
    (void)state;
    assert_string_equal(lks_dtype_name(LKS_FLOAT32), "float32");
    assert_string_equal(lks_dtype_name((lks_dtype)99), "?");
    assert_int_equal(lks_dtype_size(LKS_INT64), 8);
}

static void set_flag(void *user)
{
    *(int *)user += 1;
}

static void wrapped_memory_is_given_back_once_with_the_last_reference(void **state)
{
    float memory[6] = { 0, 1, 2, 3, 4, 5 };
    int released = 0;
    lks_tensor *t = lks_tensor_wrap(LKS_FLOAT32, lks_shape(2, 3), memory, set_flag, &released);
    lks_tensor *flat = lks_tensor_reshape(t, lks_shape(6)), *again = lks_tensor_retain(t);
    const lks_shape shape = lks_tensor_shape(flat);

    (void)state;
    assert_int_equal(lks_tensor_dtype(flat), LKS_FLOAT32);
    assert_int_equal(shape.rank, 1);
    assert_ptr_equal(lks_tensor_data(flat), memory);
    lks_tensor_release(t);
    lks_tensor_release(flat);
    assert_int_equal(released, 0);
    lks_tensor_release(again);
    assert_int_equal(released, 1);
}

static void hooks_can_be_set_and_reset(void **state)
{
    (void)state;
    lks_set_output(NULL, NULL);
    lks_set_warnings(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(the_version_is_that_of_the_build),
        cmocka_unit_test(the_allocator_hook_sees_every_allocation_and_release),
        cmocka_unit_test(a_refused_allocation_is_a_status_and_a_sentence),
        cmocka_unit_test(shapes_are_plain_values),
        cmocka_unit_test(dtypes_have_the_names_of_keras),
        cmocka_unit_test(wrapped_memory_is_given_back_once_with_the_last_reference),
        cmocka_unit_test(hooks_can_be_set_and_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
