/* test_ops_linear.c - pooling, matrix products, reductions and random numbers against plain loops: values in double, and the
 * bits where the order is stated, for many shapes.
 */
#include "support/ops.h"

/* ---- pooling ---- */

static void pooling_equals_plain_loops(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        lks_pool_attrs a;
        int64_t channels = 1 + draw(5), n_x, n_y;
        lks_type x_type, y_type, out;
        for (int i = 0; i < 2; i++) {
            a.size[i] = 1 + draw(3);
            a.stride[i] = 1 + draw(4);
            a.before[i] = draw((uint32_t)a.size[i]);
            a.in[i] = a.size[i] + draw(6);
            a.out[i] = (a.in[i] + a.before[i] - 1) / a.stride[i] + 1;
        }
        x_type = (lks_type)LKS_ROW(3, a.in[0], a.in[1], channels);
        y_type = (lks_type)LKS_ROW(3, a.out[0], a.out[1], channels);
        n_x = N * lks__type_size(&x_type);
        n_y = N * lks__type_size(&y_type);
        float *x = random_floats(n_x), *d = random_floats(n_y);
        double *sum = calloc((size_t)n_y, sizeof *sum), *back = calloc((size_t)n_x, sizeof *back);
        double *top = calloc((size_t)n_y, sizeof *top), *top_back = calloc((size_t)n_x, sizeof *top_back);
        for (int64_t o = 0; o < n_y; o++) {
            int64_t ch = o % channels, ox = o / channels % a.out[1], oy = o / channels / a.out[1] % a.out[0];
            int64_t e = o / channels / a.out[1] / a.out[0], best = -1;
            for (int64_t t = 0; t < a.size[0] * a.size[1]; t++) {
                int64_t iy = oy * a.stride[0] - a.before[0] + t / a.size[1],
                        ix = ox * a.stride[1] - a.before[1] + t % a.size[1];
                int64_t at = ((e * a.in[0] + iy) * a.in[1] + ix) * channels + ch;
                if (iy < 0 || ix < 0 || iy >= a.in[0] || ix >= a.in[1]) continue;
                sum[o] += (double)x[at];
                back[at] += (double)d[o];
                if (best < 0 || x[at] > x[best]) best = at;
            }
            top[o] = best < 0 ? -HUGE_VAL : (double)x[best];
            if (best >= 0) top_back[best] += (double)d[o];
        }
        const lks_type *const one[] = { &x_type }, *const two[] = { &x_type, &y_type }, *const grad[] = { &y_type };
        float *got = run_op(&lks__op_pool_sum, &a, 1, one, (const void *[]){ x }, &out, NAN);
        assert_near("pool_sum", got, sum, n_y);
        free(got);
        got = run_op(&lks__op_pool_sum_grad, &a, 1, grad, (const void *[]){ d }, &out, NAN);
        assert_near("pool_sum_grad", got, back, n_x);
        free(got);
        got = run_op(&lks__op_pool_max, &a, 1, one, (const void *[]){ x }, &out, NAN);
        for (int64_t i = 0; i < n_y; i++) assert_true((double)got[i] == top[i]);
        free(got);
        got = run_op(&lks__op_pool_max_grad, &a, 2, two, (const void *[]){ x, d }, &out, NAN);
        assert_near("pool_max_grad", got, top_back, n_x);
        free(got);
        free(x);
        free(d);
        free(sum);
        free(back);
        free(top);
        free(top_back);
    }
}

/* ---- matrix products ---- */

