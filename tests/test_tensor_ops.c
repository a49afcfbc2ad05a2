/* test_tensor_ops.c - eager operations: products of matrices, sums with broadcasting, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"
#include "ops/scalar_math.h"

static lks_tensor *numbers(lks_shape shape, int seed)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, shape);
    float *p = lks_tensor_data(t);

    assert_non_null(t);
    for (int64_t i = 0; i < lks_tensor_size(t); i++) p[i] = (float)((i * 7919 + seed) % 1009 - 500) / 97.0f;
    return t;
}

static float product_at(const float *a, const float *b, int64_t k, int64_t m, int64_t column)
{
    float sum = 0;

    for (int64_t t = 0; t < k; t++) sum = lks__fma_f(a[t], b[t * m + column], sum);
    return sum;
}

static void check_product(lks_tensor *a, lks_tensor *b, lks_tensor *add, lks_tensor *y)
{
    const lks_shape x = lks_tensor_shape(a), w = lks_tensor_shape(b), s = lks_tensor_shape(y);
    const int64_t n = s.dim[s.rank - 2], m = s.dim[s.rank - 1], k = x.dim[x.rank - 1];
    const float *p = lks_tensor_cdata(a), *q = lks_tensor_cdata(b), *r = lks_tensor_cdata(y);

    for (int64_t i = 0; i < lks_tensor_size(y); i++) {
        const int64_t matrix = i / (n * m), row = i / m % n;
        float want = product_at(p + (x.rank > 2 ? matrix * n * k : 0) + row * k, q + (w.rank > 2 ? matrix * k * m : 0),
                                k, m, i % m);

        if (add != NULL) want += ((const float *)lks_tensor_cdata(add))[i];
        assert_memory_equal(&want, &r[i], sizeof want);
    }
}

static void products_are_one_sum_each_on_any_number_of_threads(void **state)
{
    static const struct {
        int64_t a[4], b[4];
        int a_rank, b_rank;
    } t[] = { { { 3, 5 }, { 5, 4 }, 2, 2 },           { { 1, 1 }, { 1, 1 }, 2, 2 },
              { { 70, 300 }, { 300, 90 }, 2, 2 },     { { 6, 20, 16 }, { 6, 16, 64 }, 3, 3 },
              { { 2, 3, 7, 9 }, { 9, 33 }, 4, 2 },    { { 8, 16 }, { 5, 16, 48 }, 2, 3 },
              { { 4, 0 }, { 0, 3 }, 2, 2 },           { { 0, 4 }, { 4, 3 }, 2, 2 },
              { { 3, 130, 16 }, { 3, 16, 32 }, 3, 3 } };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int threads = 1; threads <= 4; threads++) {
            lks_tensor *a = numbers(lks_shape_of((size_t)t[i].a_rank, t[i].a), 1);
            lks_tensor *b = numbers(lks_shape_of((size_t)t[i].b_rank, t[i].b), 2);
            lks_tensor *y = lks_tensor_matmul(a, b, .threads = threads), *add, *z;

            assert_non_null(y);
            check_product(a, b, NULL, y);
            add = numbers(lks_tensor_shape(y), 3);
            z = lks_tensor_matmul(a, b, .threads = threads, .add = add, .out = y);
            assert_ptr_equal(z, y);
            check_product(a, b, add, y);
            lks_tensor_release(a);
            lks_tensor_release(b);
            lks_tensor_release(add);
            lks_tensor_release(y);
            lks_tensor_release(z);
        }
}

static void element_by_element_with_broadcasting(void **state)
{
    lks_tensor *a = numbers(lks_shape(3, 1, 200), 1), *b = numbers(lks_shape(4, 200), 2), *s, *d;
    const float *x = lks_tensor_cdata(a), *y = lks_tensor_cdata(b), *r;
    const lks_shape want = lks_shape(3, 4, 200);
    lks_shape have;

    (void)state;
    s = lks_tensor_add(a, b);
    d = lks_tensor_divide(a, b);
    assert_non_null(s);
    assert_non_null(d);
    have = lks_tensor_shape(s);
    assert_true(lks_shape_equal(&have, &want));
    for (int64_t i = 0; i < 3 * 4 * 200; i++) {
        const float p = x[i / 800 * 200 + i % 200], q = y[i % 800];

        r = lks_tensor_cdata(s);
        assert_true(r[i] == p + q);
        r = lks_tensor_cdata(d);
        assert_true(q == 0 || r[i] == p / q);
    }
    lks_tensor_release(s);
    lks_tensor_release(d);
    s = lks_tensor_subtract(a, a);
    d = lks_tensor_multiply(s, b);
    r = lks_tensor_cdata(d);
    for (int64_t i = 0; i < lks_tensor_size(d); i++) assert_true(r[i] == 0);
    lks_tensor_release(a);
    lks_tensor_release(b);
    lks_tensor_release(s);
    lks_tensor_release(d);
}

static void what_does_not_fit_is_refused_with_its_shapes(void **state)
{
    lks_tensor *a = numbers(lks_shape(3, 5), 1), *b = numbers(lks_shape(4, 5), 2);
    lks_tensor *i = lks_tensor_create(LKS_INT32, lks_shape(5, 2));

    (void)state;
    assert_null(lks_tensor_matmul(a, b));
    assert_non_null(strstr(lks_last_error(), "(3, 5) times (4, 5)"));
    assert_null(lks_tensor_matmul(a, i));
    assert_non_null(strstr(lks_last_error(), "int32"));
    assert_null(lks_tensor_matmul(a, NULL));
    assert_null(lks_tensor_add(a, b));
    assert_non_null(strstr(lks_last_error(), "broadcast"));
    assert_null(lks_tensor_add(a, i));
    lks_tensor_release(a);
    lks_tensor_release(b);
    lks_tensor_release(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_one_sum_each_on_any_number_of_threads),
        cmocka_unit_test(element_by_element_with_broadcasting),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
