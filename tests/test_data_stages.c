/* test_data_stages.c - each stage of the input pipeline yields what tf.data yields, carries failures and refuses nonsense. */
#include "test_data.h"

static void ranges_count_up_and_down(void **state)
{
    (void)state;
    assert_yields(lks_range(0, 5, 1), "0 1 2 3 4 ");
    assert_yields(lks_range(1, 20, 4), "1 5 9 13 17 ");
    assert_yields(lks_range(5, 0, -2), "5 3 1 ");
    assert_yields(lks_range(5, 5, 1), "");
    assert_fails(lks_range(0, 5, 0), LKS_E_ARG, "step");
}

static void slices_are_views_of_the_callers_memory(void **state)
{
    int64_t x[6] = { 1, 2, 3, 4, 5, 6 };
    float y[3] = { 0.5f, 1.5f, 2.5f };
    lks_tensor *a = lks_tensor_wrap(LKS_INT64, lks_shape(3, 2), x, NULL, NULL);
    lks_tensor *b = lks_tensor_wrap(LKS_FLOAT32, lks_shape(3), y, NULL, NULL);
    lks_dataset *ds = lks_from_tensor_slices(a, b);
    lks_iter *it = NULL;
    lks_element *e = NULL;

    (void)state;
    assert_int_equal(lks_dataset_cardinality(ds), 3);
    assert_int_equal(lks_spec_kind_of(lks_dataset_spec(ds)), LKS_SPEC_TUPLE);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_ptr_equal(lks_tensor_cdata(lks_element_tensor(e, 0)), x + 2);
    assert_ptr_equal(lks_tensor_cdata(lks_element_tensor(e, 1)), y + 1);
    lks_iter_release(it); /* an element outlives its iterator */
    assert_int_equal(*(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0)), 3);
    lks_element_release(e);
    assert_fails(lks_from_tensor_slices(a, NULL), LKS_E_ARG, "tensor 1");
    lks_tensor_release(b);
    b = lks_tensor_create(LKS_FLOAT32, lks_shape(2));
    assert_fails(lks_from_tensor_slices(a, b), LKS_E_ARG, "3 rows");
    lks_tensor_release(a);
    lks_tensor_release(b);
}

static void shuffle_gives_tensorflows_orders(void **state)
{
    lks_dataset *ds = lks_shuffle(lks_range(0, 10, 1), 10, .seed = 42);

    (void)state;
    assert_pass(ds, "5 9 6 4 7 1 2 8 3 0 ");
    assert_yields(ds, "3 7 6 5 8 4 0 1 9 2 ");
    ds = lks_shuffle(lks_range(0, 10, 1), 10, .seed = 42, .reshuffle_each_iteration = LKS_FALSE);
    assert_pass(ds, "2 0 7 8 9 3 6 4 1 5 ");
    assert_yields(ds, "2 0 7 8 9 3 6 4 1 5 ");
    assert_yields(lks_repeat(lks_shuffle(lks_range(0, 3, 1), 3, .seed = 1), 3), "1 2 0 1 0 2 0 1 2 ");
    assert_yields(lks_shuffle(lks_repeat(lks_range(0, 10, 1), 3), 5, .seed = 42),
                  "0 2 3 6 7 9 4 5 0 1 1 8 6 5 4 8 7 1 2 3 0 5 4 2 7 8 9 9 3 6 ");
    assert_yields(lks_shuffle(lks_range(0, 10, 1), 3, .seed = 42), "0 3 4 2 1 5 8 6 7 9 ");
    assert_fails(lks_shuffle(lks_range(0, 3, 1), 0), LKS_E_ARG, "buffer_size");
}

static void a_buffer_of_unknown_size_holds_the_whole_input(void **state)
{
    (void)state;
    assert_yields(lks_shuffle(lks_range(0, 10, 1), LKS_UNKNOWN_CARDINALITY, .seed = 42), "5 9 6 4 7 1 2 8 3 0 ");
}