static void matrix_products_take_their_terms_in_order(void **state)
{
    (void)state;
    for (int trial = 0; trial < 100; trial++) {
        int64_t k = 1 + draw(40), m = 1 + draw(40), p = 1 + draw(4), leading = draw(2);
        lks_type a_type = leading ? (lks_type)LKS_ROW(2, p, k) : (lks_type)LKS_ROW(1, k);
        lks_type d_type = leading ? (lks_type)LKS_ROW(2, p, m) : (lks_type)LKS_ROW(1, m);
        lks_type b_type = LKS_SHARED(2, k, m), out;
        int64_t rows = N * (leading ? p : 1);
        float *a = random_floats(rows * k), *b = random_floats(k * m), *d = random_floats(rows * m);
        const bool plain = false, transposed = true;
        float *y = run_op(&lks__op_matmul, &plain, 2, (const lks_type *[]){ &a_type, &b_type },
                          (const void *[]){ a, b }, &out, NAN);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j < m; j++) {
                float lane[16] = { 0 };
                for (int64_t i = 0; i < k; i++) {
                    int l = m < 16 ? i % 16 : 0; /* few columns: sixteen lanes */
                    lane[l] = fmaf(a[r * k + i], b[i * m + j], lane[l]);
                }
                for (int half = 8; half > 0; half /= 2)
                    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
                assert_true(lane[0] == y[r * m + j]);
            }
        free(y);
        y = run_op(&lks__op_matmul, &transposed, 2, (const lks_type *[]){ &d_type, &b_type }, (const void *[]){ d, b },
                   &out, NAN);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < k; i++) {
                float sum = 0;
                for (int64_t j = 0; j < m; j++) sum = fmaf(d[r * m + j], b[i * m + j], sum);
                assert_true(sum == y[r * k + i]);
            }
        free(y);
        y = run_op(&lks__op_matmul_filter, NULL, 2, (const lks_type *[]){ &a_type, &d_type }, (const void *[]){ a, d },
                   &out, 0.25f);
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < m; j++) {
                float sum = 0.25f, one = 0;
                for (int64_t r = 0; r < rows; r++) {
                    if (!leading) sum = fmaf(a[r * k + i], d[r * m + j], sum);
                    else one = fmaf(a[r * k + i], d[r * m + j], one);
                    if (leading && r % p == p - 1) sum += one, one = 0;
                }
                assert_true(sum == y[i * m + j]);
            }
        free(y);
        free(a);
        free(b);
        free(d);
    }
}

/* ---- reductions ---- */

static void reductions_equal_plain_loops(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        lks_type x_type = { .dtype = LKS_FLOAT32, .batched = true, .shape = { .rank = (int64_t)draw(5) } }, out;
        const lks_type *const types[] = { &x_type };
        lks_reduce_attrs a = { .axes = 0, .keep = draw(2) != 0 };
        lks_batch_attrs b;
        int64_t size = 1, n_y = 1;
        for (int i = 0; i < x_type.shape.rank; i++) {
            x_type.shape.dim[i] = 1 + draw(i == x_type.shape.rank - 1 ? 40 : 5);
            size *= x_type.shape.dim[i];
            if (draw(2) != 0) a.axes |= 1u << i;
            else n_y *= x_type.shape.dim[i];
        }
        b = (lks_batch_attrs){ .axes = a.axes };
        float *x = random_floats(N * size);
        double *sum = calloc((size_t)(N * n_y), sizeof *sum), *top = calloc((size_t)(N * n_y), sizeof *top);
        double *all = calloc((size_t)n_y, sizeof *all), *all_top = calloc((size_t)n_y, sizeof *all_top);
        float *in_order = calloc((size_t)(N * n_y), sizeof *in_order);
        int64_t innermost = x_type.shape.rank - 1;
        while (innermost >= 0 && x_type.shape.dim[innermost] == 1) innermost--;
        for (int64_t i = 0; i < N * n_y; i++) top[i] = -HUGE_VAL;
        for (int64_t i = 0; i < n_y; i++) all_top[i] = -HUGE_VAL;
        for (int64_t i = 0; i < N * size; i++) {
            int64_t to = 0, rest = i % size, weight = 1;
            for (int64_t k = x_type.shape.rank - 1; k >= 0; k--) {
                int64_t at = rest % x_type.shape.dim[k];
                rest /= x_type.shape.dim[k];
                if ((a.axes >> k & 1) != 0) continue;
                to += at * weight;
                weight *= x_type.shape.dim[k];
            }
            sum[i / size * n_y + to] += (double)x[i];
            in_order[i / size * n_y + to] += x[i];
            all[to] += (double)x[i];
            top[i / size * n_y + to] = fmax(top[i / size * n_y + to], (double)x[i]);
            all_top[to] = fmax(all_top[to], (double)x[i]);
        }
        float *got = run_op(&lks__op_reduce_sum, &a, 1, types, (const void *[]){ x }, &out, NAN);
        assert_int_equal(lks__type_size(&out), n_y);
        assert_int_equal(out.shape.rank, a.keep ? x_type.shape.rank : x_type.shape.rank - __builtin_popcount(a.axes));
        assert_near("reduce_sum", got, sum, N * n_y);
        if (innermost < 0 || (a.axes >> innermost & 1) == 0) /* kept: one after the other */
            assert_memory_equal(got, in_order, (size_t)(N * n_y) * sizeof *got);
        free(got);
        got = run_op(&lks__op_reduce_max, &a, 1, types, (const void *[]){ x }, &out, NAN);
        for (int64_t i = 0; i < N * n_y; i++) assert_true((double)got[i] == top[i]);
        free(got);
        got = run_op(&lks__op_batch_sum, &b, 1, types, (const void *[]){ x }, &out, 0);
        assert_near("batch_sum", got, all, n_y);
        free(got);
        got = run_op(&lks__op_batch_max, &b, 1, types, (const void *[]){ x }, &out, -INFINITY);
        for (int64_t i = 0; i < n_y; i++) assert_true((double)got[i] == all_top[i]);
        free(got);
        free(x);
        free(sum);
        free(top);
        free(all);
        free(all_top);
        free(in_order);
    }
}

static void contiguous_sums_have_sixteen_lanes_and_one_tree(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 100; n++) {
        float *x = random_floats(n), lane[16] = { 0 };
        for (int64_t i = 0; i < n; i++) lane[i % 16] += x[i];
        float a[4];
        for (int i = 0; i < 4; i++) a[i] = (lane[i] + lane[i + 8]) + (lane[i + 4] + lane[i + 12]);
        assert_true(lks__sum16(x, n) == (a[0] + a[2]) + (a[1] + a[3]));
        float top = -INFINITY;
        for (int64_t i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
        assert_true(lks__max16(x, n) == top);
        free(x);
    }
    const float with_nan[20] = { 1, 2, 3, [17] = NAN };
    assert_true(isnan(lks__max16(with_nan, 20)));
}

static void sums_over_the_batch_continue_over_slices(void **state)
{
    const lks_batch_attrs a = { .axes = 2 };
    lks_type x_type = LKS_ROW(2, 3, 21), out;
    const lks_type *const types[] = { &x_type };
    float *x = random_floats(N * 63), split[3] = { 0 }, one[3];
    float *whole = run_op(&lks__op_batch_sum, &a, 1, types, (const void *[]){ x }, &out, 0);

    (void)state;
    for (int e = 0; e < N; e++) {
        const void *in[] = { x + e * 63 };
        lks_op_call call = {
            .attrs = &a, .n_in = 1, .in_type = types, .out_type = &out, .in = in, .out = split, .n = 1, .scratch = one
        };
        lks__op_batch_sum.run(&call);
    }
    assert_memory_equal(whole, split, sizeof split);
    free(whole);
    free(x);
}

/* ---- random numbers ---- */

static void random_rows_are_philox_of_the_example_alone(void **state)
{
    const lks_uniform_attrs a = { .stream = 5, .shape = { 1, { 7 } } };
    lks_type out;
    float whole[5 * 7], part[2 * 7];
    lks_op_call call = { .attrs = &a, .out_type = &out, .out = whole, .n = 5, .batch = 9, .seed = 3, .step = 2 };

    (void)state;
    assert_int_equal(lks__op_uniform.infer(&a, 0, NULL, &out), LKS_OK);
    lks__op_uniform.run(&call);
    call.first = 3;
    call.n = 2;
    call.out = part;
    lks__op_uniform.run(&call);
    assert_memory_equal(part, whole + 3 * 7, sizeof part);
    for (int i = 0; i < 35; i++) {
        const uint32_t counter[4] = { (uint32_t)(i % 7 / 4), (uint32_t)(i / 7), 2, 5 };
        assert_true(whole[i] == lks__unit_float(lks__philox(3, counter).word[i % 7 % 4]));
    }
    call.step = 3;
    lks__op_uniform.run(&call);
    assert_memory_not_equal(part, whole + 3 * 7, sizeof part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooling_equals_plain_loops),
        cmocka_unit_test(matrix_products_take_their_terms_in_order),
        cmocka_unit_test(reductions_equal_plain_loops),
        cmocka_unit_test(contiguous_sums_have_sixteen_lanes_and_one_tree),
        cmocka_unit_test(sums_over_the_batch_continue_over_slices),
        cmocka_unit_test(random_rows_are_philox_of_the_example_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