static void batches_keep_or_drop_the_remainder(void **state)
{
    (void)state;
    assert_yields(lks_batch(lks_range(0, 7, 1), 3), "[0 1 2] [3 4 5] [6] ");
    assert_yields(lks_batch(lks_range(0, 7, 1), 3, .drop_remainder = LKS_TRUE), "[0 1 2] [3 4 5] ");
    assert_yields(lks_batch(lks_range(0, 2, 1), 1000000000), "[0 1] ");
    assert_yields(lks_repeat(lks_batch(lks_range(0, 3, 1), 2), 2), "[0 1] [2] [0 1] [2] ");
    assert_fails(lks_batch(lks_range(0, 7, 1), 0), LKS_E_ARG, "batch_size");
}

static void map_runs_in_order_on_any_number_of_threads(void **state)
{
    static const int64_t calls[] = { 0, 1, 2, 7, LKS_AUTOTUNE };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_yields(lks_map(lks_range(0, 8, 1), &twice, .num_parallel_calls = calls[i]), "0 2 4 6 8 10 12 14 ");
    assert_fails(lks_map(lks_range(0, 8, 1), &twice, .num_parallel_calls = -2), LKS_E_ARG, "num_parallel_calls");
}

static void a_failed_element_is_passed_on_and_the_pass_goes_on(void **state)
{
    static int64_t two = 2, three = 3;
    const lks_map_fn on2 = {
        .struct_size = sizeof on2, .name = "on2", .apply = fail_on_apply, .user = &two, .flags = 1
    };
    const lks_map_fn on3 = { .struct_size = sizeof on3, .name = "on3", .apply = fail_on_apply, .user = &three };

    (void)state;
    assert_yields(lks_map(lks_range(0, 6, 1), &on2), "0 1 ! 3 4 5 ");
    assert_yields(lks_map(lks_range(0, 6, 1), &on2, .num_parallel_calls = 3), "0 1 ! 3 4 5 ");
    assert_yields(lks_map(lks_range(0, 6, 1), &on2, .num_parallel_calls = LKS_AUTOTUNE), "0 1 ! 3 4 5 ");
    assert_yields(lks_prefetch(lks_map(lks_range(0, 6, 1), &on2), 2), "0 1 ! 3 4 5 ");
    assert_yields(lks_batch(lks_map(lks_range(0, 8, 1), &on3), 2), "[0 1] ! [4 5] [6 7] ");
    assert_yields(lks_repeat(lks_map(lks_range(0, 4, 1), &on2), 2), "0 1 ! 3 0 1 ! 3 ");
}

static void the_failure_says_stage_function_and_element(void **state)
{
    static int64_t two = 2;
    const lks_map_fn on2 = {
        .struct_size = sizeof on2, .name = "on2", .apply = fail_on_apply, .user = &two, .flags = 1
    };
    lks_dataset *ds = lks_prefetch(lks_map(lks_range(2, 6, 1), &on2, .num_parallel_calls = 2), 1);
    lks_iter *it = NULL;
    lks_element *e = NULL;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "map"));
    assert_non_null(strstr(lks_last_error(), "'on2' failed at element 0: planned failure at 2"));
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void take_skip_filter_and_concatenate(void **state)
{
    (void)state;
    assert_yields(lks_take(lks_range(0, 5, 1), 2), "0 1 ");
    assert_yields(lks_take(lks_range(0, 5, 1), -1), "0 1 2 3 4 ");
    assert_yields(lks_skip(lks_range(0, 5, 1), 3), "3 4 ");
    assert_yields(lks_skip(lks_range(0, 5, 1), -1), "");
    assert_yields(lks_filter(lks_range(0, 7, 1), &even), "0 2 4 6 ");
    assert_yields(lks_dataset_concatenate(lks_range(0, 2, 1), lks_range(7, 9, 1)), "0 1 7 8 ");
    assert_fails(lks_filter(lks_range(0, 7, 1), &twice), LKS_E_SHAPE, "bool");
    assert_fails(lks_dataset_concatenate(lks_range(0, 2, 1), lks_batch(lks_filter(lks_range(0, 7, 1), &twice), 2)),
                 LKS_E_SHAPE, "filter");
}

static void repeat_ends_when_its_input_is_empty(void **state)
{
    (void)state;
    assert_yields(lks_repeat(lks_range(0, 0, 1), -1), "");
    assert_yields(lks_repeat(lks_range(0, 2, 1), 0), "");
    assert_yields(lks_take(lks_repeat(lks_range(0, 2, 1), -1), 5), "0 1 0 1 0 ");
    assert_yields(lks_repeat(lks_filter(lks_range(1, 2, 1), &even), -1), "");
}

static void the_cache_is_filled_by_the_first_whole_pass(void **state)
{
    lks_dataset *ds = lks_cache(lks_shuffle(lks_range(0, 10, 1), 10, .seed = 42));

    (void)state;
    assert_pass(ds, "5 9 6 4 7 1 2 8 3 0 ");
    assert_yields(ds, "5 9 6 4 7 1 2 8 3 0 ");
    ds = lks_cache(lks_shuffle(lks_range(0, 10, 1), 10, .seed = 42));
    lks_dataset_retain(ds);
    assert_yields(lks_take(ds, 3), "5 9 6 ");
    assert_yields(ds, "3 7 6 5 8 4 0 1 9 2 ");
}

static void cardinalities_are_tensorflows(void **state)
{
    lks_dataset *unknown = lks_filter(lks_range(0, 10, 1), &even), *endless = lks_repeat(lks_range(0, 3, 1), -1);
    struct {
        lks_dataset *ds;
        int64_t expected;
    } t[] = {
        { lks_batch(lks_range(0, 10, 1), 3), 4 },
        { lks_batch(lks_range(0, 10, 1), 3, .drop_remainder = LKS_TRUE), 3 },
        { lks_repeat(lks_range(0, 10, 1), 3), 30 },
        { lks_repeat(lks_range(0, 10, 1), -1), LKS_INFINITE_CARDINALITY },
        { lks_repeat(lks_dataset_retain(unknown), 2), LKS_UNKNOWN_CARDINALITY },
        { lks_take(lks_dataset_retain(endless), 4), 4 },
        { lks_take(lks_dataset_retain(unknown), 4), LKS_UNKNOWN_CARDINALITY },
        { lks_skip(lks_dataset_retain(endless), 4), LKS_INFINITE_CARDINALITY },
        { lks_skip(lks_range(0, 10, 1), 4), 6 },
        { lks_skip(lks_range(0, 10, 1), 14), 0 },
        { lks_dataset_concatenate(lks_range(0, 2, 1), lks_range(0, 3, 1)), 5 },
        { lks_dataset_concatenate(lks_range(0, 2, 1), lks_dataset_retain(endless)), LKS_INFINITE_CARDINALITY },
        { lks_prefetch(lks_cache(lks_shuffle(lks_range(0, 9, 1), 2)), LKS_AUTOTUNE), 9 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (lks_dataset_cardinality(t[i].ds) != t[i].expected)
            fail_msg("case %zu: cardinality %lld, expected %lld", i, (long long)lks_dataset_cardinality(t[i].ds),
                     (long long)t[i].expected);
        lks_dataset_release(t[i].ds);
    }
    lks_dataset_release(unknown);
    lks_dataset_release(endless);
}

static void a_failed_stage_stays_failed_and_says_so_first(void **state)
{
    lks_dataset *ds = lks_batch(lks_range(0, 5, 1), -3);

    (void)state;
    ds = lks_prefetch(lks_repeat(lks_map(lks_shuffle(ds, 4), &twice), 2), 1);
    assert_fails(ds, LKS_E_ARG, "batch (stage 2): batch_size must be at least 1, found -3");
    assert_null(lks_batch(NULL, 3));
    assert_status(lks_dataset_status(NULL), LKS_E_NOMEM);
}

static void a_batch_of_unequal_shapes_names_both(void **state)
{
    int64_t x[4] = { 1, 2, 3, 4 };
    lks_tensor *a = lks_tensor_from(LKS_INT64, lks_shape(1, 2), x), *b = lks_tensor_from(LKS_INT64, lks_shape(1, 3), x);
    lks_dataset *ds = lks_dataset_concatenate(lks_from_tensor_slices(a), lks_from_tensor_slices(b));
    lks_iter *it = NULL;
    lks_element *e = NULL;

    (void)state;
    ds = lks_batch(ds, 2);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_E_SHAPE);
    assert_non_null(strstr(lks_last_error(), "(3,)"));
    assert_non_null(strstr(lks_last_error(), "(2,)"));
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_tensor_release(a);
    lks_tensor_release(b);
}

typedef struct counting {
    int opened, closed, limit;
} counting;

static lks_status count_open(void *user, void **out)
{
    ((counting *)user)->opened++;
    *out = test_calloc(1, sizeof(int64_t));
    return LKS_OK;
}

static lks_status count_next(void *at, lks_element *out, void *user)
{
    lks_tensor *t;

    if (*(int64_t *)at == ((counting *)user)->limit) return LKS_END;
    t = lks_element_output(out, 0);
    if (t == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(t) = (*(int64_t *)at)++;
    return LKS_OK;
}

static void count_close(void *at, void *user)
{
    test_free(at);
    ((counting *)user)->closed++;
}

static void a_generator_is_opened_and_closed_once_a_pass(void **state)
{
    counting c = { 0, 0, 3 };
    lks_generator g = { sizeof g, "count", count_open, count_next, count_close, &c, NULL };
    lks_dataset *ds = lks_repeat(lks_from_generator(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }), &g), 2);

    (void)state;
    assert_pass(ds, "0 1 2 0 1 2 ");
    assert_int_equal(c.opened, 2);
    assert_int_equal(c.closed, 2);
    assert_yields(lks_take(ds, 4), "0 1 2 0 ");
    assert_int_equal(c.opened, 4);
    assert_int_equal(c.closed, 4);
}

static void a_generator_that_breaks_its_spec_is_told_so(void **state)
{
    counting c = { 0, 0, 3 };
    lks_generator g = { sizeof g, "count", count_open, count_next, count_close, &c, NULL };
    lks_dataset *ds = lks_from_generator(lks_spec_tensor(LKS_INT64, lks_shape(-1)), &g);
    lks_iter *it = NULL;
    lks_element *e = NULL;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_E_NOMEM);
    assert_non_null(strstr(lks_last_error(), "generator 'count' failed at element 0"));
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static lks_dataset *images(int64_t depth, int64_t label)
{
    uint8_t x[4] = { 0, 51, 128, 255 };
    int64_t y[2] = { 1, label };
    lks_tensor *a = lks_tensor_from(LKS_UINT8, lks_shape(2, 2, 1, 1), x),
               *b = lks_tensor_from(LKS_INT64, lks_shape(2), y);
    lks_dataset *ds = lks_map(lks_from_tensor_slices(a, b), lks_cast_rescale_onehot, .depth = depth,
                              .num_parallel_calls = LKS_AUTOTUNE);

    lks_tensor_release(a);
    lks_tensor_release(b);
    return ds;
}

static void pixels_are_divided_and_labels_become_one_hot(void **state)
{
    lks_dataset *ds = lks_batch(images(3, 2), 2);
    lks_iter *it = NULL;
    lks_element *e = NULL;
    static const float hot[6] = { 0, 1, 0, 0, 0, 1 };
    const float *x;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    x = lks_tensor_cdata(lks_element_tensor(e, 0));
    assert_true(x[0] == 0.0f && x[1] == 51.0f / 255.0f && x[2] == 128.0f / 255.0f && x[3] == 1.0f);
    assert_memory_equal(lks_tensor_cdata(lks_element_tensor(e, 1)), hot, sizeof hot);
    lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    assert_fails(images(0, 2), LKS_E_ARG, ".depth");
    ds = images(2, 2);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "label 2 does not lie in [0, 2)"));
    lks_iter_release(it);
    lks_dataset_release(ds);
}

/* The library's function under a name that it does not know. */
static lks_status hidden_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    return lks_cast_rescale_onehot->apply(context, in, out, user);
}

static lks_dataset *ordered(const lks_map_fn *fn, lks_tensor *x, lks_tensor *y, int64_t depth)
{
    lks_dataset *ds = lks_map(lks_from_tensor_slices(x, y), fn, .depth = depth, .num_parallel_calls = 2);

    ds = lks_take(lks_repeat(lks_shuffle(lks_skip(ds, 3), 7), 2), 50);
    return lks_batch(lks_prefetch(ds, 3), 8);
}

/* One pass over both must give the same bytes, failures in the same places. */
static void assert_same_batches(lks_dataset *a, lks_dataset *b)
{
    lks_iter *i = NULL, *k = NULL;
    lks_element *e = NULL, *f = NULL;
    lks_status status;

    assert_status(lks_iter_create(a, &i), LKS_OK);
    assert_status(lks_iter_create(b, &k), LKS_OK);
    while ((status = lks_iter_next(i, &e)) != LKS_END) {
        assert_status(lks_iter_next(k, &f), status);
        for (size_t c = 0; status == LKS_OK && c < 2; c++) {
            lks_tensor *x = lks_element_tensor(e, c), *y = lks_element_tensor(f, c);
            assert_int_equal(lks_tensor_size(x), lks_tensor_size(y));
            assert_memory_equal(lks_tensor_cdata(x), lks_tensor_cdata(y), (size_t)lks_tensor_size(x) * sizeof(float));
        }
        if (status != LKS_OK) continue;
        lks_element_release(e);
        lks_element_release(f);
    }
    assert_status(lks_iter_next(k, &f), LKS_END);
    lks_iter_release(i);
    lks_iter_release(k);
    lks_dataset_release(a);
    lks_dataset_release(b);
}

static void a_function_applied_while_batching_gives_the_same_bytes(void **state)
{
    lks_map_fn hidden = *lks_cast_rescale_onehot;
    uint8_t pixels[40 * 6];
    int64_t labels[40];
    lks_tensor *x, *y;

    (void)state;
    hidden.apply = hidden_apply;
    for (int i = 0; i < 240; i++) pixels[i] = (uint8_t)(i * 37);
    for (int i = 0; i < 40; i++) labels[i] = i % 7;
    x = lks_tensor_from(LKS_UINT8, lks_shape(40, 2, 3), pixels);
    y = lks_tensor_from(LKS_INT64, lks_shape(40), labels);
    assert_same_batches(ordered(lks_cast_rescale_onehot, x, y, 7), ordered(&hidden, x, y, 7));
    assert_same_batches(ordered(lks_cast_rescale_onehot, x, y, 5), ordered(&hidden, x, y, 5)); /* some labels fail */
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static void the_end_stays_the_end(void **state)
{
    lks_dataset *ds = lks_prefetch(lks_map(lks_range(0, 1, 1), &twice, .num_parallel_calls = 2), 1);
    lks_iter *it = NULL;
    lks_element *e = NULL;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    for (int i = 0; i < 3; i++) assert_status(lks_iter_next(it, &e), LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_count_up_and_down),
        cmocka_unit_test(slices_are_views_of_the_callers_memory),
        cmocka_unit_test(shuffle_gives_tensorflows_orders),
        cmocka_unit_test(a_buffer_of_unknown_size_holds_the_whole_input),
        cmocka_unit_test(batches_keep_or_drop_the_remainder),
        cmocka_unit_test(map_runs_in_order_on_any_number_of_threads),
        cmocka_unit_test(a_failed_element_is_passed_on_and_the_pass_goes_on),
        cmocka_unit_test(the_failure_says_stage_function_and_element),
        cmocka_unit_test(take_skip_filter_and_concatenate),
        cmocka_unit_test(repeat_ends_when_its_input_is_empty),
        cmocka_unit_test(the_cache_is_filled_by_the_first_whole_pass),
        cmocka_unit_test(cardinalities_are_tensorflows),
        cmocka_unit_test(a_failed_stage_stays_failed_and_says_so_first),
        cmocka_unit_test(a_batch_of_unequal_shapes_names_both),
        cmocka_unit_test(a_generator_is_opened_and_closed_once_a_pass),
        cmocka_unit_test(a_generator_that_breaks_its_spec_is_told_so),
        cmocka_unit_test(pixels_are_divided_and_labels_become_one_hot),
        cmocka_unit_test(a_function_applied_while_batching_gives_the_same_bytes),
        cmocka_unit_test(the_end_stays_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
